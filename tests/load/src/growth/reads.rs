//! First pages and a balance of the past, as clients read them.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, ensure};
use hdrhistogram::Histogram;
use rand::Rng as _;
use serde_json::Value;
use tokio::time::Instant;

use super::{
    fill::Ledger,
    point::{Figure, Group, Point},
};
use crate::{
    api::{self, Api},
    environment::Environment,
    latency,
    rpc::TIMEOUT,
};

/// Times of which balances are read.
const TIMES: i32 = 1_000;

/// A read that is measured.
#[derive(Debug, Clone, Copy)]
enum Read {
    Transactions,
    DefaultWalletTransactions,
    WalletTransactions,
    WalletMovements,
    PastBalance,
    DefaultWalletPastBalance,
}

impl Read {
    const ALL: [Self; 6] = [
        Self::Transactions,
        Self::DefaultWalletTransactions,
        Self::WalletTransactions,
        Self::WalletMovements,
        Self::PastBalance,
        Self::DefaultWalletPastBalance,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Transactions => "transactions",
            Self::DefaultWalletTransactions => "ofDefaultWallet",
            Self::WalletTransactions => "ofWallet",
            Self::WalletMovements => "movements",
            Self::PastBalance => "pastBalance",
            Self::DefaultWalletPastBalance => "pastOfDefaultWallet",
        }
    }

    /// Returns the path for a wallet and a time at random.
    fn path(self, ledger: &Ledger<'_>, times: &[String]) -> String {
        let mut random = rand::rng();
        let wallet = random.random_range(1..=ledger.wallets.count);
        let wallet = ledger.wallets.id(wallet);
        let default_wallet = &ledger.default_wallet;
        let at = &times[random.random_range(0..times.len())];
        match self {
            Self::Transactions => "/transactions".to_owned(),
            Self::DefaultWalletTransactions => format!("/wallets/{default_wallet}/transactions"),
            Self::WalletTransactions => format!("/wallets/{wallet}/transactions"),
            Self::WalletMovements => format!("/wallets/{wallet}/movements"),
            Self::PastBalance => format!("/wallets/{wallet}/balance?at={at}"),
            Self::DefaultWalletPastBalance => format!("/wallets/{default_wallet}/balance?at={at}"),
        }
    }
}

/// Reads one after another, each kind for so long, and adds the figures to the point.
pub async fn measure(
    environment: &Environment,
    ledger: &Ledger<'_>,
    length: Duration,
    point: &mut Point,
) -> anyhow::Result<()> {
    let api = Api::new(environment);
    let times = times(environment, ledger, point.movements).await?;
    let (mut p50, mut p99) = (Vec::new(), Vec::new());
    for read in Read::ALL {
        eprintln!("{}, {} movements …", read.name(), point.movements);
        let path = || read.path(ledger, &times);
        let latencies = repeat(&api, path, length, &mut point.errors).await?;
        p50.push(figure(read, &latencies, 0.5));
        p99.push(figure(read, &latencies, 0.99));
    }
    point.groups.push(Group {
        name: "readsP50",
        title: "first pages and past balances, p50 ms",
        figures: p50,
    });
    point.groups.push(Group {
        name: "readsP99",
        title: "first pages and past balances, p99 ms",
        figures: p99,
    });
    Ok(())
}

fn figure(read: Read, latencies: &Histogram<u64>, quantile: f64) -> Figure {
    let has_latencies = !latencies.is_empty();
    let millis = has_latencies.then(|| latency::millis(latencies, quantile));
    (read.name(), millis)
}

/// Sends requests until the time is over. The first one is not counted: it opens the connection.
async fn repeat(
    api: &Api,
    path: impl Fn() -> String,
    length: Duration,
    errors: &mut BTreeMap<String, u64>,
) -> anyhow::Result<Histogram<u64>> {
    let mut latencies = latency::histogram()?;
    let _ = api::send(api.get(&path()).timeout(TIMEOUT)).await;
    let end = Instant::now() + length;
    while Instant::now() < end {
        let path = path();
        let sent = Instant::now();
        let response = api::send(api.get(&path).timeout(TIMEOUT)).await;
        let latency = sent.elapsed();
        match response {
            Ok(body) => {
                check_rows(&body).with_context(|| format!("GET {path}"))?;
                latency::record(&mut latencies, latency);
            }
            Err(failure) => *errors.entry(failure.reason).or_default() += 1,
        }
    }
    Ok(latencies)
}

/// Checks that a list has rows: an empty one would be fast.
fn check_rows(body: &str) -> anyhow::Result<()> {
    let body: Value = serde_json::from_str(body)?;
    let rows = body["data"].as_array().map_or(0, Vec::len);
    ensure!(rows > 0, "no rows in {body}");
    Ok(())
}

/// Returns times within the history at random, when every wallet has a balance: after the first transfer.
async fn times(
    environment: &Environment,
    ledger: &Ledger<'_>,
    movements: u32,
) -> anyhow::Result<Vec<String>> {
    let began_at = ledger.began_at();
    let first = ledger.history.interval_millis() + 1;
    let length = ledger.history.length_millis(movements);
    let sql = format!(
        r#"select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
         from (
             select {began_at} + interval '{first} milliseconds'
                 + random() * interval '{length} milliseconds' as at
             from generate_series(1, {TIMES})) times"#
    );
    let mut conn = environment.connect(None).await?;
    let times = sqlx::query_scalar(sqlx::AssertSqlSafe(sql));
    Ok(times.fetch_all(&mut conn).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_rows_is_an_error() {
        assert!(check_rows(r#"{"data":[{}],"total":1}"#).is_ok());
        for body in [r#"{"data":[]}"#, "{}", ""] {
            assert!(check_rows(body).is_err(), "{body}");
        }
    }
}
