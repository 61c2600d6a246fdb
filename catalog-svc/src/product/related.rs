//! Relations that can be embedded in products, loaded for all of them in one query each.

use std::{collections::HashMap, sync::Arc};

use platform::{
    error::Failure,
    list::{MAX_PAGE_BYTES, Page, check},
};
use proto::lists::catalog::PRODUCTS;
use sqlx::PgConnection;

use super::Product;
use crate::{
    category::{self, Category},
    product_question::{self, LinkedQuestion},
    tax_rate::{self, TaxRate},
};

/// The relations to embed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Include {
    pub(crate) category: bool,
    pub(crate) tax_rate: bool,
    pub(crate) questions: bool,
}

impl Include {
    /// Parses public names.
    pub(crate) fn parse(names: &[String]) -> Result<Self, Failure> {
        let names = check::includes(&PRODUCTS, names)?;
        Ok(Self {
            category: names.contains(&"category"),
            tax_rate: names.contains(&"taxRate"),
            questions: names.contains(&"questions"),
        })
    }
}

/// A product with its embedded relations, which products share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Embedded {
    pub(crate) product: Product,
    /// `None` also if it was not requested.
    pub(crate) category: Option<Arc<Category>>,
    /// `None` also if it was not requested.
    pub(crate) tax_rate: Option<TaxRate>,
    /// In their order; `None` if they were not requested.
    pub(crate) questions: Option<Vec<LinkedQuestion>>,
}

impl From<Product> for Embedded {
    fn from(product: Product) -> Self {
        Self {
            product,
            category: None,
            tax_rate: None,
            questions: None,
        }
    }
}

/// Embeds the relations in each product.
pub(crate) async fn embed(
    conn: &mut PgConnection,
    products: Vec<Product>,
    include: Include,
) -> Result<Vec<Embedded>, sqlx::Error> {
    embed_up_to(conn, products, include, usize::MAX).await
}

/// Embeds the relations in the products of a page, which ends early where they are large.
pub(crate) async fn embed_page(
    conn: &mut PgConnection,
    mut page: Page<Product>,
    include: Include,
) -> Result<Page<Embedded>, sqlx::Error> {
    let products = std::mem::take(&mut page.rows);
    let embedded = embed_up_to(conn, products, include, MAX_PAGE_BYTES).await?;
    Ok(page.with_first_rows(embedded))
}

/// Embeds the relations in each product, and leaves out the last products if the questions of all pass
/// `max_bytes`.
async fn embed_up_to(
    conn: &mut PgConnection,
    products: Vec<Product>,
    include: Include,
    max_bytes: usize,
) -> Result<Vec<Embedded>, sqlx::Error> {
    let mut embedded: Vec<_> = products.into_iter().map(Embedded::from).collect();
    if include.questions {
        let ids: Vec<_> = embedded.iter().map(|row| row.product.id).collect();
        let found = product_question::repo::find_by_product(conn, &ids, max_bytes).await?;
        embedded.truncate(found.len());
        for (row, questions) in embedded.iter_mut().zip(found) {
            row.questions = Some(questions);
        }
    }
    if include.category {
        embed_categories(conn, &mut embedded).await?;
    }
    if include.tax_rate {
        embed_tax_rates(conn, &mut embedded).await?;
    }
    Ok(embedded)
}

async fn embed_categories(
    conn: &mut PgConnection,
    embedded: &mut [Embedded],
) -> Result<(), sqlx::Error> {
    let ids: Vec<_> = embedded.iter().map(|row| row.product.category_id).collect();
    let found = category::repo::find_all(conn, &ids).await?;
    let found: HashMap<_, _> = found
        .into_iter()
        .map(|one| (one.id, Arc::new(one)))
        .collect();
    for row in embedded {
        row.category = found.get(&row.product.category_id).cloned();
    }
    Ok(())
}

async fn embed_tax_rates(
    conn: &mut PgConnection,
    embedded: &mut [Embedded],
) -> Result<(), sqlx::Error> {
    let ids = embedded.iter().filter_map(|row| row.product.tax_rate_id);
    let found = tax_rate::repo::find_all(conn, &ids.collect::<Vec<_>>()).await?;
    let found: HashMap<_, _> = found.into_iter().map(|one| (one.id, one)).collect();
    for row in embedded {
        let id = row.product.tax_rate_id;
        row.tax_rate = id.and_then(|id| found.get(&id)).cloned();
    }
    Ok(())
}
