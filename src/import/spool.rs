//! The texts of an export between reading and writing: a temporary file, addressed by offset.
//!
//! The file has no name, so nothing is left behind however the process ends. Each record is its
//! length (four bytes) and JSON.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A discussion's words.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SpooledDiscussion {
    pub(super) source_id: String,
    pub(super) title: String,
    pub(super) url: Option<String>,
    pub(super) entity: Option<(String, String)>,
    pub(super) closed: bool,
    pub(super) line: u64,
}

/// A comment's words.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SpooledComment {
    pub(super) source_id: String,
    pub(super) parent: Option<String>,
    pub(super) author_key: String,
    pub(super) author_name: String,
    pub(super) edited_ms: Option<i64>,
    pub(super) body: String,
    /// The stored number of the format.
    pub(super) format: i64,
    /// The stored number of the state it gets if it is written whole.
    pub(super) state: i64,
    /// Why its text cannot be taken over.
    pub(super) detail: String,
    pub(super) line: u64,
}

/// A spool being filled.
#[derive(Debug)]
pub(super) struct SpoolWriter {
    out: BufWriter<File>,
    offset: u64,
}

impl SpoolWriter {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            out: BufWriter::with_capacity(1 << 16, tempfile::tempfile()?),
            offset: 0,
        })
    }

    /// Appends a record and returns where it lies.
    pub(super) fn put(&mut self, record: &impl Serialize) -> io::Result<u64> {
        let json = serde_json::to_vec(record)?;
        let length = u32::try_from(json.len()).map_err(io::Error::other)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&json)?;
        let offset = self.offset;
        self.offset += 4 + u64::from(length);
        Ok(offset)
    }

    /// Ends the filling.
    pub(super) fn finish(self) -> io::Result<Spool> {
        let file = self
            .out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        Ok(Spool { file })
    }
}

/// A filled spool.
#[derive(Debug)]
pub(super) struct Spool {
    file: File,
}

impl Spool {
    /// The record at `offset`.
    pub(super) fn get<T: DeserializeOwned>(&mut self, offset: u64) -> io::Result<T> {
        self.file.seek(SeekFrom::Start(offset))?;
        let mut length = [0; 4];
        self.file.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        let mut json = Vec::new();
        let mut record = (&self.file).take(u64::from(length));
        record.read_to_end(&mut json)?;
        Ok(serde_json::from_slice(&json)?)
    }
}
