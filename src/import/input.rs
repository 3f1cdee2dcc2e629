//! Opens an export: a file or standard input, plain, gzip or zstd, told apart by their first bytes.
//!
//! [`Counted`] knows the line and byte of everything read through it and limits how much may be
//! read in one go, so that no reader has to hold more than a row.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal as _, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;

/// Log2 of the bytes a zstd file may look back, which is memory here. Dumps of whole sites are
/// packed with 31; the decoder's own limit is 27, and only a file that asks for more gets more.
const WINDOW_LOG_MAX: u32 = 31;

/// An export as plain bytes.
pub type Input = Box<dyn BufRead + Send>;

/// The file cannot be read on. Lines count from 1, bytes from 0, both of the uncompressed file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", place(*.line, *.byte))]
pub struct ReadError {
    /// The line in which reading stopped; 0 where there are none.
    pub line: u64,
    /// The bytes before the place where reading stopped.
    pub byte: u64,
    /// What is wrong.
    pub what: String,
}

fn place(line: u64, byte: u64) -> String {
    if line == 0 {
        String::new()
    } else {
        format!("line {line}, byte {byte}: ")
    }
}

/// Opens `path`, or standard input for `-`; `bar` shows how far it has been read.
pub fn open(path: &Path, bar: &ProgressBar) -> io::Result<Input> {
    if path == Path::new("-") {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            let what = "standard input is a terminal: pipe the export in, or name its file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        return plain(bar.wrap_read(stdin));
    }
    let file = File::open(path)?;
    let size = file.metadata()?;
    if size.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    bar.set_length(size.len());
    plain(bar.wrap_read(file))
}

/// Uncompresses `raw` if its first bytes say that it is gzip or zstd.
pub fn plain(raw: impl Read + Send + 'static) -> io::Result<Input> {
    let mut raw = raw;
    let mut head = Vec::with_capacity(4);
    raw.by_ref().take(4).read_to_end(&mut head)?;
    let gzip = head.starts_with(&[0x1f, 0x8b]);
    let zstd = head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    let whole = BufReader::with_capacity(1 << 16, Cursor::new(head).chain(raw));
    Ok(if gzip {
        Box::new(BufReader::with_capacity(
            1 << 16,
            MultiGzDecoder::new(whole),
        ))
    } else if zstd {
        let mut unpacked = zstd::stream::read::Decoder::with_buffer(whole)?;
        unpacked.window_log_max(WINDOW_LOG_MAX)?;
        Box::new(BufReader::with_capacity(1 << 16, unpacked))
    } else {
        Box::new(whole)
    })
}

/// A reader that knows where it is.
#[derive(Debug)]
pub struct Counted<R> {
    inner: R,
    bytes: u64,
    lines: u64,
    left: u64,
    limit: u64,
}

impl<R> Counted<R> {
    /// Counts what is read from `inner`; at most `limit` bytes between two calls of
    /// [`Counted::refill`].
    pub fn new(inner: R, limit: u64) -> Self {
        Self {
            inner,
            bytes: 0,
            lines: 0,
            left: limit,
            limit,
        }
    }

    /// What it reads from.
    pub fn inner(&self) -> &R {
        &self.inner
    }

    /// Allows the next `limit` bytes.
    pub fn refill(&mut self) {
        self.left = self.limit;
    }

    /// The line now being read, from 1.
    pub fn line(&self) -> u64 {
        self.lines + 1
    }

    /// Bytes read.
    pub fn byte(&self) -> u64 {
        self.bytes
    }

    /// An error at this place.
    pub fn error(&self, what: &(impl ToString + ?Sized)) -> ReadError {
        ReadError {
            line: self.line(),
            byte: self.byte(),
            what: what.to_string(),
        }
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            let what = format!("one piece is larger than {} bytes", self.limit);
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let available = self.inner.fill_buf()?;
        let allowed = usize::try_from(self.left).unwrap_or(usize::MAX);
        Ok(available.get(..allowed).unwrap_or(available))
    }

    fn consume(&mut self, amount: usize) {
        // The buffer is not empty here, so this reads nothing and cannot fail.
        if let Ok(available) = self.inner.fill_buf() {
            let eaten = available.iter().take(amount);
            let newlines = eaten.filter(|byte| **byte == b'\n').count();
            self.lines += u64::try_from(newlines).unwrap_or(0);
        }
        let eaten = u64::try_from(amount).unwrap_or(u64::MAX);
        self.bytes += eaten;
        self.left = self.left.saturating_sub(eaten);
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn unpack(bytes: Vec<u8>) -> String {
        let mut text = String::new();
        plain(Cursor::new(bytes))
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    #[test]
    fn plain_gzip_and_zstd_are_told_apart_by_their_first_bytes() {
        let text = "a line\n".repeat(1_000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        assert_eq!(unpack(gzip.finish().unwrap()), text);
        assert_eq!(unpack(zstd::encode_all(text.as_bytes(), 1).unwrap()), text);
        assert_eq!(unpack(text.clone().into_bytes()), text);
        assert_eq!(unpack(Vec::new()), "");
        assert_eq!(unpack(b"abc".to_vec()), "abc");
    }

    #[test]
    fn a_zstd_file_may_look_back_as_far_as_dumps_of_whole_sites_do() {
        // A frame with a window of 2^31 bytes and one raw block of three.
        let frame = [
            0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x19, 0x00, 0x00, b'a', b'b', b'c',
        ];
        assert_eq!(unpack(frame.to_vec()), "abc");
    }

    #[test]
    fn a_place_is_known_by_line_and_byte_and_one_piece_is_bounded() {
        let mut counted = Counted::new(Cursor::new(b"ab\ncd\nef".to_vec()), 6);
        let mut four = [0; 4];
        counted.read_exact(&mut four).unwrap();
        assert_eq!((counted.line(), counted.byte()), (2, 4));
        assert!(
            counted.read_exact(&mut four).is_err(),
            "the seventh byte is too much"
        );
        counted.refill();
        let mut rest = String::new();
        counted.read_to_string(&mut rest).unwrap();
        assert_eq!((rest.as_str(), counted.line()), ("ef", 3));
    }
}
