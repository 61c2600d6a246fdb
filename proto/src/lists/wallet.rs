//! The lists of wallet-svc.

use super::{Class, Field, Include, ListTable, asc};

const TRANSACTION_TYPES: &[&str] = &["deposit", "exchange", "transfer", "withdrawal"];
const TRANSACTION_STATUSES: &[&str] = &["confirmed", "failed", "pending", "processing", "rejected"];

/// `GET /assets`.
pub const ASSETS: ListTable = ListTable::new(
    "assets",
    &[
        Field::new("code", Class::CaselessCode).sortable(),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("enabled", Class::Bool).sortable(),
        Field::new("name", Class::Like),
        Field::new("system", Class::Bool).sortable(),
        Field::new("type", Class::Enum(&["crypto", "custom", "fiat"])).sortable(),
        Field::new("updatedAt", Class::Time),
    ],
)
.sorted_by(&[asc("code")]);

/// `GET /movements` and `GET /wallets/:id/movements`.
pub const MOVEMENTS: ListTable = ListTable::new(
    "movements",
    &[
        Field::new("amount", Class::Money).sort_only(),
        Field::new("assetCode", Class::CaselessCode),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("id", Class::Id),
        Field::new("transactionId", Class::Id),
        Field::new("updatedAt", Class::Time),
        Field::new("walletId", Class::Id),
    ],
)
.including(&[Include::new("transaction")]);

/// `GET /transactions` and `GET /wallets/:id/transactions`.
pub const TRANSACTIONS: ListTable = ListTable::new(
    "transactions",
    &[
        Field::new("amount", Class::Money).sort_only(),
        Field::new("assetCode", Class::CaselessCode),
        Field::new("code", Class::Code),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("description", Class::Like).nullable(),
        Field::new("destinationWalletId", Class::Id).nullable(),
        Field::new("externalId", Class::Code).nullable(),
        Field::new("externalReference", Class::Code).nullable(),
        Field::new("id", Class::Id),
        Field::new("originWalletId", Class::Id).nullable(),
        Field::new("reference", Class::Code),
        Field::new("status", Class::Enum(TRANSACTION_STATUSES)),
        Field::new("type", Class::Enum(TRANSACTION_TYPES)),
        Field::new("updatedAt", Class::Time),
        // Origin or destination.
        Field::new("walletId", Class::Id),
    ],
);

/// `GET /wallets/activity` and `GET /wallets/:id/activity`.
pub const ACTIVITY: ListTable = ListTable::new(
    "activity",
    &[
        Field::new("amount", Class::Money).sort_only(),
        Field::new("assetCode", Class::CaselessCode),
        Field::new("code", Class::Code),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("status", Class::Enum(TRANSACTION_STATUSES)),
        Field::new("type", Class::Enum(TRANSACTION_TYPES)),
        Field::new("updatedAt", Class::Time),
    ],
)
.including(&[Include::new("users"), Include::new("wallets")]);

/// `GET /transactions/:id/history`, oldest first.
pub const TRANSACTION_CHANGES: ListTable = ListTable::new("history", &[]).sorted_by(&[]).whole();

/// `GET /rates`.
pub const RATES: ListTable = ListTable::new(
    "rates",
    &[
        Field::new("baseAssetCode", Class::CaselessCode),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("quoteAssetCode", Class::CaselessCode),
        Field::new("rate", Class::Money).sortable(),
        Field::new("updatedAt", Class::Time).sortable(),
    ],
)
.sorted_by(&[asc("baseAssetCode"), asc("quoteAssetCode")]);

/// `GET /addresses`.
pub const ADDRESSES: ListTable = ListTable::new(
    "addresses",
    &[
        Field::new("address", Class::Like),
        Field::new("assetCode", Class::CaselessCode).nullable(),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("updatedAt", Class::Time),
        Field::new("walletId", Class::Id).nullable(),
    ],
);

/// `GET /payment-methods`, all of them, from the configuration.
pub const PAYMENT_METHODS: ListTable = ListTable::new(
    "payment-methods",
    &[
        Field::new("createdAt", Class::Time).sortable(),
        // Takes `in` and `nin` here, which no other boolean does.
        Field::new("enabled", Class::Enum(&["true", "false"])),
        Field::new("slug", Class::Code),
    ],
)
.sorted_by(&[asc("slug")])
.whole();

/// `GET /wallets`.
pub const WALLETS: ListTable = ListTable::new(
    "wallets",
    &[
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("id", Class::Id),
        Field::new("locked", Class::Bool),
        Field::new("name", Class::Like).nullable(),
        Field::new("ownerId", Class::Id).nullable(),
        Field::new("reference", Class::Code),
        Field::new("updatedAt", Class::Time),
    ],
);

/// `GET /wallets/balance` and `GET /wallets/:id/balance`.
pub const BALANCES: ListTable =
    ListTable::new("balances", &[Field::new("assetCode", Class::CaselessCode)])
        .sorted_by(&[asc("assetCode")])
        .whole();
