//! The reader page: discussions as people read and write them, and the frame that a blog embeds.
//!
//! All of it is in the binary and nothing comes from another host. The modules and styles lie in a
//! folder named after their hash, so they may be kept for ever; the pages that name the folder are
//! asked for each time. A content security policy lets nothing else run, whatever a comment holds.

mod files;

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use self::files::{EMBED_PAGE, EMBED_SCRIPT, FILES, File, PAGE};
use super::settings::HttpSettings;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
/// Asked for each time, and answered by 304 while it is the same.
const ASK_FIRST: &str = "no-cache";
/// The folder's name changes with its content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// What is the same for every request of a process.
#[derive(Debug)]
struct Reader {
    page: Document,
    embed: Document,
    script: Document,
    folder: String,
}

/// A body with the headers that always go with it.
#[derive(Debug)]
struct Document {
    body: Bytes,
    etag: HeaderValue,
    content_type: &'static str,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The routes of the page; none where it is turned off.
pub(super) fn routes(settings: &HttpSettings) -> Router {
    if !settings.reader {
        return Router::new();
    }
    let page =
        async |State(reader): State<Arc<Reader>>, headers: HeaderMap| reader.page.answer(&headers);
    let embed =
        async |State(reader): State<Arc<Reader>>, headers: HeaderMap| reader.embed.answer(&headers);
    let script = async |State(reader): State<Arc<Reader>>, headers: HeaderMap| {
        reader.script.answer(&headers)
    };
    Router::new()
        .route("/", get(page))
        .route("/d/{discussion}", get(page))
        .route("/moderation", get(page))
        .route("/mine", get(page))
        .route("/embed", get(embed))
        .route("/embed.js", get(script))
        .route("/reader/{folder}/{name}", get(file))
        .with_state(Arc::new(Reader::new(settings)))
}

impl Reader {
    fn new(settings: &HttpSettings) -> Self {
        let folder = folder();
        let origins = settings.embed_origins.join(" ");
        let fill = |page: &str, other: &str| {
            page.replace("{modules}", &preloads(other))
                .replace("{folder}", &format!("/reader/{folder}"))
                .replace("{version}", env!("CARGO_PKG_VERSION"))
                .replace("{development}", yes_or_no(settings.auth.development))
                .replace("{origins}", &origins)
        };
        let page = Document::new(fill(PAGE, "frame.js"), HTML).with_policy("'self'");
        let embed = Document::new(fill(EMBED_PAGE, "main.js"), HTML);
        let embed = embed.with_policy(format!("'self' {origins}").trim_end());
        // Pages of other sites load it by its address.
        let script = Document::new(EMBED_SCRIPT.to_owned(), SCRIPT).with(
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        );
        Self {
            page,
            embed,
            script,
            folder,
        }
    }
}

impl Document {
    fn new(body: String, content_type: &'static str) -> Self {
        // Weak, because an answer may be compressed on its way.
        let etag = format!("W/\"{}\"", short_hash(&[body.as_bytes()]));
        Self {
            etag: HeaderValue::from_str(&etag).unwrap_or(HeaderValue::from_static("W/\"none\"")),
            body: Bytes::from(body),
            content_type,
            headers: Vec::new(),
        }
    }

    fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// `ancestors` may show the page in a frame. Origins were checked at the start, so that they
    /// cannot end the directive.
    fn with_policy(self, ancestors: &str) -> Self {
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https:; \
             connect-src 'self'; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types threadline; \
             frame-ancestors {ancestors}"
        );
        self.with(header::CONTENT_SECURITY_POLICY, &policy)
            .with(header::REFERRER_POLICY, "no-referrer")
    }

    fn answer(&self, asked: &HeaderMap) -> Response {
        let cache = HeaderValue::from_static(ASK_FIRST);
        let known = asked.get(header::IF_NONE_MATCH);
        let known = known.and_then(|value| value.to_str().ok()).unwrap_or("");
        let etag = self.etag.to_str().unwrap_or("").trim_start_matches("W/");
        let mut response = if known.split(',').any(|it| same_tag(it, etag)) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let content_type = HeaderValue::from_static(self.content_type);
            ([(header::CONTENT_TYPE, content_type)], self.body.clone()).into_response()
        };
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, cache);
        headers.insert(header::ETAG, self.etag.clone());
        headers.extend(self.headers.iter().cloned());
        response
    }
}

/// Whether one entry of `If-None-Match` names the tag, weakly compared.
fn same_tag(entry: &str, etag: &str) -> bool {
    entry.trim().trim_start_matches("W/") == etag
}

const fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// Tells a browser all modules at once, instead of one level of imports after the other.
fn preloads(other: &str) -> String {
    let modules = FILES
        .iter()
        .filter(|file| file.content_type() == SCRIPT && file.name != other);
    let link = |file: &File| {
        let name = file.name;
        format!("<link rel=\"modulepreload\" href=\"{{folder}}/{name}\">")
    };
    modules.map(link).collect::<Vec<_>>().join("\n")
}

/// The name of the folder: a hash over the names and the contents of all files in it.
fn folder() -> String {
    let parts = FILES.iter();
    let parts = parts.flat_map(|file| [file.name.as_bytes(), b"\0", file.text.as_bytes(), b"\0"]);
    short_hash(&parts.collect::<Vec<_>>())
}

fn short_hash(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    let digest = hash.finalize();
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// A module or style. The folder of another version has nothing: a page that is older than the
/// process gets a 404 and is told to load again, never half of each version.
async fn file(
    State(reader): State<Arc<Reader>>,
    Path((folder, name)): Path<(String, String)>,
) -> Response {
    let file = FILES.iter().find(|file| file.name == name);
    let Some(file) = file.filter(|_| folder == reader.folder) else {
        return (StatusCode::NOT_FOUND, "not found").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, file.content_type()),
        (header::CACHE_CONTROL, FOR_EVER),
    ];
    (headers, file.text).into_response()
}
