//! Tests that can't run on every machine.

use std::{
    env,
    fs::OpenOptions,
    io::{self, Write as _},
};

/// Reports a test that returns early: `cargo stack test` counts and prints the reports at the end.
///
/// # Panics
/// If the report can't be written.
pub fn report_skipped(test: &str, reason: &str) {
    let report = format!("{test}: {reason}\n");
    let write = match env::var_os("STACK_SKIPPED_TESTS") {
        Some(file) => OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .and_then(|mut file| file.write_all(report.as_bytes())),
        None => io::stderr().write_all(report.as_bytes()),
    };
    write.expect("the report can be written");
}
