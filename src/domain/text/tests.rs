//! What people may write, by the outcome of each rule.

use proptest::prelude::*;

use super::*;

fn check(body: &str) -> Result<(), TextError> {
    check_body(body, &TextLimits::default())
}

#[test]
fn bodies_in_which_nothing_is_seen_are_empty() {
    for empty in [
        "",
        " ",
        "\u{200B}\u{2060}\u{FEFF}",
        "\u{3000}\u{3000}",
        "\n\n\r\n\t",
        "\u{200D}",
        "\u{200C}",
        "\u{200E}\u{200F}\u{061C}",
        "\u{202E}\u{202C}",
        "\u{2066}\u{2069}",
        "\u{FE0F}\u{FE0E}",
        "\u{E0100}",
        "\u{AD}",
        "\u{115F}\u{1160}",
        "\u{3164}",
        "\u{FFA0}",
        "\u{2800}",
        "\u{E0001}\u{E0020}\u{E007F}",
        "\u{180E}",
        "\u{34F}",
        "\u{2028}\u{2029}",
        "\u{A0}\u{2003}\u{202F}\u{205F}",
        "\u{17B4}\u{17B5}",
        "\u{1D159}\u{1D173}",
        "\u{FFF9}\u{FFFA}\u{FFFB}",
        "\u{2061}\u{2064}\u{206F}",
    ] {
        assert_eq!(check(empty), Err(TextError::Empty), "{empty:?}");
        assert_eq!(check_visible(empty), Err(TextError::Empty), "{empty:?}");
        assert_eq!(
            check(&format!("{empty}x")),
            Ok(()),
            "{empty:?} beside a letter"
        );
    }
}

#[test]
fn what_people_write_is_accepted_as_it_is() {
    for body in [
        "a😶b",
        "👨\u{200D}👩\u{200D}👧\u{200D}👦",
        "👩\u{200D}❤\u{FE0F}\u{200D}💋\u{200D}👨",
        "👍🏽",
        "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
        "1\u{FE0F}\u{20E3}",
        "ex𝌆tic",
        "می\u{200C}خواهم",
        "שלום hello עולם",
        "abc\u{202E}def",
        "a\u{202E}",
        "line\r\nline\rline\n\tx",
        "กำ้ ประเทศไทย",
        "บํ้",
        "בְּרֵאשִׁ֖ית",
        "Z̧̈",
        "ཧཱུྃ",
        "क्षि",
        ".",
    ] {
        assert_eq!(check(body), Ok(()), "{body:?}");
        assert_eq!(
            check_title(&body.replace(['\r', '\n', '\t'], "")),
            Ok(()),
            "{body:?}"
        );
    }
}

#[test]
fn a_long_body_is_refused_with_the_limit_and_its_length() {
    assert_eq!(check(&"a".repeat(10_000)), Ok(()));
    assert_eq!(
        check(&"😶".repeat(10_000)),
        Ok(()),
        "four bytes each is exactly the byte limit"
    );
    let error = check(&"é".repeat(10_001)).unwrap_err();
    assert_eq!(
        error,
        TextError::TooLongScalars {
            limit: 10_000,
            actual: 10_001
        }
    );
    assert_eq!(error.code_for(TextField::Body), "BODY_TOO_LONG");
    assert_eq!(error.limit_and_actual(), Some((10_000, 10_001)));
    assert_eq!(
        error.to_string(),
        "10001 characters long (limit 10000 Unicode scalars)"
    );
    let limits = TextLimits {
        body_bytes_max: 7,
        ..TextLimits::default()
    };
    let error = check_body("😶😶", &limits).unwrap_err();
    assert_eq!(
        error,
        TextError::TooLongBytes {
            limit: 7,
            actual: 8
        }
    );
    assert_eq!(error.to_string(), "8 bytes long in UTF-8 (limit 7 bytes)");
    assert_eq!(error.code(), "TEXT_TOO_LONG");
}

#[test]
fn stacked_marks_are_refused_whatever_stands_between_them() {
    assert_eq!(check(&format!("e{}", "\u{301}".repeat(8))), Ok(()));
    assert_eq!(
        check(&format!("xe{}y", "\u{301}".repeat(2_000))),
        Err(TextError::TooManyCombiningMarks {
            limit: 8,
            actual: 2_000,
            at: 10
        })
    );
    for between in ["\u{200D}", "\u{200B}", "\u{2060}", "\u{202C}"] {
        let body = format!("e{}", format!("\u{301}{between}").repeat(9));
        assert_eq!(
            check(&body),
            Err(TextError::TooManyCombiningMarks {
                limit: 8,
                actual: 9,
                at: 17
            }),
            "{between:?}"
        );
    }
    let selectors = format!("a{}", "\u{E0101}".repeat(100));
    assert!(matches!(
        check(&selectors),
        Err(TextError::TooManyCombiningMarks { actual: 100, .. })
    ));
    let many_bases = format!("e{}", "\u{301}".repeat(8)).repeat(100);
    assert_eq!(check(&many_bases), Ok(()));
    let name = format!("e{}", "\u{301}".repeat(9));
    assert!(matches!(
        check_name(&name),
        Err(TextError::TooManyCombiningMarks { .. })
    ));
}

