//! The use case of importing products: one transaction with few statements.

use std::collections::{BTreeMap, HashMap, HashSet};

use futures::{StreamExt as _, stream};
use platform::{
    audit::{self, Entry},
    error::Failure,
    idempotency::{self, Key, Reply, Started},
    ids::Id,
    messaging::outbox,
    money::Percent,
    rank::Rank,
};
use proto::catalog::v1 as wire;
use sqlx::PgConnection;

use super::{
    Named, NewProduct, Product, Products, convert, events, pricing::PricingAsset, reorder, repo,
};
use crate::{
    SCHEMA,
    category::{self, Category},
    context::Change,
    error::Error,
    tax_rate::{self, TaxRate},
};

/// Assets that are looked up at the same time.
const CONCURRENT_LOOKUPS: usize = 16;
/// Products that one statement inserts.
const CHUNK_SIZE: usize = 1_000;

/// A line of an import: a new product, or why it is invalid.
#[derive(Debug)]
pub(crate) struct Line {
    /// The number that the client knows it by.
    pub(crate) number: u32,
    pub(crate) new: Result<NewProduct, Failure>,
}

/// The products that are created if some lines are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// None.
    AllOrNothing,
    /// None in any case: the caller has rejected other lines.
    CheckOnly,
    /// Those of the other lines.
    Partial,
}

/// The result of an import, by the numbers of the lines.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) products: Vec<(u32, Product)>,
    pub(crate) rejected: Vec<(u32, Failure)>,
}

/// The things that the lines refer to and that exist.
struct References {
    assets: HashMap<String, Result<PricingAsset, Failure>>,
    default_asset: String,
    categories: HashSet<Id<Category>>,
    tax_rates: HashMap<Id<TaxRate>, Percent>,
}

impl Products {
    /// Creates products, once per key. If nothing is created, nothing is recorded for the key.
    pub(crate) async fn import(
        &self,
        key: Option<&Key>,
        lines: Vec<Line>,
        mode: Mode,
    ) -> Result<Reply<wire::ImportProductsResponse>, Error> {
        if let Some(reply) = idempotency::find_replay(&self.context.pool, SCHEMA, key).await? {
            return Ok(reply);
        }
        let default_asset = self.wallet.default_asset_code().await?;
        let assets = self.assets_of(&lines, &default_asset).await?;
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        if products(&lines).any(|new| new.rank.is_some()) {
            reorder::lock_list_in_tx(&mut work).await?;
        }
        let (categories, tax_rates) = (category_ids(&lines), tax_rate_ids(&lines));
        let references = References {
            categories: category::repo::share_in_tx(&mut work, &categories).await?,
            tax_rates: tax_rate::repo::share_in_tx(&mut work, &tax_rates).await?,
            default_asset,
            assets,
        };
        let next_rank = repo::next_rank(&mut work).await?;
        let mut imported = self.build(lines, &references, next_rank);
        let complete = imported.rejected.is_empty() && mode == Mode::AllOrNothing;
        if !complete && mode != Mode::Partial {
            imported.products.clear();
            return Ok(Reply::fresh(convert::imported_to_proto(imported)));
        }
        self.insert_in_tx(&mut work, &imported.products).await?;
        Ok(work.commit(convert::imported_to_proto(imported)).await?)
    }

    /// Looks up every asset of the lines once.
    async fn assets_of(
        &self,
        lines: &[Line],
        default: &str,
    ) -> Result<HashMap<String, Result<PricingAsset, Failure>>, Failure> {
        let codes = products(lines).map(|new| new.asset_code.as_deref().unwrap_or(default));
        let codes: HashSet<_> = codes.map(str::to_ascii_lowercase).collect();
        let lookups = stream::iter(codes).map(|code| async move {
            let asset = self.enabled_asset(&code).await.map_err(Failure::from);
            (code, asset)
        });
        let lookups = lookups.buffer_unordered(CONCURRENT_LOOKUPS);
        let assets: HashMap<_, _> = lookups.collect().await;
        // A failed lookup names no field: it is not the line that is invalid.
        let failed = assets.values().find_map(|asset| match asset {
            Err(failure) if failure.fields.is_empty() => Some(failure.code),
            _ => None,
        });
        match failed {
            Some(code) => Err(Failure::new(code, "the assets cannot be looked up")),
            None => Ok(assets),
        }
    }

