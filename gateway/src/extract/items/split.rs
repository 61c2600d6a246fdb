//! Splits a body that arrives in chunks into its items.

use std::mem;

use platform::error::{Code, Failure};
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// Most bytes of an item.
const MAX_ITEM: usize = 1024 * 1024;

/// Receives the items.
type Take<'t> = &'t mut dyn FnMut(&[u8]) -> Result<(), Failure>;

/// Splits lines or an array.
#[derive(Debug)]
pub(super) enum Splitter {
    /// The line so far. Empty lines are skipped.
    Lines(Vec<u8>),
    Array(ArraySplitter),
}

/// Splits an array. Its items are JSON; lines are checked when they are parsed.
#[derive(Debug, Default)]
pub(super) struct ArraySplitter {
    place: Place,
    /// What has arrived and was not read.
    buffer: Vec<u8>,
    /// The buffer's length at which it is read again: twice its length after the last time, so that
    /// a long item is not read once for each chunk.
    retry_at: usize,
}

/// What comes next in an array.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Bracket,
    ItemOrEnd,
    Item,
    End,
}

impl Splitter {
    pub(super) fn lines() -> Self {
        Self::Lines(Vec::new())
    }

    pub(super) fn array() -> Self {
        Self::Array(ArraySplitter::default())
    }

    /// Takes the next chunk and hands out the items that it completes.
    pub(super) fn push(&mut self, chunk: &[u8], take: Take<'_>) -> Result<(), Failure> {
        match self {
            Self::Lines(line) => push_lines(line, chunk, take),
            Self::Array(array) => array.push(chunk, take),
        }
    }

    /// Hands out what is left at the end of the body.
    pub(super) fn finish(self, take: Take<'_>) -> Result<(), Failure> {
        match self {
            Self::Lines(line) => end_line(&line, take),
            Self::Array(array) => array.finish(take),
        }
    }
}

fn push_lines(line: &mut Vec<u8>, chunk: &[u8], take: Take<'_>) -> Result<(), Failure> {
    for (index, part) in chunk.split(|byte| *byte == b'\n').enumerate() {
        if index > 0 {
            end_line(&mem::take(line), take)?;
        }
        line.extend_from_slice(part);
        check_length(line.len())?;
    }
    Ok(())
}

fn end_line(line: &[u8], take: Take<'_>) -> Result<(), Failure> {
    match line.trim_ascii() {
        b"" => Ok(()),
        line => take(line),
    }
}

impl ArraySplitter {
    fn push(&mut self, chunk: &[u8], take: Take<'_>) -> Result<(), Failure> {
        self.buffer.extend_from_slice(chunk);
        if self.buffer.len() < self.retry_at {
            return Ok(());
        }
        self.read(take)
    }

    fn finish(mut self, take: Take<'_>) -> Result<(), Failure> {
        self.read(take)?;
        match self.place {
            Place::End => Ok(()),
            _ => Err(malformed("the array has no end")),
        }
    }

    /// Reads as much of the buffer as is complete.
    fn read(&mut self, take: Take<'_>) -> Result<(), Failure> {
        let mut buffer = mem::take(&mut self.buffer);
        let mut start = 0;
        while let Some(length) = self.step(&buffer[start..], take)? {
            start += length;
        }
        buffer.drain(..start);
        self.retry_at = 2 * buffer.len();
        self.buffer = buffer;
        check_length(self.buffer.len())
    }

    /// Reads one bracket or item and returns its length, or `None` if it is not complete.
    fn step(&mut self, text: &[u8], take: Take<'_>) -> Result<Option<usize>, Failure> {
        let next = text.trim_ascii_start();
        let space = text.len() - next.len();
        let place = match (self.place, next.first()) {
            (Place::Bracket | Place::End, None) if space > 0 => return Ok(Some(space)),
            (_, None) => return Ok(None),
            (Place::Bracket, Some(b'[')) => Place::ItemOrEnd,
            (Place::Bracket, _) => return Err(malformed("an array is needed")),
            (Place::ItemOrEnd, Some(b']')) => Place::End,
            (Place::ItemOrEnd | Place::Item, _) => return self.item(text, take),
            (Place::End, _) => return Err(malformed("something follows the array")),
        };
        self.place = place;
        Ok(Some(space + 1))
    }

