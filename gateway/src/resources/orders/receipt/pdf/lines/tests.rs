use super::*;
use crate::resources::orders::receipt::pdf::shape::REGULAR;

const STYLE: Style = Style {
    face: || &REGULAR,
    size: 10.0,
    color: [0; 3],
};
const WIDTH: f32 = 150.0;

/// Texts that nobody orders.
fn hostile() -> Vec<String> {
    [
        "",
        " ",
        "\0\u{1}\t\r\n\u{85}\u{2028}\u{2029}",
        "\u{202e}\u{2066}\u{feff}\u{fffe}\u{ffff}\u{e0001}\u{10ffff}",
        "\u{301}",
        "e\u{301}\u{302}\u{303}",
        "👩‍👩‍👧🇩🇪😀\u{fe0f}",
        "茶",
        "שלום abc 123 ",
        "قهوة ",
        "क्षि ",
        "fi-",
    ]
    .into_iter()
    .flat_map(|text| [text.to_owned(), text.repeat(10_000 / text.len().max(1))])
    .collect()
}

fn texts(text: &str) -> Vec<String> {
    let lines = lines(text, STYLE, WIDTH).into_iter();
    lines
        .map(|line| line.runs.iter().map(|run| &*run.text).collect())
        .collect()
}

#[test]
fn words_stay_together_and_only_blanks_at_the_ends_of_lines_go() {
    let name = "An espresso machine with a long name, dark-blue, of stainless steel";
    let lines = texts(name);
    assert!(lines.len() > 2, "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("espresso")));
    let joined = lines.join(" ").replace("dark- blue", "dark-blue");
    assert_eq!(joined, name);
}

#[test]
fn a_word_that_is_too_long_is_broken_and_loses_nothing() {
    for word in [
        "x".repeat(10_000),
        "Wij\u{301}".repeat(500),
        "茶".repeat(2_000),
    ] {
        let lines = texts(&word);
        assert!(lines.len() > 10);
        assert_eq!(lines.concat(), word);
        // An accent stays with its letter.
        assert!(!lines.iter().any(|line| line.starts_with('\u{301}')));
    }
}

#[test]
fn no_line_is_wider_than_its_column() {
    for text in hostile() {
        for line in lines(&text, STYLE, WIDTH) {
            let width = line.width();
            assert!(width <= WIDTH + 0.5, "{width} of {:?}", line.runs[0].text);
        }
    }
}

#[test]
fn nothing_turns_or_leaves_the_text() {
    assert_eq!(clean("a\u{202e}b\u{2066}c"), "abc");
    assert_eq!(clean(" a\tb\r\n\0c\u{2029}d "), "a b c d");
    assert_eq!(
        clean(&format!("e{}", "\u{301}".repeat(9))),
        format!("e{}", "\u{301}".repeat(4))
    );
    assert_eq!(clean("\u{202e} \n"), "");
}

#[test]
fn hebrew_and_arabic_run_from_right_to_left_among_latin_words() {
    let line = &lines("Shop שלום 123", STYLE, 500.0)[0];
    let runs: Vec<_> = line.runs.iter().map(|run| run.text.as_str()).collect();
    // The number is left of the Hebrew word that it follows.
    assert_eq!(runs, ["Shop ", "123", "שלום "]);
    let first = &line.runs[2].glyphs[0];
    assert_eq!(&line.runs[2].text[first.text_range.clone()], " ");
    // Joined letters have other glyphs than single ones.
    let joined = lines("قهوة", STYLE, 500.0);
    let alone = lines("ق ه و ة", STYLE, 500.0);
    let glyph = |lines: &[Line]| {
        let glyphs = &lines[0].runs[0].glyphs;
        glyphs.last().map(|glyph| glyph.glyph_id)
    };
    assert_ne!(glyph(&joined), glyph(&alone));
}

#[test]
fn a_character_that_the_font_lacks_is_a_box() {
    let line = &lines("茶", STYLE, WIDTH)[0];
    let run = &line.runs[0];
    assert_eq!(run.glyphs[0].glyph_id.to_u32(), 0);
    assert_eq!(&run.text[run.glyphs[0].text_range.clone()], "茶");
    assert!(run.width > 0.3);
}
