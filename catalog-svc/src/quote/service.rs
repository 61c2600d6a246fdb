//! The use case of quotes. It reads only this database, so it works while wallet-svc is down.

use std::{collections::HashMap, sync::Arc};

use platform::ids::Id;
use proto::catalog::v1 as wire;

use super::convert;
use crate::{
    context::Context,
    error::Error,
    media::Media,
    product::{
        self, Product,
        related::{self, Embedded, Include},
    },
    question::answers::Validators,
    versioned_cache::{Version, VersionedCache},
};

/// Products that are kept with their categories and questions, each of some KiB.
const MAX_PRODUCTS: u64 = 1_000;

/// What a quote needs of each product.
const INCLUDE: Include = Include {
    category: true,
    tax_rate: false,
    questions: true,
};

#[derive(Debug, Clone)]
pub(crate) struct Quotes {
    context: Context,
    media: Media,
    validators: Validators,
    products: VersionedCache<Id<Product>, Arc<Embedded>>,
}

impl Quotes {
    pub(crate) fn new(context: Context, media: Media) -> Self {
        Self {
            context,
            media,
            validators: Validators::new(),
            products: VersionedCache::new(MAX_PRODUCTS, |_, _| 1),
        }
    }

    /// Quotes the lines of a cart, each with its product, category and errors of its answers. An
    /// unknown product gives an empty line; whether an invisible one can be ordered is up to the order.
    pub(crate) async fn quote(
        &self,
        cart: &wire::QuoteRequest,
    ) -> Result<Vec<wire::QuoteLine>, Error> {
        let ids = convert::product_ids(cart)?;
        let products = self.find(ids.iter().copied().flatten().collect()).await?;
        let lines = cart.lines.iter().zip(ids).map(|(line, id)| {
            let product = id.and_then(|id| products.get(&id));
            let product = product.map(|it| Embedded::clone(it));
            convert::line_to_proto(line, product, &self.media, &self.validators)
        });
        Ok(lines.collect())
    }

    /// Finds the products among these ids.
    async fn find(
        &self,
        ids: Vec<Id<Product>>,
    ) -> Result<HashMap<Id<Product>, Arc<Embedded>>, sqlx::Error> {
        let mut conn = self.context.pool.acquire().await?;
        let version = Version::read(&mut conn).await?;
        let (mut found, mut missing) = (HashMap::new(), Vec::new());
        for id in ids {
            match self.products.get(&id, version) {
                Some(product) => drop(found.insert(id, product)),
                None => missing.push(id),
            }
        }
        if !missing.is_empty() {
            let products = product::repo::find_all(&mut conn, &missing).await?;
            for product in related::embed(&mut conn, products, INCLUDE).await? {
                let (id, product) = (product.product.id, Arc::new(product));
                self.products.insert(id, version, Arc::clone(&product));
                found.insert(id, product);
            }
        }
        Ok(found)
    }
}
