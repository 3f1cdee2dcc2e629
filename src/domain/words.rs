//! The word filter: whole words and phrases, found in text however it is dressed up.
//!
//! Both the lists and the text are folded (compatibility forms, case, diacritics, characters that
//! draw nothing, runs of white space), so a word is found in other letters that look like it and in
//! pieces held apart by invisible ones. A word is whole where no letter or digit of a script that
//! writes spaces stands beside it. Must never say which word was found: lists stay secret.

use aho_corasick::{AhoCorasick, BuildError};
use icu_properties::CodePointMapData;
use icu_properties::props::Script;
use unicode_normalization::UnicodeNormalization as _;

use super::body::Body;
use super::moderation::Verdict;
use super::text::visible::{is_ignorable, is_mark};

/// A list of words and phrases.
#[derive(Clone, Debug, Default)]
pub struct WordList(Option<AhoCorasick>);

impl WordList {
    /// A list of words as people write them; those in which nothing is left are passed over.
    pub fn new<W: AsRef<str>>(words: &[W]) -> Result<Self, BuildError> {
        let folded: Vec<String> = words
            .iter()
            .map(|word| fold(word.as_ref()))
            .filter(|word| !word.is_empty())
            .collect();
        if folded.is_empty() {
            return Ok(Self(None));
        }
        Ok(Self(Some(AhoCorasick::new(&folded)?)))
    }

    /// Whether a folded text holds one of the words.
    fn is_in(&self, folded: &str) -> bool {
        let Some(words) = &self.0 else {
            return false;
        };
        // Overlapping ones too: a longer word that is no whole word must not hide a shorter one.
        words.find_overlapping_iter(folded).any(|found| {
            let (before, rest) = folded.split_at(found.start());
            let (word, after) = rest.split_at(found.end() - found.start());
            let joins = |left: Option<char>, right: Option<char>| {
                left.zip(right).is_some_and(|(left, right)| {
                    is_of_word(left) && is_of_word(right) && has_spaces(left) && has_spaces(right)
                })
            };
            !joins(before.chars().next_back(), word.chars().next())
                && !joins(word.chars().next_back(), after.chars().next())
        })
    }
}

/// What is done with a text by the words in it.
#[derive(Clone, Debug, Default)]
pub struct WordFilter {
    /// Texts with one of these wait for a moderator.
    pub hold: WordList,
    /// Texts with one of these are refused.
    pub refuse: WordList,
}

impl WordFilter {
    /// Whether no text can be found to hold a word.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.hold.0.is_none() && self.refuse.0.is_none()
    }

    /// Judges a body by what readers get of it: its text without markup, which could hold a word
    /// apart, and where its links lead.
    #[must_use]
    pub fn judge(&self, body: &Body) -> Verdict {
        if self.is_empty() {
            return Verdict::Publish;
        }
        let mut texts = vec![fold(&body.text)];
        texts.extend(link_targets(&body.html).map(|target| fold(&target)));
        let holds_one = |list: &WordList| texts.iter().any(|text| list.is_in(text));
        if holds_one(&self.refuse) {
            Verdict::Refuse
        } else if holds_one(&self.hold) {
            Verdict::Hold
        } else {
            Verdict::Publish
        }
    }
}

/// The addresses in sanitised html, whose attributes are written in one way.
fn link_targets(html: &str) -> impl Iterator<Item = String> {
    ["href=\"", "src=\""]
        .into_iter()
        .flat_map(move |attribute| {
            let after = html.split(attribute).skip(1);
            after.filter_map(|rest| {
                let (target, _) = rest.split_once('"')?;
                Some(target.replace("&amp;", "&"))
            })
        })
}

/// A text as it is compared.
fn fold(text: &str) -> String {
    let bare = text
        .nfkd()
        .filter(|ch| !is_ignorable(*ch) && !is_diacritic(*ch));
    // Both ways, because some letters differ only in one case: ß and SS, ς and σ.
    let same_case = bare
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase);
    let spaced: String = same_case
        .map(|ch| if ch.is_whitespace() { ' ' } else { ch })
        .nfc()
        .collect();
    spaced.split(' ').filter(|part| !part.is_empty()).fold(
        String::with_capacity(spaced.len()),
        |mut folded, part| {
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(part);
            folded
        },
    )
}

/// Marks that decorate letters of any script, and the vowel points that Hebrew and Arabic may leave
/// out. Vowel signs of other scripts are letters of their words and stay.
const fn is_diacritic(ch: char) -> bool {
    matches!(
        ch,
        '\u{300}'..='\u{36F}'
            | '\u{483}'..='\u{489}'
            | '\u{591}'..='\u{5C7}'
            | '\u{610}'..='\u{61A}'
            | '\u{640}'
            | '\u{64B}'..='\u{65F}'
            | '\u{670}'
            | '\u{1AB0}'..='\u{1AFF}'
            | '\u{1DC0}'..='\u{1DFF}'
            | '\u{20D0}'..='\u{20FF}'
            | '\u{FE20}'..='\u{FE2F}'
    )
}

