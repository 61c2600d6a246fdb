//! Page 1 of products, by the statements that catalog-svc sends.

use super::{Api, MAX_PAGE_MILLIS, References, Table};
use crate::{
    environment::Environment,
    lists::{capture, explain::Plan},
};

const SERVICE: &str = "catalog-svc";

/// Has catalog-svc read the next page from Postgres, not from its cache.
const INVALIDATE: &str = "update catalog.products_version set version = gen_random_uuid()";

pub(super) async fn measure(
    environment: &Environment,
    api: &Api,
    references: &References,
    table: &mut Table,
) -> anyhow::Result<()> {
    let mut conn = environment.connect(None).await?;
    sqlx::raw_sql("vacuum analyze").execute(&mut conn).await?;
    capture::enable(&mut conn, "guerdon_catalog_app").await?;
    // Existing connections do not log.
    environment.stack.stop(SERVICE)?;
    environment.stack.start_again(SERVICE, &[])?;
    let category = format!("filter[categoryId]={}", references.categories[0]);
    for (what, query) in [
        ("by order", "sort=order"),
        ("by time", "sort=-createdAt"),
        ("of a category", category.as_str()),
        ("search: a word of a quarter's names", "filter[search]=red"),
        (
            "search: a word of all descriptions",
            "filter[search]=handmade",
        ),
        (
            "search: a word of half the categories",
            "filter[search]=indoors",
        ),
        ("search: two words", "filter[search]=red%20wool"),
        (
            "search: two words never together",
            "filter[search]=red%20blue",
        ),
        ("search: a word of one product", "filter[search]=n77777"),
        ("search: no product", "filter[search]=zebra"),
    ] {
        let path = format!("/products?{query}");
        let captured = capture::record(environment, what, async || {
            let mut conn = environment.connect(None).await?;
            sqlx::raw_sql(INVALIDATE).execute(&mut conn).await?;
            let response = api.get(&path).send().await?.error_for_status()?;
            Ok(response.bytes().await.map(drop)?)
        });
        let captured = captured.await?;
        let page = Plan::of(&mut conn, &captured.page()?).await?;
        let total = Plan::of(&mut conn, &captured.total()?).await?;
        table.row(
            &format!("page 1 {what}"),
            page.millis,
            "ms",
            Some(MAX_PAGE_MILLIS),
        );
        table.row("    total", total.millis, "ms", None);
        let sent = captured.quickest();
        table.row("    both as sent, with planning", sent, "ms", None);
    }
    capture::disable(&mut conn, "guerdon_catalog_app").await
}
