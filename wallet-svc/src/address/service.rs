//! The use cases of addresses.

use platform::{
    audit::{self, Entry},
    auth::Caller,
    clock::Clock,
    error::{Code, Failure, FieldCode},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
};
use proto::{
    common::v1::ListRequest,
    wallet::v1::{self as wire, CreateAddressRequest},
};
use sqlx::{PgConnection, PgPool};

use super::{
    convert,
    hd::{AccountKey, AccountKeys},
    model::{Address, NewAddress, Source, check_address},
    repo,
};
use crate::{
    SCHEMA, access, asset::directory::AssetDirectory, error::Error,
    transaction::metadata::Metadata, wallet,
};

/// Derived addresses that one query checks, where clients have given the next one already.
const SKIP_BATCH: u32 = 100;

/// The use cases of addresses.
#[derive(Debug, Clone)]
pub(crate) struct Addresses {
    pub(crate) pool: PgPool,
    pub(crate) assets: AssetDirectory,
    /// The extended public keys of the provider `hd`.
    pub(crate) keys: AccountKeys,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
}

impl Addresses {
    /// Stores a given address or derives the next one, once per idempotency key.
    pub(crate) async fn create(
        &self,
        request: CreateAddressRequest,
        key: Option<&Key>,
    ) -> Result<Reply<wire::Address>, Error> {
        let asset = match &request.asset_code {
            Some(code) => self.assets.find(code).await?.map(|asset| asset.code),
            None => None,
        };
        let new = convert::new_address(request, asset)?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        if let Some(id) = new.wallet
            && wallet::repo::find_wallet(&mut *work, id).await?.is_none()
        {
            let message = "wallet not found";
            return Err(Failure::invalid("walletId", FieldCode::UnknownReference, message).into());
        }
        let address = match &new.source {
            Source::Given(address) => self.insert_given(&mut work, &new, address).await?,
            Source::Derived => self.insert_derived(&mut work, &new).await?,
        };
        let entry = Entry::new("address", "created", address.id);
        audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        Ok(work.commit(convert::address(&address)).await?)
    }

    async fn insert_given(
        &self,
        conn: &mut PgConnection,
        new: &NewAddress,
        address: &str,
    ) -> Result<Address, Error> {
        let address = self.address(new, address.to_owned(), &Metadata::default());
        if repo::insert_address_in_tx(conn, &address).await? {
            return Ok(address);
        }
        let message = "the asset has this address already";
        let taken = Failure::new(Code::AddressTaken, message);
        Err(taken.field("address", Code::AddressTaken, message).into())
    }

    async fn insert_derived(
        &self,
        conn: &mut PgConnection,
        new: &NewAddress,
    ) -> Result<Address, Error> {
        let key = new.asset.as_ref().and_then(|asset| self.keys.find(asset));
        let Some(key) = key else {
            let message = "no extended public key is configured for this asset";
            return Err(Failure::invalid("assetCode", FieldCode::UnknownReference, message).into());
        };
        let fingerprint = key.fingerprint();
        let claimed = repo::claim_index_in_tx(conn, &fingerprint).await?;
        let mut index = u32::try_from(claimed).map_err(|_| exhausted())?;
        loop {
            let address = self.derive(new, key, index)?;
            if repo::insert_address_in_tx(conn, &address).await? {
                return Ok(address);
            }
            index = skip_existing(conn, new, key, index).await?;
            let next = i64::from(index) + 1;
            repo::set_next_index_in_tx(conn, &fingerprint, next).await?;
        }
    }

    fn derive(&self, new: &NewAddress, key: &AccountKey, index: u32) -> Result<Address, Failure> {
        let derived = key.address(index).ok_or_else(exhausted)?;
        let metadata = Metadata::default()
            .with_text("provider", "hd")
            .with_text("path", &derived.path);
        Ok(self.address(new, derived.address, &metadata))
    }

    fn address(&self, new: &NewAddress, text: String, metadata: &Metadata) -> Address {
        Address {
            id: self.ids.next(),
            text,
            asset: new.asset.clone(),
            wallet: new.wallet,
            custom_data: new.custom_data.clone(),
            metadata: metadata.as_str().to_owned(),
            created_at: self.clock.now(),
        }
    }

    /// Returns the oldest entry of an address that the caller may see.
    pub(crate) async fn get(&self, caller: &Caller, address: &str) -> Result<Address, Error> {
        let reader = access::reader(caller)?;
        check_address(address).map_err(|_| Error::AddressNotFound)?;
        let mut conn = self.pool.acquire().await?;
        repo::find_address(&mut conn, address, reader)
            .await?
            .ok_or(Error::AddressNotFound)
    }

    /// Lists the addresses that the caller may see.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<Page<Address>, Error> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list_addresses(&mut conn, request, reader).await?)
    }
}

/// Returns the first index after this one whose address the asset does not have. There may be many:
/// a client may have given all addresses of an earlier system.
async fn skip_existing(
    conn: &mut PgConnection,
    new: &NewAddress,
    key: &AccountKey,
    index: u32,
) -> Result<u32, Error> {
    let mut first = index + 1;
    loop {
        let candidates: Vec<_> = (first..first + SKIP_BATCH)
            .map_while(|index| key.address(index))
            .map(|derived| derived.address)
            .collect();
        if candidates.is_empty() {
            return Err(exhausted().into());
        }
        let existing = repo::find_existing_in_tx(conn, new.asset.as_ref(), &candidates).await?;
        let mut indexes = (first..).zip(&candidates);
        if let Some((free, _)) = indexes.find(|(_, candidate)| !existing.contains(candidate)) {
            return Ok(free);
        }
        first += SKIP_BATCH;
    }
}

fn exhausted() -> Failure {
    Failure::internal("all addresses of the extended public key are used")
}
