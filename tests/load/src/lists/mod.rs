//! `bench lists`: what lists of a million transactions cost in Postgres, by the very statements that
//! wallet-svc sends.

pub mod capture;
pub mod explain;
mod queries;

use anyhow::ensure;
use clap::Args;

use self::{capture::Captured, explain::Plan, queries::Query};
use crate::{
    Server,
    bed::{Bed, Options},
    rpc,
};

const ROLE: &str = "guerdon_wallet_app";
/// The longest that a page may take, in milliseconds.
const PAGE: f64 = 20.0;
/// The longest that an exact total may take.
const TOTAL: f64 = 200.0;

/// Options of `load seed transactions`.
#[derive(Debug, Args)]
pub struct SeedArguments {
    /// How many transactions.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(50_000..=10_000_000))]
    count: u32,
    #[command(flatten)]
    server: Server,
}

fn options(keep: bool, server: Server) -> Options {
    Options {
        name: "lists",
        keep,
        wallets: 1,
        server,
    }
}

/// Makes the data anew, and leaves it for `bench lists`.
pub async fn seed(arguments: SeedArguments) -> anyhow::Result<()> {
    // What an earlier run left goes.
    let bed = Bed::start_anew(&options(true, arguments.server))?;
    eprintln!("making {} transactions …", arguments.count);
    let sql = include_str!("../../sql/transactions.sql");
    let sql = sql.replace(":count", &arguments.count.to_string());
    let mut conn = bed.connect(None).await?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(&mut conn)
        .await?;
    sqlx::raw_sql("vacuum analyze").execute(&mut conn).await?;
    bed.verify()?;
    println!("{} transactions, the books are clean", arguments.count);
    bed.stop()
}

/// Prints plans and times, and fails where a page or a total is too slow or a page reads a table
/// from end to end.
pub async fn run(server: Server) -> anyhow::Result<()> {
    let bed = Bed::start(&options(true, server))?;
    let mut conn = bed.connect(None).await?;
    let count: i64 = sqlx::query_scalar("select count(*) from wallet.transactions")
        .fetch_one(&mut conn)
        .await?;
    ensure!(
        count > 0,
        "there is no data: run `load seed transactions` first"
    );
    println!("{count} transactions");
    capture::switch_on(&mut conn, ROLE).await?;
    // Connections made before do not log.
    bed.stack.stop("wallet-svc")?;
    bed.stack.start_again("wallet-svc", &[])?;
    let token = rpc::token(&bed).await?;
    let channel = rpc::wallets(&bed, 1, 1).await?.remove(0);
    let mut missed = Vec::new();
    for query in queries::all(channel.clone(), &token).await? {
        let captured = capture::record(&bed, query.name, async || {
            query.send(channel.clone(), &token).await?;
            Ok(())
        });
        let captured = captured.await?;
        missed.extend(judge(&mut conn, &query, &captured).await?);
    }
    capture::switch_off(&mut conn, ROLE).await?;
    if missed.is_empty() {
        println!("\nEvery page and total is within its bounds.");
    }
    let summary = missed.join("\n");
    drop(conn);
    bed.stop()?;
    ensure!(missed.is_empty(), "out of bounds:\n{summary}");
    Ok(())
}

/// Explains a statement by its two halves; answers what is out of bounds.
async fn judge(
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
        ("page", page.millis, PAGE),
        ("total", total.millis, TOTAL),
        ("as sent", captured.quickest(), PAGE + TOTAL),
    ];
    let above = bounds.iter().filter(|(_, millis, bound)| millis > bound);
    let mut missed: Vec<_> = above
        .map(|(what, millis, bound)| format!("{}: {what} {millis:.1} ms, not {bound}", query.name))
        .collect();
    if page.scans_a_table() {
        missed.push(format!(
            "{}: the page reads a table from end to end",
            query.name
        ));
    }
    Ok(missed)
}
