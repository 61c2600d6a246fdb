//! The use cases of products: each public method is one transaction, unless its name says that it
//! runs in the caller's. Assets are asked for before it begins.

use platform::{
    auth::Caller,
    error::Failure,
    idempotency::{self, Reply, Started},
    ids::Id,
    list::Page,
    messaging::outbox,
    money::Percent,
    patch::Patch,
    pg,
    rank::Rank,
};
use proto::common::v1::ListRequest;
use sqlx::PgConnection;

use super::{
    Named, NewProduct, Product, ProductPatch, events,
    pricing::PricingAsset,
    related::{self, Embedded, Include},
    reorder, repo,
};
use crate::{
    SCHEMA,
    category::{self, Category},
    clients::wallet::Wallet,
    context::Context,
    error::Error,
    tax_rate::{self, TaxRate},
};

/// Which products a caller may know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Every one.
    All,
    /// Those that are visible.
    Visible,
}

impl View {
    /// Users see what the shop shows.
    pub fn of(caller: &Caller) -> Self {
        if caller.is_admin() {
            Self::All
        } else {
            Self::Visible
        }
    }

    fn shows(self, product: &Product) -> bool {
        self == Self::All || product.details.visible
    }
}

/// The products.
#[derive(Debug, Clone)]
pub struct Products {
    pub(super) context: Context,
    pub(super) wallet: Wallet,
}

impl Products {
    /// The products in this database, priced in the assets of this wallet-svc.
    pub fn new(context: Context, wallet: Wallet) -> Self {
        Self { context, wallet }
    }

    /// Makes a product, once per key; without a rank, the last. `answer` is what the key's record
    /// keeps.
    pub async fn create<R: prost::Message + Default>(
        &self,
        key: Option<&idempotency::Key>,
        new: NewProduct,
        answer: impl FnOnce(Product) -> R,
    ) -> Result<Reply<R>, Error> {
        let code = match &new.asset_code {
            Some(code) => code.clone(),
            None => self.wallet.default_asset_code().await?,
        };
        let asset = self.enabled_asset(&code).await?;
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let created = self.create_in_tx(&mut work, new, asset).await?;
        Ok(work.commit(answer(created)).await?)
    }

    async fn create_in_tx(
        &self,
        conn: &mut PgConnection,
        new: NewProduct,
        asset: PricingAsset,
    ) -> Result<Product, Error> {
        hold_category_in_tx(conn, new.category_id).await?;
        let tax_rate = match new.tax_rate_id {
            Some(id) => Some(hold_tax_rate_in_tx(conn, id).await?),
            None => None,
        };
        let rank = match new.rank {
            Some(rank) => rank,
            None => repo::last_rank(conn)
                .await?
                .map_or_else(Rank::first, Rank::next),
        };
        let (id, now) = (self.context.ids.next(), self.context.clock.now());
        let product = Product::create(id, new, Named { asset, tax_rate }, rank, now)?;
        repo::remember_asset_in_tx(conn, &product.pricing.asset).await?;
        repo::insert_in_tx(conn, &product).await?;
        let event = events::created(&self.context.ids, &product);
        outbox::append_in_tx(conn, SCHEMA, [event]).await?;
        Ok(product)
    }

    /// Reads a product that the caller may know of.
    pub async fn get(
        &self,
        id: Id<Product>,
        include: Include,
        view: View,
    ) -> Result<Embedded, Error> {
        let mut conn = self.context.pool.acquire().await?;
        let product = repo::find(&mut conn, id).await?;
        let product = product.filter(|product| view.shows(product));
        let found = product.into_iter().collect();
        let mut embedded = related::embed(&mut conn, found, include).await?;
        embedded.pop().ok_or(Error::ProductNotFound)
    }

    /// Lists the products that the caller may know of.
    pub async fn list(&self, request: &ListRequest, view: View) -> Result<Page<Embedded>, Failure> {
        let include = Include::parse(&request.include)?;
        let mut conn = self.context.pool.acquire().await?;
        let page = repo::list(&mut conn, request, view == View::Visible).await?;
        Ok(Page {
            rows: related::embed(&mut conn, page.rows, include).await?,
            total: page.total,
            next_cursor: page.next_cursor,
            include: page.include,
        })
    }

