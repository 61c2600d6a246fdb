//! Renders messages for snapshots.

use std::fmt::Debug;

use uuid::Uuid;

/// Renders a message with what differs between runs replaced: times, references and ids. An id in
/// `ids` becomes its name, any other `<id>`. System wallets keep their ids.
pub(crate) fn stable(message: &impl Debug, ids: &[(&str, &str)]) -> String {
    let mut text = format!("{message:#?}");
    for (id, name) in ids {
        text = text.replace(id, name);
    }
    let mut lines = Vec::new();
    let mut rest = text.lines();
    while let Some(line) = rest.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match line.trim_start() {
            "Timestamp {" => {
                rest.find(|line| line.trim_start().starts_with('}'));
                lines.push(format!("{indent}<time>,"));
            }
            field if field.starts_with("reference: ") => {
                lines.push(format!("{indent}reference: <reference>,"));
            }
            _ => lines.push(without_ids(line)),
        }
    }
    join_options(&lines).join("\n")
}

fn without_ids(line: &str) -> String {
    let parts = line.split('"').map(|part| match Uuid::try_parse(part) {
        Ok(id) if part.len() == 36 && !is_system_wallet(id) => "<id>",
        _ => part,
    });
    parts.collect::<Vec<_>>().join("\"")
}

fn is_system_wallet(id: Uuid) -> bool {
    id.as_u128() >> 8 == 0x0000_0000_0000_7000_8000_0000_0000_0000 >> 8
}

/// Writes an optional value in one line.
fn join_options(lines: &[String]) -> Vec<String> {
    let mut joined = Vec::new();
    let mut rest = lines;
    while let [line, more @ ..] = rest {
        match more {
            [value, end, after @ ..] if line.ends_with("Some(") && end.trim() == ")," => {
                let value = value.trim().trim_end_matches(',');
                joined.push(format!("{line}{value}),"));
                rest = after;
            }
            _ => {
                joined.push(line.clone());
                rest = more;
            }
        }
    }
    joined
}
