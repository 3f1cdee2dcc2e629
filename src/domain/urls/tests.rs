//! Addresses and entities: what is one and the same, and what is refused.

use proptest::prelude::*;

use super::*;

fn kept() -> Vec<String> {
    ["id", "page", "q ä"].map(str::to_owned).to_vec()
}

fn canonical(input: &str) -> Result<String, UrlError> {
    CanonicalUrl::parse(input, &kept()).map(|url| url.as_str().to_owned())
}

#[test]
fn addresses_of_one_page_give_one_key() {
    for same in [
        "http://example.com/p/1?id=5",
        "https://example.com/p/1?id=5",
        "HTTPS://EXAMPLE.COM/p/1?id=5",
        "https://example.com:443/p/1?id=5",
        "http://example.com:80/p/1?id=5",
        "https://example.com./p/1?id=5",
        "https://example.com/p/1?id=5#comments",
        "https://example.com/p/1?utm_source=a&id=5&fbclid=b",
        "https://example.com/p/1?i%64=5",
        "https://example.com/x/../p/1?id=5&&ID=6",
        "  https://example.com/p/1?id=5\n",
    ] {
        assert_eq!(
            canonical(same).as_deref(),
            Ok("example.com/p/1?id=5"),
            "{same:?}"
        );
    }
    let url = CanonicalUrl::parse("https://example.com", &[]).unwrap();
    assert_eq!(
        (url.key().as_str(), url.to_string().as_str()),
        ("url:example.com/", "example.com/")
    );
}

