//! What stands where on the pages of a receipt.

use super::{
    flow::{BOTTOM, Block, Flow, HEIGHT, LEFT, Page, RIGHT, Row, Text},
    lines::{Style, lines, natural_width},
    shape::{BOLD, REGULAR},
};
use crate::resources::orders::receipt::view::{Cell, Column, Kind, Table, View};

const INK: [u8; 3] = [0x1f, 0x24, 0x30];
const MUTED: [u8; 3] = [0x59, 0x61, 0x73];
const FAINT: [u8; 3] = [0xd5, 0xd9, 0xe2];

const TEXT: Style = Style {
    face: || &REGULAR,
    size: 9.5,
    color: INK,
};
const STRONG: Style = Style {
    face: || &BOLD,
    ..TEXT
};
const REMARK: Style = Style {
    size: 8.0,
    color: MUTED,
    ..TEXT
};
const NAME: Style = Style {
    color: MUTED,
    ..TEXT
};
const TITLE: Style = Style {
    size: 17.0,
    ..STRONG
};
const HEADING: Style = Style {
    size: 11.5,
    ..STRONG
};

const THIN: Option<(f32, [u8; 3])> = Some((0.6, FAINT));
const THICK: Option<(f32, [u8; 3])> = Some((1.4, INK));

/// Between two columns.
const GAP: f32 = 12.0;
/// The least width of the column of texts, as a part of the page's.
const LEAST_PROSE: f32 = 0.3;

/// Lays a receipt out.
pub(super) fn pages(view: &View) -> Vec<Page> {
    let mut flow = Flow::new();
    header(&mut flow, view);
    facts(&mut flow, view);
    for table in &view.tables {
        add_table(&mut flow, table);
    }
    flow.repeat(None);
    if let Some(bonus) = &view.bonus {
        flow.space(14.0);
        flow.add(Row {
            blocks: vec![block(LEFT, RIGHT, bonus, TEXT)],
            padding: 0.0,
            rule: None,
        });
    }
    number(&mut flow.pages, &view.title());
    flow.pages
}

fn header(flow: &mut Flow, view: &View) {
    let middle = LEFT + (RIGHT - LEFT) * 0.55;
    flow.add(Row {
        blocks: vec![
            block(LEFT, middle, &view.title(), TITLE),
            Block {
                is_number: true,
                ..block(middle + GAP, RIGHT, &view.seller, STRONG)
            },
        ],
        padding: 3.0,
        rule: THICK,
    });
    flow.space(8.0);
}

fn facts(flow: &mut Flow, view: &View) {
    let widths = view.facts.iter().map(|(name, _)| natural_width(name, NAME));
    let middle = LEFT + widths.fold(0.0, f32::max) + GAP;
    for (name, value) in &view.facts {
        flow.add(Row {
            blocks: vec![
                block(LEFT, middle, name, NAME),
                block(middle, RIGHT, value, TEXT),
            ],
            padding: 1.0,
            rule: None,
        });
    }
}

fn add_table(flow: &mut Flow, table: &Table) {
    let places = places(table);
    let title = Row {
        blocks: vec![block(LEFT, RIGHT, table.heading, HEADING)],
        padding: 2.0,
        rule: None,
    };
    let names = table.columns.iter().zip(&places);
    let names = row(names.map(|(column, place)| cell(column, *place, column.name, STRONG)));
    let mut rows = table.rows.iter().map(|cells| body(table, &places, cells));
    let first = rows.next();
    flow.repeat(None);
    flow.space(16.0);
    // A heading does not stand alone at the end of a page.
    let next = first.as_ref().map_or(0.0, Row::height).min(60.0);
    flow.keep(title.height() + names.height() + next);
    flow.add(title);
    flow.add(names.clone());
    flow.repeat(Some(names));
    for row in first.into_iter().chain(rows) {
        flow.add(row);
    }
    let sums = sums(table, &places);
    flow.keep(sums.iter().map(Row::height).sum());
    for sum in sums {
        flow.add(sum);
    }
}

