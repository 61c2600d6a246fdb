//! wallet-svc: settings, wallets, and the ledger.

use std::time::Duration;

use moka::future::Cache;
use platform::{
    clock::to_proto,
    error::{Code, Failure},
    grpc::client::Client,
    money::Amount,
};
use proto::wallet::v1::{
    GetSettingsRequest, GetWalletBalanceRequest, GetWalletRequest, PostRequest, Posting,
    ledger_service_client::LedgerServiceClient, settings_service_client::SettingsServiceClient,
    wallet_service_client::WalletServiceClient,
};

use super::{amount, failed, id, optional};
use crate::{
    error::Error,
    order::model::{
        Action, Claim, Leg, OpenClaim, TransactionId, TransferDirection, Wallet, WalletId,
    },
};

/// Settings change only with a restart of wallet-svc.
const SETTINGS_TTL: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(crate) struct Wallets {
    accounts: WalletServiceClient<Client>,
    ledger: LedgerServiceClient<Client>,
    settings: SettingsServiceClient<Client>,
    settings_cache: Cache<(), Settings>,
}

/// Settings that several contexts share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The shop's wallet, which receives payments.
    pub(crate) default_wallet_id: WalletId,
    /// The asset of bonuses; `None`: the order's.
    pub(crate) bonus_asset_code: Option<String>,
}

/// Why an operation was not posted.
#[derive(Debug)]
pub(crate) enum PostError {
    /// The ledger refused this call, which posted nothing.
    Refused(Failure),
    /// The outcome is unknown; a repeat returns it.
    Uncertain(Failure),
}

/// The codes by which the ledger refuses an operation. With any other one the outcome is unknown: an
/// operation must not be given up because of a fault on the way to the ledger or within it.
const REFUSALS: [Code; 7] = [
    Code::InsufficientFunds,
    Code::WalletLocked,
    Code::AssetDisabled,
    Code::AmountPrecision,
    Code::AmountOutOfRange,
    Code::ValidationFailed,
    Code::OperationExpired,
];

impl Wallets {
    pub(crate) fn new(client: &Client) -> Self {
        Self {
            accounts: client.service(),
            ledger: client.service(),
            settings: client.service(),
            settings_cache: Cache::builder()
                .max_capacity(1)
                .time_to_live(SETTINGS_TTL)
                .build(),
        }
    }

    /// Returns the settings, cached for [`SETTINGS_TTL`].
    pub(crate) async fn settings(&self) -> Result<Settings, Error> {
        if let Some(cached) = self.settings_cache.get(&()).await {
            return Ok(cached);
        }
        let mut client = self.settings.clone();
        let response = client.get_settings(GetSettingsRequest {}).await;
        let settings = response.map_err(|status| failed(&status))?.into_inner();
        let settings = settings
            .settings
            .ok_or_else(|| Error::internal("GetSettings returned no settings"))?;
        let settings = Settings {
            default_wallet_id: id(&settings.default_wallet_id)?,
            bonus_asset_code: settings.bonus_asset_code,
        };
        self.settings_cache.insert((), settings.clone()).await;
        Ok(settings)
    }

    pub(crate) async fn find(&self, wallet_id: WalletId) -> Result<Option<Wallet>, Error> {
        let request = GetWalletRequest {
            id: wallet_id.to_string(),
        };
        let response = self.accounts.clone().get_wallet(request).await;
        let Some(wallet) =
            optional(response, Code::WalletNotFound)?.and_then(|found| found.into_inner().wallet)
        else {
            return Ok(None);
        };
        Ok(Some(Wallet {
            owner_id: wallet.owner_id.as_deref().map(id).transpose()?,
        }))
    }

    /// Returns the wallet's available balance of an asset.
    pub(crate) async fn available(
        &self,
        wallet_id: WalletId,
        asset_code: &str,
    ) -> Result<Amount, Error> {
        let request = GetWalletBalanceRequest {
            id: wallet_id.to_string(),
            list: None,
            at: None,
        };
        let response = self.accounts.clone().get_wallet_balance(request).await;
        let response = response.map_err(|status| failed(&status))?.into_inner();
        let entry = response
            .balances
            .iter()
            .find(|entry| entry.asset_code.eq_ignore_ascii_case(asset_code));
        entry.map_or(Ok(Amount::ZERO), |entry| amount(&entry.available_amount))
    }

