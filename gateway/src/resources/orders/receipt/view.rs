//! What a receipt shows, as texts: the page and the PDF differ only in how they draw it.

/// A receipt. No text of it is escaped or cleaned.
#[derive(Debug)]
pub(super) struct View {
    /// The reference of the order, or its id.
    pub(super) number: String,
    pub(super) seller: String,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) tables: Vec<Table>,
    /// A sentence; none without a bonus.
    pub(super) bonus: Option<String>,
    /// When the order changed last, in RFC 3339.
    pub(super) changed_at: Option<String>,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) heading: &'static str,
    pub(super) columns: &'static [Column],
    pub(super) rows: Vec<Vec<Cell>>,
    /// Below the rows; the last of them is the result.
    pub(super) sums: Vec<(&'static str, String)>,
}

#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// What is in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text of any length; one column of a table.
    Prose,
    /// A short text.
    Label,
    /// Aligned to the right.
    Number,
}

#[derive(Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    /// A remark below the text.
    pub(super) note: Option<String>,
}

impl View {
    pub(super) fn title(&self) -> String {
        format!("Receipt {}", self.number)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, note: None }
    }
}
