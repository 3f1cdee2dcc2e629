//! Media types: what a client sends and what it accepts.
//!
//! `application/graphql-response+json` is preferred where a client names it; clients that say
//! nothing, or only a wildcard, get `application/json`. Only UTF-8 is spoken.

use axum::http::{HeaderMap, HeaderValue, header};

/// The media type of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MediaType {
    /// `application/json`.
    #[default]
    Json,
    /// `application/graphql-response+json`.
    GraphqlResponse,
}

impl MediaType {
    /// The `Content-Type` of an answer.
    pub(super) const fn content_type(self) -> HeaderValue {
        match self {
            Self::Json => HeaderValue::from_static("application/json; charset=utf-8"),
            Self::GraphqlResponse => {
                HeaderValue::from_static("application/graphql-response+json; charset=utf-8")
            }
        }
    }

    const fn subtype(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::GraphqlResponse => "graphql-response+json",
        }
    }
}

/// How well a media type is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Match {
    /// 2 for the exact type, 1 for `application/*`, 0 for `*/*`.
    precision: u8,
    /// Thousandths, 0 to 1000.
    quality: u16,
}

/// The media type to answer with; `None` if the client accepts neither.
pub(super) fn negotiate(headers: &HeaderMap) -> Option<MediaType> {
    if !headers.contains_key(header::ACCEPT) {
        return Some(MediaType::Json);
    }
    let ranges = ranges(headers);
    let json = best(&ranges, "application", MediaType::Json.subtype());
    let graphql = best(&ranges, "application", MediaType::GraphqlResponse.subtype());
    match (graphql, json) {
        (None, None) => None,
        (Some(_), None) => Some(MediaType::GraphqlResponse),
        (None, Some(_)) => Some(MediaType::Json),
        (Some(graphql), Some(json)) => {
            // Named beats matched by a wildcard at the same quality.
            let named = graphql.precision == 2;
            let preferred =
                graphql.quality > json.quality || (graphql.quality == json.quality && named);
            Some(if preferred {
                MediaType::GraphqlResponse
            } else {
                MediaType::Json
            })
        }
    }
}

/// Whether a client asks for a stream of events rather than for one answer.
pub(super) fn wants_events(headers: &HeaderMap) -> bool {
    prefers_text(headers, "event-stream")
}

/// Whether a client would rather see a page than data: a browser's address bar does.
pub(super) fn prefers_html(headers: &HeaderMap) -> bool {
    prefers_text(headers, "html")
}

/// Whether a client names this kind of text, and likes no data that it names as much.
fn prefers_text(headers: &HeaderMap, subtype: &str) -> bool {
    let ranges = ranges(headers);
    let Some(text) = best(&ranges, "text", subtype) else {
        return false;
    };
    let data = [MediaType::Json, MediaType::GraphqlResponse]
        .into_iter()
        .filter_map(|media| best(&ranges, "application", media.subtype()));
    text.precision == 2
        && data
            .filter(|data| data.precision == 2)
            .all(|data| data.quality < text.quality)
}

/// Whether a body is JSON in UTF-8 as it stands. A compressed one could grow past every limit.
pub(super) fn is_json_body(headers: &HeaderMap) -> bool {
    if headers
        .get(header::CONTENT_ENCODING)
        .is_some_and(|encoding| encoding != "identity")
    {
        return false;
    }
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let Ok(value) = value.to_str() else {
        return false;
    };
    Range::parse(value).is_some_and(|range| {
        range.kind == "application" && range.subtype == "json" && range.is_utf8
    })
}

struct Range {
    kind: String,
    subtype: String,
    quality: u16,
    is_utf8: bool,
}

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let (kind, subtype) = parts.next()?.split_once('/')?;
        let mut range = Self {
            kind: kind.to_ascii_lowercase(),
            subtype: subtype.to_ascii_lowercase(),
            quality: 1000,
            is_utf8: true,
        };
        for part in parts {
            let Some((name, value)) = part.split_once('=') else {
                continue;
            };
            let value = value.trim().trim_matches('"');
            match name.trim().to_ascii_lowercase().as_str() {
                "q" => range.quality = quality(value)?,
                "charset" => range.is_utf8 = value.eq_ignore_ascii_case("utf-8"),
                _ => {}
            }
        }
        Some(range)
    }

    fn precision_for(&self, kind: &str, subtype: &str) -> Option<u8> {
        match (self.kind.as_str(), self.subtype.as_str()) {
            (own, sub) if own == kind && sub == subtype => Some(2),
            (own, "*") if own == kind => Some(1),
            ("*", "*") => Some(0),
            _ => None,
        }
    }
}

