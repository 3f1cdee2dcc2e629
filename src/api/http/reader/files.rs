//! The files of the page, as they are in the binary.

use super::SCRIPT;

/// The page itself, with places for what the process knows.
pub(super) const PAGE: &str = include_str!("assets/page.html");
/// The same for a frame of another page.
pub(super) const EMBED_PAGE: &str = include_str!("assets/embed.html");
/// What another page loads to get that frame.
pub(super) const EMBED_SCRIPT: &str = include_str!("assets/embed.js");

/// A module, style or image.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

impl File {
    /// Told by the end of the name.
    pub(super) fn content_type(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => SCRIPT,
        }
    }
}

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(File { name: $name, text: include_str!(concat!("assets/", $name)) }),+]
    };
}

/// Everything that the pages load, in one folder, so that modules find each other by name.
pub(super) const FILES: &[File] = files![
    "account.js",
    "actions.js",
    "app.js",
    "base.css",
    "comment.js",
    "comments.css",
    "compose.js",
    "context.js",
    "discussion.js",
    "documents.js",
    "dom.js",
    "events.js",
    "forms.css",
    "frame.js",
    "graphql.js",
    "head.js",
    "icon.svg",
    "identity.js",
    "kept.js",
    "keys.js",
    "list.js",
    "live.js",
    "main.js",
    "mine.js",
    "moderation.js",
    "people.js",
    "person_documents.js",
    "queue.js",
    "report.js",
    "thread.js",
    "words.js",
    "writing.js",
];
