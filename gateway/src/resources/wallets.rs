//! `/wallets`

use platform::{error::Code, patch::Patch};
use proto::wallet::v1::{
    self as wire, CreateWalletRequest, GetTotalBalanceRequest, GetWalletBalanceRequest,
    GetWalletRequest, ListMovementsRequest, ListTransactionsRequest, ListWalletsRequest,
    UpdateWalletRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Mask, Raw, Time},
    movements::Movement,
    result::{self, DataResult, ListResult, Located, Versioned},
    transactions::Transaction,
};
use crate::extract::{
    Action, At, Call, Change, CustomData, Id, Json, ListParams, Name, PathParams,
};

/// A wallet with balances in many assets.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wallet {
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

/// The balance of one asset in a wallet.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BalanceEntry {
    asset_code: String,
    /// Sum of the movements.
    amount: String,
    /// The amount that can be spent: `amount` less `heldAmount`.
    available_amount: String,
    /// Debits of pending and processing transactions.
    held_amount: String,
    /// Credits of pending and processing transactions.
    incoming_amount: String,
}

/// A wallet to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewWallet {
    name: Option<Name>,
    owner_id: Option<Id>,
    locked: Option<bool>,
    custom_data: Option<CustomData>,
}

/// Changes of a wallet; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WalletPatch {
    #[serde(default)]
    #[schema(value_type = Name)]
    name: Change<Name>,
    #[serde(default)]
    #[schema(value_type = Option<Id>)]
    owner_id: Patch<Id>,
    #[serde(default)]
    #[schema(value_type = bool)]
    locked: Change<bool>,
    #[serde(default)]
    #[schema(value_type = CustomData)]
    custom_data: Change<CustomData>,
}

/// Create a wallet.
pub(crate) async fn create(call: Call, Action(body): Action<NewWallet>) -> DataResult<Wallet> {
    let request = call.request(body.into());
    result::created(call.clients.wallets().create_wallet(request), |response| {
        response.wallet
    })
    .await
}

/// List wallets.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Wallet> {
    let request = call.request(ListWalletsRequest { list: Some(list) });
    result::list(call.clients.wallets().list_wallets(request), |response| {
        (response.wallets, response.page)
    })
    .await
}

/// Get a wallet.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Wallet> {
    let request = call.request(GetWalletRequest {
        id: path.id("id", Code::WalletNotFound)?,
    });
    result::versioned(call.clients.wallets().get_wallet(request), |response| {
        response.wallet
    })
    .await
}

/// Update or lock a wallet.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<WalletPatch>,
) -> DataResult<Wallet> {
    let request = call.request(body.into_request(path.id("id", Code::WalletNotFound)?));
    result::versioned(call.clients.wallets().update_wallet(request), |response| {
        response.wallet
    })
    .await
}

/// List the balances of a wallet, now or at a past moment.
pub(crate) async fn balance(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
    At(at): At,
) -> ListResult<BalanceEntry> {
    let id = path.id("id", Code::WalletNotFound)?;
    let request = call.request(GetWalletBalanceRequest {
        id,
        list: Some(list),
        at,
    });
    let mut wallets = call.clients.wallets();
    result::whole_list(wallets.get_wallet_balance(request), |response| {
        response.balances
    })
    .await
}

/// List the balances of all wallets.
pub(crate) async fn total_balance(
    call: Call,
    ListParams(list): ListParams,
) -> ListResult<BalanceEntry> {
    let request = call.request(GetTotalBalanceRequest { list: Some(list) });
    let mut wallets = call.clients.wallets();
    result::whole_list(wallets.get_total_balance(request), |response| {
        response.balances
    })
    .await
}

/// List the movements of a wallet.
pub(crate) async fn movements(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<Movement> {
    let wallet_id = Some(path.id("id", Code::WalletNotFound)?);
    let request = call.request(ListMovementsRequest {
        list: Some(list),
        wallet_id,
    });
    result::list(
        call.clients.movements().list_movements(request),
        |response| (response.movements, response.page),
    )
    .await
}

/// List the transactions of a wallet.
pub(crate) async fn transactions(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<Transaction> {
    let wallet_id = Some(path.id("id", Code::WalletNotFound)?);
    let request = call.request(ListTransactionsRequest {
        list: Some(list),
        wallet_id,
    });
    result::list(
        call.clients.transactions().list_transactions(request),
        |response| (response.transactions, response.page),
    )
    .await
}

impl Located for Wallet {
    fn location(&self) -> String {
        format!("/wallets/{}", self.id)
    }
}

impl Versioned for wire::Wallet {
    fn version(&self) -> i64 {
        dto::millis(self.updated_at)
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
            name: body.name.map(Into::into),
            owner_id: body.owner_id.map(Into::into),
            locked: body.locked.unwrap_or_default(),
            custom_data: body.custom_data.map(Into::into),
            operation_id: None,
        }
    }
}

impl WalletPatch {
    fn into_request(self, id: String) -> UpdateWalletRequest {
        let mut mask = Mask::default();
        UpdateWalletRequest {
            id,
            name: mask.required("name", self.name),
            owner_id: mask.nullable("owner_id", self.owner_id),
            locked: mask.required("locked", self.locked),
            custom_data: mask.required("custom_data", self.custom_data),
            update_mask: Some(mask.finish()),
        }
    }
}
