//! Reads other systems' exports into the stores.
//!
//! An export goes through the same steps whatever its format: an [`ExportReader`] streams it as
//! [`record`]s; [`scan`] puts them into a spool on disk, divided by discussion; lot by lot,
//! [`resolve`] decides, without I/O, what each row becomes, and [`pipeline`] has it written,
//! parents before replies. Memory grows with the largest discussion, not with the file. Invariant: every row read is counted exactly once in the
//! [`report`], and a file that cannot be read to its end writes nothing.

mod authors;
pub mod checks;
pub mod discourse;
pub mod disqus;
pub mod input;
pub mod isso;
pub mod jsonl;
mod lines;
mod loose;
mod lots;
mod names;
mod orphans;
mod outgoing;
pub mod pipeline;
pub mod record;
pub mod reddit;
pub mod remark42;
pub mod report;
pub mod resolve;
mod retry;
pub mod rewrite;
pub mod rows;
pub mod scan;
mod spool;
pub mod synthetic;
mod table;
mod times;
mod writing;
pub mod wxr;
mod xml;

use input::Input;
pub use input::ReadError;
pub use pipeline::{ImportOptions, Importer};
pub use record::ExportReader;
pub use report::{Outcome, Report};

/// The formats that can be read from a stream. An Isso database is a file: [`isso::IssoReader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Posts of a Discourse forum.
    Discourse,
    /// A Disqus export.
    Disqus,
    /// Our own.
    Jsonl,
    /// Comments and submissions of Reddit.
    Reddit,
    /// A remark42 backup.
    Remark42,
    /// A WordPress export.
    Wxr,
}

impl Format {
    /// The name rows of this format are known under unless another is given.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self {
            Self::Discourse => "discourse",
            Self::Disqus => "disqus",
            Self::Jsonl => "jsonl",
            Self::Reddit => "reddit",
            Self::Remark42 => "remark42",
            Self::Wxr => "wordpress",
        }
    }

    /// Reads `input`. What is wrong with its beginning is the reader's first answer.
    #[must_use]
    pub fn reader(self, input: Input) -> Box<dyn ExportReader> {
        match self {
            Self::Discourse => Box::new(discourse::DiscourseReader::new(
                input,
                discourse::DiscourseOptions::default(),
            )),
            Self::Disqus => or_unreadable(disqus::DisqusReader::new(input)),
            Self::Jsonl => Box::new(jsonl::JsonlReader::new(input)),
            Self::Reddit => reddit(input, None, reddit::RedditOptions::default()),
            Self::Remark42 => Box::new(remark42::Remark42Reader::new(input)),
            Self::Wxr => wxr(input, wxr::WxrOptions::default()),
        }
    }
}

/// Reads a WordPress export with `options`.
#[must_use]
pub fn wxr(input: Input, options: wxr::WxrOptions) -> Box<dyn ExportReader> {
    or_unreadable(wxr::WxrReader::new(input, options))
}

/// Reads comments of Reddit, and the submissions of `posts` before them, with `options`.
#[must_use]
pub fn reddit(
    comments: Input,
    posts: Option<Input>,
    options: reddit::RedditOptions,
) -> Box<dyn ExportReader> {
    or_unreadable(reddit::RedditReader::new(comments, posts, options))
}

fn or_unreadable(reader: Result<impl ExportReader + 'static, ReadError>) -> Box<dyn ExportReader> {
    match reader {
        Ok(reader) => Box::new(reader),
        Err(error) => Box::new(Unreadable(error)),
    }
}

/// An export that is broken from its beginning.
#[derive(Debug)]
struct Unreadable(ReadError);

impl ExportReader for Unreadable {
    fn next_item(&mut self) -> Result<Option<record::SourceItem>, ReadError> {
        Err(self.0.clone())
    }

    fn opens_undeclared(&self) -> bool {
        false
    }
}
