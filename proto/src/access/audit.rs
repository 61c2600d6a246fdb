//! Access to the audit log, which every service has of its own changes.

use super::{Table, admins};

/// The access to the RPCs that every service has.
pub const TABLE: Table = Table {
    package: "guerdon.audit.v1",
    rows: &[admins("AuditService/ListAuditLog")],
};
