//! Merges the pages of the services. All have the same order, and the cursor of a row continues the list
//! of every service after it.

use std::collections::VecDeque;

use proto::{
    audit::v1::{AuditEntry, ListAuditLogResponse},
    common::v1::PageInfo,
};

/// The rows of one service that are not merged yet.
struct Stream {
    /// Newest first, each with its cursor.
    rows: VecDeque<(AuditEntry, String)>,
    /// Whether the service has older rows.
    more: bool,
}

impl Stream {
    /// Whether the next row is not known.
    fn is_cut(&self) -> bool {
        self.rows.is_empty() && self.more
    }

    /// Returns the sort keys of the next row; of two rows, the larger is newer.
    fn next(&self) -> Option<(i64, i32, &str)> {
        let (entry, _) = self.rows.front()?;
        let at = entry.created_at.unwrap_or_default();
        Some((at.seconds, at.nanos, &entry.id))
    }
}

/// Returns the newest rows of all pages, up to `size`, without the first `skipped`.
pub(super) fn newest(
    pages: impl Iterator<Item = ListAuditLogResponse>,
    skipped: usize,
    size: usize,
) -> (Vec<AuditEntry>, PageInfo) {
    let mut total = 0;
    let mut streams = Vec::new();
    for ListAuditLogResponse { entries, page } in pages {
        let page = page.unwrap_or_default();
        total += page.total;
        streams.push(Stream {
            rows: entries.into_iter().zip(page.row_cursors).collect(),
            more: !page.next_cursor.is_empty(),
        });
    }
    let mut merged = Vec::new();
    while merged.len() < size && !streams.iter().any(Stream::is_cut) {
        let newest = streams.iter_mut().max_by(|a, b| a.next().cmp(&b.next()));
        let Some(row) = newest.and_then(|stream| stream.rows.pop_front()) else {
            break;
        };
        merged.push(row);
    }
    let more = streams
        .iter()
        .any(|stream| stream.more || !stream.rows.is_empty());
    let next_cursor = match merged.last() {
        Some((_, cursor)) if more => cursor.clone(),
        _ => String::new(),
    };
    let (entries, row_cursors) = merged.into_iter().skip(skipped).unzip();
    let page = PageInfo {
        total,
        next_cursor,
        row_cursors,
    };
    (entries, page)
}

#[cfg(test)]
mod tests {
    use prost_types::Timestamp;

    use super::*;

    /// Builds a page of rows made at these seconds; the id is `<service><second>`, the cursor `@<second>`.
    fn page(service: &str, seconds: &[i64], more: bool) -> ListAuditLogResponse {
        let entries = seconds.iter().map(|&second| AuditEntry {
            id: format!("{service}{second}"),
            created_at: Some(Timestamp {
                seconds: second,
                nanos: 0,
            }),
            ..AuditEntry::default()
        });
        let next_cursor = if more { "older" } else { "" };
        ListAuditLogResponse {
            entries: entries.collect(),
            page: Some(PageInfo {
                total: 10,
                next_cursor: next_cursor.to_owned(),
                row_cursors: seconds.iter().map(|second| format!("@{second}")).collect(),
            }),
        }
    }

    fn merged(pages: Vec<ListAuditLogResponse>, skipped: usize, size: usize) -> (String, String) {
        let (entries, page) = newest(pages.into_iter(), skipped, size);
        assert_eq!(page.row_cursors.len(), entries.len());
        let ids: Vec<_> = entries.into_iter().map(|entry| entry.id).collect();
        (ids.join(" "), page.next_cursor)
    }

    #[test]
    fn rows_of_all_services_are_in_one_order() {
        let pages = || {
            vec![
                page("a", &[9, 5, 1], false),
                page("b", &[], false),
                page("c", &[8, 5, 4], false),
            ]
        };
        let all = "a9 c8 c5 a5 c4 a1";
        assert_eq!(merged(pages(), 0, 10), (all.to_owned(), String::new()));
        assert_eq!(merged(pages(), 0, 2), ("a9 c8".to_owned(), "@8".to_owned()));
        assert_eq!(merged(pages(), 2, 4), ("c5 a5".to_owned(), "@5".to_owned()));
        assert_eq!(merged(pages(), 6, 8), (String::new(), String::new()));
        let (_, info) = newest(pages().into_iter(), 0, 1);
        assert_eq!(info.total, 30);
    }

    #[test]
    fn a_page_ends_where_a_service_may_have_the_next_row() {
        let pages = vec![page("a", &[9, 7], true), page("c", &[8, 5, 4], false)];
        assert_eq!(
            merged(pages, 0, 10),
            ("a9 c8 a7".to_owned(), "@7".to_owned())
        );
    }
}
