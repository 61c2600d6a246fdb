//! Cuts text that arrives in pieces into its items.

use platform::error::{Code, Failure};

/// Bytes of the largest item.
const MAX_ITEM: usize = 1024 * 1024;

/// What items are handed to.
type Take<'t> = &'t mut dyn FnMut(&[u8]) -> Result<(), Failure>;

/// Where in the text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In lines, each an item; empty ones are none.
    Lines,
    /// Before the `[` of an array.
    Before,
    /// In the array; `first` until its first comma.
    Within { first: bool },
    /// After the `]`.
    After,
}

/// The cutter. An item is whatever lies between separators: whether it is JSON is for others to say.
#[derive(Debug)]
pub(super) struct Splitter {
    place: Place,
    item: Vec<u8>,
    /// Open brackets and braces of the item.
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Splitter {
    /// Cuts lines.
    pub(super) fn lines() -> Self {
        Self::at(Place::Lines)
    }

    /// Cuts an array.
    pub(super) fn array() -> Self {
        Self::at(Place::Before)
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            item: Vec::new(),
            depth: 0,
            in_string: false,
            escaped: false,
        }
    }

    /// Takes the next piece, and hands out the items that it ends.
    pub(super) fn push(&mut self, piece: &[u8], take: Take<'_>) -> Result<(), Failure> {
        for byte in piece {
            match self.place {
                Place::Lines => self.in_lines(*byte, take)?,
                Place::Within { first } => self.in_array(*byte, first, take)?,
                Place::Before if *byte == b'[' => self.place = Place::Within { first: true },
                Place::Before | Place::After if byte.is_ascii_whitespace() => {}
                Place::Before => return Err(malformed("an array is needed")),
                Place::After => return Err(malformed("something follows the array")),
            }
        }
        Ok(())
    }

    /// The text is at its end.
    pub(super) fn finish(mut self, take: Take<'_>) -> Result<(), Failure> {
        match self.place {
            Place::Lines => self.end_line(take),
            Place::After => Ok(()),
            Place::Before | Place::Within { .. } => Err(malformed("the array has no end")),
        }
    }

    fn in_lines(&mut self, byte: u8, take: Take<'_>) -> Result<(), Failure> {
        match byte {
            b'\n' => self.end_line(take),
            _ => self.keep(byte),
        }
    }

    fn end_line(&mut self, take: Take<'_>) -> Result<(), Failure> {
        let line = std::mem::take(&mut self.item);
        match line.trim_ascii() {
            b"" => Ok(()),
            line => take(line),
        }
    }

    fn in_array(&mut self, byte: u8, first: bool, take: Take<'_>) -> Result<(), Failure> {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return self.keep(byte);
        }
        match byte {
            b',' | b']' if self.depth == 0 => {
                self.place = match byte {
                    b',' => Place::Within { first: false },
                    _ => Place::After,
                };
                let item = std::mem::take(&mut self.item);
                let item = item.trim_ascii();
                let none = item.is_empty() && first && byte == b']';
                if none {
                    Ok(())
                } else {
                    self.end_item(item, take)
                }
            }
            b'"' => {
                self.in_string = true;
                self.keep(byte)
            }
            b'[' | b'{' => {
                self.depth += 1;
                self.keep(byte)
            }
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                self.keep(byte)
            }
            _ => self.keep(byte),
        }
    }

    /// Where an item is no JSON, the array is none.
    fn end_item(&self, item: &[u8], take: Take<'_>) -> Result<(), Failure> {
        debug_assert!(self.depth == 0, "items end outside of their brackets");
        match serde_json::from_slice::<serde::de::IgnoredAny>(item) {
            Ok(_) => take(item),
            Err(_) => Err(malformed("an item of the array is not JSON")),
        }
    }

    fn keep(&mut self, byte: u8) -> Result<(), Failure> {
        if self.item.len() == MAX_ITEM {
            let detail = format!("at most {MAX_ITEM} bytes an item");
            return Err(Failure::new(Code::PayloadTooLarge, detail));
        }
        self.item.push(byte);
        Ok(())
    }
}

fn malformed(what: &str) -> Failure {
    Failure::new(Code::MalformedJson, format!("the body is not JSON: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The items, whatever pieces the text comes in.
    fn items(new: fn() -> Splitter, text: &str) -> Result<Vec<String>, Code> {
        let split = |size: usize| {
            let (mut splitter, mut items) = (new(), Vec::new());
            let mut take = |item: &[u8]| {
                items.push(String::from_utf8(item.to_vec()).expect("whole letters"));
                Ok(())
            };
            for piece in text.as_bytes().chunks(size) {
                splitter.push(piece, &mut take)?;
            }
            splitter.finish(&mut take)?;
            Ok::<_, Failure>(items)
        };
        let whole = split(usize::MAX).map_err(|failure| failure.code);
        for size in [1, 2, 3, 7] {
            assert_eq!(split(size).map_err(|failure| failure.code), whole, "{text}");
        }
        whole
    }

    #[test]
    fn lines_are_items() {
        for (text, expected) in [
            ("", &[][..]),
            ("\n \r\n", &[]),
            ("{\"a\":1}", &["{\"a\":1}"]),
            ("{}\r\n\n {\"é\":[1,\n2]}\n", &["{}", "{\"é\":[1,", "2]}"]),
        ] {
            assert_eq!(items(Splitter::lines, text).expect("lines"), expected);
        }
    }

    #[test]
    fn an_array_has_its_elements() {
        for (text, expected) in [
            ("[]", &[][..]),
            (" [ ] \n", &[]),
            ("[{}]", &["{}"]),
            (
                r#"[{"a":"],[\"}","b":[1,[2]]}, "\\", 5 ]"#,
                &[r#"{"a":"],[\"}","b":[1,[2]]}"#, r#""\\""#, "5"],
            ),
        ] {
            assert_eq!(items(Splitter::array, text).expect("an array"), expected);
        }
        for text in [
            "", "{}", "[", "[{}", "[{},]", "[,{}]", "[{}]]", "[{}] x", "[{} {}]", "[}]", "[x]",
            "[\"]",
        ] {
            assert_eq!(
                items(Splitter::array, text),
                Err(Code::MalformedJson),
                "{text}"
            );
        }
    }

    #[test]
    fn an_item_is_bounded() {
        let long = "x".repeat(MAX_ITEM + 1);
        assert_eq!(items(Splitter::lines, &long), Err(Code::PayloadTooLarge));
        assert!(items(Splitter::lines, &long[1..]).is_ok());
    }
}
