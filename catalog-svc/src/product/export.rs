//! The use case of exporting all products, a page at a time: the next page is read when the last one
//! was taken.

use futures::{Stream, stream};
use platform::ids::Id;
use proto::catalog::v1 as wire;

use super::{Product, Products, convert, repo};
use crate::error::Error;

/// Products of a page, unless their texts are long.
const PAGE_SIZE: i64 = 500;

/// Bytes of the texts of a page, unless one product alone has more.
const PAGE_BYTES: i64 = 1024 * 1024;

impl Products {
    /// Exports all products in the order of ids, in which they were created: one that moves meanwhile
    /// is neither lost nor sent twice.
    pub(crate) fn export(
        &self,
    ) -> impl Stream<Item = Result<Vec<wire::Product>, Error>> + Send + use<> {
        let products = self.clone();
        stream::try_unfold(None, move |last: Option<Id<Product>>| {
            let products = products.clone();
            async move {
                let mut conn = products.context.pool.acquire().await?;
                let ids = repo::ids_after(&mut conn, last, PAGE_SIZE, PAGE_BYTES).await?;
                let Some(last) = ids.last().copied() else {
                    return Ok(None);
                };
                let page = repo::find_all(&mut conn, &ids).await?;
                let page = page
                    .into_iter()
                    .map(|product| convert::to_proto(product.into(), &products.media));
                Ok(Some((page.collect(), Some(last))))
            }
        })
    }
}
