//! Breaks a text into lines, and orders each of them for the eye: Hebrew and Arabic run from right to left.

use std::ops::Range;

use unicode_bidi::{Level, ParagraphBidiInfo};
use unicode_normalization::char::is_combining_mark;

use super::shape::{Cluster, Face, Run};

/// How a text looks.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) face: fn() -> &'static Face,
    pub(super) size: f32,
    pub(super) color: [u8; 3],
}

/// A line of a text, from left to right.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) style: Style,
    pub(super) runs: Vec<Run>,
}

/// More accents on a letter would cover the lines around it.
const MAX_MARKS: usize = 4;

impl Line {
    pub(super) fn width(&self) -> f32 {
        let width: f32 = self.runs.iter().map(|run| run.width).sum();
        width * self.style.size
    }
}

/// Returns the lines of a text, none of which is wider than this, unless a single character is.
pub(super) fn lines(text: &str, style: Style, width: f32) -> Vec<Line> {
    let text = clean(text);
    let bidi = ParagraphBidiInfo::new(&text, Some(Level::ltr()));
    let face = (style.face)();
    let clusters = clusters(&text, &bidi.levels, face);
    let ranges = wrap(&text, &clusters, width / style.size);
    let ranges = ranges.into_iter();
    ranges
        .map(|range| Line {
            style,
            runs: runs(&text, &bidi, range, face),
        })
        .collect()
}

/// Returns the width of a text in one line.
pub(super) fn natural_width(text: &str, style: Style) -> f32 {
    let lines = lines(text, style, f32::INFINITY);
    lines.iter().map(Line::width).fold(0.0, f32::max)
}

/// Makes one paragraph of a text: without control characters, of which those that change the direction could
/// make an amount look like another.
fn clean(text: &str) -> String {
    let shown = text.chars().filter(|character| !turns(*character));
    let mut clean = String::with_capacity(text.len());
    let mut marks = 0;
    for character in shown {
        let is_blank = character.is_whitespace() || character.is_control();
        marks = if is_combining_mark(character) {
            marks + 1
        } else {
            0
        };
        if is_blank {
            if !clean.is_empty() && !clean.ends_with(' ') {
                clean.push(' ');
            }
        } else if marks <= MAX_MARKS {
            clean.push(character);
        }
    }
    clean.truncate(clean.trim_end().len());
    clean
}

/// Whether a character changes the direction of the others.
const fn turns(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the clusters of a paragraph, in the order in which it is read.
fn clusters(text: &str, levels: &[Level], face: &Face) -> Vec<Cluster> {
    let mut clusters = Vec::new();
    let mut start = 0;
    for part in levels.chunk_by(|one, other| one == other) {
        let end = start + part.len();
        let is_rtl = part.first().is_some_and(Level::is_rtl);
        let of_part = face.clusters(&text[start..end], is_rtl);
        clusters.extend(of_part.into_iter().map(|cluster| Cluster {
            range: start + cluster.range.start..start + cluster.range.end,
            width: cluster.width,
        }));
        start = end;
    }
    clusters
}

/// Returns the parts of a text that are lines. They end at a blank or hyphen, in a longer word between two
/// clusters. A blank at the end of a line may stand out of it.
fn wrap(text: &str, clusters: &[Cluster], width: f32) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut start, mut used) = (0, 0.0);
    let mut chance = None;
    for Cluster { range, width: more } in clusters {
        let is_blank = &text[range.clone()] == " ";
        while !is_blank && used + more > width && range.start > start {
            let (end, before) = chance.take().unwrap_or((range.start, used));
            lines.push(start..end);
            start = end;
            used -= before;
        }
        used += more;
        if is_blank || &text[range.clone()] == "-" {
            chance = Some((range.end, used));
        }
    }
    lines.push(start..text.len());
    lines
}

/// Returns the runs of a line, from left to right.
fn runs(text: &str, bidi: &ParagraphBidiInfo, line: Range<usize>, face: &Face) -> Vec<Run> {
    let shown = text[line.clone()].trim_end().len();
    let line = line.start..line.start + shown;
    if line.is_empty() {
        return Vec::new();
    }
    if !bidi.has_rtl() {
        return vec![face.run(&text[line], false)];
    }
    let (levels, runs) = bidi.visual_runs(line);
    let runs = runs.into_iter();
    runs.map(|run| face.run(&text[run.clone()], levels[run.start].is_rtl()))
        .collect()
}

#[cfg(test)]
mod tests;
