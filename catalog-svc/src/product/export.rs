//! The use case of reading all products, a page at a time: what is not yet taken is not yet read.

use futures::{Stream, stream};
use platform::ids::Id;

use super::{Product, Products, import_repo};
use crate::error::Error;

/// Products that are in memory at the same time.
const PAGE: i64 = 500;

impl Products {
    /// All products in the order in which they were made, in pages.
    pub fn export(&self) -> impl Stream<Item = Result<Vec<Product>, Error>> + Send + use<> {
        let pool = self.context.pool.clone();
        stream::try_unfold(None, move |last: Option<Id<Product>>| {
            let pool = pool.clone();
            async move {
                let mut conn = pool.acquire().await?;
                let page = import_repo::page_after(&mut conn, last, PAGE).await?;
                let last = page.last().map(|product| product.id);
                Ok(last.map(|last| (page, Some(last))))
            }
        })
    }
}