fn body(table: &Table, places: &[(f32, f32)], cells: &[Cell]) -> Row {
    let cells = table.columns.iter().zip(places).zip(cells);
    row(cells.map(|((column, place), of)| {
        let mut block = cell(column, *place, &of.text, TEXT);
        if let Some(note) = &of.note {
            block.lines.extend(lines(note, REMARK, place.1 - place.0));
        }
        block
    }))
}

fn sums(table: &Table, places: &[(f32, f32)]) -> Vec<Row> {
    let (left, right) = places.last().copied().unwrap_or((LEFT, RIGHT));
    let sums = table.sums.iter().enumerate();
    sums.map(|(index, (name, value))| {
        let is_result = index + 1 == table.sums.len();
        let style = if is_result { STRONG } else { TEXT };
        let number = |left, right, text| Block {
            is_number: true,
            ..block(left, right, text, style)
        };
        Row {
            rule: if is_result { THICK } else { THIN },
            ..row([number(LEFT, left - GAP, name), number(left, right, value)])
        }
    })
    .collect()
}

/// Returns the left and right end of each column: numbers have as much as they need, and what is left is the
/// text's. If too little is left, the widest numbers are broken too.
fn places(table: &Table) -> Vec<(f32, f32)> {
    let all = RIGHT - LEFT - GAP * count(table.columns.len() - 1);
    let mut widths: Vec<_> = (0..table.columns.len())
        .map(|index| natural(table, index))
        .collect();
    let most = cap(&widths, all * (1.0 - LEAST_PROSE));
    let widths_of_numbers: f32 = widths.iter().map(|width| width.min(most)).sum();
    for (column, width) in table.columns.iter().zip(&mut widths) {
        *width = match column.kind {
            Kind::Prose => all - widths_of_numbers,
            Kind::Label | Kind::Number => width.min(most),
        };
    }
    let mut left = LEFT;
    let places = widths.into_iter().map(|width| {
        let place = (left, left + width);
        left += width + GAP;
        place
    });
    places.collect()
}

/// Returns the most that a column can have, so that all of them have no more than this.
fn cap(widths: &[f32], all: f32) -> f32 {
    let mut widths = widths.to_vec();
    widths.sort_by(f32::total_cmp);
    let mut left = all;
    for (index, width) in widths.iter().enumerate() {
        let share = left / count(widths.len() - index);
        if *width > share {
            return share;
        }
        left -= width;
    }
    f32::INFINITY
}

/// Returns the width that a column needs; 0 for that of texts.
fn natural(table: &Table, index: usize) -> f32 {
    let column = &table.columns[index];
    if column.kind == Kind::Prose {
        return 0.0;
    }
    let rows = table.rows.iter().filter_map(|cells| cells.get(index));
    let mut widest = natural_width(column.name, STRONG);
    for cell in rows {
        widest = widest.max(natural_width(&cell.text, TEXT));
    }
    if index + 1 == table.columns.len() {
        for (_, value) in &table.sums {
            widest = widest.max(natural_width(value, STRONG));
        }
    }
    // More than rounding takes.
    widest + 0.1
}

fn row(blocks: impl IntoIterator<Item = Block>) -> Row {
    Row {
        blocks: blocks.into_iter().collect(),
        padding: 3.5,
        rule: THIN,
    }
}

fn cell(column: &Column, (left, right): (f32, f32), text: &str, style: Style) -> Block {
    Block {
        is_number: column.kind == Kind::Number,
        ..block(left, right, text, style)
    }
}

fn block(left: f32, right: f32, text: &str, style: Style) -> Block {
    Block {
        left,
        right,
        is_number: false,
        lines: lines(text, style, right - left),
    }
}

/// Writes the title and `2 / 5` below each page.
fn number(pages: &mut [Page], title: &str) {
    let total = pages.len();
    let y = BOTTOM.midpoint(HEIGHT);
    for (index, page) in pages.iter_mut().enumerate() {
        let number = format!("{} / {total}", index + 1);
        for line in lines(&number, REMARK, f32::INFINITY) {
            let x = RIGHT - line.width();
            page.texts.push(Text { x, y, line });
        }
        for line in lines(title, REMARK, RIGHT - LEFT - 60.0)
            .into_iter()
            .take(1)
        {
            page.texts.push(Text { x: LEFT, y, line });
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are few columns")]
fn count(columns: usize) -> f32 {
    columns as f32
}
