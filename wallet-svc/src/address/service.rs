//! What can be done with addresses.

use platform::{
    auth::Caller,
    clock::Clock,
    error::{Code, Failure, FieldCode},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
};
use proto::{
    common::v1::ListRequest,
    wallet::v1::{CreateAddressRequest, CreateAddressResponse},
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

/// How many derived addresses are looked up at once where clients have given the next one already.
const LOOKED_UP: u32 = 100;

/// The use cases of addresses.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// Where they are.
    pub pool: PgPool,
    /// The assets that they receive.
    pub assets: AssetDirectory,
    /// What the provider `hd` derives from.
    pub keys: AccountKeys,
    /// When they are made.
    pub clock: Clock,
    /// Their ids.
    pub ids: Ids,
}

impl Addresses {
    /// Keeps a given address or derives the next one, once per key.
    pub async fn create(
        &self,
        request: CreateAddressRequest,
        key: Option<&Key>,
    ) -> Result<Reply<CreateAddressResponse>, Error> {
        let asset = match &request.asset_code {
            Some(code) => self.assets.find(code).await?.map(|asset| asset.code),
            None => None,
        };
        let new = convert::new_address(request, asset)?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        if let Some(id) = new.wallet
            && wallet::repo::find_wallet(&mut *work, id).await?.is_none()
        {
            let message = "there is no such wallet";
            return Err(Failure::invalid("walletId", FieldCode::UnknownReference, message).into());
        }
        let address = match &new.source {
            Source::Given(address) => self.keep(&mut work, &new, address).await?,
            Source::Derived => self.derive(&mut work, &new).await?,
        };
        let address = Some(convert::address(&address));
        Ok(work.commit(CreateAddressResponse { address }).await?)
    }

    async fn keep(
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

    async fn derive(&self, conn: &mut PgConnection, new: &NewAddress) -> Result<Address, Error> {
        let key = new.asset.as_ref().and_then(|asset| self.keys.find(asset));
        let Some(key) = key else {
            let message = "no extended public key is configured for this asset";
            return Err(Failure::invalid("assetCode", FieldCode::UnknownReference, message).into());
        };
        let fingerprint = key.fingerprint();
        let claimed = repo::claim_index_in_tx(conn, &fingerprint).await?;
        let mut index = u32::try_from(claimed).map_err(|_| used_up())?;
        loop {
            let address = self.derived(new, key, index)?;
            if repo::insert_address_in_tx(conn, &address).await? {
                return Ok(address);
            }
            index = pass_over_given(conn, new, key, index).await?;
            let next = i64::from(index) + 1;
            repo::set_next_index_in_tx(conn, &fingerprint, next).await?;
        }
    }

    fn derived(&self, new: &NewAddress, key: &AccountKey, index: u32) -> Result<Address, Failure> {
        let (address, path) = key.address(index).ok_or_else(used_up)?;
        let metadata = Metadata::default()
            .with_text("provider", "hd")
            .with_text("path", &path);
        Ok(self.address(new, address, &metadata))
    }

    fn address(&self, new: &NewAddress, address: String, metadata: &Metadata) -> Address {
        Address {
            id: self.ids.next(),
            address,
            asset: new.asset.clone(),
            wallet: new.wallet,
            custom_data: new.custom_data.clone(),
            metadata: metadata.as_str().to_owned(),
            created_at: self.clock.now(),
        }
    }

    /// The oldest with this address, if the caller may know of it.
    pub async fn get(&self, caller: &Caller, address: &str) -> Result<Address, Error> {
        let reader = access::reader(caller)?;
        check_address(address).map_err(|_| Error::AddressNotFound)?;
        let mut conn = self.pool.acquire().await?;
        let found = repo::find_address(&mut conn, address, reader).await?;
        found.ok_or(Error::AddressNotFound)
    }

    /// Addresses that the caller may know of.
    pub async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<Page<Address>, Error> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list_addresses(&mut conn, request, reader).await?)
    }
}

/// The first index after this one whose address the asset does not have. A client that brings the
/// addresses of its last system along has given any number of them.
async fn pass_over_given(
    conn: &mut PgConnection,
    new: &NewAddress,
    key: &AccountKey,
    index: u32,
) -> Result<u32, Error> {
    let mut first = index + 1;
    loop {
        let derived = (first..first + LOOKED_UP).map_while(|index| key.address(index));
        let candidates: Vec<_> = derived.map(|(address, _)| address).collect();
        if candidates.is_empty() {
            return Err(used_up().into());
        }
        let given = repo::list_given_in_tx(conn, new.asset.as_ref(), &candidates).await?;
        let mut indexes = (first..).zip(&candidates);
        if let Some((free, _)) = indexes.find(|(_, candidate)| !given.contains(candidate)) {
            return Ok(free);
        }
        first += LOOKED_UP;
    }
}

fn used_up() -> Failure {
    Failure::internal("the key is used up")
}
