//! The tables of transitions, and the diagrams in the README that are made from them.

use std::{fmt::Debug, fs, path::Path};

use super::*;
use crate::order::model::{LineStatus, OrderStatus, PaymentStatus, status::Status};

const BEGIN: &str = "<!-- diagrams -->\n";
const END: &str = "<!-- end of diagrams -->";
/// Set to write the diagrams instead of comparing them.
const WRITE: &str = "WRITE_DIAGRAMS";

#[test]
fn the_diagrams_in_the_readme_are_those_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let made = diagrams();
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, [before, BEGIN, &made, END, after].concat()).unwrap();
    } else {
        assert!(
            shown == made,
            "orders-svc/README.md is out of date: run `{WRITE}=1 cargo test -p orders-svc diagrams`"
        );
    }
}

#[test]
fn a_change_outside_the_table_is_refused_and_changes_nothing() {
    let mut status = OrderStatus::Canceled;
    status.move_to(OrderStatus::Canceled).unwrap();
    assert_refused(
        status.move_to(OrderStatus::Unfulfilled),
        Code::Internal,
        &[],
    );
    assert_eq!(status, OrderStatus::Canceled);
}

#[test]
fn a_table_has_each_change_once() {
    check_rows::<OrderStatus>();
    check_rows::<PaymentStatus>();
    check_rows::<LineStatus>();
}

fn check_rows<S: Status + Debug>() {
    let rows = S::TRANSITIONS;
    for row in rows {
        assert_ne!(row.from, row.to);
        let same = rows
            .iter()
            .filter(|other| (other.from, other.to) == (row.from, row.to));
        assert_eq!(same.count(), 1, "{row:?}");
    }
}

fn diagrams() -> String {
    [
        diagram::<OrderStatus>(
            "An order:",
            &[
                "[*] --> unfulfilled: create",
                "[*] --> draft: create with an immediate payment",
                "draft --> [*]: its payment is refused",
                "canceled --> [*]",
            ],
        ),
        diagram::<PaymentStatus>("Its payment:", &["[*] --> unpaid"]),
        diagram::<LineStatus>("A line:", &["[*] --> unfulfilled", "canceled --> [*]"]),
    ]
    .concat()
}

fn diagram<S: Status + Debug>(title: &str, ends: &[&str]) -> String {
    let rows = S::TRANSITIONS
        .iter()
        .map(|row| format!("{} --> {}: {}", name(row.from), name(row.to), row.by));
    let ends = ends.iter().map(|&end| end.to_owned());
    let lines = ends.chain(rows).collect::<Vec<_>>().join("\n    ");
    format!("{title}\n\n```mermaid\nstateDiagram-v2\n    {lines}\n```\n\n")
}

/// Returns the public name of a status: `fully_paid`.
fn name(status: impl Debug) -> String {
    let mut name = String::new();
    for letter in format!("{status:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}
