//! Who sees what of a comment: [`view`] and, for a row at hand, [`into_view`]; both ask one table.
//!
//! Nothing outside this file decides whether a body or an author may be read. Readers get a
//! [`CommentView`], never a stored row.

use super::body::BodyFormat;
use super::comment::{Comment, CommentState};
use super::ids::{CommentId, DiscussionId, UserId};
use super::viewer::{Role, Viewer};

/// A comment as one reader may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentView {
    /// Its id.
    pub id: CommentId,
    /// Where it was written.
    pub discussion_id: DiscussionId,
    /// What it answers.
    pub parent_id: Option<CommentId>,
    /// Everything above it, root first.
    pub ancestors: Vec<CommentId>,
    /// Where it stands, as this reader may know.
    pub state: CommentState,
    /// Changes so far.
    pub revision: u32,
    /// Body and author, or nothing for a tombstone.
    pub content: Option<CommentContent>,
}

/// What a tombstone no longer has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentContent {
    /// Who wrote it.
    pub author_id: UserId,
    /// The source text.
    pub body: String,
    /// How it is written.
    pub format: BodyFormat,
    /// When the text last changed, in milliseconds since 1970.
    pub edited_at_ms: Option<i64>,
}

impl CommentView {
    /// What names it among all discussions' comments.
    #[must_use]
    pub const fn place(&self) -> (DiscussionId, CommentId) {
        (self.discussion_id, self.id)
    }

    /// Level below the root; 0 for a root.
    #[must_use]
    pub fn depth(&self) -> u16 {
        u16::try_from(self.ancestors.len()).unwrap_or(u16::MAX)
    }

    /// The root of its branch: itself, or its first ancestor.
    #[must_use]
    pub fn root_id(&self) -> CommentId {
        self.ancestors.first().copied().unwrap_or(self.id)
    }
}

/// Whether a page, which is the same for every reader, lists a row.
#[must_use]
pub fn is_listed(state: CommentState, live_below: bool, hidden_above: bool) -> bool {
    super::counts::contribution(state, live_below, hidden_above).shown == 1
}

/// What `viewer` may see of `row`; `None` means that for them it does not exist.
///
/// | state | anybody | author | moderator |
/// |---|---|---|---|
/// | published | whole | whole | whole |
/// | published, hidden above | – | whole | whole |
/// | pending, hidden | – | whole | whole |
/// | buried, live below | tombstone | tombstone | tombstone |
/// | buried | – | – | tombstone |
///
/// A buried row keeps no text, so there is nothing to show to anyone.
#[must_use]
pub fn view(row: &Comment, viewer: Option<&Viewer>, hidden_above: bool) -> Option<CommentView> {
    match seen(row, viewer, hidden_above) {
        Seen::Nothing => None,
        Seen::Tombstone => Some(tombstone(row)),
        Seen::Whole => Some(whole(row.clone())),
    }
}

/// As [`view`], for a row that nobody else needs: its text is not copied.
#[must_use]
pub fn into_view(row: Comment, viewer: Option<&Viewer>, hidden_above: bool) -> Option<CommentView> {
    match seen(&row, viewer, hidden_above) {
        Seen::Nothing => None,
        Seen::Tombstone => Some(tombstone(&row)),
        Seen::Whole => Some(whole(row)),
    }
}

/// How much of a row is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    Tombstone,
    Whole,
}

fn seen(row: &Comment, viewer: Option<&Viewer>, hidden_above: bool) -> Seen {
    let moderates = viewer.is_some_and(|viewer| viewer.role >= Role::Moderator);
    let wrote = viewer.is_some_and(|viewer| viewer.user_id == row.author_id);
    let (shown, then) = match row.state {
        CommentState::Buried => (
            moderates || (row.live_below && !hidden_above),
            Seen::Tombstone,
        ),
        CommentState::Published => (!hidden_above || wrote || moderates, Seen::Whole),
        CommentState::Pending | CommentState::Hidden => (wrote || moderates, Seen::Whole),
    };
    if shown { then } else { Seen::Nothing }
}

fn whole(row: Comment) -> CommentView {
    CommentView {
        id: row.id,
        discussion_id: row.discussion_id,
        parent_id: row.parent_id,
        ancestors: row.ancestors,
        state: row.state,
        revision: row.revision,
        content: Some(CommentContent {
            author_id: row.author_id,
            body: row.body,
            format: row.format,
            edited_at_ms: row.edited_at_ms,
        }),
    }
}

/// What is left of a comment when its text and author are gone.
#[must_use]
pub fn tombstone(row: &Comment) -> CommentView {
    CommentView {
        id: row.id,
        discussion_id: row.discussion_id,
        parent_id: row.parent_id,
        ancestors: row.ancestors.clone(),
        state: row.state,
        revision: row.revision,
        content: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTHOR: UserId = UserId::new(7);

    fn row(state: CommentState, live_below: bool) -> Comment {
        let buried = state == CommentState::Buried;
        Comment {
            id: CommentId::new(10),
            discussion_id: DiscussionId::new(1),
            author_id: if buried { UserId::NOBODY } else { AUTHOR },
            body: if buried {
                String::new()
            } else {
                "SECRET".to_owned()
            },
            format: BodyFormat::Plain,
            parent_id: None,
            ancestors: Vec::new(),
            edited_at_ms: None,
            revision: 1,
            state,
            live_below,
        }
    }

    /// What each reader sees: `w`hole, `t`ombstone or `-`, in the table's order of readers.
    fn seen(state: CommentState, live_below: bool, hidden_above: bool) -> String {
        let viewer = |id, role| {
            Some(Viewer {
                user_id: UserId::new(id),
                role,
            })
        };
        [
            None,
            viewer(8, Role::Member),
            viewer(7, Role::Member),
            viewer(9, Role::Moderator),
            viewer(9, Role::Administrator),
        ]
        .iter()
        .map(
            |reader| match view(&row(state, live_below), reader.as_ref(), hidden_above) {
                None => '-',
                Some(seen) => seen.content.map_or('t', |_| 'w'),
            },
        )
        .collect()
    }

    #[test]
    fn every_state_and_reader_of_the_table() {
        use CommentState::{Buried, Hidden, Pending, Published};
        assert_eq!(seen(Published, false, false), "wwwww");
        assert_eq!(seen(Published, false, true), "--www");
        assert_eq!(seen(Pending, false, false), "--www");
        assert_eq!(seen(Hidden, false, false), "--www");
        assert_eq!(seen(Buried, true, false), "ttttt");
        assert_eq!(seen(Buried, true, true), "---tt");
        assert_eq!(seen(Buried, false, false), "---tt");
    }

    #[test]
    fn nobody_is_not_the_author_of_what_is_buried() {
        let nobody = Viewer {
            user_id: UserId::NOBODY,
            role: Role::Member,
        };
        assert_eq!(
            view(&row(CommentState::Buried, false), Some(&nobody), false),
            None
        );
    }
}
