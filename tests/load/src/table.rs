//! Figures with their bounds.

use anyhow::ensure;

/// Prints figures, and collects those that are out of bounds.
#[derive(Debug, Default)]
pub struct Table {
    missed: Vec<String>,
}

impl Table {
    /// Prints a figure.
    pub fn row(&mut self, what: &str, figure: f64, unit: &str, bound: Option<f64>) {
        let of = bound.map_or_else(String::new, |bound| format!("(below {bound} {unit})"));
        println!("{what:<52} {figure:>9.1} {unit:<3} {of}");
        if bound.is_some_and(|bound| figure >= bound) {
            self.missed.push(format!("{what}: {figure:.1} {unit} {of}"));
        }
    }

    /// Fails if a figure was out of its bounds.
    pub fn check_bounds(self) -> anyhow::Result<()> {
        let missed = self.missed.join("\n");
        ensure!(missed.is_empty(), "out of bounds:\n{missed}");
        println!("\nEverything is within its bounds.");
        Ok(())
    }
}