/// Thousandths of `0`, `1`, `0.25`, …; a malformed one makes the whole range void.
fn quality(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let fraction: u16 = if digits {
        format!("{fraction:0<3}").parse().ok()?
    } else {
        return None;
    };
    match whole {
        "0" => Some(fraction),
        "1" if fraction == 0 => Some(1000),
        _ => None,
    }
}

fn ranges(headers: &HeaderMap) -> Vec<Range> {
    let values = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .filter_map(Range::parse)
        .collect()
}

/// The most precise range decides, even if it says "not at all".
fn best(ranges: &[Range], kind: &str, subtype: &str) -> Option<Match> {
    let matches = ranges
        .iter()
        .filter(|range| range.is_utf8)
        .filter_map(|range| {
            let precision = range.precision_for(kind, subtype)?;
            Some(Match {
                precision,
                quality: range.quality,
            })
        });
    matches
        .max_by_key(|found| (found.precision, found.quality))
        .filter(|found| found.quality > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(value: &str) -> HeaderMap {
        [(header::ACCEPT, HeaderValue::from_str(value).unwrap())]
            .into_iter()
            .collect()
    }

    #[test]
    fn answers_come_in_the_type_the_client_likes_best() {
        use MediaType::{GraphqlResponse, Json};
        for (value, want) in [
            ("application/json", Some(Json)),
            ("application/graphql-response+json", Some(GraphqlResponse)),
            (
                "application/graphql-response+json; charset=utf-8",
                Some(GraphqlResponse),
            ),
            (
                "application/graphql-response+json;charset=\"UTF-8\"",
                Some(GraphqlResponse),
            ),
            ("application/graphql-response+json; charset=latin1", None),
            (
                "application/json, application/graphql-response+json",
                Some(GraphqlResponse),
            ),
            (
                "application/graphql-response+json,application/json;q=0.9",
                Some(GraphqlResponse),
            ),
            (
                "application/graphql-response+json;q=0.5, application/json",
                Some(Json),
            ),
            ("application/graphql-response+json;q=0, */*", Some(Json)),
            ("application/json;q=0, */*", Some(GraphqlResponse)),
            ("application/json;q=0", None),
            ("*/*", Some(Json)),
            ("application/*", Some(Json)),
            ("APPLICATION/JSON", Some(Json)),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Some(Json)),
            ("application/json, */*;q=0.1", Some(Json)),
            ("text/html", None),
            ("", None),
            ("application/json;q=2", None),
            (
                "multipart/mixed;boundary=graphql, application/json",
                Some(Json),
            ),
        ] {
            assert_eq!(negotiate(&accept(value)), want, "{value}");
        }
        assert_eq!(negotiate(&HeaderMap::new()), Some(Json));
    }

    #[test]
    fn a_browser_prefers_the_page_and_a_program_does_not() {
        for (value, want) in [
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                true,
            ),
            ("text/html", true),
            ("*/*", false),
            ("application/json, text/html", false),
            ("application/json, text/html;q=0.5", false),
            ("application/json;q=0.5, text/html", true),
        ] {
            assert_eq!(prefers_html(&accept(value)), want, "{value}");
        }
    }

    #[test]
    fn only_json_in_utf8_is_read() {
        for (value, want) in [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("Application/JSON;charset=\"UTF-8\"", true),
            ("application/json; charset=iso-8859-1", false),
            ("application/graphql", false),
            ("text/plain", false),
            ("application/x-www-form-urlencoded", false),
            ("multipart/form-data; boundary=x", false),
            ("json", false),
            ("", false),
        ] {
            let headers: HeaderMap =
                [(header::CONTENT_TYPE, HeaderValue::from_str(value).unwrap())]
                    .into_iter()
                    .collect();
            assert_eq!(is_json_body(&headers), want, "{value}");
        }
        assert!(!is_json_body(&HeaderMap::new()));
    }
}