    /// Changes a product. An empty patch changes nothing, not even its time.
    pub async fn update(&self, id: Id<Product>, patch: ProductPatch) -> Result<Product, Error> {
        if patch.is_empty() {
            return self.find(id).await;
        }
        let asset = self.asset_for(id, &patch).await?;
        let mut tx = pg::tx(&self.context.pool).await?;
        if patch.rank.is_some() {
            reorder::lock_in_tx(&mut tx).await?;
        }
        let mut product = locked_in_tx(&mut tx, id).await?;
        let named = named_in_tx(&mut tx, &product, &patch, asset).await?;
        product.update(patch, named, self.context.clock.now())?;
        repo::remember_asset_in_tx(&mut tx, &product.pricing.asset).await?;
        repo::update_in_tx(&mut tx, &product).await?;
        let event = events::updated(&self.context.ids, &product);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        tx.commit().await?;
        Ok(product)
    }

    /// Deletes a product.
    pub async fn delete(&self, id: Id<Product>) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut product = locked_in_tx(&mut tx, id).await?;
        product.delete(self.context.clock.now());
        repo::delete_in_tx(&mut tx, &product).await?;
        let event = events::deleted(&self.context.ids, &product);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The asset that a patch's amounts are held against. One that is written has to be enabled;
    /// one that stays is asked for again, because it may have become finer, and does without an
    /// answer.
    async fn asset_for(
        &self,
        id: Id<Product>,
        patch: &ProductPatch,
    ) -> Result<Option<PricingAsset>, Error> {
        if let Some(code) = &patch.asset_code {
            return self.enabled_asset(code).await.map(Some);
        }
        if !patch.is_of_money() {
            return Ok(None);
        }
        let known = self.find(id).await?.pricing.asset;
        match self.wallet.find_asset(&known.code).await {
            Ok(asset) => Ok(asset.map(PricingAsset::from)),
            Err(failure) if failure.code.is_transient() => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    async fn find(&self, id: Id<Product>) -> Result<Product, Error> {
        let mut conn = self.context.pool.acquire().await?;
        repo::find(&mut conn, id)
            .await?
            .ok_or(Error::ProductNotFound)
    }

    pub(super) async fn enabled_asset(&self, code: &str) -> Result<PricingAsset, Error> {
        let asset = self.wallet.find_asset(code).await?;
        let asset = asset.ok_or(Error::UnknownReference {
            field: "assetCode",
            what: "asset",
        })?;
        if asset.enabled {
            Ok(asset.into())
        } else {
            Err(Error::AssetDisabled(asset.code))
        }
    }
}

pub(crate) async fn locked_in_tx(
    conn: &mut PgConnection,
    id: Id<Product>,
) -> Result<Product, Error> {
    if !repo::lock_in_tx(conn, id).await? {
        return Err(Error::ProductNotFound);
    }
    repo::find(conn, id).await?.ok_or(Error::ProductNotFound)
}

/// What the product names after the patch.
async fn named_in_tx(
    conn: &mut PgConnection,
    product: &Product,
    patch: &ProductPatch,
    asset: Option<PricingAsset>,
) -> Result<Named, Error> {
    if let Some(id) = patch.category_id {
        hold_category_in_tx(conn, id).await?;
    }
    let tax_rate = match patch.tax_rate_id {
        Patch::Absent => product.pricing.tax_rate,
        Patch::Null => None,
        Patch::Set(id) => Some(hold_tax_rate_in_tx(conn, id).await?),
    };
    // Another change may have given the product another asset since this one was asked for.
    let own = &product.pricing.asset;
    let asset = asset
        .filter(|asset| patch.asset_code.is_some() || asset.code == own.code)
        .unwrap_or_else(|| own.clone());
    Ok(Named { asset, tax_rate })
}

async fn hold_category_in_tx(conn: &mut PgConnection, id: Id<Category>) -> Result<(), Error> {
    if category::repo::share_in_tx(conn, id).await? {
        Ok(())
    } else {
        Err(Error::UnknownReference {
            field: "categoryId",
            what: "category",
        })
    }
}

async fn hold_tax_rate_in_tx(conn: &mut PgConnection, id: Id<TaxRate>) -> Result<Percent, Error> {
    tax_rate::repo::share_in_tx(conn, id)
        .await?
        .ok_or(Error::UnknownReference {
            field: "taxRateId",
            what: "tax rate",
        })
}
