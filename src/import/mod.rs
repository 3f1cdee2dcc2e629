//! Reads other systems' exports into the stores.
//!
//! An export goes through the same steps whatever its format: an [`ExportReader`] streams it as
//! [`record`]s; [`scan`] puts them into a spool on disk, divided by discussion; lot by lot,
//! [`resolve`] decides, without I/O, what each row becomes, and [`pipeline`] has it written,
//! parents before replies. Memory grows with the largest discussion, not with the file. Invariant: every row read is counted exactly once in the
//! [`report`], and a file that cannot be read to its end writes nothing.

mod authors;
pub mod checks;
pub mod disqus;
pub mod input;
pub mod jsonl;
mod lots;
mod orphans;
mod outgoing;
pub mod pipeline;
pub mod record;
pub mod report;
pub mod resolve;
mod retry;
pub mod rows;
pub mod scan;
mod spool;
pub mod synthetic;
mod times;
mod writing;
mod xml;

use input::Input;
pub use input::ReadError;
pub use pipeline::{ImportOptions, Importer};
pub use record::ExportReader;
pub use report::{Outcome, Report};

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A Disqus export.
    Disqus,
    /// Our own.
    Jsonl,
}

impl Format {
    /// The name rows of this format are known under unless another is given.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self {
            Self::Disqus => "disqus",
            Self::Jsonl => "jsonl",
        }
    }

    /// Reads `input`. What is wrong with its beginning is the reader's first answer.
    #[must_use]
    pub fn reader(self, input: Input) -> Box<dyn ExportReader> {
        match self {
            Self::Disqus => match disqus::DisqusReader::new(input) {
                Ok(reader) => Box::new(reader),
                Err(error) => Box::new(Unreadable(error)),
            },
            Self::Jsonl => Box::new(jsonl::JsonlReader::new(input)),
        }
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
