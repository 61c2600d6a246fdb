//! Page 1 of products, by the very statements that catalog-svc sends.

use super::{Api, PAGE, References, Table};
use crate::{
    bed::Bed,
    lists::{capture, explain::Plan},
};

const SERVICE: &str = "catalog-svc";

pub(super) async fn measure(
    bed: &Bed,
    api: &Api,
    references: &References,
    table: &mut Table,
) -> anyhow::Result<()> {
    let mut conn = bed.connect(None).await?;
    sqlx::raw_sql("vacuum analyze").execute(&mut conn).await?;
    capture::switch_on(&mut conn, "guerdon_catalog_app").await?;
    // Connections made before do not log.
    bed.stack.stop(SERVICE)?;
    bed.stack.start_again(SERVICE, &[])?;
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
        let captured = capture::record(bed, what, async || {
            let answer = api.get(&path).send().await?.error_for_status()?;
            Ok(answer.bytes().await.map(drop)?)
        });
        let captured = captured.await?;
        let page = Plan::of(&mut conn, &captured.page()?).await?;
        let total = Plan::of(&mut conn, &captured.total()?).await?;
        table.row(&format!("page 1 {what}"), page.millis, "ms", Some(PAGE));
        table.row("    its total", total.millis, "ms", None);
        let sent = captured.quickest();
        table.row("    both as sent, planned anew", sent, "ms", None);
    }
    capture::switch_off(&mut conn, "guerdon_catalog_app").await
}