#[test]
fn what_may_be_another_page_is_kept() {
    for (input, want) in [
        ("https://example.com/a/", "example.com/a/"),
        ("https://example.com/a", "example.com/a"),
        ("https://example.com//a///b", "example.com//a///b"),
        (
            "https://example.com/A%2fb%C3%A9?id=%2F+x",
            "example.com/A%2fb%C3%A9?id=%2F+x",
        ),
        ("https://example.com/é", "example.com/%C3%A9"),
        ("https://www.example.com/", "www.example.com/"),
        ("https://example.com:8443/", "example.com:8443/"),
        (
            "https://example.com/?page=2&id=b&id=a&x",
            "example.com/?id=b&id=a&page=2",
        ),
        ("https://example.com/?id", "example.com/?id"),
        ("https://example.com/?id=", "example.com/?id="),
        ("https://example.com/?x=1", "example.com/"),
        ("https://example.com/?q+%C3%A4=1", "example.com/?q+%C3%A4=1"),
        ("https://Bücher.example/", "xn--bcher-kva.example/"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example/"),
        ("https://例え.テスト/", "xn--r8jz45g.xn--zckzah/"),
        ("http://[::1]:8080/", "[::1]:8080/"),
        ("http://0x7f.1/", "127.0.0.1/"),
    ] {
        assert_eq!(canonical(input).as_deref(), Ok(want), "{input:?}");
    }
}

#[test]
fn what_names_no_page_is_refused_with_the_reason() {
    for (input, want, code) in [
        ("", UrlError::Relative, "URL_RELATIVE"),
        ("/p/1", UrlError::Relative, "URL_RELATIVE"),
        ("example.com/p", UrlError::Relative, "URL_RELATIVE"),
        ("//example.com/p", UrlError::Relative, "URL_RELATIVE"),
        ("javascript:alert(1)", UrlError::Scheme, "URL_SCHEME"),
        ("java\nscript:alert(1)", UrlError::Scheme, "URL_SCHEME"),
        ("data:text/html,x", UrlError::Scheme, "URL_SCHEME"),
        ("file:///etc/passwd", UrlError::Scheme, "URL_SCHEME"),
        ("ftp://example.com/", UrlError::Scheme, "URL_SCHEME"),
        ("localhost:80/p", UrlError::Scheme, "URL_SCHEME"),
        (
            "https://a@example.com/",
            UrlError::Credentials,
            "URL_CREDENTIALS",
        ),
        (
            "https://:b@example.com/",
            UrlError::Credentials,
            "URL_CREDENTIALS",
        ),
        (
            "https://",
            UrlError::Invalid(url::ParseError::EmptyHost),
            "URL_INVALID",
        ),
        (
            "https://a b/",
            UrlError::Invalid(url::ParseError::IdnaError),
            "URL_INVALID",
        ),
        (
            "https://0../",
            UrlError::Invalid(url::ParseError::EmptyHost),
            "URL_INVALID",
        ),
        (
            "https://./",
            UrlError::Invalid(url::ParseError::EmptyHost),
            "URL_INVALID",
        ),
        (
            "https://a:99999/",
            UrlError::Invalid(url::ParseError::InvalidPort),
            "URL_INVALID",
        ),
    ] {
        assert_eq!(canonical(input), Err(want), "{input:?}");
        assert_eq!(want.code(), code);
    }
}

#[test]
fn an_over_long_url_is_refused_with_the_limit_and_its_length() {
    let prefix = "https://example.com/";
    let fits = format!("{prefix}{}", "a".repeat(URL_BYTES_MAX - prefix.len()));
    assert!(canonical(&fits).is_ok());
    let error = canonical(&format!("{fits}a")).unwrap_err();
    assert_eq!(
        error,
        UrlError::TooLong {
            limit: 2_048,
            actual: 2_049
        }
    );
    assert_eq!(
        error.to_string(),
        "the URL is 2049 bytes long (limit 2048 bytes)"
    );
    let grows = format!("{prefix}{}", "é".repeat(500));
    assert!(matches!(
        canonical(&grows),
        Err(UrlError::TooLong { actual: 3_012, .. })
    ));
}

#[test]
fn an_entity_has_a_plain_type_and_a_visible_id() {
    let entity = EntityRef::new("blog-post", "123 https://example.com/?p=123").unwrap();
    assert_eq!(
        (entity.entity_type(), entity.id()),
        ("blog-post", "123 https://example.com/?p=123")
    );
    assert_eq!(
        entity.key(),
        "entity:blog-post:123 https://example.com/?p=123"
    );
    for id in ["1", "a:b", "日本", "😶", &"é".repeat(128)] {
        assert!(EntityRef::new("a", id).is_ok(), "{id:?}");
    }
    for bad in ["", "A", "1a", "-a", "a b", "a:b", "é", &"a".repeat(33)] {
        assert_eq!(EntityRef::new(bad, "1"), Err(EntityError::Type), "{bad:?}");
    }
    assert!(EntityRef::new("a".repeat(32), "1").is_ok());
    assert_eq!(EntityRef::new("a", ""), Err(EntityError::IdEmpty));
    let error = EntityRef::new("a", "é".repeat(129)).unwrap_err();
    assert_eq!(
        error,
        EntityError::IdTooLong {
            limit: 128,
            actual: 129
        }
    );
    assert_eq!(error.code(), "ENTITY_ID_TOO_LONG");
    for (id, code, at) in [
        (" a", 0x20, 0),
        ("a ", 0x20, 1),
        ("a  b", 0x20, 2),
        ("a\n", 0xA, 1),
        ("a\u{200B}b", 0x200B, 1),
        ("a\u{202E}", 0x202E, 1),
    ] {
        assert_eq!(
            EntityRef::new("a", id),
            Err(EntityError::IdCharacter { code, at })
        );
    }
}

proptest! {
    #[test]
    fn a_canonical_form_is_its_own_canonical_form(
        input in "https?://[a-zA-Z0-9ü.-]{1,12}(:[0-9]{1,5})?(/[a-z%/.é ]{0,12}){0,3}(\\?([idpagex%=&+ä64]{0,20}))?(#x)?",
    ) {
        if let Ok(first) = CanonicalUrl::parse(&input, &kept()) {
            for scheme in ["http", "https"] {
                let again = CanonicalUrl::parse(&format!("{scheme}://{first}"), &kept());
                prop_assert_eq!(again.as_ref(), Ok(&first));
            }
        }
    }

    #[test]
    fn no_text_makes_a_url_or_entity_panic(text in any::<String>()) {
        drop((canonical(&text), EntityRef::new("a", text.clone()), EntityRef::new(text, "1")));
    }
}
