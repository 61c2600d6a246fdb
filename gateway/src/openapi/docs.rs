//! Summaries and descriptions of operations: the doc comments of their handlers. They are read from
//! the sources when the document is generated, so that each is written once, beside its handler.

use std::{fs, path::Path};

use crate::{access::Access, router::Route};

/// Returns the summary of a route: the first paragraph of the handler's doc comment.
pub(super) fn summary(route: &Route) -> String {
    let comment = doc_comment(route.handler_name);
    let (summary, _) = comment.split_once("\n\n").unwrap_or((&comment, ""));
    let summary = summary.trim_end_matches('.');
    match route.alias_of {
        Some(path) => format!("{summary} (alias of `{path}`)"),
        None => summary.to_owned(),
    }
}

/// Returns the description of a route: the other paragraphs, and who may call it.
pub(super) fn description(route: &Route) -> String {
    let access = match route.access {
        Access::Anonymous => "Needs no credentials; those sent are ignored.",
        Access::Public => "Needs no credentials; wrong ones are refused.",
        Access::User => "Any authenticated caller; users see and change only their own data.",
        Access::Admin => "Needs the role `admin`.",
        Access::SignUp => {
            "Where sign-up is open (`SIGN_UP=open`), anybody creates an unapproved user with email, \
             password, name, locale, code and customData. Where it is closed:\n\n\
             Needs the role `admin`."
        }
    };
    match doc_comment(route.handler_name).split_once("\n\n") {
        Some((_, details)) => format!("{details}\n\n{access}"),
        None => access.to_owned(),
    }
}

/// Finds the doc comment of `gateway::resources::orders::list` in `src/resources/orders.rs`.
fn doc_comment(handler: &str) -> String {
    let (module, function) = handler.rsplit_once("::").expect("a full path");
    let file = module.replacen("gateway", "src", 1).replace("::", "/") + ".rs";
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file));
    let source = source.unwrap_or_else(|error| panic!("{file}: {error}"));
    let (before, _) = source
        .split_once(&format!("async fn {function}("))
        .unwrap_or_else(|| panic!("{file} has no handler {function}"));
    let comment = before.lines().rev().skip(1);
    let comment = comment.map_while(|line| line.strip_prefix("///").map(str::trim));
    let mut lines: Vec<_> = comment.collect();
    assert!(!lines.is_empty(), "{handler} has no doc comment");
    lines.reverse();
    lines.join("\n")
}
