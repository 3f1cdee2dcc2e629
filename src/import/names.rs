//! What readers of several formats do with the names and addresses of people and pages.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::record::SourceAuthor;
use crate::domain::body::{self, BodyFormat};

/// The key of an author who is known by nothing.
pub(super) const ANONYMOUS: &str = "anonymous";

/// An author known by mail, else by name, else not at all.
///
/// The key is the same for every spelling of one address, of which only a hash is kept.
pub(super) fn author_by_mail(mail: &str, name: &str) -> SourceAuthor {
    let (mail, name) = (mail.trim(), name.trim());
    SourceAuthor {
        key: if !mail.is_empty() {
            mail_key(mail)
        } else if !name.is_empty() {
            format!("name:{name}")
        } else {
            ANONYMOUS.to_owned()
        },
        name: name.to_owned(),
    }
}

/// The key of an author who is known by an address of mail; only its hash is kept.
pub(super) fn mail_key(mail: &str) -> String {
    let hash = Sha256::digest(mail.trim().to_lowercase());
    format!("mail:{}", URL_SAFE_NO_PAD.encode(hash))
}

/// A name or title that its system keeps as HTML, as people saw it: `Tom &amp; Ann` is `Tom & Ann`.
pub(super) fn without_markup(html: &str) -> String {
    if html.contains(['&', '<']) {
        body::plain_text(html, BodyFormat::Html)
    } else {
        html.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_is_known_by_mail_in_any_spelling_else_by_name() {
        let ann = author_by_mail(" Ann@Example.com", "Ann");
        assert_eq!(ann.key, author_by_mail("ann@example.com", "A.").key);
        assert!(!ann.key.to_lowercase().contains("ann"));
        assert_eq!(author_by_mail("", " Ann ").key, "name:Ann");
        assert_eq!(author_by_mail(" ", "").key, ANONYMOUS);
    }

    #[test]
    fn a_name_is_what_people_saw() {
        assert_eq!(without_markup("Tom &amp; Ann"), "Tom & Ann");
        assert_eq!(without_markup("It&#8217;s <em>new</em>"), "It’s new");
        assert_eq!(without_markup("a < b <3"), "a < b <3");
        assert_eq!(without_markup("plain"), "plain");
    }
}
