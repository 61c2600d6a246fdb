//! A transaction as its row in the database.

use chrono::{DateTime, Utc};
use platform::money::Amount;
use sqlx::{FromRow, postgres::PgRow};

use super::{
    metadata::Metadata,
    model::{Notes, Sides, Transaction, TransactionId, TransactionType},
};
use crate::{asset::model::AssetCode, wallet::model::WalletId};

/// A row of `wallet.transactions`.
#[derive(Debug, Clone, FromRow)]
pub struct TransactionRow {
    pub id: TransactionId,
    pub r#type: String,
    pub code: String,
    pub status: String,
    pub asset_code: String,
    pub amount: Amount,
    pub description: Option<String>,
    pub origin_wallet_id: Option<WalletId>,
    pub destination_wallet_id: Option<WalletId>,
    pub system_wallet_id: Option<WalletId>,
    pub origin_address: Option<String>,
    pub destination_address: Option<String>,
    pub external_id: Option<String>,
    pub external_reference: Option<String>,
    pub reference: String,
    pub custom_data: String,
    pub metadata: String,
    pub operation_id: Option<String>,
    pub operation_index: Option<i32>,
    pub refunds_id: Option<TransactionId>,
    pub version: i64,
    pub processed_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

impl TryFrom<TransactionRow> for Transaction {
    type Error = sqlx::Error;

    fn try_from(row: TransactionRow) -> Result<Self, sqlx::Error> {
        let kind: TransactionType = row.r#type.parse().map_err(sqlx::Error::decode)?;
        let system = row.system_wallet_id;
        let sides = (row.origin_wallet_id.or(system)).zip(row.destination_wallet_id.or(system));
        let (debit, credit) = sides.ok_or(sqlx::Error::RowNotFound)?;
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
