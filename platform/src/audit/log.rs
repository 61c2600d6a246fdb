//! `guerdon.audit.v1.AuditService`, the same in every service.

use chrono::{DateTime, Utc};
use proto::{
    audit::v1::{
        AuditEntry, ListAuditLogRequest, ListAuditLogResponse, audit_service_server::AuditService,
    },
    common::v1::ListRequest,
    lists::audit::AUDIT_LOG,
};
use sqlx::{FromRow, PgPool};
use tonic::{Request, Response, Status};
use uuid::Uuid;

use crate::{
    clock::to_proto,
    error::Failure,
    grpc::Call,
    list::{Key, List, Page},
};

/// The use case and the gRPC adapter of a service's audit log.
#[derive(Debug, Clone)]
pub struct AuditLog {
    pool: PgPool,
    /// The table or subquery of the entries, as `a`.
    from: &'static str,
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    service: String,
    actor: String,
    action: String,
    resource_type: String,
    resource_id: String,
    trace_id: Option<String>,
    details: String,
    created_at: DateTime<Utc>,
}

impl AuditLog {
    /// Reads the entries of this table, or subquery with its columns: `catalog.audit_log a`.
    pub const fn new(pool: PgPool, from: &'static str) -> Self {
        Self { pool, from }
    }

    async fn list(&self, request: &ListRequest) -> Result<Page<Row>, Failure> {
        let mut conn = self.pool.acquire().await?;
        List::new(&AUDIT_LOG, self.from, Key::Id("a.id"))
            .select(
                "a.id, a.service, a.actor, a.action, a.resource_type, a.resource_id, a.trace_id,
                 a.details::text as details, a.created_at",
            )
            .fetch(&mut conn, request)
            .await
    }
}

impl From<Row> for AuditEntry {
    fn from(row: Row) -> Self {
        Self {
            id: row.id.to_string(),
            service: row.service,
            actor: row.actor,
            action: row.action,
            resource_type: row.resource_type,
            resource_id: row.resource_id,
            trace_id: row.trace_id,
            details_json: row.details,
            created_at: Some(to_proto(row.created_at)),
        }
    }
}

#[tonic::async_trait]
impl AuditService for AuditLog {
    async fn list_audit_log(
        &self,
        request: Request<ListAuditLogRequest>,
    ) -> Result<Response<ListAuditLogResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let page = self.list(&body.list.unwrap_or_default()).await?;
        let (entries, page) = page.encode_with_cursors(AuditEntry::from);
        let page = Some(page);
        Ok(Response::new(ListAuditLogResponse { entries, page }))
    }
}
