//! wallet-svc: settings, wallets, and the ledger that moves the money.

use std::time::Duration;

use moka::future::Cache;
use platform::{
    error::{Code, Failure},
    grpc::client::Client,
    money::Amount,
};
use proto::wallet::v1::{
    GetSettingsRequest, GetWalletBalanceRequest, GetWalletRequest, PostRequest, Posting,
    ledger_service_client::LedgerServiceClient, settings_service_client::SettingsServiceClient,
    wallet_service_client::WalletServiceClient,
};

use super::{amount, found, id, refused};
use crate::{
    error::Error,
    order::{
        claim::{Claim, Kind, Leg},
        model::{TransactionId, UserId, WalletId},
    },
};

/// How long settings are believed: they change with a restart of wallet-svc only.
const SETTINGS_TTL: Duration = Duration::from_secs(30);

/// Moves money.
#[derive(Debug, Clone)]
pub struct Wallets {
    accounts: WalletServiceClient<Client>,
    ledger: LedgerServiceClient<Client>,
    settings: SettingsServiceClient<Client>,
    cached: Cache<(), Settings>,
}

/// Settings that several contexts share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The wallet that receives payments.
    pub till: WalletId,
    /// What bonuses are paid in; `None`: in the order's asset.
    pub bonus_asset_code: Option<String>,
}

/// What orders need to know of a wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wallet {
    /// Whose it is.
    pub owner_id: Option<UserId>,
    /// Whether it accepts no transaction.
    pub locked: bool,
}

/// Why an operation was not posted.
#[derive(Debug)]
pub enum PostError {
    /// The ledger refused it: nothing moved, nothing will.
    Refused(Failure),
    /// Nobody knows whether it was posted. A repeat will tell.
    Uncertain(Failure),
}

impl Wallets {
    /// Over this connection.
    pub fn new(client: &Client) -> Self {
        Self {
            accounts: client.service(),
            ledger: client.service(),
            settings: client.service(),
            cached: Cache::builder()
                .max_capacity(1)
                .time_to_live(SETTINGS_TTL)
                .build(),
        }
    }

    /// The settings, asked for twice a minute at most.
    pub async fn settings(&self) -> Result<Settings, Error> {
        if let Some(known) = self.cached.get(&()).await {
            return Ok(known);
        }
        let answer = self
            .settings
            .clone()
            .get_settings(GetSettingsRequest {})
            .await;
        let answer = answer.map_err(|status| refused(&status))?.into_inner();
        let settings = answer
            .settings
            .ok_or_else(|| Error::fault("settings without settings"))?;
        let settings = Settings {
            till: id(&settings.default_wallet_id)?,
            bonus_asset_code: settings.bonus_asset_code,
        };
        self.cached.insert((), settings.clone()).await;
        Ok(settings)
    }

    /// The wallet; `None` where there is none.
    pub async fn find(&self, wallet_id: WalletId) -> Result<Option<Wallet>, Error> {
        let request = GetWalletRequest {
            id: wallet_id.to_string(),
        };
        let answer = self.accounts.clone().get_wallet(request).await;
        let wallet =
            found(answer, Code::WalletNotFound)?.and_then(|answer| answer.into_inner().wallet);
        let wallet = wallet.map(|wallet| {
            Ok(Wallet {
                owner_id: wallet.owner_id.as_deref().map(id).transpose()?,
                locked: wallet.locked,
            })
        });
        wallet.transpose()
    }

    /// What the wallet can spend of an asset.
    pub async fn available(&self, wallet_id: WalletId, asset_code: &str) -> Result<Amount, Error> {
        let request = GetWalletBalanceRequest {
            id: wallet_id.to_string(),
            list: None,
            at: None,
        };
        let answer = self.accounts.clone().get_wallet_balance(request).await;
        let balances = answer
            .map_err(|status| refused(&status))?
            .into_inner()
            .balances;
        let entry = balances
            .iter()
            .find(|entry| entry.asset_code.eq_ignore_ascii_case(asset_code));
        entry.map_or(Ok(Amount::ZERO), |entry| amount(&entry.available_amount))
    }

    /// Posts what the claim asks for; a repeat answers what the first call did.
    pub async fn post(&self, claim: &Claim) -> Result<Vec<TransactionId>, PostError> {
        let request = PostRequest {
            operation_id: claim.operation_id(),
            postings: claim.legs().iter().map(|leg| posting(claim, leg)).collect(),
        };
        let answer = self.ledger.clone().post(request).await;
        let answer = answer.map_err(|status| judge(Failure::from_status(&status), claim.kind))?;
        let transactions = answer.into_inner().transactions;
        let ids: Result<Vec<_>, _> = transactions
            .iter()
            .map(|transaction| id(&transaction.id))
            .collect();
        match ids {
            Ok(ids) if ids.len() == claim.legs().len() => Ok(ids),
            Ok(_) => Err(PostError::Uncertain(Failure::internal(
                "the ledger answered another number of transactions",
            ))),
            Err(error) => Err(PostError::Uncertain(error.into())),
        }
    }
}

fn posting(claim: &Claim, leg: &Leg) -> Posting {
    let (wallet, till) = (leg.wallet_id.to_string(), claim.plan.till.to_string());
    let returns_money = claim.kind == Kind::Cancel;
    let (origin_wallet_id, destination_wallet_id, code) = if returns_money {
        (till, wallet, "refund")
    } else {
        (wallet, till, "pay")
    };
    Posting {
        asset_code: leg.asset_code.clone(),
        amount: leg.amount.to_string(),
        origin_wallet_id,
        destination_wallet_id,
        code: code.to_owned(),
        description: None,
        metadata: format!(r#"{{"orderId":"{}"}}"#, claim.order_id),
        returns_money,
    }
}

/// Tells a refusal from an unknown outcome, and names the field of the order's own request.
fn judge(failure: Failure, kind: Kind) -> PostError {
    if failure.code.http().is_server_error() || failure.code == Code::RateLimited {
        return PostError::Uncertain(failure);
    }
    let field = match kind {
        Kind::Create | Kind::Pay => "walletId",
        Kind::Cancel => "refundAmount",
    };
    let detail = failure.detail;
    PostError::Refused(Failure::new(failure.code, detail.clone()).field(
        field,
        failure.code,
        detail,
    ))
}
