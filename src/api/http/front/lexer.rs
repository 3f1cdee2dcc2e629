//! A linear pass over a document before the parser sees it: counts tokens and bracket depth.
//!
//! The parser and everything behind it recurse over brackets, and a stack overflow cannot be
//! caught; so the depth is known before they run. It must never see fewer brackets than the parser
//! does. That is why an unterminated string is refused here: the parser would try to read its
//! quotes in another way and find brackets where this pass saw text.

use async_graphql::Pos;

use crate::api::http::error::{Code, RequestError};

/// What a document may hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Tokens.
    pub(super) tokens_max: usize,
    /// Brackets open at once.
    pub(super) nesting_max: usize,
}

/// Checks a document in one pass; the error names the limit and the place.
pub(super) fn check(document: &str, bounds: Bounds) -> Result<(), RequestError> {
    let mut lexer = Lexer {
        document,
        rest: document.as_bytes(),
    };
    let mut tokens = 0_usize;
    let mut nesting = 0_usize;
    while let Some((start, token)) = lexer.next_token()? {
        tokens += 1;
        if tokens > bounds.tokens_max {
            let message = format!("the document has more than {} tokens", bounds.tokens_max);
            return Err(too_complex(message).at(lexer.position(start)));
        }
        match token {
            Token::Open => nesting += 1,
            Token::Close => nesting = nesting.saturating_sub(1),
            Token::Other => {}
        }
        if nesting > bounds.nesting_max {
            let limit = bounds.nesting_max;
            let message = format!("brackets are nested more than {limit} deep");
            return Err(too_complex(message).at(lexer.position(start)));
        }
    }
    Ok(())
}

fn too_complex(message: String) -> RequestError {
    RequestError::refused(Code::QueryTooComplex, message)
}

enum Token {
    Open,
    Close,
    Other,
}

struct Lexer<'a> {
    document: &'a str,
    rest: &'a [u8],
}

