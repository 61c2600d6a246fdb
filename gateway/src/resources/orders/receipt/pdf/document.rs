//! Writes the pages into a file. The same receipt becomes the same bytes, so that its tag stays.

use chrono::{DateTime, Datelike, Timelike, Utc};
use krilla::{
    Document,
    color::rgb,
    error::KrillaError,
    geom::{PathBuilder, Point, Rect},
    metadata::{self, Metadata},
    page::PageSettings,
    paint::Fill,
    surface::Surface,
};

use super::flow::{HEIGHT, LEFT, Page, RIGHT, Rule, Text, WIDTH};
use crate::resources::orders::receipt::view::View;

/// Writes a PDF with these pages.
pub(super) fn write(view: &View, pages: Vec<Page>) -> Result<Vec<u8>, KrillaError> {
    let mut document = Document::new();
    document.set_metadata(about(view));
    for Page { texts, rules } in pages {
        let settings = PageSettings::from_wh(WIDTH, HEIGHT).expect("A4 has a size");
        let mut page = document.start_page_with(settings);
        let mut surface = page.surface();
        for rule in rules {
            draw_rule(&mut surface, rule);
        }
        for text in texts {
            draw_text(&mut surface, text);
        }
        surface.finish();
        page.finish();
    }
    document.finish()
}

fn about(view: &View) -> Metadata {
    let about = Metadata::new()
        .title(view.title())
        .language("en".to_owned())
        .creator("Guerdon".to_owned());
    let changed_at = view.changed_at.as_deref().and_then(date);
    match changed_at {
        Some(changed_at) => about.creation_date(changed_at),
        None => about,
    }
}

fn date(text: &str) -> Option<metadata::DateTime> {
    let time = DateTime::parse_from_rfc3339(text).ok()?.with_timezone(&Utc);
    let part = |number: u32| u8::try_from(number).ok();
    let date = metadata::DateTime::new(u16::try_from(time.year()).ok()?)
        .month(part(time.month())?)
        .day(part(time.day())?)
        .hour(part(time.hour())?)
        .minute(part(time.minute())?)
        .second(part(time.second())?)
        .utc_offset_hour(0);
    Some(date)
}

fn draw_rule(
    surface: &mut Surface,
    Rule {
        y,
        thickness,
        color,
    }: Rule,
) {
    let mut path = PathBuilder::new();
    if let Some(rectangle) = Rect::from_ltrb(LEFT, y - thickness, RIGHT, y) {
        path.push_rect(rectangle);
    }
    if let Some(path) = path.finish() {
        surface.set_fill(Some(fill(color)));
        surface.draw_path(&path);
    }
}

fn draw_text(surface: &mut Surface, Text { mut x, y, line }: Text) {
    let style = line.style;
    surface.set_fill(Some(fill(style.color)));
    for run in line.runs {
        let font = (style.face)().font.clone();
        let start = Point::from_xy(x, y);
        surface.draw_glyphs(start, &run.glyphs, font, &run.text, style.size, false);
        x += run.width * style.size;
    }
}

fn fill([red, green, blue]: [u8; 3]) -> Fill {
    Fill {
        paint: rgb::Color::new(red, green, blue).into(),
        ..Fill::default()
    }
}
