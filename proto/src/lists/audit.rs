//! The list of the audit log, which every service has of its own changes.

use super::{Class, Field, ListTable};
use crate::access::{CATALOG, IDENTITY, ORDERS, WALLET};

/// `GET /audit-log`.
pub const AUDIT_LOG: ListTable = ListTable::new(
    "audit-log",
    &[
        Field::new("action", Class::Code),
        Field::new("actor", Class::Code),
        Field::new("createdAt", Class::Time),
        Field::new("id", Class::Id),
        Field::new("resourceId", Class::Code),
        Field::new("resourceType", Class::Code),
        Field::new("service", Class::Enum(&[CATALOG, IDENTITY, ORDERS, WALLET])),
    ],
);
