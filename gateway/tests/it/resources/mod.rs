//! Every resource: requests as services receive them, responses as clients do.

mod accounts;
mod activity;
mod addresses;
mod api_keys;
mod assets;
mod audit_log;
mod auth;
mod catalog;
mod events;
mod invites;
mod movements;
mod new_orders;
mod order_lines;
mod orders;
mod payment_methods;
mod product_questions;
mod products;
mod questions;
mod rates;
mod receipts;
mod tasks;
mod transactions;
mod users;
mod wallets;
mod webhooks;

use serde_json::{Value, json};

use crate::harness::{Exchange, ID, TestApp};

/// Asserts that a list has one row with the fields of the single resource, and a page.
fn assert_list_of(list: &Exchange, resource: &Value) {
    let rows = list.body["data"].as_array().expect("rows");
    assert_eq!(rows.len(), 1);
    assert_eq!(keys(&rows[0]), keys(resource));
    assert_eq!(list.body["total"], 1);
    assert_eq!(list.body["nextCursor"], "page.next_cursor");
}

/// Deletes the resource at this path, and moves it.
async fn assert_deleted_and_moved(app: &TestApp, path: &str) {
    let deleted = app.delete(path).await;
    assert_eq!(
        (deleted.status, &deleted.call().message),
        (204, &json!({"id": ID}))
    );
    let moved = app
        .post(&format!("{path}/reorder"), &json!({"subsequentId": ID}))
        .await;
    let message = json!({"id": ID, "subsequent_id": ID});
    assert_eq!((moved.status, &moved.call().message), (204, &message));
}

/// The names of all fields, nested ones included. Names with a dot are the content of JSON fields.
fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !name.contains('.'))
            .flat_map(|(name, value)| {
                let inner = keys(value).into_iter();
                let inner = inner.map(move |inner| format!("{name}.{inner}"));
                std::iter::once(name.clone()).chain(inner)
            })
            .collect(),
        Value::Array(rows) => rows.iter().flat_map(keys).collect(),
        _ => Vec::new(),
    }
}
