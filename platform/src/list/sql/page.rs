//! A page, and its encoding.
//!
//! A page is bounded in rows by the request and in bytes by [`MAX_PAGE_BYTES`]: where its rows would
//! pass that, it ends early, and its cursor leads to the rest.

use proto::common::v1::PageInfo;

use super::cursor;

/// Bytes of the rows of a page, unless one row alone has more.
pub const MAX_PAGE_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of a page from which it says the cursor of each row: the gateway may end it earlier, because
/// JSON is longer. Below, no JSON is as long as [`MAX_PAGE_BYTES`].
const CURSORS_FROM: usize = MAX_PAGE_BYTES / 8;

/// One page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// Its rows.
    pub rows: Vec<T>,
    /// Number of matching rows on all pages.
    pub total: u64,
    /// Cursor of the next page; `None` on the last.
    pub next_cursor: Option<String>,
    /// Relations to embed.
    pub include: Vec<&'static str>,
    pub(super) cursors: Cursors,
}

/// The sort keys of the rows of a page, to continue the list after any of them. Empty for a list
/// without pages.
#[derive(Debug, Default)]
pub(super) struct Cursors {
    pub(super) sort: String,
    pub(super) keys: Vec<Vec<Option<String>>>,
}

impl Cursors {
    /// Returns the cursor of the page that follows the first `rows` rows.
    pub(super) fn after(&self, rows: usize) -> Option<String> {
        let keys = self.keys.get(rows.checked_sub(1)?)?;
        Some(cursor::encode(&self.sort, keys))
    }

    fn first(&self, rows: usize) -> Vec<String> {
        (1..=rows).filter_map(|row| self.after(row)).collect()
    }
}

impl<T> Page<T> {
    /// Returns whether to embed this relation.
    pub fn includes(&self, relation: &str) -> bool {
        self.include.contains(&relation)
    }

    /// Converts each row.
    pub fn map<U>(mut self, convert: impl FnMut(T) -> U) -> Page<U> {
        let rows = std::mem::take(&mut self.rows);
        self.with_rows(rows.into_iter().map(convert).collect())
    }

    /// Replaces the rows one by one, for example by rows with embedded relations.
    pub fn with_rows<U>(self, rows: Vec<U>) -> Page<U> {
        Page {
            rows,
            total: self.total,
            next_cursor: self.next_cursor,
            include: self.include,
            cursors: self.cursors,
        }
    }

    /// Replaces the rows by other forms of the first of them; where there are fewer, the page ends early.
    pub fn with_first_rows<U>(self, rows: Vec<U>) -> Page<U> {
        let next_cursor = self.cursors.after(rows.len());
        let ends_early = rows.len() < self.cursors.keys.len();
        let mut page = self.with_rows(rows);
        if ends_early {
            page.next_cursor = next_cursor;
        }
        page
    }

    /// Ends the page after its first `rows` rows, at least one.
    pub fn truncate(&mut self, rows: usize) {
        let rows = rows.max(1);
        if rows < self.rows.len()
            && let Some(next) = self.cursors.after(rows)
        {
            self.rows.truncate(rows);
            self.next_cursor = Some(next);
        }
    }

    /// Encodes the rows, as many as [`MAX_PAGE_BYTES`] holds and at least one, and the part of the
    /// response that is not rows.
    pub fn encode<M: prost::Message>(self, encode: impl FnMut(T) -> M) -> (Vec<M>, PageInfo) {
        self.encode_from(CURSORS_FROM, encode)
    }

    /// Does the same, and always says the cursor of each row: the list is merged with others, and a page
    /// of the whole may end after any row.
    pub fn encode_with_cursors<M: prost::Message>(
        self,
        encode: impl FnMut(T) -> M,
    ) -> (Vec<M>, PageInfo) {
        self.encode_from(0, encode)
    }

    /// Encodes the rows, with their cursors if they have this many bytes.
    fn encode_from<M: prost::Message>(
        mut self,
        cursors_from: usize,
        mut encode: impl FnMut(T) -> M,
    ) -> (Vec<M>, PageInfo) {
        let mut encoded: Vec<M> = Vec::with_capacity(self.rows.len());
        let mut bytes = 0_usize;
        for row in std::mem::take(&mut self.rows) {
            let row = encode(row);
            let with_row = bytes.saturating_add(row.encoded_len());
            if with_row > MAX_PAGE_BYTES
                && let Some(next) = self.cursors.after(encoded.len())
            {
                self.next_cursor = Some(next);
                break;
            }
            bytes = with_row;
            encoded.push(row);
        }
        let row_cursors = if bytes >= cursors_from {
            self.cursors.first(encoded.len())
        } else {
            Vec::new()
        };
        let info = PageInfo {
            total: self.total,
            next_cursor: self.next_cursor.unwrap_or_default(),
            row_cursors,
        };
        (encoded, info)
    }
}

#[cfg(test)]
mod tests;
