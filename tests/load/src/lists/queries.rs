//! The lists that are measured.

use anyhow::{Context as _, ensure};
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    wallet::v1::{
        ListActivityRequest, ListTransactionsRequest,
        transaction_service_client::TransactionServiceClient,
    },
};
use tonic::{Status, transport::Channel};

use crate::rpc::{self, Token};

/// A measured list.
#[derive(Debug)]
pub struct Query {
    /// The name in the output.
    pub name: &'static str,
    request: ListCall,
}

/// A call of wallet-svc.
#[derive(Debug)]
enum ListCall {
    Transactions(ListTransactionsRequest),
    Activity(ListActivityRequest),
}

impl Query {
    /// Sends the request.
    pub async fn send(&self, channel: Channel, token: &Token) -> Result<(), Status> {
        let mut client = TransactionServiceClient::new(channel);
        match &self.request {
            ListCall::Transactions(request) => {
                let request = rpc::authorized(request.clone(), token);
                client.list_transactions(request).await.map(drop)
            }
            ListCall::Activity(request) => {
                let request = rpc::authorized(request.clone(), token);
                client.list_activity(request).await.map(drop)
            }
        }
    }
}

const HOT: &str = "0000000d-0000-7000-8000-000000000000";
const COLD: &str = "0000000d-0000-7000-8000-0000000003e7";
const QUIET: &str = "0000000d-0000-7000-8000-0000000003e9";
/// Rows before page 1 000 of 30 a page.
const BEFORE: u32 = 999 * 30;
const LARGEST_PAGE: u32 = 1_000;

/// Returns all measured lists.
pub async fn all(channel: Channel, token: &Token) -> anyhow::Result<Vec<Query>> {
    let one = ListRequest::default;
    let filtered = |field: &str, value: &str| ListRequest {
        filters: vec![Filter {
            field: field.to_owned(),
            operator: Operator::Eq.into(),
            values: vec![value.to_owned()],
        }],
        ..one()
    };
    let late = |cursor| ListRequest {
        page_after: Some(cursor),
        ..one()
    };
    let all = cursor(channel.clone(), token, None).await?;
    let hot = cursor(channel, token, Some(HOT)).await?;
    let page = transactions;
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
        (
            "filter[walletId], one that went quiet",
            page(None, filtered("walletId", QUIET)),
        ),
        ("a hot wallet's activity", activity(HOT)),
        ("the activity of one that went quiet", activity(QUIET)),
        (
            "filter[externalReference]",
            page(None, filtered("externalReference", "invoice-49999")),
        ),
    ];
    let queries = queries.map(|(name, request)| Query { name, request });
    Ok(queries.into())
}

fn transactions(wallet: Option<&str>, list: ListRequest) -> ListCall {
    ListCall::Transactions(ListTransactionsRequest {
        list: Some(list),
        wallet_id: wallet.map(str::to_owned),
    })
}

fn activity(wallet: &str) -> ListCall {
    ListCall::Activity(ListActivityRequest {
        list: None,
        wallet_id: Some(wallet.to_owned()),
    })
}

/// Returns the cursor of page 1 000. A cursor does not depend on the size of earlier pages.
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
        let response = client
            .list_transactions(rpc::authorized(request, token))
            .await?;
        let next = response.into_inner().page.context("a page")?.next_cursor;
        ensure!(!next.is_empty(), "fewer than {BEFORE} transactions");
        after = Some(next);
        left -= size;
    }
    after.context("a cursor")
}
