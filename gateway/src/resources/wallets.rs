//! `/wallets`

use platform::{
    error::{Code, Failure},
    patch::Patch,
};
use proto::wallet::v1::{
    self as wire, CreateWalletRequest, GetTotalBalanceRequest, GetWalletBalanceRequest,
    GetWalletRequest, ListMovementsRequest, ListTransactionsRequest, ListWalletsRequest,
    UpdateWalletRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Mask, Raw, Time},
    movements::Movement,
    reply::{self, Located, Many, One},
    transactions::Transaction,
};
use crate::{
    extract::{At, Call, CustomData, Json, ListParams, PathParams},
    respond::List,
};

/// A holder of balances in many assets.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wallet {
    id: String,
    name: Option<String>,
    description: Option<String>,
    /// The user that owns it.
    owner_id: Option<String>,
    /// A locked wallet accepts no new transaction.
    locked: bool,
    /// Ten characters, unique.
    reference: String,
    custom_data: Raw,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// What a wallet holds of one asset.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BalanceEntry {
    asset_code: String,
    /// Sum of the movements.
    amount: String,
    /// `amount` less `heldAmount`; what can be spent.
    available_amount: String,
    /// Debits of pending and processing transactions.
    held_amount: String,
    /// Credits of pending and processing transactions.
    incoming_amount: String,
}

/// A wallet to make.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWallet {
    name: Option<String>,
    owner_id: Option<String>,
    locked: Option<bool>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
}

/// What to change of a wallet; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WalletPatch {
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    name: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    owner_id: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    locked: Patch<bool>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    custom_data: Patch<CustomData>,
}

/// POST /wallets
pub async fn create(call: Call, Json(body): Json<NewWallet>) -> One<Wallet> {
    let request = call.request(body.into());
    reply::created(call.app.clients.wallets().create_wallet(request), |a| {
        a.wallet
    })
    .await
}

/// GET /wallets
pub async fn list(call: Call, ListParams(list): ListParams) -> Many<Wallet> {
    let request = call.request(ListWalletsRequest { list: Some(list) });
    let split = |a: wire::ListWalletsResponse| (a.wallets, a.page);
    reply::many(call.app.clients.wallets().list_wallets(request), split).await
}

/// GET /wallets/:id
pub async fn get(call: Call, path: PathParams) -> One<Wallet> {
    let request = call.request(GetWalletRequest {
        id: path.id("id", Code::WalletNotFound)?,
    });
    reply::one(call.app.clients.wallets().get_wallet(request), |a| a.wallet).await
}

/// PATCH /wallets/:id
pub async fn update(call: Call, path: PathParams, Json(body): Json<WalletPatch>) -> One<Wallet> {
    let request = call.request(body.into_request(path.id("id", Code::WalletNotFound)?)?);
    reply::one(call.app.clients.wallets().update_wallet(request), |a| {
        a.wallet
    })
    .await
}

/// GET /wallets/:id/balance
pub async fn balance(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
    At(at): At,
) -> Many<BalanceEntry> {
    let id = path.id("id", Code::WalletNotFound)?;
    let request = call.request(GetWalletBalanceRequest {
        id,
        list: Some(list),
        at,
    });
    let answer = call
        .app
        .clients
        .wallets()
        .get_wallet_balance(request)
        .await?;
    Ok(List::whole(answer.into_inner().balances))
}

/// GET /wallets/balance
pub async fn total_balance(call: Call, ListParams(list): ListParams) -> Many<BalanceEntry> {
    let request = call.request(GetTotalBalanceRequest { list: Some(list) });
    let answer = call
        .app
        .clients
        .wallets()
        .get_total_balance(request)
        .await?;
    Ok(List::whole(answer.into_inner().balances))
}

/// GET /wallets/:id/movements
pub async fn movements(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> Many<Movement> {
    let wallet_id = Some(path.id("id", Code::WalletNotFound)?);
    let request = call.request(ListMovementsRequest {
        list: Some(list),
        wallet_id,
    });
    let split = |a: wire::ListMovementsResponse| (a.movements, a.page);
    reply::many(call.app.clients.movements().list_movements(request), split).await
}

/// GET /wallets/:id/transactions
pub async fn transactions(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> Many<Transaction> {
    let wallet_id = Some(path.id("id", Code::WalletNotFound)?);
    let request = call.request(ListTransactionsRequest {
        list: Some(list),
        wallet_id,
    });
    let split = |a: wire::ListTransactionsResponse| (a.transactions, a.page);
    reply::many(
        call.app.clients.transactions().list_transactions(request),
        split,
    )
    .await
}

impl Located for Wallet {
    fn location(&self) -> String {
        format!("/wallets/{}", self.id)
    }
}

impl From<wire::Wallet> for Wallet {
    fn from(wallet: wire::Wallet) -> Self {
        Self {
            id: wallet.id,
            name: wallet.name,
            description: wallet.description,
            owner_id: wallet.owner_id,
            locked: wallet.locked,
            reference: wallet.reference,
            custom_data: Raw::of(wallet.custom_data),
            metadata: Raw::of(wallet.metadata),
            created_at: Time::of(wallet.created_at),
            updated_at: Time::of(wallet.updated_at),
        }
    }
}

impl From<wire::BalanceEntry> for BalanceEntry {
    fn from(entry: wire::BalanceEntry) -> Self {
        Self {
            asset_code: entry.asset_code,
            amount: entry.amount,
            available_amount: entry.available_amount,
            held_amount: entry.held_amount,
            incoming_amount: entry.incoming_amount,
        }
    }
}

impl From<NewWallet> for CreateWalletRequest {
    fn from(body: NewWallet) -> Self {
        Self {
            name: body.name,
            owner_id: body.owner_id,
            locked: body.locked.unwrap_or_default(),
            custom_data: body.custom_data.map(|data| data.0),
            operation_id: None,
        }
    }
}

impl WalletPatch {
    fn into_request(self, id: String) -> Result<UpdateWalletRequest, Failure> {
        let mut mask = Mask::default();
        Ok(UpdateWalletRequest {
            id,
            name: mask.required("name", "name", self.name),
            owner_id: mask.nullable("owner_id", self.owner_id),
            locked: mask.required("locked", "locked", self.locked),
            custom_data: mask
                .required("custom_data", "customData", self.custom_data)
                .map(|data| data.0),
            update_mask: mask.finish()?,
        })
    }
}
