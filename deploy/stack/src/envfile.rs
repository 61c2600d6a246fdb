//! Files of shell variables: `export NAME='value'` lines.

use std::{fs, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use anyhow::{Context as _, Result};

use crate::wiring::Variable;

/// Formats variables as the text of such a file.
pub(crate) fn render(variables: &[Variable]) -> String {
    let lines: Vec<_> = variables
        .iter()
        .map(|(name, value)| format!("export {name}='{}'\n", value.replace('\'', r"'\''")))
        .collect();
    lines.concat()
}

/// Parses the text of [`render`]; other lines are ignored.
pub(crate) fn parse(text: &str) -> Vec<Variable> {
    text.lines()
        .filter_map(|line| {
            let (name, value) = line.trim().strip_prefix("export ")?.split_once('=')?;
            let value = value.strip_prefix('\'')?.strip_suffix('\'')?;
            Some((name.to_owned(), value.replace(r"'\''", "'")))
        })
        .collect()
}

/// Writes a file that only we may read, atomically.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    let temporary = path.with_extension("new");
    let _ = fs::remove_file(&temporary);
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendered_values_are_parsed_unchanged() {
        let variables: Vec<Variable> = [("A", "plain"), ("B", "it's $HOME"), ("C", "")]
            .map(|(name, value)| (name.into(), value.into()))
            .into();
        assert_eq!(parse(&render(&variables)), variables);
    }

    #[test]
    fn a_quote_is_escaped_for_the_shell() {
        let text = render(&[("A".to_owned(), "it's".to_owned())]);
        assert_eq!(text, "export A='it'\\''s'\n");
    }
}
