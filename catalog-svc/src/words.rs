//! The words of a text, for `filter[search]`.
//!
//! What is stored and what is searched goes through [`words`], and Postgres only compares the results:
//! `::tsvector` and `::tsquery` take words as they are, where `to_tsvector` would split and fold them
//! once more, by rules that depend on the locale of the database.

use std::{collections::BTreeSet, fmt::Write as _};

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Characters of a word that count. Postgres takes words of up to 2 046 bytes.
const MAX_CHARS: usize = 255;

/// Splits a text into its words, in their order: letters, digits and the marks on them, without regard
/// to case and accents.
pub fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let words =
        folded.split(|letter: char| !letter.is_alphanumeric() && !is_combining_mark(letter));
    words
        .filter(|word| word.contains(char::is_alphanumeric))
        .map(|word| word.chars().take(MAX_CHARS).collect())
        .collect()
}

/// Writes the words of texts as a `tsvector`: `'red' 'shoe'`.
pub fn vector<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let words: BTreeSet<_> = texts.into_iter().flat_map(words).collect();
    let mut vector = String::new();
    for word in words {
        let space = if vector.is_empty() { "" } else { " " };
        // Words hold no quote and no backslash.
        let _ = write!(vector, "{space}'{word}'");
    }
    vector
}

/// Writes words as a `tsquery` each, the last one as the start of a word: `'red'` and `'sho':*`.
pub fn queries(words: &[String]) -> Vec<String> {
    let last = words.len().saturating_sub(1);
    let query = |(n, word): (usize, &String)| {
        let start = if n == last { ":*" } else { "" };
        format!("'{word}'{start}")
    };
    words.iter().enumerate().map(query).collect()
}

/// Removes accents and case. Marks that make another letter stay, composed with theirs: those of kana,
/// of hamza, of Indic vowels.
fn fold(text: &str) -> String {
    text.nfkd()
        .filter(|letter| !is_accent(*letter) && !is_invisible(*letter))
        // Upper case first brings together what lower case keeps apart: ß and SS, ς and σ.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .map(without_stroke)
        .nfkc()
        .collect()
}

/// Returns whether a mark is left out where people write without marks: Latin, Greek and Cyrillic
/// accents, the vowel points of Hebrew and Arabic.
const fn is_accent(letter: char) -> bool {
    matches!(letter,
        '\u{300}'..='\u{36F}'
        | '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}'
        | '\u{64B}'..='\u{652}' | '\u{670}')
}

/// Returns whether a character inside a word is not seen: hyphenation, joiners, directions, and the
/// selectors of a letter's variant.
const fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{AD}' | '\u{61C}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{E0100}'..='\u{E01EF}')
}

/// Returns the plain letter of one with a stroke, which has no decomposition.
const fn without_stroke(letter: char) -> char {
    match letter {
        'ø' => 'o',
        'ł' => 'l',
        'đ' => 'd',
        'þ' => 't',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_folded_and_split_in_every_script() {
        for (text, expected) in [
            ("Crème  Brûlée", "creme brulee"),
            ("e\u{301}clair éclair", "eclair eclair"),
            ("it's a red.shoe (10%)", "it s a red shoe 10"),
            ("STRASSE Straße", "strasse strasse"),
            ("ΣΊΣΥΦΟΣ Σίσυφος", "σισυφοσ σισυφοσ"),
            ("İstanbul kırmızı", "istanbul kirmizi"),
            ("ØRE Łódź", "ore lodz"),
            ("Ёлка", "елка"),
            ("ガイドブック ｶﾞｲﾄﾞ", "ガイドブック ガイド"),
            ("カイトフック", "カイトフック"),
            ("أحمر ا\u{654}حمر أَحْمَر", "أحمر أحمر أحمر"),
            ("سؤال", "سؤال"),
            ("שָׁלוֹם שלום", "שלום שלום"),
            ("हिन्दी किताब", "हिन्दी किताब"),
            ("ไทย ที่", "ไทย ที่"),
            ("한국어", "한국어"),
            ("中文，書", "中文 書"),
            ("می\u{200C}خواهم", "میخواهم"),
            ("co\u{AD}operate", "cooperate"),
            ("🎁 ❤\u{FE0F}", ""),
            ("a\u{20DD}b \u{20DD}", "a\u{20DD}b"),
            ("\u{0}'\\:*&|!()<->", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_long_word_counts_by_its_start() {
        let long = "語".repeat(10_000);
        assert_eq!(words(&long), ["語".repeat(MAX_CHARS)]);
    }

    #[test]
    fn words_are_written_for_postgres() {
        assert_eq!(vector(["Red shoe", "a red Box"]), "'a' 'box' 'red' 'shoe'");
        assert_eq!(vector(["", "!"]), "");
        assert_eq!(queries(&words("Red  sho")), ["'red'", "'sho':*"]);
        assert!(queries(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn the_words_of_words_are_the_same(text in any::<String>()) {
            let once = words(&text);
            prop_assert_eq!(words(&once.join(" ")), once);
        }

        #[test]
        fn words_hold_nothing_that_must_be_quoted(text in any::<String>()) {
            for word in words(&text) {
                prop_assert!(!word.contains(['\'', '\\', ' ', '\0']), "{word:?}");
                prop_assert!(word.len() <= 2_046, "{word:?}");
            }
        }
    }
}
