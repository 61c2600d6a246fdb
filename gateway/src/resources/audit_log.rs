//! `/audit-log`

mod merge;

use futures::future::try_join_all;
use platform::{
    error::{Failure, FieldCode},
    list::refuse,
};
use proto::{
    audit::v1::{self as wire, ListAuditLogRequest},
    common::v1::ListRequest,
    lists::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE},
};
use serde::Serialize;

use super::{
    dto::{Raw, Time},
    result::ListResult,
};
use crate::{
    error::Problem,
    extract::{Call, ListParams},
    respond::List,
};

/// A change, and who made it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditEntry {
    id: String,
    /// The service that made the change.
    service: String,
    /// Who asked for it: `user:<id>`, `key:<id>`, or `service:<name>`; a service where nobody did.
    actor: String,
    /// What was done, such as `user.blocked`.
    action: String,
    /// What it was done to, such as `user`.
    resource_type: String,
    /// The id or code of the resource.
    resource_id: String,
    /// The trace of the request, as in its logs and problems.
    trace_id: Option<String>,
    /// What else is known of the change.
    details: Raw,
    created_at: Option<Time>,
}

/// List who changed what, newest first.
///
/// All services are asked, and the answer is complete or 503. `page[number]` reaches 1000 entries deep;
/// `page[after]` has no limit.
pub(crate) async fn list(call: Call, ListParams(mut list): ListParams) -> ListResult<AuditEntry> {
    let skipped = first_rows(&mut list)?;
    let size = list.page_size.unwrap_or(DEFAULT_PAGE_SIZE) as usize;
    let requests = call.clients.audit_logs().map(|mut service| {
        let request = call.request(ListAuditLogRequest {
            list: Some(list.clone()),
        });
        async move { service.list_audit_log(request).await }
    });
    let responses = try_join_all(requests).await.map_err(Problem::from)?;
    let pages = responses.into_iter().map(tonic::Response::into_inner);
    let (entries, page) = merge::newest(pages, skipped, size);
    Ok(List::page(entries, Some(page)))
}

/// Changes a request of page n into one of the first n pages: no service knows how many rows of the
/// others come before. Returns how many rows precede page n.
fn first_rows(list: &mut ListRequest) -> Result<usize, Failure> {
    let size = list.page_size.unwrap_or(DEFAULT_PAGE_SIZE);
    let number = list.page_number.unwrap_or(1);
    if number <= 1 || list.page_after.is_some() || !(1..=MAX_PAGE_SIZE).contains(&size) {
        return Ok(0);
    }
    let depth = number.saturating_mul(size.into());
    match u32::try_from(depth) {
        Ok(depth) if depth <= MAX_PAGE_SIZE => {
            (list.page_size, list.page_number) = (Some(depth), None);
            Ok((depth - size) as usize)
        }
        _ => {
            let message = "reaches 1000 entries deep here: use page[after]";
            Err(refuse("page[number]", FieldCode::Range, message))
        }
    }
}

impl From<wire::AuditEntry> for AuditEntry {
    fn from(entry: wire::AuditEntry) -> Self {
        Self {
            id: entry.id,
            service: entry.service,
            actor: entry.actor,
            action: entry.action,
            resource_type: entry.resource_type,
            resource_id: entry.resource_id,
            trace_id: entry.trace_id,
            details: Raw::of(entry.details_json),
            created_at: Time::of(entry.created_at),
        }
    }
}
