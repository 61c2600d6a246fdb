//! The use case of making many products at once, in one transaction with few statements.

use std::collections::{HashMap, HashSet};

use futures::{StreamExt as _, stream};
use platform::{
    error::Failure,
    idempotency::{self, Reply, Started},
    ids::Id,
    messaging::outbox,
    money::Percent,
    rank::Rank,
};
use sqlx::PgConnection;

use super::{
    Named, NewProduct, Product, Products, events, import_repo, pricing::PricingAsset, repo,
};
use crate::{SCHEMA, category::Category, error::Error, tax_rate::TaxRate};

/// Assets that are asked for at the same time.
const ASKED_AT_ONCE: usize = 16;
/// Rows that one statement writes.
const CHUNK: usize = 1_000;

/// A product to make, or why it is none.
#[derive(Debug)]
pub struct Line {
    /// Where the client wrote it.
    pub line: u32,
    /// What it says.
    pub new: Result<NewProduct, Failure>,
}

/// What becomes of the lines where some are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing is made.
    AllOrNothing,
    /// Nothing is made whatever the lines say: some were refused before.
    CheckOnly,
    /// The others are made.
    Partial,
}

/// What became of them.
#[derive(Debug, Default)]
pub struct Imported {
    /// The products made, with their lines.
    pub products: Vec<(u32, Product)>,
    /// The lines refused.
    pub refused: Vec<(u32, Failure)>,
}

/// What the lines name, as far as it exists.
struct Known {
    assets: HashMap<String, Result<PricingAsset, Failure>>,
    default_asset: String,
    categories: HashSet<Id<Category>>,
    tax_rates: HashMap<Id<TaxRate>, Percent>,
}

impl Products {
    /// Makes products, once per key. `answer` is what the key's record keeps; where nothing is made,
    /// nothing is recorded.
    pub async fn import<R: prost::Message + Default>(
        &self,
        key: Option<&idempotency::Key>,
        lines: Vec<Line>,
        mode: Mode,
        answer: impl FnOnce(Imported) -> R,
    ) -> Result<Reply<R>, Error> {
        let default_asset = self.wallet.default_asset_code().await?;
        let assets = self.assets_of(&lines, &default_asset).await?;
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let known = Known {
            categories: import_repo::share_categories_in_tx(&mut work, &categories(&lines)).await?,
            tax_rates: import_repo::share_tax_rates_in_tx(&mut work, &tax_rates(&lines)).await?,
            default_asset,
            assets,
        };
        let last = repo::last_rank(&mut work).await?;
        let mut imported = self.build(lines, &known, last);
        let complete = imported.refused.is_empty() && mode == Mode::AllOrNothing;
        if !complete && mode != Mode::Partial {
            imported.products.clear();
            return Ok(Reply::fresh(answer(imported)));
        }
        self.insert_in_tx(&mut work, &imported.products).await?;
        Ok(work.commit(answer(imported)).await?)
    }

    /// Every asset that the lines name, asked for once.
    async fn assets_of(
        &self,
        lines: &[Line],
        default: &str,
    ) -> Result<HashMap<String, Result<PricingAsset, Failure>>, Failure> {
        let named = lines.iter().filter_map(|line| line.new.as_ref().ok());
        let named = named.map(|new| new.asset_code.as_deref().unwrap_or(default));
        let codes: HashSet<_> = named.map(str::to_ascii_lowercase).collect();
        let asked = stream::iter(codes).map(|code| async move {
            let asset = self.enabled_asset(&code).await.map_err(Failure::from);
            (code, asset)
        });
        let assets: HashMap<_, _> = asked.buffer_unordered(ASKED_AT_ONCE).collect().await;
        // That nobody can say is no fault of a line.
        let unsaid = assets.values().find_map(|asset| match asset {
            Err(failure) if failure.fields.is_empty() => Some(failure.code),
            _ => None,
        });
        match unsaid {
            Some(code) => Err(Failure::new(code, "the assets cannot be looked up")),
            None => Ok(assets),
        }
    }

    fn build(&self, lines: Vec<Line>, known: &Known, mut last: Option<Rank>) -> Imported {
        let mut imported = Imported::default();
        let now = self.context.clock.now();
        for Line { line, new } in lines {
            let built = new.and_then(|new| {
                let named = known.named(&new)?;
                let next = last.map_or_else(Rank::first, Rank::next);
                let rank = new.rank.unwrap_or(next);
                let id = self.context.ids.next();
                Ok(Product::create(id, new, named, rank, now)?)
            });
            match built {
                Ok(product) => {
                    last = last.max(Some(product.rank));
                    imported.products.push((line, product));
                }
                Err(failure) => imported.refused.push((line, failure)),
            }
        }
        imported
    }

    async fn insert_in_tx(
        &self,
        conn: &mut PgConnection,
        products: &[(u32, Product)],
    ) -> Result<(), Error> {
        let assets: HashMap<_, _> = products
            .iter()
            .map(|(_, product)| (&product.pricing.asset.code, &product.pricing.asset))
            .collect();
        for asset in assets.into_values() {
            repo::remember_asset_in_tx(conn, asset).await?;
        }
        for chunk in products.chunks(CHUNK) {
            let products: Vec<_> = chunk.iter().map(|(_, product)| product).collect();
            import_repo::insert_all_in_tx(conn, &products).await?;
            let created = products.into_iter();
            let created: Vec<_> = created
                .map(|product| events::created(&self.context.ids, product))
                .collect();
            outbox::append_in_tx(conn, SCHEMA, created).await?;
        }
        Ok(())
    }
}

impl Known {
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
            Some(Err(failure)) => Err(refusal(failure)),
            None => Err(missing("assetCode", "asset")),
        }
    }
}

/// The same refusal for another line.
fn refusal(failure: &Failure) -> Failure {
    let refused = Failure::new(failure.code, failure.detail.clone());
    failure.fields.iter().fold(refused, |refused, field| {
        refused.field(&field.field, field.code, &field.message)
    })
}

fn categories(lines: &[Line]) -> Vec<Id<Category>> {
    let news = lines.iter().filter_map(|line| line.new.as_ref().ok());
    let ids: HashSet<_> = news.map(|new| new.category_id).collect();
    ids.into_iter().collect()
}

fn tax_rates(lines: &[Line]) -> Vec<Id<TaxRate>> {
    let news = lines.iter().filter_map(|line| line.new.as_ref().ok());
    let ids: HashSet<_> = news.filter_map(|new| new.tax_rate_id).collect();
    ids.into_iter().collect()
}
