//! Who sees what of a comment: [`view`] and, for a row at hand, [`into_view`]; both ask one table.
//!
//! Nothing outside this file decides whether a body or an author may be read. Readers get a
//! [`CommentView`], never a stored row.

use std::collections::HashSet;
use std::sync::Arc;

use super::body::BodyFormat;
use super::comment::{Comment, CommentState};
use super::ids::{CommentId, DiscussionId, UserId};
use super::viewer::{Role, Viewer, role_of};

/// Who reads: everything that decides what they see.
#[derive(Clone, Debug)]
pub struct Reader {
    viewer: Option<Viewer>,
    role: Role,
    blocked: Arc<HashSet<UserId>>,
}

impl Reader {
    /// A viewer, or nobody in particular, with the people they block.
    #[must_use]
    pub fn new(viewer: Option<Viewer>, blocked: Arc<HashSet<UserId>>) -> Self {
        Self {
            role: role_of(viewer.as_ref()),
            viewer,
            blocked,
        }
    }

    /// Whether nothing that somebody wrote is shown to the reader, because they block them.
    #[must_use]
    pub fn hides(&self, author: UserId) -> bool {
        let wrote = self.viewer.is_some_and(|viewer| viewer.user_id == author);
        !wrote && self.role < Role::Moderator && self.blocked.contains(&author)
    }
}

/// Where a comment stands, as one reader may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShownState {
    /// Everybody may read it.
    Published,
    /// Waits for a moderator.
    Pending,
    /// Taken away by a moderator.
    Hidden,
    /// Deleted; what is left is a tombstone.
    Buried,
    /// Written by somebody whom the reader blocks; what is left is a placeholder.
    Blocked,
}

impl From<CommentState> for ShownState {
    fn from(state: CommentState) -> Self {
        match state {
            CommentState::Published => Self::Published,
            CommentState::Pending => Self::Pending,
            CommentState::Hidden => Self::Hidden,
            CommentState::Buried => Self::Buried,
        }
    }
}

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
    pub state: ShownState,
    /// Changes so far.
    pub revision: u32,
    /// Whether something above it hides it: then nobody may answer it.
    pub is_cut_off: bool,
    /// Body and author, or nothing for a tombstone or placeholder.
    pub content: Option<CommentContent>,
}

/// What a tombstone no longer has, and a placeholder does not show.
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

/// What `reader` may see of `row`; `None` means that for them it does not exist.
///
/// | state | anybody | author | moderator |
/// |---|---|---|---|
/// | published | whole | whole | whole |
/// | published, hidden above | – | whole | whole |
/// | pending, hidden | – | whole | whole |
/// | buried, live below | tombstone | tombstone | tombstone |
/// | buried | – | – | tombstone |
///
/// Where anybody sees it whole, somebody who blocks its author sees a placeholder: what hangs below
/// stays. A moderator sees through their own blocks, because they must moderate. A buried row keeps
/// no text and no author, so there is nothing to show to anyone.
#[must_use]
pub fn view(row: &Comment, reader: &Reader, hidden_above: bool) -> Option<CommentView> {
    match seen(Facts::of(row), reader, hidden_above) {
        Seen::Nothing => None,
        Seen::Tombstone => Some(tombstone(row)),
        Seen::Placeholder => Some(placeholder(row)),
        Seen::Whole => Some(whole(row.clone(), hidden_above)),
    }
}

/// As [`view`], for a row that nobody else needs: its text is not copied.
#[must_use]
pub fn into_view(row: Comment, reader: &Reader, hidden_above: bool) -> Option<CommentView> {
    match seen(Facts::of(&row), reader, hidden_above) {
        Seen::Nothing => None,
        Seen::Tombstone => Some(tombstone(&row)),
        Seen::Placeholder => Some(placeholder(&row)),
        Seen::Whole => Some(whole(row, hidden_above)),
    }
}

/// What of a row decides who sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Who wrote it.
    pub author_id: UserId,
    /// Where it stands.
    pub state: CommentState,
    /// For a buried row: whether something readable hangs below.
    pub live_below: bool,
}

impl Facts {
    fn of(row: &Comment) -> Self {
        Self {
            author_id: row.author_id,
            state: row.state,
            live_below: row.live_below,
        }
    }
}

