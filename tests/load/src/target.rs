//! Figures beside their targets.

/// Prints a figure that should be this large, unless it was not measured.
pub fn at_least(what: &str, value: Option<f64>, target: f64) {
    print(what, value, ">=", target, |value| value / target);
}

/// Prints a figure that should be this small, unless it was not measured.
pub fn at_most(what: &str, value: Option<f64>, target: f64) {
    print(what, value, "<=", target, |value| target / value);
}

fn print(what: &str, value: Option<f64>, sign: &str, target: f64, share: impl Fn(f64) -> f64) {
    let Some(value) = value else { return };
    let share = share(value);
    let result = if share >= 1.0 {
        "reached".to_owned()
    } else {
        format!("{share:.2} of the target")
    };
    println!("{what:<44}{value:>10.2} {sign} {target:<8} {result}");
}
