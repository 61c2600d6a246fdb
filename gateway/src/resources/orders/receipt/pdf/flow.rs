//! Places rows one below another, and starts a new page where one is full.

use super::lines::Line;

/// A4, in points.
pub(super) const WIDTH: f32 = 595.28;
pub(super) const HEIGHT: f32 = 841.89;
/// 18 mm.
const MARGIN: f32 = 51.0;
pub(super) const LEFT: f32 = MARGIN;
pub(super) const RIGHT: f32 = WIDTH - MARGIN;
const TOP: f32 = MARGIN;
/// Where the rows end; below is the number of the page.
pub(super) const BOTTOM: f32 = HEIGHT - MARGIN - 14.0;

/// Distance of lines in units of their size.
const LEADING: f32 = 1.35;

#[derive(Default)]
pub(super) struct Page {
    pub(super) texts: Vec<Text>,
    pub(super) rules: Vec<Rule>,
}

/// A line at the left end of its baseline.
pub(super) struct Text {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) line: Line,
}

/// A horizontal rule over the width of the page.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) y: f32,
    pub(super) thickness: f32,
    pub(super) color: [u8; 3],
}

/// Lines of text in a part of the width.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) left: f32,
    pub(super) right: f32,
    pub(super) is_number: bool,
    pub(super) lines: Vec<Line>,
}

/// Blocks beside each other.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) blocks: Vec<Block>,
    /// Above and below the text.
    pub(super) padding: f32,
    /// The thickness and color of the rule below.
    pub(super) rule: Option<(f32, [u8; 3])>,
}

pub(super) struct Flow {
    pub(super) pages: Vec<Page>,
    y: f32,
    /// Repeated at the top of each page.
    heading: Option<Row>,
}

impl Row {
    /// Returns the distance of its lines.
    fn leading(&self) -> f32 {
        let lines = self.blocks.iter().flat_map(|block| &block.lines);
        lines.map(|line| line.style.size).fold(0.0, f32::max) * LEADING
    }

    fn line_count(&self) -> usize {
        let counts = self.blocks.iter().map(|block| block.lines.len());
        counts.max().unwrap_or(0)
    }

    pub(super) fn height(&self) -> f32 {
        height(self.line_count(), self.leading()) + 2.0 * self.padding
    }
}

#[expect(clippy::cast_precision_loss, reason = "a row has few lines")]
fn height(lines: usize, leading: f32) -> f32 {
    lines as f32 * leading
}

impl Flow {
    pub(super) fn new() -> Self {
        Self {
            pages: vec![Page::default()],
            y: TOP,
            heading: None,
        }
    }

    /// Sets the row that is repeated on the pages to come.
    pub(super) fn repeat(&mut self, heading: Option<Row>) {
        self.heading = heading;
    }

    pub(super) fn space(&mut self, height: f32) {
        self.y += height;
    }

    /// Starts a page, unless this much is left of the current one, or would not be left of a new one either.
    pub(super) fn keep(&mut self, height: f32) {
        let fits = self.y + height <= BOTTOM;
        if !fits && self.first() + height <= BOTTOM {
            self.start_page();
        }
    }

    /// Adds a row; one that is higher than a page is continued on the next.
    pub(super) fn add(&mut self, mut row: Row) {
        self.keep(row.height());
        let leading = row.leading();
        let mut is_new = false;
        loop {
            let count = row.line_count();
            let mut fitting = 0;
            while fitting < count && self.y + row.padding + height(fitting + 1, leading) <= BOTTOM {
                fitting += 1;
            }
            // A new page takes at least one line, whatever is above it.
            if fitting > 0 || count == 0 || is_new {
                self.place(&mut row, fitting.max(1), leading);
            }
            if row.line_count() == 0 {
                break;
            }
            self.start_page();
            is_new = true;
        }
    }

    /// Places the first lines of a row, and takes them out of it.
    fn place(&mut self, row: &mut Row, count: usize, leading: f32) {
        let top = self.y + row.padding;
        let count = count.min(row.line_count());
        for block in &mut row.blocks {
            let taken = block.lines.drain(..count.min(block.lines.len()));
            // Large and small text have one baseline.
            let mut y = top + leading / LEADING;
            for line in taken {
                let x = if block.is_number {
                    block.right - line.width()
                } else {
                    block.left
                };
                self.page().texts.push(Text { x, y, line });
                y += leading;
            }
        }
        self.y = top + height(count, leading) + row.padding;
        if let Some((thickness, color)) = row.rule {
            let y = self.y;
            self.page().rules.push(Rule {
                y,
                thickness,
                color,
            });
        }
    }

    fn page(&mut self) -> &mut Page {
        self.pages.last_mut().expect("there is a first page")
    }

    /// Returns where the first row below the heading starts.
    fn first(&self) -> f32 {
        TOP + self.heading.as_ref().map_or(0.0, Row::height)
    }

    fn start_page(&mut self) {
        self.pages.push(Page::default());
        self.y = TOP;
        if let Some(mut heading) = self.heading.clone() {
            let (count, leading) = (heading.line_count(), heading.leading());
            self.place(&mut heading, count, leading);
        }
    }
}
