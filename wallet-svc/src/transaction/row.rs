//! The row of a transaction.

use chrono::{DateTime, Utc};
use platform::money::Amount;
use sqlx::{FromRow, postgres::PgRow};

use super::{
    metadata::Metadata,
    model::{Notes, Sides, Transaction, TransactionId, TransactionType},
};
use crate::{asset::model::AssetCode, wallet::model::WalletId};

#[derive(Debug, Clone, FromRow)]
pub(crate) struct TransactionRow {
    pub(crate) id: TransactionId,
    pub(crate) r#type: String,
    pub(crate) code: String,
    pub(crate) status: String,
    pub(crate) asset_code: String,
    pub(crate) amount: Amount,
    pub(crate) description: Option<String>,
    pub(crate) origin_wallet_id: Option<WalletId>,
    pub(crate) destination_wallet_id: Option<WalletId>,
    pub(crate) system_wallet_id: Option<WalletId>,
    pub(crate) origin_address: Option<String>,
    pub(crate) destination_address: Option<String>,
    pub(crate) external_id: Option<String>,
    pub(crate) external_reference: Option<String>,
    pub(crate) reference: String,
    pub(crate) custom_data: String,
    pub(crate) metadata: String,
    pub(crate) operation_id: Option<String>,
    pub(crate) operation_index: Option<i32>,
    pub(crate) refunds_id: Option<TransactionId>,
    pub(crate) version: i64,
    pub(crate) processed_at: Option<DateTime<Utc>>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

impl TryFrom<TransactionRow> for Transaction {
    type Error = sqlx::Error;

    fn try_from(row: TransactionRow) -> Result<Self, sqlx::Error> {
        let kind: TransactionType = row.r#type.parse().map_err(sqlx::Error::decode)?;
        let system = row.system_wallet_id;
        let sides = (row.origin_wallet_id.or(system)).zip(row.destination_wallet_id.or(system));
        // `transactions_sides_check` allows no other row.
        let (debit, credit) = sides.ok_or_else(|| sqlx::Error::decode("a side is missing"))?;
        Ok(Self {
            id: row.id,
            kind,
            code: row.code,
            status: row.status.parse().map_err(sqlx::Error::decode)?,
            asset: AssetCode::stored(&row.asset_code),
            amount: row.amount,
            sides: Sides { debit, credit },
            notes: Notes {
                description: row.description,
                origin_address: row.origin_address,
                destination_address: row.destination_address,
                external_reference: row.external_reference,
                custom_data: Some(row.custom_data),
            },
            external_id: row.external_id,
            reference: row.reference,
            metadata: Metadata::stored(row.metadata),
            operation: row.operation_id.zip(row.operation_index),
            refunds: row.refunds_id,
            version: row.version,
            processed_at: row.processed_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

impl FromRow<'_, PgRow> for Transaction {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        TransactionRow::from_row(row)?.try_into()
    }
}