#[test]
fn control_characters_and_noncharacters_are_named_with_their_place() {
    for code in (0..0x20)
        .chain(0x7F..=0x9F)
        .chain([0xFDD0, 0xFDEF, 0xFFFE, 0xFFFF, 0x10_FFFF])
    {
        let ch = char::from_u32(code).unwrap();
        let body = format!("é{ch}");
        if matches!(ch, '\t' | '\n' | '\r') {
            assert_eq!(check(&body), Ok(()));
        } else {
            let error = check(&body).unwrap_err();
            assert_eq!(error, TextError::ControlCharacter { code, at: 1 });
            assert_eq!(error.code_for(TextField::Body), "BODY_CONTROL_CHARACTER");
        }
    }
    let text = TextError::ControlCharacter { code: 0x7, at: 3 }.to_string();
    assert_eq!(text, "character U+0007 at offset 3 is not allowed in text");
}

#[test]
fn a_name_may_not_turn_around_what_follows() {
    for code in (0x202A..=0x202E).chain(0x2066..=0x2069) {
        let name = format!("bob{}", char::from_u32(code).unwrap());
        assert_eq!(
            check_name(&name),
            Err(TextError::DirectionControl { code, at: 3 })
        );
        assert_eq!(clean_name(&name).unwrap(), "bob");
    }
    for name in [
        "bob",
        "a😶b",
        "👨\u{200D}👩\u{200D}👧",
        "ex𝌆tic",
        "می\u{200C}خواهم",
        "דנה\u{200F} (D)",
    ] {
        assert_eq!(check_name(name), Ok(()), "{name:?}");
        assert!(matches!(clean_name(name), Ok(Cow::Borrowed(same)) if same == name));
    }
}

#[test]
fn a_name_is_one_visible_line_of_64() {
    assert_eq!(check_name(""), Err(TextError::Empty));
    assert_eq!(check_name("\u{3164}"), Err(TextError::Empty));
    assert_eq!(check_name(&"😶".repeat(64)), Ok(()));
    let long = "a".repeat(65);
    let too_long = TextError::TooLongScalars {
        limit: 64,
        actual: 65,
    };
    assert_eq!(check_name(&long), Err(too_long));
    assert_eq!(check_name("a\nb"), Err(TextError::LineBreak { at: 1 }));
    assert_eq!(
        check_name("a\tb"),
        Err(TextError::ControlCharacter { code: 9, at: 1 })
    );
    assert_eq!(clean_name(" a\r\nb\u{0} "), Ok(Cow::Borrowed("a  b")));
    assert_eq!(clean_name(&long), Err(too_long), "a name is never cut");
    assert_eq!(clean_name("\u{202E} \u{0}"), Err(TextError::Empty));
}

#[test]
fn a_title_is_one_visible_line_of_300() {
    assert_eq!(check_title(&"é".repeat(300)), Ok(()));
    let too_long = TextError::TooLongScalars {
        limit: 300,
        actual: 301,
    };
    assert_eq!(check_title(&"é".repeat(301)), Err(too_long));
    assert_eq!(too_long.code_for(TextField::Title), "TITLE_TOO_LONG");
    for line_break in ['\n', '\r', '\u{2028}', '\u{2029}'] {
        let error = check_title(&format!("a{line_break}b"));
        assert_eq!(error, Err(TextError::LineBreak { at: 1 }));
    }
    assert_eq!(check_title("\u{200B}"), Err(TextError::Empty));
}

#[test]
fn a_posting_key_is_visible_ascii() {
    assert_eq!(check_posting_key("b2f0-ü".trim_end_matches('ü')), Ok(()));
    assert_eq!(check_posting_key(&"~".repeat(64)), Ok(()));
    assert_eq!(check_posting_key(""), Err(TextError::Empty));
    let error = check_posting_key(&"k".repeat(65)).unwrap_err();
    assert_eq!(
        error,
        TextError::TooLongScalars {
            limit: 64,
            actual: 65
        }
    );
    assert_eq!(
        error.code_for(TextField::PostingKey),
        "POSTING_KEY_TOO_LONG"
    );
    for (key, code, at) in [("a b", 0x20, 1), ("é", 0xE9, 0), ("ab\u{7F}", 0x7F, 2)] {
        assert_eq!(
            check_posting_key(key),
            Err(TextError::NotVisibleAscii { code, at })
        );
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_check_panic_and_accepted_names_need_no_cleaning(text in any::<String>()) {
        let body = check(&text);
        let _ = (check_title(&text), check_posting_key(&text));
        if check_name(&text).is_ok() {
            let cleaned = clean_name(&text).unwrap();
            prop_assert_eq!(cleaned.as_ref(), text.trim());
        }
        if let Ok(cleaned) = clean_name(&text) {
            prop_assert_eq!(check_name(&cleaned), Ok(()));
            prop_assert_eq!(clean_name(&cleaned).unwrap(), cleaned.as_ref());
        }
        prop_assert_eq!(body == Err(TextError::Empty), {
            let longer = format!("{text}x");
            body.is_err() && check(&longer).is_ok() && !text.chars().any(is_visible)
        });
    }

    #[test]
    fn text_of_any_script_with_a_visible_letter_is_accepted(text in "[\\p{L}\\p{N}\\p{P}\\p{Zs}]{1,200}") {
        prop_assert_eq!(check(&format!("{text}a")), Ok(()));
    }
}
