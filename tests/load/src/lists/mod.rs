//! `bench lists`: the cost of lists of a million transactions in Postgres, by the statements that
//! wallet-svc sends.

pub mod capture;
pub mod explain;
mod queries;

use anyhow::ensure;
use clap::Args;

use self::{capture::Captured, explain::Plan, queries::Query};
use crate::{
    Server,
    environment::{Environment, Options},
    rpc,
};

const ROLE: &str = "guerdon_wallet_app";
const MAX_PAGE_MILLIS: f64 = 20.0;
/// For an exact total.
const MAX_TOTAL_MILLIS: f64 = 200.0;

/// Options of `load seed transactions`.
#[derive(Debug, Args)]
pub struct SeedArguments {
    /// The number of transactions.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(50_000..=10_000_000))]
    count: u32,
    #[command(flatten)]
    server: Server,
}

fn options(keep: bool, server: Server) -> Options {
    Options {
        keep,
        ..Options::new("lists", server)
    }
}

/// Creates the data, and keeps it for `bench lists`.
pub async fn seed(arguments: SeedArguments) -> anyhow::Result<()> {
    let environment = Environment::start_empty(options(true, arguments.server))?;
    eprintln!("creating {} transactions …", arguments.count);
    let sql = include_str!("../../sql/transactions.sql");
    let sql = sql.replace(":count", &arguments.count.to_string());
    let mut conn = environment.connect(None).await?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(&mut conn)
        .await?;
    sqlx::raw_sql("vacuum analyze").execute(&mut conn).await?;
    environment.stack.verify_ledger()?;
    println!("{} transactions, the ledger is consistent", arguments.count);
    environment.stop()
}

/// Prints plans and times, and fails where a page or a total is too slow, or a page scans a whole
/// table.
pub async fn run(server: Server) -> anyhow::Result<()> {
    let environment = Environment::start(options(true, server))?;
    let mut conn = environment.connect(None).await?;
    let count: i64 = sqlx::query_scalar("select count(*) from wallet.transactions")
        .fetch_one(&mut conn)
        .await?;
    ensure!(
        count > 0,
        "there is no data: run `load seed transactions` first"
    );
    println!("{count} transactions");
    capture::enable(&mut conn, ROLE).await?;
    // Existing connections do not log.
    environment.stack.stop("wallet-svc")?;
    environment.stack.start_again("wallet-svc", &[])?;
    let token = rpc::admin_token(&environment).await?;
    let channel = rpc::wallets(&environment, 1, 1).await?.remove(0);
    let mut missed = Vec::new();
    for query in queries::all(channel.clone(), &token).await? {
        let captured = capture::record(&environment, query.name, async || {
            query.send(channel.clone(), &token).await?;
            Ok(())
        });
        let captured = captured.await?;
        missed.extend(check(&mut conn, &query, &captured).await?);
    }
    capture::disable(&mut conn, ROLE).await?;
    if missed.is_empty() {
        println!("\nEvery page and total is within its bounds.");
    }
    let summary = missed.join("\n");
    drop(conn);
    environment.stop()?;
    ensure!(missed.is_empty(), "out of bounds:\n{summary}");
    Ok(())
}

/// Explains the page and the total of a statement, and returns what is out of bounds.
async fn check(
    conn: &mut sqlx::PgConnection,
    query: &Query,
    captured: &Captured,
) -> anyhow::Result<Vec<String>> {
    println!("\n=== {}", query.name);
    println!("as sent, page and total in one: {}", captured.durations());
    let page = Plan::of(conn, &captured.page()?).await?;
    let total = Plan::of(conn, &captured.total()?).await?;
    println!("--- page, {:.2} ms\n{}", page.millis, page.text);
    println!("--- total, {:.2} ms\n{}", total.millis, total.text);
    let bounds = [
        ("page", page.millis, MAX_PAGE_MILLIS),
        ("total", total.millis, MAX_TOTAL_MILLIS),
        (
            "as sent",
            captured.quickest(),
            MAX_PAGE_MILLIS + MAX_TOTAL_MILLIS,
        ),
    ];
    let above = bounds.iter().filter(|(_, millis, bound)| millis > bound);
    let mut missed: Vec<_> = above
        .map(|(what, millis, bound)| format!("{}: {what} {millis:.1} ms, not {bound}", query.name))
        .collect();
    if page.has_sequential_scan() {
        missed.push(format!("{}: the page scans a whole table", query.name));
    }
    Ok(missed)
}
