use super::{
    flow::{BOTTOM, HEIGHT, LEFT, Page, RIGHT},
    *,
};
use crate::resources::orders::receipt::view::{Cell, Column, Kind, Table};

const COLUMNS: &[Column] = &[
    Column {
        name: "Product",
        kind: Kind::Prose,
    },
    Column {
        name: "Time",
        kind: Kind::Label,
    },
    Column {
        name: "Amount",
        kind: Kind::Number,
    },
];

fn view(names: impl IntoIterator<Item = String>, amount: &str) -> View {
    let row = |name: String| {
        let name = Cell {
            text: name,
            note: Some("1 refunded".to_owned()),
        };
        vec![name, "10:00".to_owned().into(), amount.to_owned().into()]
    };
    View {
        number: "7KQ2M9XW".to_owned(),
        seller: "Corner & Shop".to_owned(),
        facts: vec![("Buyer", "Zoë".to_owned())],
        tables: vec![Table {
            heading: "Order",
            columns: COLUMNS,
            rows: names.into_iter().map(row).collect(),
            sums: vec![("Taxes", "2.10".to_owned()), ("Total", amount.to_owned())],
        }],
        bonus: Some("Bonus: 5 points.".to_owned()),
        changed_at: Some("2026-01-31T10:00:00.000Z".to_owned()),
    }
}

fn texts(page: &Page) -> Vec<String> {
    let lines = page.texts.iter().map(|text| &text.line);
    lines
        .map(|line| line.runs.iter().map(|run| &*run.text).collect())
        .collect()
}

fn assert_nothing_is_cut_off(pages: &[Page]) {
    for text in pages.iter().flat_map(|page| &page.texts) {
        let right = text.x + text.line.width();
        assert!(text.x >= LEFT - 0.5 && right <= RIGHT + 0.5, "{right}");
        assert!(text.y > 0.0 && text.y < HEIGHT - 15.0, "{}", text.y);
    }
}

#[test]
fn two_hundred_long_lines_flow_over_pages_with_headings_and_numbers() {
    let names = (0..200).map(|line| format!("{line:03} {}", "long name ".repeat(20)));
    let pages = layout::pages(&view(names, "1234.50"));
    let total = pages.len();
    assert!((15..40).contains(&total), "{total}");
    assert_nothing_is_cut_off(&pages);
    let mut seen = 0;
    for (index, page) in pages.iter().enumerate() {
        let texts = texts(page);
        assert!(texts.contains(&format!("{} / {total}", index + 1)));
        if texts.iter().any(|text| text == "1234.50") {
            assert!(texts.contains(&"Product".to_owned()), "page {index}");
        }
        seen += texts.iter().filter(|text| *text == "1 refunded").count();
    }
    assert_eq!(seen, 200);
    let last = texts(pages.last().unwrap());
    assert!(last.contains(&"Bonus: 5 points.".to_owned()));
}

#[test]
fn numbers_end_where_their_column_does() {
    let pages = layout::pages(&view(["Tea".to_owned()], "1234.50"));
    assert_eq!(pages.len(), 1);
    let texts = pages[0].texts.iter();
    let ends: Vec<_> = texts
        .filter(|text| text.line.runs.iter().any(|run| run.text.ends_with('0')))
        .filter(|text| text.x > LEFT + 300.0)
        .map(|text| text.x + text.line.width())
        .collect();
    // The row, both sums.
    assert!(ends.len() >= 3, "{ends:?}");
    assert!(ends.iter().filter(|end| (*end - RIGHT).abs() < 0.1).count() >= 3);
}

#[test]
fn a_name_that_is_longer_than_a_page_is_continued() {
    let name = "word ".repeat(2_000);
    let pages = layout::pages(&view([name], "1"));
    assert!(pages.len() >= 3, "{}", pages.len());
    assert_nothing_is_cut_off(&pages);
    let words = pages.iter().flat_map(texts);
    let words: usize = words.map(|text| text.matches("word").count()).sum();
    assert_eq!(words, 2_000);
    let rows = pages[0]
        .texts
        .iter()
        .map(|text| text.y)
        .filter(|y| *y < BOTTOM);
    assert!(rows.fold(0.0, f32::max) > BOTTOM - 40.0);
}

#[test]
fn amounts_of_any_length_leave_room_for_the_names() {
    let amount = format!("{}.{}", "9".repeat(70), "1".repeat(18));
    let pages = layout::pages(&view(["A name of a few words".to_owned()], &amount));
    assert_nothing_is_cut_off(&pages);
    let all = pages.iter().flat_map(texts).collect::<String>();
    assert!(all.contains("A name of a"), "{all}");
}

#[test]
fn the_same_receipt_is_the_same_file() {
    let names = || ["Größe L", "Чай", "茶", "שלום", "👩‍👩‍👧", "\u{202e}\0"].map(str::to_owned);
    let write = || {
        let view = view(names(), "12.10");
        document::write(&view, layout::pages(&view)).unwrap()
    };
    let file = write();
    assert_eq!(file, write());
    assert!(file.starts_with(b"%PDF-1."));
    let text = String::from_utf8_lossy(&file);
    for part in [
        "/Title(Receipt 7KQ2M9XW)",
        "/Lang(en)",
        "/CreationDate(D:20260131100000Z)",
        "/Count 1",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // Parts of the fonts, which have 760 kB.
    assert!(file.len() < 60_000, "{}", file.len());
}

#[test]
fn the_name_of_the_file_has_safe_characters_only() {
    for (number, expected) in [
        ("7KQ2M9XW", "inline; filename=\"receipt-7KQ2M9XW.pdf\""),
        ("../\"a\r\n;ü-1", "inline; filename=\"receipt-a-1.pdf\""),
    ] {
        assert_eq!(disposition(number), expected);
    }
}
