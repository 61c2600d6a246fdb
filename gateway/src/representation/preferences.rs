//! Lists of what a client prefers: `text/html, application/json;q=0.8`.

use axum::http::{HeaderMap, HeaderName};

/// The highest quality, in thousandths.
const FULL: u16 = 1000;

/// What a header prefers, in its order: names in lower case, and their qualities in thousandths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Preferences(pub(super) Vec<(String, u16)>);

impl Preferences {
    /// Reads a header. One that is missing, empty or malformed prefers nothing: `None`.
    pub(super) fn of(headers: &HeaderMap, name: &HeaderName) -> Option<Self> {
        let mut preferences = Vec::new();
        for value in headers.get_all(name) {
            for item in split(value.to_str().ok()?, ',') {
                if !item.is_empty() {
                    preferences.push(preference(item)?);
                }
            }
        }
        (!preferences.is_empty()).then_some(Self(preferences))
    }

    /// Returns the quality of a name, if it is listed.
    pub(super) fn quality(&self, name: &str) -> Option<u16> {
        let named = self.0.iter().filter(|(known, _)| known == name);
        named.map(|(_, quality)| *quality).max()
    }
}

/// Reads one name and its `q`; other parameters do not matter.
fn preference(item: &str) -> Option<(String, u16)> {
    let mut parts = split(item, ';');
    let name = parts.next()?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~/".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return None;
    }
    let mut quality = FULL;
    for parameter in parts {
        if let Some((key, value)) = parameter.split_once('=')
            && key.trim().eq_ignore_ascii_case("q")
        {
            quality = thousandths(value.trim())?;
        }
    }
    Some((name.to_ascii_lowercase(), quality))
}

/// Reads a quality from 0 to 1. `.5` and more than three digits are no qualities, but meant as such.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || text.is_empty() || text == "." {
        return None;
    }
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    let fraction: u16 = digits.parse().ok()?;
    match whole {
        "" | "0" => Some(fraction),
        "1" if fraction == 0 => Some(FULL),
        _ => None,
    }
}

/// Splits at a separator that does not stand in a quoted string.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    let parts = text.split(move |c: char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        c == separator && !quoted
    });
    parts.map(str::trim)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, header::ACCEPT};

    use super::*;

    fn read(values: &[&str]) -> Option<Vec<(String, u16)>> {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(ACCEPT, value);
        }
        Preferences::of(&headers, &ACCEPT).map(|preferences| preferences.0)
    }

    #[test]
    fn names_and_qualities_are_read_in_their_order() {
        let expected = [("text/html", 1000), ("a/b", 500), ("*/*", 0), ("c", 125)];
        let expected = expected.map(|(name, quality)| (name.to_owned(), quality));
        let one = "text/HTML, a/b;v=\"x,y;q=0\" ; Q=0.5,,*/*;q=0.0, c;q=.125";
        assert_eq!(read(&[one]), Some(expected.to_vec()));
        let two = ["text/html;q=1.000", "a/b;q=0.5, */*;q=0, c;q=0.1259"];
        assert_eq!(read(&two), Some(expected.to_vec()));
    }

    #[test]
    fn a_header_that_is_missing_or_malformed_prefers_nothing() {
        assert_eq!(read(&[]), None);
        for malformed in [
            "", " , ", ";", "a b", "a;q=x", "a;q=2", "a;q=", "a;q=.", "é", "a;q=-1",
        ] {
            assert_eq!(read(&[malformed]), None, "{malformed}");
        }
    }
}
