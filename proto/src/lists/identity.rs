//! The lists of identity-svc.

use super::{Class, Field, ListTable, asc};

/// `GET /users`.
pub const USERS: ListTable = ListTable::new(
    "users",
    &[
        Field::new("approved", Class::Bool),
        Field::new("blocked", Class::Bool),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("email", Class::CaselessCode),
        Field::new("id", Class::Id),
        Field::new("name", Class::Like).nullable(),
        Field::new("phone", Class::Code).nullable(),
        Field::new("primaryWalletId", Class::Id),
        Field::new("referralCode", Class::Code),
        Field::new("referralUserId", Class::Id).nullable(),
        Field::new("role", Class::Enum(&["admin", "user"])),
        Field::new("updatedAt", Class::Time).sortable(),
        Field::new("verified", Class::Bool),
    ],
);

/// `GET /api-keys`.
pub const API_KEYS: ListTable = ListTable::new(
    "api_keys",
    &[
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("expiresAt", Class::Time).sortable().nullable(),
        Field::new("id", Class::Id),
        Field::new("lastUsedAt", Class::Time).sortable().nullable(),
        Field::new("name", Class::ILike).sortable(),
        Field::new("role", Class::Enum(&["admin", "user"])),
        Field::new("updatedAt", Class::Time),
    ],
);

/// `GET /webhooks`.
pub const WEBHOOKS: ListTable = ListTable::new(
    "webhooks",
    &[
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("description", Class::ILike),
        Field::new("disabledAt", Class::Time).sortable().nullable(),
        Field::new("enabled", Class::Bool),
        Field::new("id", Class::Id),
        Field::new("updatedAt", Class::Time).sortable(),
        Field::new("url", Class::ILike),
    ],
);

/// `GET /webhooks/:id/deliveries`.
pub const WEBHOOK_DELIVERIES: ListTable = ListTable::new(
    "webhook_deliveries",
    &[
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("eventId", Class::Id),
        Field::new("eventType", Class::Code),
        Field::new("id", Class::Id),
        Field::new("lastAttemptedAt", Class::Time)
            .sortable()
            .nullable(),
        Field::new("status", Class::Enum(&["delivered", "failed", "pending"])),
        Field::new("updatedAt", Class::Time).sortable(),
    ],
);

/// `GET /users/:id/referrals`.
pub const REFERRALS: ListTable = ListTable::new(
    "referrals",
    &[
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("id", Class::Id),
        Field::new("updatedAt", Class::Time).sortable(),
    ],
);

/// `GET /invites`.
pub const INVITES: ListTable = ListTable::new(
    "invites",
    &[
        Field::new("code", Class::Code),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("expiredAt", Class::Time).sortable(),
        Field::new("invitedEmail", Class::CaselessCode).nullable(),
        Field::new("invitedUserId", Class::Id).nullable(),
        Field::new("inviterUserId", Class::Id).nullable(),
        Field::new(
            "status",
            Class::Enum(&["accepted", "canceled", "expired", "pending"]),
        ),
        Field::new("type", Class::Enum(&["invite"])),
        Field::new("updatedAt", Class::Time).sortable(),
    ],
);

/// `GET /tasks`.
pub const TASKS: ListTable = ListTable::new(
    "tasks",
    &[
        Field::new("amount", Class::Money).sort_only(),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("enabled", Class::Bool).sortable(),
        Field::new("featured", Class::Bool).sortable(),
        Field::new("id", Class::Id),
        Field::new("name", Class::Code).sortable(),
        Field::new("order", Class::Number).sortable(),
        Field::new(
            "type",
            Class::Enum(&["automatic", "manual", "survey", "system"]),
        )
        .sortable(),
        Field::new("updatedAt", Class::Time),
    ],
)
.sorted_by(&[asc("order")]);

/// `GET /tasks/:id/completions` and `GET /users/:id/completions`.
pub const COMPLETIONS: ListTable = ListTable::new(
    "completions",
    &[
        Field::new("amount", Class::Money).sortable(),
        Field::new("assetCode", Class::CaselessCode),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("id", Class::Id),
        Field::new("taskId", Class::Id),
        Field::new("transactionId", Class::Id),
        Field::new("userId", Class::Id),
    ],
);
