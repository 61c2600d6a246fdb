//! The receipt as a page: one template without scripts or other resources.

use std::{fmt::Write as _, sync::LazyLock};

use axum::{
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest as _, Sha256};

use super::view::{Cell, Column, Kind, Table, View};

const TEMPLATE: &str = include_str!("receipt.html");

/// Allows the template's style element, by its hash, and nothing else.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = between(TEMPLATE, "<style>", "</style>");
    let hash = BASE64_STANDARD.encode(Sha256::digest(style));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("ASCII")
});

/// Responds with the page.
pub(super) fn respond(view: &View) -> Response {
    let policy = (header::CONTENT_SECURITY_POLICY, POLICY.clone());
    ([policy], Html(render(view))).into_response()
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text.split_once(start).map_or("", |(_, rest)| rest);
    rest.split_once(end).map_or("", |(inner, _)| inner)
}

/// Fills the template. No value holds a place of it, because `<` is escaped.
fn render(view: &View) -> String {
    let places = [
        ("title", escape(&view.title())),
        ("seller", escape(&view.seller)),
        ("facts", facts(view)),
        ("tables", view.tables.iter().map(table).collect()),
        (
            "bonus",
            view.bonus.as_deref().map_or_else(String::new, paragraph),
        ),
    ];
    let mut page = TEMPLATE.to_owned();
    for (name, value) in places {
        page = page.replace(&format!("<!-- {name} -->"), &value);
    }
    page
}

fn facts(view: &View) -> String {
    view.facts
        .iter()
        .fold(String::new(), |facts, (name, value)| {
            facts + "<dt>" + name + "</dt><dd>" + &escape(value) + "</dd>"
        })
}

fn table(table: &Table) -> String {
    let columns = table.columns;
    let names = columns
        .iter()
        .map(|column| element("th", column, column.name));
    let names: String = names.collect();
    let rows = table.rows.iter().map(|row| tr(columns, row));
    let rows: String = rows.collect();
    let last = columns.len() - 1;
    let sums = table
        .sums
        .iter()
        .fold(String::new(), |mut sums, (name, value)| {
            let value = escape(value);
            let _ = writeln!(
                sums,
                "<tr><th colspan=\"{last}\">{name}</th><td>{value}</td></tr>"
            );
            sums
        });
    format!(
        "<h2>{}</h2>\n<table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         <tfoot>\n{sums}</tfoot>\n</table>\n",
        table.heading,
    )
}

fn tr(columns: &[Column], cells: &[Cell]) -> String {
    let cells = columns.iter().zip(cells).map(|(column, cell)| {
        let note = cell.note.as_deref().map(escape);
        let note = note.map_or_else(String::new, |note| format!("<small>{note}</small>"));
        element("td", column, &format!("{}{note}", escape(&cell.text)))
    });
    format!("<tr>{}</tr>\n", cells.collect::<String>())
}

fn element(name: &str, column: &Column, inner: &str) -> String {
    let class = match column.kind {
        Kind::Prose => " class=\"prose\"",
        Kind::Label => " class=\"label\"",
        Kind::Number => "",
    };
    format!("<{name}{class}>{inner}</{name}>")
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>", escape(text))
}

/// Escapes a text for elements and attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        let escaped = escape(r#"<img src="x" onerror='alert(1)'>&<!-- tables -->"#);
        assert!(!escaped.contains(['<', '>', '"', '\'']));
    }

    #[test]
    fn the_template_loads_nothing_and_its_style_is_allowed() {
        let policy = POLICY.to_str().unwrap();
        assert!(policy.contains("style-src 'sha256-"));
        assert!(!between(TEMPLATE, "<style>", "</style>").is_empty());
        for outside in ["<script", "<link", "url(", "http", " style=", "<img"] {
            assert!(!TEMPLATE.contains(outside), "{outside}");
        }
    }
}
