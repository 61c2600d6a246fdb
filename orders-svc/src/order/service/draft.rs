//! Drafts: orders whose immediate payment is in progress. They are stored in groups.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use platform::{
    idempotency::{self, Begin, Key},
    pg::GroupWrite,
};
use sqlx::PgConnection;

use crate::{
    SCHEMA,
    order::{
        model::{Claim, OrderId, OrderWithLines},
        repo,
    },
};

/// An order with the claim of its payment.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) order: OrderWithLines,
    pub(super) claim: Claim,
    pub(super) key: Option<Key>,
}

/// What storing a draft led to.
pub(super) enum Stored {
    /// It is stored, and claimed; until then the ledger may accept the payment.
    Claimed(DateTime<Utc>),
    /// The recorded response of an earlier request with its key.
    Replay(Vec<u8>),
    /// Its key may not be used.
    KeyRefused(idempotency::Error),
    /// Another order has its reference, and nothing is stored.
    ReferenceTaken,
}

/// Stores drafts, their lines, claims and idempotency records, which are in progress.
pub(super) struct StoreDrafts;

impl GroupWrite for StoreDrafts {
    type Item = Arc<Draft>;
    type Output = Stored;

    async fn write_in_tx(
        &self,
        conn: &mut PgConnection,
        drafts: &[Arc<Draft>],
    ) -> Result<Vec<Stored>, sqlx::Error> {
        let begun = begin_in_tx(conn, drafts).await?;
        let fresh: Vec<&Draft> = begun
            .iter()
            .zip(drafts)
            .filter(|(begun, _)| matches!(begun, Ok(Begin::Fresh)))
            .map(|(_, draft)| &**draft)
            .collect();
        let inserted = insert_in_tx(conn, &fresh).await?;
        let stored: Vec<_> = fresh
            .into_iter()
            .filter(|draft| inserted.contains(&draft.order.order.id))
            .collect();
        let ends = claim_in_tx(conn, &stored).await?;
        let stored = begun
            .into_iter()
            .zip(drafts)
            .map(|(begun, draft)| match begun {
                Ok(Begin::Fresh) => match ends.get(&draft.order.order.id) {
                    Some(not_after) => Stored::Claimed(*not_after),
                    None => Stored::ReferenceTaken,
                },
                Ok(Begin::Replay(response)) => Stored::Replay(response),
                Err(error) => Stored::KeyRefused(error),
            });
        Ok(stored.collect())
    }
}

async fn begin_in_tx(
    conn: &mut PgConnection,
    drafts: &[Arc<Draft>],
) -> Result<Vec<Result<Begin, idempotency::Error>>, sqlx::Error> {
    let keys: Vec<_> = drafts
        .iter()
        .filter_map(|draft| draft.key.as_ref())
        .collect();
    let begun = idempotency::begin_all_in_tx(conn, SCHEMA, &keys).await?;
    let mut begun = begun.into_iter();
    let of_draft = drafts.iter().map(|draft| match draft.key {
        Some(_) => begun.next().unwrap_or(Err(idempotency::Error::InUse)),
        None => Ok(Begin::Fresh),
    });
    Ok(of_draft.collect())
}

/// Inserts orders with their lines. Returns those whose reference was free; the others' keys can be used again.
async fn insert_in_tx(
    conn: &mut PgConnection,
    drafts: &[&Draft],
) -> Result<HashSet<OrderId>, sqlx::Error> {
    let orders: Vec<_> = drafts.iter().map(|draft| &draft.order).collect();
    let inserted = repo::orders::insert_all_in_tx(conn, &orders).await?;
    for draft in drafts {
        if let Some(key) = &draft.key
            && !inserted.contains(&draft.order.order.id)
        {
            idempotency::forget_in_tx(conn, SCHEMA, key.scope()).await?;
        }
    }
    Ok(inserted)
}

/// Claims the orders, which are new. Returns until when the ledger may accept each claim.
async fn claim_in_tx(
    conn: &mut PgConnection,
    drafts: &[&Draft],
) -> Result<HashMap<OrderId, DateTime<Utc>>, sqlx::Error> {
    if drafts.is_empty() {
        return Ok(HashMap::new());
    }
    let claims: Vec<_> = drafts.iter().map(|draft| &draft.claim).collect();
    let ends = repo::claims::insert_all_in_tx(conn, &claims).await?;
    if ends.len() < claims.len() {
        return Err(sqlx::Error::RowNotFound);
    }
    Ok(ends)
}
