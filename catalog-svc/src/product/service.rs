//! The use cases of products: each public method is one transaction. wallet-svc is asked for assets
//! before it begins.

use platform::{
    audit::{self, Entry},
    auth::Caller,
    error::Failure,
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::{Id, Ids},
    messaging::outbox,
    money::Percent,
    patch::Patch,
    pg,
};
use prost::Message as _;
use proto::{
    catalog::v1::{self as wire, ListProductsResponse},
    common::v1::ListRequest,
};
use sqlx::PgConnection;

use super::{
    Named, NewProduct, Product, ProductPatch, convert, events,
    pricing::PricingAsset,
    related::{self, Include},
    reorder, repo,
};
use crate::{
    SCHEMA,
    category::{self, Category},
    clients::wallet::Wallet,
    context::{Change, Context},
    error::Error,
    media::Media,
    tax_rate::{self, TaxRate},
    versioned_cache::{Version, VersionedCache},
};

/// Encoded size of the pages of lists that are kept. In memory they take a few times as much.
const MAX_PAGE_BYTES: u64 = 4 * 1024 * 1024;

/// The products that a caller may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum View {
    All,
    Visible,
}

impl View {
    /// Users see visible products, admins all.
    pub(crate) fn of(caller: &Caller) -> Self {
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

#[derive(Debug, Clone)]
pub(crate) struct Products {
    pub(super) context: Context,
    pub(super) media: Media,
    pub(super) wallet: Wallet,
    /// The encoded requests and responses of lists.
    pages: VersionedCache<(View, Vec<u8>), ListProductsResponse>,
}

impl Products {
    pub(crate) fn new(context: Context, media: Media, wallet: Wallet) -> Self {
        Self {
            context,
            media,
            wallet,
            pages: VersionedCache::new(MAX_PAGE_BYTES, |(_, request), response| {
                request.len() + response.encoded_len()
            }),
        }
    }

    /// Creates a product, once per key; without a rank, after all others.
    pub(crate) async fn create(
        &self,
        key: Option<&Key>,
        new: NewProduct,
    ) -> Result<Reply<wire::Product>, Error> {
        if let Some(reply) = idempotency::find_replay(&self.context.pool, SCHEMA, key).await? {
            return Ok(reply);
        }
        let code = match &new.asset_code {
            Some(code) => code.clone(),
            None => self.wallet.default_asset_code().await?,
        };
        let asset = self.enabled_asset(&code).await?;
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let product = self.create_in_tx(&mut work, new, asset).await?;
        let resource = convert::to_proto(product.into(), &self.media);
        Ok(work.commit(resource).await?)
    }

    async fn create_in_tx(
        &self,
        conn: &mut PgConnection,
        new: NewProduct,
        asset: PricingAsset,
    ) -> Result<Product, Error> {
        if new.rank.is_some() {
            reorder::lock_list_in_tx(conn).await?;
        }
        share_category_in_tx(conn, new.category_id).await?;
        let tax_rate = match new.tax_rate_id {
            Some(id) => Some(share_tax_rate_in_tx(conn, id).await?),
            None => None,
        };
        let rank = match new.rank {
            Some(rank) => rank,
            None => repo::next_rank(conn).await?,
        };
        let (id, now) = (self.context.ids.next(), self.context.clock.now());
        let product = Product::create(id, new, Named { asset, tax_rate }, rank, now)?;
        repo::store_asset_in_tx(conn, &product.pricing.asset).await?;
        write_in_tx(conn, &self.context.ids, &product, Change::Created).await?;
        Ok(product)
    }

    /// Reads a product in view.
    pub(crate) async fn get(
        &self,
        id: Id<Product>,
        include: Include,
        view: View,
    ) -> Result<wire::Product, Error> {
        let mut conn = self.context.pool.acquire().await?;
        let product = repo::find(&mut conn, id).await?;
        let found = product.into_iter().filter(|product| view.shows(product));
        let found = found.collect();
        let embedded = related::embed(&mut conn, found, include).await?.pop();
        let embedded = embedded.ok_or(Error::ProductNotFound)?;
        Ok(convert::to_proto(embedded, &self.media))
    }

    /// Lists the products in view.
    pub(crate) async fn list(
        &self,
        request: &ListRequest,
        view: View,
    ) -> Result<ListProductsResponse, Failure> {
        let include = Include::parse(&request.include)?;
        let key = (view, request.encode_to_vec());
        let mut conn = self.context.pool.acquire().await?;
        let version = Version::read(&mut conn).await?;
        if let Some(response) = self.pages.get(&key, version) {
            return Ok(response);
        }
        let page = repo::list(&mut conn, request, view).await?;
        let page = related::embed_page(&mut conn, page, include).await?;
        let (products, page) = page.encode(|product| convert::to_proto(product, &self.media));
        let page = Some(page);
        let response = ListProductsResponse { products, page };
        self.pages.insert(key, version, response.clone());
        Ok(response)
    }

    /// Updates a product. An empty patch changes nothing, not even its time.
    pub(crate) async fn update(
        &self,
        id: Id<Product>,
        patch: ProductPatch,
        if_version: Option<&Versions>,
    ) -> Result<wire::Product, Error> {
        let product = if patch.is_empty() {
            let product = self.find(id).await?;
            precondition::check(if_version, product.version)?;
            product
        } else {
            self.apply(id, patch, if_version).await?
        };
        Ok(convert::to_proto(product.into(), &self.media))
    }

    async fn apply(
        &self,
        id: Id<Product>,
        patch: ProductPatch,
        if_version: Option<&Versions>,
    ) -> Result<Product, Error> {
        let asset = self.asset_for(id, &patch).await?;
        let mut tx = pg::tx(&self.context.pool).await?;
        if patch.rank.is_some() {
            reorder::lock_list_in_tx(&mut tx).await?;
        }
        let mut product = lock_in_tx(&mut tx, id).await?;
        precondition::check(if_version, product.version)?;
        let named = named_in_tx(&mut tx, &product, &patch, asset).await?;
        product.update(patch, named, self.context.clock.now())?;
        repo::store_asset_in_tx(&mut tx, &product.pricing.asset).await?;
        write_in_tx(&mut tx, &self.context.ids, &product, Change::Updated).await?;
        tx.commit().await?;
        Ok(product)
    }

    pub(crate) async fn delete(
        &self,
        id: Id<Product>,
        if_version: Option<&Versions>,
    ) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut product = lock_in_tx(&mut tx, id).await?;
        precondition::check(if_version, product.version)?;
        product.touch(self.context.clock.now());
        write_in_tx(&mut tx, &self.context.ids, &product, Change::Deleted).await?;
        Ok(tx.commit().await?)
    }

    /// Returns the asset that limits the decimals of a patch's amounts. One that is written must be
    /// enabled. One that stays is looked up again, because it may have got more decimals; without a
    /// response it is used as it is.
    async fn asset_for(
        &self,
        id: Id<Product>,
        patch: &ProductPatch,
    ) -> Result<Option<PricingAsset>, Error> {
        if let Some(code) = &patch.asset_code {
            return self.enabled_asset(code).await.map(Some);
        }
        if !patch.changes_amounts() {
            return Ok(None);
        }
        let current = self.find(id).await?.pricing.asset;
        match self.wallet.find_asset(&current.code).await {
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

/// Reads a product and locks it against every other change.
pub(crate) async fn lock_in_tx(conn: &mut PgConnection, id: Id<Product>) -> Result<Product, Error> {
    if !repo::lock_in_tx(conn, id).await? {
        return Err(Error::ProductNotFound);
    }
    repo::find(conn, id).await?.ok_or(Error::ProductNotFound)
}

/// Writes a change, its event and its entry in the audit log.
pub(crate) async fn write_in_tx(
    conn: &mut PgConnection,
    ids: &Ids,
    product: &Product,
    change: Change,
) -> Result<(), sqlx::Error> {
    match change {
        Change::Created => repo::insert_in_tx(conn, &[product]).await?,
        Change::Updated => repo::update_in_tx(conn, product).await?,
        Change::Deleted => repo::delete_in_tx(conn, product).await?,
    }
    let event = events::message(ids, product, change);
    outbox::append_in_tx(conn, SCHEMA, [event]).await?;
    let entry = Entry::new("product", change.name(), product.id);
    audit::record_in_tx(conn, SCHEMA, entry).await
}

/// Returns the asset and the tax rate of a product after the patch.
async fn named_in_tx(
    conn: &mut PgConnection,
    product: &Product,
    patch: &ProductPatch,
    asset: Option<PricingAsset>,
) -> Result<Named, Error> {
    if let Some(id) = patch.category_id {
        share_category_in_tx(conn, id).await?;
    }
    let tax_rate = match patch.tax_rate_id {
        Patch::Absent => product.pricing.tax_rate,
        Patch::Null => None,
        Patch::Set(id) => Some(share_tax_rate_in_tx(conn, id).await?),
    };
    // Another request may have given the product another asset since this one was looked up.
    let current = &product.pricing.asset;
    let asset = asset
        .filter(|asset| patch.asset_code.is_some() || asset.code == current.code)
        .unwrap_or_else(|| current.clone());
    Ok(Named { asset, tax_rate })
}

async fn share_category_in_tx(conn: &mut PgConnection, id: Id<Category>) -> Result<(), Error> {
    let shared = category::repo::share_in_tx(conn, &[id]).await?;
    if shared.contains(&id) {
        return Ok(());
    }
    Err(Error::UnknownReference {
        field: "categoryId",
        what: "category",
    })
}

async fn share_tax_rate_in_tx(conn: &mut PgConnection, id: Id<TaxRate>) -> Result<Percent, Error> {
    let rates = tax_rate::repo::share_in_tx(conn, &[id]).await?;
    rates.get(&id).copied().ok_or(Error::UnknownReference {
        field: "taxRateId",
        what: "tax rate",
    })
}
