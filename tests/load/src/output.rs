//! The files that a benchmark writes: a JSON document and a plot.

use std::{fs, path::Path};

use anyhow::Context as _;
use serde_json::Value;

/// Writes `<name>.json` and `<name>.svg` into a directory.
pub fn write(directory: &Path, name: &str, document: &Value, plot: &str) -> anyhow::Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    let document = format!("{document:#}\n");
    for (extension, text) in [("json", document.as_str()), ("svg", plot)] {
        let path = directory.join(name).with_extension(extension);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// Leaves three decimals.
pub fn rounded(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}
