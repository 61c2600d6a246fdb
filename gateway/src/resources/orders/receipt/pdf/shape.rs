//! Chooses and places the glyphs of a text. `krilla` draws them, and embeds the part of a font that has them.

use std::{ops::Range, sync::LazyLock};

use harfrust::{Direction, FontRef, GlyphBuffer, ShapeOptions, ShaperData, UnicodeBuffer};
use krilla::text::{Font, GlyphId, KrillaGlyph};

/// A font. Glyphs that it lacks are boxes.
pub(super) struct Face {
    /// For the document.
    pub(super) font: Font,
    tables: FontRef<'static>,
    data: ShaperData,
}

pub(super) static REGULAR: LazyLock<Face> =
    LazyLock::new(|| Face::new(include_bytes!("../../../../../assets/fonts/DejaVuSans.ttf")));
pub(super) static BOLD: LazyLock<Face> = LazyLock::new(|| {
    Face::new(include_bytes!(
        "../../../../../assets/fonts/DejaVuSans-Bold.ttf"
    ))
});

/// Glyphs of one direction, from left to right. Widths are in units of the font's size.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) text: String,
    pub(super) glyphs: Vec<KrillaGlyph>,
    pub(super) width: f32,
}

/// Characters that stay together, such as a letter and its accents.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) range: Range<usize>,
    pub(super) width: f32,
}

impl Face {
    fn new(file: &'static [u8]) -> Self {
        let tables = FontRef::new(file).expect("a font");
        Self {
            font: Font::new(file.into(), 0).expect("a font"),
            data: ShaperData::new(&tables),
            tables,
        }
    }

    fn shape(&self, text: &str, is_rtl: bool) -> GlyphBuffer {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        buffer.guess_segment_properties();
        buffer.set_direction(if is_rtl {
            Direction::RightToLeft
        } else {
            Direction::LeftToRight
        });
        let shaper = self.data.shaper(&self.tables).build();
        shaper.shape(buffer, ShapeOptions::new())
    }

    /// Returns the clusters of a text of one direction, in the order in which it is read.
    pub(super) fn clusters(&self, text: &str, is_rtl: bool) -> Vec<Cluster> {
        let buffer = self.shape(text, is_rtl);
        let glyphs = buffer.glyph_infos().iter().zip(buffer.glyph_positions());
        let mut widths: Vec<_> = glyphs
            .map(|(glyph, position)| (glyph.cluster as usize, self.ems(position.x_advance)))
            .collect();
        if is_rtl {
            widths.reverse();
        }
        let mut clusters: Vec<Cluster> = Vec::new();
        for (start, width) in widths {
            match clusters.last_mut() {
                Some(last) if last.range.start == start => last.width += width,
                last => {
                    if let Some(last) = last {
                        last.range.end = start;
                    }
                    let range = start..text.len();
                    clusters.push(Cluster { range, width });
                }
            }
        }
        clusters
    }

    /// Returns the glyphs of a text of one direction.
    pub(super) fn run(&self, text: &str, is_rtl: bool) -> Run {
        let buffer = self.shape(text, is_rtl);
        let infos = buffer.glyph_infos();
        let mut starts: Vec<_> = infos.iter().map(|glyph| glyph.cluster as usize).collect();
        starts.sort_unstable();
        let end_of = |start| {
            let next = starts.partition_point(|other| *other <= start);
            starts.get(next).copied().unwrap_or(text.len())
        };
        let glyphs = infos.iter().zip(buffer.glyph_positions());
        let glyphs: Vec<_> = glyphs
            .map(|(glyph, position)| {
                let start = glyph.cluster as usize;
                KrillaGlyph::new(
                    GlyphId::new(glyph.glyph_id),
                    self.ems(position.x_advance),
                    self.ems(position.x_offset),
                    self.ems(position.y_offset),
                    self.ems(position.y_advance),
                    start..end_of(start),
                    None,
                )
            })
            .collect();
        Run {
            width: glyphs.iter().map(|glyph| glyph.x_advance).sum(),
            text: text.to_owned(),
            glyphs,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "distances in a font have less than 24 bits"
    )]
    fn ems(&self, units: i32) -> f32 {
        units as f32 / self.font.units_per_em()
    }
}
