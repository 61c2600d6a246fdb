//! The use case of quotes. It reads only this database, so it works while wallet-svc is down.

use std::collections::HashMap;

use proto::catalog::v1 as wire;

use super::convert;
use crate::{
    context::Context,
    error::Error,
    media::Media,
    product::{
        self,
        related::{self, Include},
    },
    question::answers::Validators,
};

#[derive(Debug, Clone)]
pub(crate) struct Quotes {
    context: Context,
    media: Media,
    validators: Validators,
}

impl Quotes {
    pub(crate) fn new(context: Context, media: Media) -> Self {
        Self {
            context,
            media,
            validators: Validators::new(),
        }
    }

    /// Quotes the lines of a cart, each with its product, category and errors of its answers. An
    /// unknown product gives an empty line; whether an invisible one can be ordered is up to the order.
    pub(crate) async fn quote(
        &self,
        cart: &wire::QuoteRequest,
    ) -> Result<Vec<wire::QuoteLine>, Error> {
        let ids = convert::product_ids(cart)?;
        let known: Vec<_> = ids.iter().copied().flatten().collect();
        let include = Include {
            category: true,
            tax_rate: false,
            questions: true,
        };
        let mut conn = self.context.pool.acquire().await?;
        let products = product::repo::find_all(&mut conn, &known).await?;
        let products = related::embed(&mut conn, products, include).await?;
        let products: HashMap<_, _> = products
            .into_iter()
            .map(|embedded| (embedded.product.id, embedded))
            .collect();
        let lines = cart.lines.iter().zip(ids).map(|(line, id)| {
            let product = id.and_then(|id| products.get(&id)).cloned();
            convert::line_to_proto(line, product, &self.media, &self.validators)
        });
        Ok(lines.collect())
    }
}
