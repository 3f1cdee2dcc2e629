//! XML as exports use it: a flat stream of events with bounds and places.
//!
//! The declared encoding is obeyed; bytes that are not in it are an error with line and byte.
//! Entities of a DTD are never defined, expanded or fetched: a file that defines some is refused.

use std::fmt;
use std::io::{self, Cursor, Read as _};

use quick_xml::encoding::DecodingReader;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use quick_xml::{Error, XmlVersion};

use super::input::{Counted, Input, ReadError};

/// Bytes of one tag, text, comment or declaration, unless a format needs more.
const EVENT_BYTES_MAX: u64 = 4 << 20;
/// Elements within elements.
const DEPTH_MAX: usize = 32;
/// Where an XML declaration must end.
const HEAD_BYTES: u64 = 1_024;

type Raw = Counted<io::Chain<Cursor<Vec<u8>>, Input>>;
type Decoded = Counted<DecodingReader<Raw>>;

/// One event.
pub(super) enum XmlEvent {
    /// An element begins.
    Open(BytesStart<'static>),
    /// The innermost element ends.
    Close,
    /// Text within it; one text may come in pieces.
    Text(String),
    /// The file ended, with every element closed.
    End,
}

/// Streams events.
pub(super) struct XmlReader {
    reader: Reader<Decoded>,
    buffer: Vec<u8>,
    /// The line on which each open element began.
    open: Vec<u64>,
}

impl fmt::Debug for XmlReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XmlReader")
            .field("line", &self.line())
            .field("depth", &self.open.len())
            .finish_non_exhaustive()
    }
}

impl XmlReader {
    /// Reads the declaration of `input`.
    pub(super) fn new(input: Input) -> Result<Self, ReadError> {
        Self::with_limit(input, EVENT_BYTES_MAX)
    }

    /// The same, for a format whose pieces may have up to `event_bytes_max` bytes.
    pub(super) fn with_limit(mut input: Input, event_bytes_max: u64) -> Result<Self, ReadError> {
        let mut head = Vec::new();
        let failed = |error: io::Error| ReadError {
            line: 1,
            byte: 0,
            what: error.to_string(),
        };
        let mut start = input.by_ref().take(HEAD_BYTES);
        start.read_to_end(&mut head).map_err(failed)?;
        let start = Cursor::new(head.clone());
        let mut decoding = DecodingReader::new(Counted::new(start.chain(input), u64::MAX));
        obey_declaration(&head, &mut decoding)?;
        let mut reader = Reader::from_reader(Counted::new(decoding, event_bytes_max));
        reader.config_mut().expand_empty_elements = true;
        reader.config_mut().check_end_names = true;
        Ok(Self {
            reader,
            buffer: Vec::new(),
            open: Vec::new(),
        })
    }

    /// The line being read, from 1.
    pub(super) fn line(&self) -> u64 {
        self.reader.get_ref().line()
    }

    /// An error at this place.
    pub(super) fn error(&self, what: &(impl ToString + ?Sized)) -> ReadError {
        self.reader.get_ref().error(what)
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Result<XmlEvent, ReadError> {
        loop {
            self.buffer.clear();
            self.reader.get_mut().refill();
            match self.reader.read_event_into(&mut self.buffer) {
                Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_)) => {}
                Ok(Event::DocType(definition)) => {
                    if definition.to_ascii_lowercase().contains("<!entity") {
                        let what = "the file defines its own XML entities, which is refused";
                        return Err(self.reader.get_ref().error(what));
                    }
                }
                Ok(Event::Start(tag)) => {
                    self.open.push(self.reader.get_ref().line());
                    if self.open.len() > DEPTH_MAX {
                        let what = format!("elements lie more than {DEPTH_MAX} deep");
                        return Err(self.reader.get_ref().error(&what));
                    }
                    return Ok(XmlEvent::Open(tag.into_owned()));
                }
                Ok(Event::Empty(_) | Event::End(_)) => {
                    self.open.pop();
                    return Ok(XmlEvent::Close);
                }
                Ok(Event::Text(text)) => {
                    return Ok(XmlEvent::Text(text.xml10_content().into_owned()));
                }
                Ok(Event::CData(text)) => {
                    return Ok(XmlEvent::Text(text.xml10_content().into_owned()));
                }
                Ok(Event::GeneralRef(reference)) => {
                    let text = match reference.resolve_char_ref() {
                        Ok(Some(ch)) => ch.to_string(),
                        Ok(None) => predefined(&reference),
                        Err(error) => return Err(place(&self.reader, &error)),
                    };
                    return Ok(XmlEvent::Text(text));
                }
                Ok(Event::Eof) => return self.end(),
                Err(error) => return Err(place(&self.reader, &error)),
            }
        }
    }

    fn end(&self) -> Result<XmlEvent, ReadError> {
        match self.open.last() {
            None => Ok(XmlEvent::End),
            Some(line) => Err(self.error(&format!(
                "the file ends inside an element that began on line {line}; it was cut off"
            ))),
        }
    }
}

/// The value of the attribute whose name without its prefix is `name`.
pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag
        .attributes()
        .with_checks(false)
        .filter_map(Result::ok)
        .find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value = found.normalized_value(XmlVersion::Implicit1_0).ok()?;
    Some(value.trim().to_owned())
}

/// The five entities XML knows; any other stays as it is written, as HTML would have it.
fn predefined(name: &str) -> String {
    match name {
        "amp" => "&".to_owned(),
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        _ => format!("&{name};"),
    }
}

fn place(reader: &Reader<Decoded>, error: &Error) -> ReadError {
    let decoded = reader.get_ref();
    match error {
        Error::Encoding(_) => {
            let decoding = decoded.inner();
            let encoding = decoding.encoding().name();
            let what = format!("the bytes here are not {encoding}, as the file claims to be");
            decoding.get_ref().error(&what)
        }
        Error::Io(_)
        | Error::Syntax(_)
        | Error::IllFormed(_)
        | Error::InvalidAttr(_)
        | Error::Escape(_)
        | Error::Namespace(_) => decoded.error(error),
    }
}

/// Obeys the encoding the file's first line declares, unless its first bytes already say UTF-16.
///
/// This comes before the first read: later would be too late for what was already decoded.
fn obey_declaration(head: &[u8], decoding: &mut DecodingReader<Raw>) -> Result<(), ReadError> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}');
    let Some((declaration, _)) = text.split_once("?>").filter(|_| text.starts_with("<?xml "))
    else {
        return Ok(());
    };
    let declaration = format!("{declaration}?>");
    let mut reader = Reader::from_str(&declaration);
    let Ok(Event::Decl(declared)) = reader.read_event() else {
        return Ok(());
    };
    let Some(Ok(name)) = declared.encoding() else {
        return Ok(());
    };
    let what = match declared.encoder() {
        Some(encoding) if encoding.is_ascii_compatible() => {
            decoding.set_encoding(encoding);
            return Ok(());
        }
        Some(_) => format!("the file says it is written in {name}, but it is not"),
        None => format!("the encoding {name} is not known"),
    };
    Err(ReadError {
        line: 1,
        byte: 0,
        what,
    })
}