    fn build(&self, lines: Vec<Line>, references: &References, mut next_rank: Rank) -> Imported {
        let mut imported = Imported::default();
        let now = self.context.clock.now();
        for Line { number, new } in lines {
            let built = new.and_then(|new| {
                let named = references.named(&new)?;
                let rank = new.rank.unwrap_or(next_rank);
                let id = self.context.ids.next();
                Ok(Product::create(id, new, named, rank, now)?)
            });
            match built {
                Ok(product) => {
                    next_rank = next_rank.max(product.rank.next());
                    imported.products.push((number, product));
                }
                Err(failure) => imported.rejected.push((number, failure)),
            }
        }
        imported
    }

    async fn insert_in_tx(
        &self,
        conn: &mut PgConnection,
        products: &[(u32, Product)],
    ) -> Result<(), Error> {
        // In one order, so two imports of new assets cannot block each other.
        let assets: BTreeMap<_, _> = products
            .iter()
            .map(|(_, product)| (&product.pricing.asset.code, &product.pricing.asset))
            .collect();
        for asset in assets.into_values() {
            repo::store_asset_in_tx(conn, asset).await?;
        }
        for chunk in products.chunks(CHUNK_SIZE) {
            let products: Vec<_> = chunk.iter().map(|(_, product)| product).collect();
            repo::insert_in_tx(conn, &products).await?;
            let ids = &self.context.ids;
            let events = products
                .iter()
                .map(|product| events::message(ids, product, Change::Created));
            outbox::append_in_tx(conn, SCHEMA, events).await?;
            let created = Change::Created.name();
            let entries = products
                .iter()
                .map(|product| Entry::new("product", created, product.id));
            audit::record_all_in_tx(conn, SCHEMA, entries).await?;
        }
        Ok(())
    }
}

impl References {
    fn named(&self, new: &NewProduct) -> Result<Named, Failure> {
        let missing = |field, what| Failure::from(Error::UnknownReference { field, what });
        if !self.categories.contains(&new.category_id) {
            return Err(missing("categoryId", "category"));
        }
        let tax_rate = match new.tax_rate_id {
            None => None,
            Some(id) => {
                let rate = self.tax_rates.get(&id).copied();
                Some(rate.ok_or_else(|| missing("taxRateId", "tax rate"))?)
            }
        };
        let code = new.asset_code.as_ref().unwrap_or(&self.default_asset);
        match self.assets.get(&code.to_ascii_lowercase()) {
            Some(Ok(asset)) => Ok(Named {
                asset: asset.clone(),
                tax_rate,
            }),
            Some(Err(failure)) => Err(copy(failure)),
            None => Err(missing("assetCode", "asset")),
        }
    }
}

/// Copies a failure for another line.
fn copy(failure: &Failure) -> Failure {
    let copy = Failure::new(failure.code, failure.detail.clone());
    failure.fields.iter().fold(copy, |copy, field| {
        copy.field(&field.field, field.code, &field.message)
    })
}

fn products(lines: &[Line]) -> impl Iterator<Item = &NewProduct> {
    lines.iter().filter_map(|line| line.new.as_ref().ok())
}

fn category_ids(lines: &[Line]) -> Vec<Id<Category>> {
    let ids: HashSet<_> = products(lines).map(|new| new.category_id).collect();
    ids.into_iter().collect()
}

fn tax_rate_ids(lines: &[Line]) -> Vec<Id<TaxRate>> {
    let ids: HashSet<_> = products(lines).filter_map(|new| new.tax_rate_id).collect();
    ids.into_iter().collect()
}
