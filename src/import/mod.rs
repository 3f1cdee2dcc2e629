//! Reads other systems' exports into the stores.
//!
//! An export goes through the same steps whatever its format: an [`ExportReader`] streams it as
//! [`record`]s; [`scan`] keeps a compact index in memory and the texts in a spool on disk;
//! [`resolve`] decides, without I/O, what each row becomes; [`pipeline`] writes, discussion by
//! discussion, parents before replies. Invariant: every row read is counted exactly once in the
//! [`report`], and a file that cannot be read to its end writes nothing.

mod authors;
pub mod checks;
pub mod disqus;
pub mod input;
pub mod jsonl;
pub mod pipeline;
pub mod record;
pub mod report;
pub mod resolve;
pub mod scan;
mod spool;
mod times;
mod xml;

pub use input::ReadError;
pub use pipeline::{ImportOptions, Importer};
pub use record::ExportReader;
pub use report::{Outcome, Report};