    /// Reads an item and the separator behind it.
    fn item(&mut self, text: &[u8], take: Take<'_>) -> Result<Option<usize>, Failure> {
        // A number at the end may go on in the next chunk.
        let end = text
            .iter()
            .rposition(|byte| !b"0123456789+-.eE".contains(byte));
        let text = &text[..end.map_or(0, |last| last + 1)];
        let mut items = Deserializer::from_slice(text).into_iter::<IgnoredAny>();
        match items.next() {
            Some(Err(error)) if error.is_eof() => return Ok(None),
            Some(Err(_)) => return Err(malformed("an item of the array is not JSON")),
            _ => {}
        }
        let (item, after) = text.split_at(items.byte_offset());
        let separator = after.trim_ascii_start();
        self.place = match separator.first() {
            None => return Ok(None),
            Some(b',') => Place::Item,
            Some(b']') => Place::End,
            Some(_) => return Err(malformed("an item of the array is not JSON")),
        };
        let length = text.len() - separator.len();
        check_length(length)?;
        take(item.trim_ascii())?;
        Ok(Some(length + 1))
    }
}

fn check_length(length: usize) -> Result<(), Failure> {
    if length <= MAX_ITEM {
        return Ok(());
    }
    let detail = format!("at most {MAX_ITEM} bytes an item");
    Err(Failure::new(Code::PayloadTooLarge, detail))
}

fn malformed(what: &str) -> Failure {
    Failure::new(Code::MalformedJson, format!("the body is not JSON: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The items, which do not depend on how the text is cut into chunks.
    fn items(new: fn() -> Splitter, text: &str) -> Result<Vec<String>, Code> {
        let split = |size: usize| {
            let (mut splitter, mut items) = (new(), Vec::new());
            let mut take = |item: &[u8]| {
                items.push(String::from_utf8(item.to_vec()).expect("whole letters"));
                Ok(())
            };
            for chunk in text.as_bytes().chunks(size) {
                splitter.push(chunk, &mut take)?;
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
    fn the_elements_of_an_array_are_items() {
        for (text, expected) in [
            ("[]", &[][..]),
            (" [ ] \n", &[]),
            ("[{}]", &["{}"]),
            (
                r#"[1,-2.5e3 , true,null,{"a":-1.5E-7}]"#,
                &["1", "-2.5e3", "true", "null", r#"{"a":-1.5E-7}"#],
            ),
            (
                r#"[{"a":"],[\"}","b":[1,[2]]}, "\\", 5 ]"#,
                &[r#"{"a":"],[\"}","b":[1,[2]]}"#, r#""\\""#, "5"],
            ),
        ] {
            assert_eq!(items(Splitter::array, text).expect("an array"), expected);
        }
        for text in [
            "", " ", "{}", "5", "[", "[{}", "[{},]", "[,{}]", "[{}]]", "[{}] x", "[{} {}]", "[}]",
            "[x]", "[\"]",
        ] {
            assert_eq!(
                items(Splitter::array, text),
                Err(Code::MalformedJson),
                "{text}"
            );
        }
    }

    #[test]
    fn items_are_bounded() {
        let long = "x".repeat(MAX_ITEM + 1);
        assert_eq!(items(Splitter::lines, &long), Err(Code::PayloadTooLarge));
        assert!(items(Splitter::lines, &long[1..]).is_ok());
    }

    #[test]
    fn items_of_an_array_are_bounded_with_the_blanks_around_them() {
        let item = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
        for (text, fits) in [
            (format!("[{}]", item(MAX_ITEM)), true),
            (format!("[{0},{0}]", item(MAX_ITEM)), true),
            (format!("[{}]", item(MAX_ITEM + 1)), false),
            (format!("[ {}]", item(MAX_ITEM)), false),
            (format!("[{} ,5]", item(MAX_ITEM)), false),
            (format!("[{}", " ".repeat(MAX_ITEM + 1)), false),
            (format!("{0}[]{0}", " ".repeat(MAX_ITEM + 1)), true),
        ] {
            let split = items(Splitter::array, &text);
            let expected = if fits {
                None
            } else {
                Some(Code::PayloadTooLarge)
            };
            assert_eq!(split.err(), expected);
        }
    }
}