/// Whether `reader` may see the text of a row: as [`view`], where no text is at hand.
#[must_use]
pub fn is_readable(row: Facts, reader: &Reader, hidden_above: bool) -> bool {
    seen(row, reader, hidden_above) == Seen::Whole
}

/// How much of a row is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    Tombstone,
    Placeholder,
    Whole,
}

fn seen(row: Facts, reader: &Reader, hidden_above: bool) -> Seen {
    let moderates = reader.role >= Role::Moderator;
    let wrote = reader
        .viewer
        .is_some_and(|viewer| viewer.user_id == row.author_id);
    let (shown, then) = match row.state {
        CommentState::Buried => (
            moderates || (row.live_below && !hidden_above),
            Seen::Tombstone,
        ),
        CommentState::Published => (!hidden_above || wrote || moderates, Seen::Whole),
        CommentState::Pending | CommentState::Hidden => (wrote || moderates, Seen::Whole),
    };
    match (shown, then) {
        (false, _) => Seen::Nothing,
        (true, Seen::Whole) if reader.hides(row.author_id) => Seen::Placeholder,
        (true, then) => then,
    }
}

fn whole(row: Comment, is_cut_off: bool) -> CommentView {
    CommentView {
        id: row.id,
        discussion_id: row.discussion_id,
        parent_id: row.parent_id,
        ancestors: row.ancestors,
        state: row.state.into(),
        revision: row.revision,
        is_cut_off,
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
    without_content(row, row.state.into())
}

/// What is left of a comment for somebody who blocks its author.
fn placeholder(row: &Comment) -> CommentView {
    without_content(row, ShownState::Blocked)
}

fn without_content(row: &Comment, state: ShownState) -> CommentView {
    CommentView {
        id: row.id,
        discussion_id: row.discussion_id,
        parent_id: row.parent_id,
        ancestors: row.ancestors.clone(),
        state,
        revision: row.revision,
        is_cut_off: false,
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

    fn reader(id: i64, role: Role, blocked: &[UserId]) -> Reader {
        let viewer = Viewer {
            user_id: UserId::new(id),
            role,
        };
        Reader::new(Some(viewer), Arc::new(blocked.iter().copied().collect()))
    }

    /// What each reader sees: `w`hole, `t`ombstone, `b`locked or `-`. The readers: anybody, a
    /// member, the author, a moderator, an administrator; then of those who block the author a
    /// member, a moderator, and anybody as events have them.
    fn seen(state: CommentState, live_below: bool, hidden_above: bool) -> String {
        let blocked = Arc::new(HashSet::from([AUTHOR]));
        [
            Reader::new(None, Arc::default()),
            reader(8, Role::Member, &[]),
            reader(7, Role::Member, &[AUTHOR]),
            reader(9, Role::Moderator, &[]),
            reader(9, Role::Administrator, &[]),
            reader(8, Role::Member, &[AUTHOR]),
            reader(8, Role::Moderator, &[AUTHOR]),
            Reader::new(None, blocked),
        ]
        .iter()
        .map(|reader| {
            let row = row(state, live_below);
            let view = view(&row, reader, hidden_above);
            assert_eq!(into_view(row, reader, hidden_above), view);
            match view {
                None => '-',
                Some(CommentView {
                    state: ShownState::Blocked,
                    content: None,
                    ..
                }) => 'b',
                Some(seen) => seen.content.map_or('t', |_| 'w'),
            }
        })
        .collect()
    }

    #[test]
    fn every_state_and_reader_of_the_table() {
        use CommentState::{Buried, Hidden, Pending, Published};
        assert_eq!(seen(Published, false, false), "wwwwwbwb");
        assert_eq!(seen(Published, false, true), "--www-w-");
        assert_eq!(seen(Pending, false, false), "--www-w-");
        assert_eq!(seen(Hidden, false, false), "--www-w-");
        assert_eq!(seen(Buried, true, false), "tttttttt");
        assert_eq!(seen(Buried, true, true), "---tt-t-");
        assert_eq!(seen(Buried, false, false), "---tt-t-");
    }

    #[test]
    fn nobody_is_not_the_author_of_what_is_buried() {
        let nobody = reader(0, Role::Member, &[]);
        let buried = row(CommentState::Buried, false);
        assert_eq!(view(&buried, &nobody, false), None);
    }
}
