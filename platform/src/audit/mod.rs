//! The audit log: who changed what. An entry is inserted in the transaction of its change, is never
//! changed, and has no secrets or personal data in it.
//!
//! The server's layer keeps the caller of the RPC for the entries of its handler. It is task-local: a
//! spawned task, an event's consumer and a worker have none, and what they change is the service's doing.
//!
//! ```no_run
//! # use platform::{audit::{self, Entry}, error::Failure, pg::Schema};
//! # use sqlx::PgConnection;
//! # const SCHEMA: Schema = Schema::new("catalog");
//! # async fn delete_in_tx(conn: &mut PgConnection, id: uuid::Uuid) -> Result<(), Failure> {
//! audit::record_in_tx(conn, SCHEMA, Entry::new("product", "deleted", id)).await?;
//! # Ok(()) }
//! ```
//!
//! The actions of RPCs are named in [`proto::access`].

mod log;

use std::{fmt::Display, future::Future, sync::Arc};

use serde_json::{Map, Value};
use sqlx::PgConnection;

use crate::{auth::Caller, pg::Schema, telemetry};

pub use log::AuditLog;

tokio::task_local! {
    static CALLER: Arc<Caller>;
}

/// Runs a handler whose entries name this caller as the actor.
pub(crate) async fn on_behalf_of<F: Future>(caller: Option<Arc<Caller>>, work: F) -> F::Output {
    match caller {
        Some(caller) => CALLER.scope(caller, work).await,
        None => work.await,
    }
}

/// Returns the actor of what happens now: the caller of the RPC, or the service that owns the schema.
/// A saga that another process may end stores it with its claim.
pub fn actor(schema: Schema) -> String {
    let of_request = CALLER.try_with(|caller| caller.name());
    of_request.unwrap_or_else(|_| format!("service:{}-svc", schema.name()))
}

/// A change. It belongs to the trace in which it is created.
#[derive(Debug, Clone)]
pub struct Entry {
    resource_type: &'static str,
    action: String,
    resource_id: String,
    actor: Option<String>,
    details: Map<String, Value>,
    trace_id: Option<String>,
}

impl Entry {
    /// Names a resource by its type and its id or code, and what was done to it: `product`, `deleted`.
    pub fn new(resource_type: &'static str, done: &str, resource_id: impl Display) -> Self {
        Self {
            resource_type,
            action: format!("{resource_type}.{done}"),
            resource_id: resource_id.to_string(),
            actor: None,
            details: Map::new(),
            trace_id: telemetry::current_trace_id(),
        }
    }

    /// Names another actor than the current one: the one that a saga's claim stores.
    #[must_use]
    pub fn by(mut self, actor: impl Into<String>) -> Self {
        self.actor = Some(actor.into());
        self
    }

    /// Adds what else an auditor needs. Never a secret, an email or a name.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Inserts the entry of a change into the audit log.
pub async fn record_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    entry: Entry,
) -> Result<(), sqlx::Error> {
    record_all_in_tx(conn, schema, [entry]).await
}

/// Inserts the entries of many changes.
pub async fn record_all_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    entries: impl IntoIterator<Item = Entry>,
) -> Result<(), sqlx::Error> {
    let current = actor(schema);
    let mut columns = Columns::default();
    for entry in entries {
        columns.push(entry, &current);
    }
    let sql = schema.sql(
        "insert into :schema.audit_log
             (actor, action, resource_type, resource_id, details, trace_id)
         select actor, action, resource_type, resource_id, details::jsonb, trace_id
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
             as entry (actor, action, resource_type, resource_id, details, trace_id)",
    );
    sqlx::query(sql)
        .bind(columns.actors)
        .bind(columns.actions)
        .bind(columns.resource_types)
        .bind(columns.resource_ids)
        .bind(columns.details)
        .bind(columns.trace_ids)
        .execute(conn)
        .await?;
    Ok(())
}

/// Entries as columns for `unnest`.
#[derive(Debug, Default)]
struct Columns {
    actors: Vec<String>,
    actions: Vec<String>,
    resource_types: Vec<&'static str>,
    resource_ids: Vec<String>,
    details: Vec<String>,
    trace_ids: Vec<Option<String>>,
}

impl Columns {
    fn push(&mut self, entry: Entry, current: &str) {
        self.actors
            .push(entry.actor.unwrap_or_else(|| current.to_owned()));
        self.actions.push(entry.action);
        self.resource_types.push(entry.resource_type);
        self.resource_ids.push(entry.resource_id);
        self.details.push(Value::Object(entry.details).to_string());
        self.trace_ids.push(entry.trace_id);
    }
}
