//! The lists that are measured.

use anyhow::{Context as _, ensure};
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    wallet::v1::{ListTransactionsRequest, transaction_service_client::TransactionServiceClient},
};
use tonic::transport::Channel;

use crate::rpc::{self, Token};

/// One of them.
#[derive(Debug)]
pub struct Query {
    /// What it is.
    pub name: &'static str,
    /// What wallet-svc is asked.
    pub request: ListTransactionsRequest,
}

const HOT: &str = "0000000d-0000-7000-8000-000000000000";
const COLD: &str = "0000000d-0000-7000-8000-0000000003e7";
const QUIET: &str = "0000000d-0000-7000-8000-0000000003e9";
/// Rows before page 1 000 of 30 a page.
const BEFORE: u32 = 999 * 30;
const LARGEST_PAGE: u32 = 1_000;

/// All of them.
pub async fn all(channel: Channel, token: &Token) -> anyhow::Result<Vec<Query>> {
    let page = |wallet: Option<&str>, list| ListTransactionsRequest {
        list: Some(list),
        wallet_id: wallet.map(str::to_owned),
    };
    let one = ListRequest::default;
    let filtered = ListRequest {
        filters: vec![Filter {
            field: "externalReference".to_owned(),
            operator: Operator::Eq.into(),
            values: vec!["invoice-49999".to_owned()],
        }],
        ..one()
    };
    let late = |cursor| ListRequest {
        page_after: Some(cursor),
        ..one()
    };
    let all = cursor(channel.clone(), token, None).await?;
    let hot = cursor(channel, token, Some(HOT)).await?;
    let queries = [
        ("transactions, page 1", page(None, one())),
        ("transactions, page 1 000 by cursor", page(None, late(all))),
        ("a hot wallet's, page 1", page(Some(HOT), one())),
        (
            "a hot wallet's, page 1 000 by cursor",
            page(Some(HOT), late(hot)),
        ),
        ("a cold wallet's, page 1", page(Some(COLD), one())),
        (
            "a wallet's that went quiet long ago, page 1",
            page(Some(QUIET), one()),
        ),
        ("filter[externalReference]", page(None, filtered)),
    ];
    let queries = queries.map(|(name, request)| Query { name, request });
    Ok(queries.into())
}

/// The cursor of page 1 000: a cursor does not depend on how large the pages before it were.
async fn cursor(channel: Channel, token: &Token, wallet: Option<&str>) -> anyhow::Result<String> {
    let mut client = TransactionServiceClient::new(channel);
    let mut after = None;
    let mut left = BEFORE;
    while left > 0 {
        let size = left.min(LARGEST_PAGE);
        let request = ListTransactionsRequest {
            list: Some(ListRequest {
                page_size: Some(size),
                page_after: after,
                ..ListRequest::default()
            }),
            wallet_id: wallet.map(str::to_owned),
        };
        let answer = client
            .list_transactions(rpc::authorized(request, token))
            .await?;
        let next = answer.into_inner().page.context("a page")?.next_cursor;
        ensure!(!next.is_empty(), "fewer than {BEFORE} transactions");
        after = Some(next);
        left -= size;
    }
    after.context("a cursor")
}
