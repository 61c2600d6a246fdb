//! The audit log, which all services have a part of.

use proto::lists::audit as lists;

use super::route::{Route, get};
use crate::{
    access::Access::Admin,
    resources::audit_log::{self, AuditEntry},
};

/// Back offices see who changed what.
pub(super) fn routes() -> Vec<Route> {
    vec![get("/audit-log", Admin, audit_log::list).page::<AuditEntry>(&lists::AUDIT_LOG)]
}
