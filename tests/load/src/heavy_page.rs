//! `bench heavy-page`: pages of orders with 200 lines of long names each, and the memory of the two
//! processes that answer them. A page ends early by its bytes, whatever its size in rows.

use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::{
    Server,
    api::Api,
    environment::{Environment, Options},
    machine::{self, megabytes, peak_memory},
    table::Table,
};

const ORDERS: usize = 100;
const LINES: usize = 200;
/// The longest that the API takes, of letters with three bytes.
const NAME_LENGTH: usize = 255;
const DESCRIPTION_LENGTH: usize = 10_000;

/// Bytes of the rows of a page, and what stands around them.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024 + 1024;
const MAX_MEGABYTES: f64 = 200.0;
const PROCESSES: [&str; 2] = ["gateway", "orders-svc"];

/// Prints the figures, and fails where one is out of bounds or an order is missing.
pub async fn run(server: Server) -> anyhow::Result<()> {
    let environment = Environment::start_empty(Options::new("heavy_page", server))?;
    let api = Api::new(&environment);
    println!("load average {}", machine::load_average());
    create_orders(&api).await?;
    // New processes: what the creates left in memory would hide what the pages need.
    for process in PROCESSES {
        environment.stack.stop(process)?;
        environment.stack.start_again(process, &[])?;
    }
    let mut table = Table::default();
    read_all(&api, &mut table).await?;
    for (name, pid) in environment.stack.process_ids() {
        if PROCESSES.contains(&name.as_str()) {
            let peak = megabytes(peak_memory(pid)?);
            let what = format!("peak memory of {name}");
            table.row(&what, peak, "MB", Some(MAX_MEGABYTES));
        }
    }
    environment.stop()?;
    table.check_bounds()
}

async fn create_orders(api: &Api) -> anyhow::Result<()> {
    let category = api
        .create("/categories", &json!({ "title": "Books" }))
        .await?;
    let product = json!({
        "name": "\u{8a9e}".repeat(NAME_LENGTH),
        "description": "\u{8a9e}".repeat(DESCRIPTION_LENGTH),
        "categoryId": category["id"],
        "price": "1.00",
    });
    let product = api.create("/products", &product).await?;
    let user = json!({
        "email": "buyer@example.com",
        "password": "Passw0rdPassw0rd",
        "approved": true,
    });
    let user = api.create("/users", &user).await?;
    let lines = vec![json!({ "productId": product["id"] }); LINES];
    let order = json!({ "userId": user["id"], "lines": lines });
    for _ in 0..ORDERS {
        api.create("/orders", &order).await?;
    }
    Ok(())
}

/// Reads every page of 100 orders with their lines.
async fn read_all(api: &Api, table: &mut Table) -> anyhow::Result<()> {
    let mut after = String::new();
    let mut seen = Vec::new();
    for number in 1.. {
        let path = format!("/orders?include=lines&page[size]={ORDERS}{after}");
        let started = Instant::now();
        let response = api.get(&path).send().await?;
        let status = response.status();
        let body = response.bytes().await?;
        let millis = started.elapsed().as_secs_f64() * 1_000.0;
        ensure!(status.is_success(), "page {number}: {status}");
        ensure!(
            body.len() <= MAX_BODY_BYTES,
            "page {number}: {} bytes",
            body.len()
        );
        let page: Value = serde_json::from_slice(&body)?;
        let orders = page["data"].as_array().context("data")?;
        println!(
            "page {number}: {} orders, {} bytes",
            orders.len(),
            body.len()
        );
        table.row(&format!("page {number}"), millis, "ms", None);
        for order in orders {
            let lines = order["lines"].as_array().map_or(0, Vec::len);
            ensure!(lines == LINES, "an order has {lines} lines");
            seen.push(order["id"].to_string());
        }
        match page["nextCursor"].as_str() {
            Some(cursor) => after = format!("&page[after]={cursor}"),
            None => break,
        }
    }
    seen.sort_unstable();
    seen.dedup();
    ensure!(seen.len() == ORDERS, "{} different orders", seen.len());
    Ok(())
}
