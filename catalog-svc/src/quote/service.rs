//! The use case of quotes. It reads only this database, so it works while wallet-svc is away.

use std::collections::HashMap;

use platform::ids::Id;

use crate::{
    context::Context,
    error::Error,
    product::{
        self, Product,
        related::{self, Embedded, Include},
    },
};

/// Prices carts.
#[derive(Debug, Clone)]
pub struct Quotes {
    context: Context,
}

impl Quotes {
    /// Quotes from the products in this database.
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Looks up each product with its category and questions; `None` where there is no such product.
    /// Whether one that is not visible can be ordered is for the order to say.
    pub async fn quote(
        &self,
        asked: &[Option<Id<Product>>],
    ) -> Result<Vec<Option<Embedded>>, Error> {
        let ids: Vec<_> = asked.iter().copied().flatten().collect();
        let include = Include {
            category: true,
            tax_rate: false,
            questions: true,
        };
        let mut conn = self.context.pool.acquire().await?;
        let products = product::repo::find_all(&mut conn, &ids).await?;
        let found = related::embed(&mut conn, products, include).await?;
        let found: HashMap<_, _> = found.into_iter().map(|one| (one.product.id, one)).collect();
        let lines = asked.iter().map(|id| found.get(id.as_ref()?).cloned());
        Ok(lines.collect())
    }
}