impl Lexer<'_> {
    /// The next token and the byte it starts at.
    fn next_token(&mut self) -> Result<Option<(usize, Token)>, RequestError> {
        self.skip_ignored();
        let start = self.offset();
        let Some(&first) = self.rest.first() else {
            return Ok(None);
        };
        let token = match first {
            b'(' | b'[' | b'{' => self.take(1, Token::Open),
            b')' | b']' | b'}' => self.take(1, Token::Close),
            b'"' if self.rest.starts_with(b"\"\"\"") => self.block_string(start)?,
            b'"' => self.string(start)?,
            b'.' if self.rest.starts_with(b"...") => self.take(3, Token::Other),
            b'-' | b'0'..=b'9' => self.number(),
            byte if is_word(byte) => {
                let length = self.rest.iter().take_while(|byte| is_word(**byte)).count();
                self.take(length, Token::Other)
            }
            _ => self.take(1, Token::Other),
        };
        Ok(Some((start, token)))
    }

    fn skip_ignored(&mut self) {
        loop {
            match self.rest {
                [b' ' | b'\t' | b'\n' | b'\r' | b',', rest @ ..]
                | [0xef, 0xbb, 0xbf, rest @ ..] => {
                    self.rest = rest;
                }
                [b'#', ..] => {
                    let text = self
                        .rest
                        .iter()
                        .take_while(|byte| !is_line_end(**byte))
                        .count();
                    self.advance(text);
                }
                _ => return,
            }
        }
    }

    fn number(&mut self) -> Token {
        self.advance(1);
        loop {
            match self.rest {
                [b'.', b'0'..=b'9', rest @ ..] | [b'e' | b'E', b'+' | b'-', rest @ ..] => {
                    self.rest = rest;
                }
                [byte, rest @ ..] if is_word(*byte) => self.rest = rest,
                _ => return Token::Other,
            }
        }
    }

    fn string(&mut self, start: usize) -> Result<Token, RequestError> {
        self.advance(1);
        loop {
            match self.rest {
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    return Ok(Token::Other);
                }
                [b'\\', byte, rest @ ..] if !is_line_end(*byte) => self.rest = rest,
                [byte, rest @ ..] if !is_line_end(*byte) => self.rest = rest,
                _ => return Err(self.unterminated("string", start)),
            }
        }
    }

    fn block_string(&mut self, start: usize) -> Result<Token, RequestError> {
        self.advance(3);
        loop {
            match self.rest {
                [b'"', b'"', b'"', rest @ ..] => {
                    self.rest = rest;
                    return Ok(Token::Other);
                }
                [b'\\', b'"', b'"', b'"', rest @ ..] | [_, rest @ ..] => self.rest = rest,
                [] => return Err(self.unterminated("block string", start)),
            }
        }
    }

    fn unterminated(&self, what: &str, start: usize) -> RequestError {
        let message = format!("syntax error: unterminated {what}");
        RequestError::refused(Code::ParseFailed, message).at(self.position(start))
    }

    fn take(&mut self, bytes: usize, token: Token) -> Token {
        self.advance(bytes);
        token
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn offset(&self) -> usize {
        self.document.len() - self.rest.len()
    }

    /// Line and column of a byte, both from 1; columns count characters as the parser does.
    fn position(&self, offset: usize) -> Pos {
        let before = self.document.get(..offset).unwrap_or(self.document);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        Pos {
            line: before.matches('\n').count() + 1,
            column,
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;
    use proptest::prelude::*;

    use super::*;

    fn counts(document: &str) -> (usize, usize) {
        let mut lexer = Lexer {
            document,
            rest: document.as_bytes(),
        };
        let (mut tokens, mut nesting, mut deepest) = (0, 0_usize, 0);
        while let Some((_, token)) = lexer.next_token().unwrap() {
            tokens += 1;
            match token {
                Token::Open => nesting += 1,
                Token::Close => nesting -= 1,
                Token::Other => {}
            }
            deepest = deepest.max(nesting);
        }
        (tokens, deepest)
    }

    #[test]
    fn tokens_are_those_of_the_specification() {
        for (document, tokens, nesting) in [
            ("", 0, 0),
            ("{a}", 3, 1),
            ("\u{feff}{ a, b,,\t}", 4, 1),
            ("{a(b:[1,-2.5e+3,\"x\"])}", 12, 3),
            ("{...f ...on T{a}}", 10, 2),
            ("{a # } } (((\n b}", 4, 1),
            ("{a # } } (((\r b}", 4, 1),
            (r#"{a(b:"((( \" [[[ \\")}"#, 8, 2),
            (r#"{a(b:"")}"#, 8, 2),
            ("{a(b:\"\"\"((( \\\"\"\" \" \"\" [[[ \n\"\"\")}", 8, 2),
            ("query($a:[[Int!]!]=[[1]] @d){é}", 25, 3),
        ] {
            assert_eq!(counts(document), (tokens, nesting), "{document}");
        }
    }

    #[test]
    fn an_error_names_the_limit_and_the_place() {
        let bounds = Bounds {
            tokens_max: 4,
            nesting_max: 2,
        };
        let error = check("{a\n \"é\" b c}", bounds).unwrap_err();
        assert_eq!(error.message, "the document has more than 4 tokens");
        assert_eq!(error.locations, [Pos { line: 2, column: 8 }]);
        let error = check("{{\n  {", bounds).unwrap_err();
        assert_eq!(error.message, "brackets are nested more than 2 deep");
        assert_eq!(error.locations, [Pos { line: 2, column: 3 }]);
        assert!(
            check(
                "{{a}}",
                Bounds {
                    tokens_max: 5,
                    nesting_max: 2
                }
            )
            .is_ok()
        );
    }

    #[test]
    fn an_unterminated_string_cannot_hide_brackets_from_the_count() {
        // To the parser this is an empty string, a string, and then a list.
        let hidden = format!("{{a(b:[\"\"\" \" {}{} ])}}", "[".repeat(20), "]".repeat(20));
        assert!(parse_query(&hidden).is_ok());
        let bounds = Bounds {
            tokens_max: 1_000,
            nesting_max: 10,
        };
        for document in [hidden.as_str(), "{a(b:\"x\n\")}", "{a(b:\"x\\", "\""] {
            assert_eq!(
                check(document, bounds).unwrap_err().code,
                Code::ParseFailed,
                "{document}"
            );
        }
    }

    fn depth_of(value: &async_graphql::Value) -> usize {
        use async_graphql::Value;
        match value {
            Value::List(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
            Value::Object(fields) => 1 + fields.values().map(depth_of).max().unwrap_or(0),
            Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Boolean(_)
            | Value::Binary(_)
            | Value::Enum(_) => 0,
        }
    }

    proptest! {
        /// Whatever the parser accepts, this pass has counted at least its brackets.
        #[test]
        fn the_parser_never_finds_deeper_values(text in r#"["\[\]\\ #\n{}a:1]{0,24}"#) {
            let document = format!("{{a(b:[{text}])}}");
            if let (Ok(parsed), Ok(())) = (
                parse_query(&document),
                check(&document, Bounds { tokens_max: 1_000, nesting_max: 6 }),
            ) {
                for (_, operation) in parsed.operations.iter() {
                    for item in &operation.node.selection_set.node.items {
                        if let async_graphql::parser::types::Selection::Field(field) = &item.node {
                            for (_, value) in &field.node.arguments {
                                let value = value.node.clone().into_const().unwrap();
                                prop_assert!(depth_of(&value) <= 4);
                            }
                        }
                    }
                }
            }
        }
    }
}