fn is_of_word(ch: char) -> bool {
    ch.is_alphanumeric() || is_mark(ch)
}

/// Whether the character's script puts spaces between words.
fn has_spaces(ch: char) -> bool {
    if ch.is_ascii() {
        return true;
    }
    let script = CodePointMapData::<Script>::new().get(ch);
    ![
        Script::Han,
        Script::Hiragana,
        Script::Katakana,
        Script::Bopomofo,
        Script::Thai,
        Script::Lao,
        Script::Khmer,
        Script::Myanmar,
        Script::Tibetan,
    ]
    .contains(&script)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::body::BodyFormat;

    fn is_found(word: &str, text: &str) -> bool {
        WordList::new(&[word]).unwrap().is_in(&fold(text))
    }

    #[test]
    fn a_word_is_found_however_it_is_dressed_up() {
        for text in [
            "badword",
            "a BadWord!",
            "ｂａｄｗｏｒｄ",
            "b\u{200B}a\u{AD}d\u{2060}word",
            "bádẃörd",
            "b\u{336}a\u{336}d\u{336}w\u{336}o\u{336}r\u{336}d\u{336}",
            "𝓫𝓪𝓭𝔀𝓸𝓻𝓭",
            "(badword)",
            "_badword_",
            "x badword\u{202E}",
            "badword.",
            "ⓑⓐⓓⓦⓞⓡⓓ",
        ] {
            assert!(is_found("BADword", text), "{text:?}");
        }
    }

    #[test]
    fn a_part_of_another_word_is_not_a_word() {
        for (word, text) in [
            ("ass", "a classic passes"),
            ("ass", "assess"),
            ("spam", "spam2"),
            ("кот", "который"),
            ("कल", "काल"),
            ("かき", "かぎ"),
            ("foo bar", "foobar"),
        ] {
            assert!(!is_found(word, text), "{word:?} in {text:?}");
        }
    }

    #[test]
    fn other_scripts_and_phrases_have_words_too() {
        for (word, text) in [
            ("Straße", "STRASSE"),
            ("ΣΟΦΟΣ", "σοφος"),
            ("buy now", "please BUY \n\t now, friend"),
            ("bad", "bad dog"),
            ("垃圾", "这是垃圾信息"),
            ("สแปม", "นี่คือสแปมนะ"),
            ("שלום", "שָׁלוֹם"),
            ("한국", "나는 한국 사람"),
            ("$$$", "win$$$now"),
            ("c++", "I like c++."),
        ] {
            assert!(is_found(word, text), "{word:?} in {text:?}");
        }
        assert!(!is_found("한국", "한국어"), "Korean writes spaces");
        let both = WordList::new(&["bad", "bad dog house"]).unwrap();
        assert!(both.is_in(&fold("a bad dog housekeeper")));
    }

    #[test]
    fn markup_splits_no_word_and_links_are_looked_at() {
        let filter = WordFilter {
            hold: WordList::new(&["maybe"]).unwrap(),
            refuse: WordList::new(&["badword", "spam.example"]).unwrap(),
        };
        let judge = |text, format| filter.judge(&Body::read(text, format));
        for (text, format, verdict) in [
            ("bad**wo**rd", BodyFormat::Markdown, Verdict::Refuse),
            ("bad<b>wo</b>rd", BodyFormat::Html, Verdict::Refuse),
            ("bad&#119;ord", BodyFormat::Html, Verdict::Refuse),
            (
                "[x](https://spam.example/?a=1&b=2)",
                BodyFormat::Markdown,
                Verdict::Refuse,
            ),
            ("maybe", BodyFormat::Plain, Verdict::Hold),
            ("maybe a badword", BodyFormat::Plain, Verdict::Refuse),
            ("bad<b>wo</b>rd", BodyFormat::Plain, Verdict::Publish),
            ("fine", BodyFormat::Plain, Verdict::Publish),
        ] {
            assert_eq!(judge(text, format), verdict, "{text:?}");
        }
    }

    #[test]
    fn an_empty_list_finds_nothing_and_empty_words_are_passed_over() {
        assert!(!WordList::default().is_in("anything"));
        let list = WordList::new(&["", " ", "\u{200B}", "\u{301}"]).unwrap();
        assert!(!list.is_in(&fold("anything at all")));
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once_and_nothing_panics(text in "\\PC{0,40}") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }

        #[test]
        fn a_word_alone_is_found(word in "[\\p{L}\\p{N}]{1,12}") {
            prop_assume!(!fold(&word).is_empty());
            let text = format!("so: {word}!");
            prop_assert!(is_found(&word, &text));
        }
    }
}
