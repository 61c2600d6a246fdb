//! Pieces of Markdown.

/// Returns the heading of a service, message or enum: `orders.v1.Order`.
pub(super) fn heading(package: &str, name: &str) -> String {
    let package = package.trim_start_matches("guerdon.");
    format!("`{package}.{name}`")
}

/// Returns the link to that heading, as GitHub derives it.
pub(super) fn anchor(package: &str, name: &str) -> String {
    let heading = heading(package, name).to_lowercase();
    format!("#{}", heading.replace(['`', '.'], ""))
}

/// Joins the lines of a comment, so that it fits into the cell of a table and holds no HTML.
pub(super) fn comment(lines: &str) -> String {
    let text = lines.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = text.split('`').enumerate().map(|(number, part)| {
        // Every second part is code, where nothing but the border of the cell is special.
        let part = part.replace('|', "\\|");
        if number % 2 == 0 {
            part.replace('<', "&lt;")
        } else {
            part
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Writes the head of a table.
pub(super) fn table(page: &mut String, columns: &[&str]) {
    row(page, columns);
    row(page, &vec!["---"; columns.len()]);
}

/// Writes a row of a table.
pub(super) fn row(page: &mut String, cells: &[&str]) {
    page.push('|');
    for cell in cells {
        let space = if cell.is_empty() { "" } else { " " };
        page.extend([space, cell, " |"]);
    }
    page.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_those_of_github() {
        assert_eq!(heading("guerdon.orders.v1", "Order"), "`orders.v1.Order`");
        assert_eq!(anchor("guerdon.orders.v1", "Order"), "#ordersv1order");
    }

    #[test]
    fn comments_fit_into_a_cell() {
        assert_eq!(
            comment(" One line,\n and\n another. "),
            "One line, and another."
        );
        assert_eq!(comment(" a < b, `<a|b>`"), r"a &lt; b, `<a\|b>`");
    }
}
