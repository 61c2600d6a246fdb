//! Images: checks what clients write, and makes URLs of it.

use std::sync::Arc;

use platform::{
    error::{FieldCode, InvalidValue},
    patch::Patch,
};

use crate::fields;

/// Checks an `image` or `thumbnail`: an http(s) URL, or else a path below the media URL, whatever it
/// looks like. An empty one is `None`.
pub(crate) fn image(written: String) -> Result<Option<String>, InvalidValue> {
    let image = fields::plain(written)?;
    if image.chars().any(char::is_control) {
        return Err(InvalidValue::new(
            FieldCode::Format,
            "must not hold control characters",
        ));
    }
    Ok(Some(image).filter(|image| !image.is_empty()))
}

/// Clears an image that an update sets to an empty one.
pub(crate) fn patch(image: Patch<Option<String>>) -> Patch<String> {
    match image {
        Patch::Absent => Patch::Absent,
        Patch::Set(Some(image)) => Patch::Set(image),
        Patch::Set(None) | Patch::Null => Patch::Null,
    }
}

/// Makes URLs of images.
#[derive(Debug, Clone)]
pub(crate) struct Media {
    base_url: Arc<str>,
}

impl Media {
    /// Prepends `base_url` to paths.
    pub(crate) fn new(base_url: &str) -> Self {
        Self {
            base_url: base_url.into(),
        }
    }

    /// Returns the URL of an image.
    pub(crate) fn url(&self, image: Option<&str>) -> Option<String> {
        image.map(|image| {
            if is_http(image) {
                image.to_owned()
            } else {
                format!("{}{image}", self.base_url)
            }
        })
    }
}

fn is_http(image: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        image
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && image.len() > scheme.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_paths_are_accepted() {
        for written in [
            "https://x.test/a.png",
            "HTTP://x",
            "shoes/red.png",
            "a b:c.png",
            "é",
        ] {
            assert_eq!(image(written.into()).unwrap().as_deref(), Some(written));
        }
        assert_eq!(image(String::new()).unwrap(), None);
    }

    #[test]
    fn other_texts_are_refused() {
        for written in ["java\nscript:x", "a\u{1b}.png"] {
            let refused = image(written.into()).unwrap_err();
            assert_eq!(refused.code, FieldCode::Format, "{written}");
        }
        let long = image("x".repeat(2_049)).unwrap_err();
        assert_eq!(long.code, FieldCode::Length);
    }

    #[test]
    fn paths_are_below_the_base_url() {
        let media = Media::new("https://media.test/");
        let url = |image: &str| media.url(Some(image)).unwrap();
        assert_eq!(url("shoes/red.png"), "https://media.test/shoes/red.png");
        assert_eq!(url("Https://x.test/a.png"), "Https://x.test/a.png");
        // No other scheme reaches a browser as one.
        for written in [
            "javascript:alert(1)",
            "data:image/png;base64,AA",
            "http:",
            "https://",
        ] {
            let stored = image(written.into()).unwrap().unwrap();
            assert_eq!(url(&stored), format!("https://media.test/{written}"));
        }
        assert_eq!(media.url(None), None);
    }
}