    /// Fails like [`Wallets::post`] would with this claim; nothing is posted.
    pub(crate) async fn dry_run(&self, claim: &Claim) -> Result<(), Error> {
        let request = PostRequest {
            dry_run: true,
            ..request(claim)
        };
        let response = self.ledger.clone().post(request).await;
        response.map_err(|status| {
            let failure = Failure::from_status(&status);
            match classify_failure(failure, claim.action()) {
                PostError::Refused(failure) | PostError::Uncertain(failure) => failure,
            }
        })?;
        Ok(())
    }

    /// Posts the legs of a claim. A repeat returns the transactions of the first call.
    pub(crate) async fn post(&self, open: &OpenClaim) -> Result<Vec<TransactionId>, PostError> {
        let claim = &open.claim;
        let legs = claim.action().legs();
        let request = PostRequest {
            not_after: Some(to_proto(open.not_after)),
            ..request(claim)
        };
        let response = self.ledger.clone().post(request).await;
        let response = response.map_err(|status| {
            let failure = Failure::from_status(&status);
            classify_failure(failure, claim.action())
        })?;
        let transactions = response.into_inner().transactions;
        let ids: Result<Vec<_>, _> = transactions
            .iter()
            .map(|transaction| id(&transaction.id))
            .collect();
        match ids {
            Ok(ids) if ids.len() == legs.len() => Ok(ids),
            Ok(_) => Err(PostError::Uncertain(Failure::internal(
                "the ledger returned another number of transactions than postings",
            ))),
            Err(error) => Err(PostError::Uncertain(error.into())),
        }
    }
}

fn request(claim: &Claim) -> PostRequest {
    let legs = claim.action().legs();
    PostRequest {
        operation_id: claim.operation_id(),
        postings: legs.iter().map(|leg| posting(claim, leg)).collect(),
        ..PostRequest::default()
    }
}

fn posting(claim: &Claim, leg: &Leg) -> Posting {
    let wallet_id = leg.wallet_id.to_string();
    let default_wallet_id = claim.intent.default_wallet_id.to_string();
    let direction = claim.action().direction();
    let (origin_wallet_id, destination_wallet_id, code) = match direction {
        TransferDirection::Payment => (wallet_id, default_wallet_id, "pay"),
        TransferDirection::Refund => (default_wallet_id, wallet_id, "refund"),
    };
    Posting {
        asset_code: leg.asset_code.clone(),
        amount: leg.amount.to_string(),
        origin_wallet_id,
        destination_wallet_id,
        code: code.to_owned(),
        description: None,
        metadata: format!(r#"{{"orderId":"{}"}}"#, claim.order_id),
        returns_money: direction == TransferDirection::Refund,
    }
}

/// Distinguishes a refusal from an unknown outcome. A refusal is reported on the field of the
/// order's own request.
fn classify_failure(failure: Failure, action: &Action) -> PostError {
    if !REFUSALS.contains(&failure.code) {
        return PostError::Uncertain(failure);
    }
    let (code, detail) = (failure.code, failure.detail);
    let refusal = Failure::new(code, detail.clone()).field(action.field(), code, detail);
    PostError::Refused(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refusal(code: Code) -> bool {
        let failure = Failure::new(code, "no");
        let classified = classify_failure(failure, &Action::Charge(Vec::new()));
        matches!(classified, PostError::Refused(_))
    }

    #[test]
    fn only_refusals_of_the_ledger_give_an_operation_up() {
        let refusals = Code::all().filter(|code| is_refusal(*code));
        let names = refusals.map(Code::as_str);
        assert_eq!(
            names.collect::<Vec<_>>(),
            [
                "validation_failed",
                "insufficient_funds",
                "wallet_locked",
                "asset_disabled",
                "amount_out_of_range",
                "amount_precision",
                "operation_expired",
            ]
        );
    }

    #[test]
    fn a_refusal_names_the_field_of_the_order() {
        let failure = Failure::invalid("postings[0].amount", Code::InsufficientFunds, "no");
        let PostError::Refused(refusal) = classify_failure(failure, &Action::Charge(Vec::new()))
        else {
            panic!("not a refusal")
        };
        let fields: Vec<_> = refusal.fields.iter().map(|field| &*field.field).collect();
        assert_eq!(fields, ["walletId"]);
    }
}
