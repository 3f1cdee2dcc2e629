//! What a line of our own export says beyond any other format: the field `threadline`.
//!
//! It is what makes an export a backup: ids, authors, revisions and where a row came from. Only an
//! import that restores looks at it, and then believes it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::body::BodyFormat;
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::store::comments::{KeptComment, KeptDiscussion, Origin, Revision};

/// What the last row of a reader keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// A discussion's.
    Discussion(KeptDiscussion),
    /// A comment's, and its author.
    Comment(KeptComment, UserId),
}

/// An id as decimal text: JSON's numbers are not exact in every reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal(pub(crate) i64);

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let id = text.parse().ok().filter(|id| *id > 0);
        id.map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!("`{text}` is no id: use a positive decimal number"))
        })
    }
}

/// The field of a discussion's line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiscussionField {
    id: Decimal,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    premoderated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_id: Option<String>,
}

/// The field of a comment's line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommentField {
    id: Decimal,
    /// Absent for a deleted comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<Decimal>,
    revision: u32,
    /// Earlier texts, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    revisions: Vec<RevisionField>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_id: Option<String>,
}

/// An earlier text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RevisionField {
    revision: u32,
    format: FormatName,
    body: String,
}

/// The name of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FormatName {
    Plain,
    Markdown,
    Html,
}

impl From<BodyFormat> for FormatName {
    fn from(format: BodyFormat) -> Self {
        match format {
            BodyFormat::Plain => Self::Plain,
            BodyFormat::Markdown => Self::Markdown,
            BodyFormat::Html => Self::Html,
        }
    }
}

impl From<FormatName> for BodyFormat {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Plain => Self::Plain,
            FormatName::Markdown => Self::Markdown,
            FormatName::Html => Self::Html,
        }
    }
}

impl From<DiscussionField> for Kept {
    fn from(field: DiscussionField) -> Self {
        Self::Discussion(KeptDiscussion {
            id: DiscussionId::new(field.id.0),
            premoderated: field.premoderated,
            origin: origin(field.source, field.source_id),
        })
    }
}

impl From<CommentField> for Kept {
    fn from(field: CommentField) -> Self {
        let revisions = field.revisions.into_iter().map(|earlier| Revision {
            revision: earlier.revision,
            body: earlier.body,
            format: earlier.format.into(),
        });
        let kept = KeptComment {
            id: CommentId::new(field.id.0),
            revision: field.revision,
            revisions: revisions.collect(),
            origin: origin(field.source, field.source_id),
        };
        let author = field.author.map_or(UserId::NOBODY, |id| UserId::new(id.0));
        Self::Comment(kept, author)
    }
}

impl DiscussionField {
    pub(crate) fn of(kept: &KeptDiscussion) -> Self {
        let (source, source_id) = names(kept.origin.as_ref());
        Self {
            id: Decimal(kept.id.get()),
            premoderated: kept.premoderated,
            source,
            source_id,
        }
    }
}

impl CommentField {
    pub(crate) fn of(kept: &KeptComment, author: UserId) -> Self {
        let (source, source_id) = names(kept.origin.as_ref());
        let revisions = kept.revisions.iter().map(|earlier| RevisionField {
            revision: earlier.revision,
            format: earlier.format.into(),
            body: earlier.body.clone(),
        });
        Self {
            id: Decimal(kept.id.get()),
            author: (author != UserId::NOBODY).then_some(Decimal(author.get())),
            revision: kept.revision,
            revisions: revisions.collect(),
            source,
            source_id,
        }
    }

    /// Forgets the oldest of the earlier texts; `false` when there is none.
    pub(crate) fn forget_one(&mut self) -> bool {
        let has_one = !self.revisions.is_empty();
        if has_one {
            self.revisions.remove(0);
        }
        has_one
    }
}

fn names(origin: Option<&Origin>) -> (Option<String>, Option<String>) {
    let names = origin.map(|origin| (origin.source.clone(), origin.source_id.clone()));
    names.unzip()
}

fn origin(source: Option<String>, source_id: Option<String>) -> Option<Origin> {
    let (source, source_id) = source.zip(source_id)?;
    Some(Origin { source, source_id })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment() -> KeptComment {
        KeptComment {
            id: CommentId::new(i64::MAX),
            revision: 3,
            revisions: vec![Revision {
                revision: 2,
                body: "\u{0} \"earlier\"".to_owned(),
                format: BodyFormat::Markdown,
            }],
            origin: Some(Origin {
                source: "disqus".to_owned(),
                source_id: "1".to_owned(),
            }),
        }
    }

    #[test]
    fn what_is_kept_reads_as_it_was_written() {
        let author = UserId::new(1 << 60);
        let json = serde_json::to_string(&CommentField::of(&comment(), author)).unwrap();
        let read: CommentField = serde_json::from_str(&json).unwrap();
        assert_eq!(Kept::from(read), Kept::Comment(comment(), author));
        for premoderated in [false, true] {
            let kept = KeptDiscussion {
                id: DiscussionId::new(7),
                premoderated,
                origin: None,
            };
            let json = serde_json::to_string(&DiscussionField::of(&kept)).unwrap();
            let read: DiscussionField = serde_json::from_str(&json).unwrap();
            assert_eq!(Kept::from(read), Kept::Discussion(kept));
        }
    }

    #[test]
    fn an_id_is_a_positive_decimal_number_in_quotes() {
        for id in ["0", "-1", "1.5", "x", "", "9223372036854775808"] {
            let json = format!("{{\"id\":\"{id}\",\"revision\":1}}");
            assert!(serde_json::from_str::<CommentField>(&json).is_err(), "{id}");
        }
        assert!(serde_json::from_str::<CommentField>("{\"id\":1,\"revision\":1}").is_err());
    }
}
