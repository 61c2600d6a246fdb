//! Files of shell variables: `export NAME='value'` lines.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

/// The text of such a file.
pub fn render(variables: &[(String, String)]) -> String {
    variables
        .iter()
        .fold(String::new(), |mut text, (name, value)| {
            let quoted = value.replace('\'', r"'\''");
            let _ = writeln!(text, "export {name}='{quoted}'");
            text
        })
}

/// What [`render`] wrote; lines of other forms are passed over.
pub fn parse(text: &str) -> Vec<(String, String)> {
    text.lines()
        .filter_map(|line| {
            let (name, value) = line.trim().strip_prefix("export ")?.split_once('=')?;
            let value = value.strip_prefix('\'')?.strip_suffix('\'')?;
            Some((name.to_owned(), value.replace(r"'\''", "'")))
        })
        .collect()
}

/// Writes a file that only we may read, in one step.
pub fn write_private(path: &Path, text: &str) -> Result<()> {
    let fresh = path.with_extension("new");
    let _ = fs::remove_file(&fresh);
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh);
    written
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&fresh, path))
        .with_context(|| format!("{} can't be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_the_way_there_and_back() {
        let variables: Vec<(String, String)> = [("A", "plain"), ("B", "it's $HOME"), ("C", "")]
            .map(|(n, v)| (n.into(), v.into()))
            .into();
        assert_eq!(parse(&render(&variables)), variables);
    }

    #[test]
    fn a_quote_is_safe_in_a_shell() {
        let text = render(&[("A".to_owned(), "it's".to_owned())]);
        assert_eq!(text, "export A='it'\\''s'\n");
    }
}
