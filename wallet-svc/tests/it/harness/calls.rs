//! The RPCs that most tests make, called as an admin.

use platform::error::Failure;
use proto::wallet::v1 as wire;

use super::{Balance, TestApp, requests, result};

impl TestApp {
    pub(crate) async fn settings(&self) -> wire::Settings {
        let request = wire::GetSettingsRequest {};
        let response = self.admin.settings().get_settings(request).await;
        result(response).unwrap().settings.unwrap()
    }

    /// Creates a wallet and returns its id.
    pub(crate) async fn new_wallet(&self) -> String {
        let request = wire::CreateWalletRequest::default();
        let response = self.admin.wallets().create_wallet(request).await;
        result(response).unwrap().wallet.unwrap().id
    }

    /// Creates a wallet that holds this much usd, and returns its id.
    pub(crate) async fn funded_wallet(&self, amount: &str) -> String {
        let wallet = self.new_wallet().await;
        self.fund(&wallet, amount, "usd").await;
        wallet
    }

    /// Brings money into a wallet by a confirmed deposit.
    pub(crate) async fn fund(&self, wallet: &str, amount: &str, asset: &str) {
        let deposit = self.deposit(wallet, amount, asset).await.unwrap();
        self.confirm(&deposit.id).await.unwrap();
    }

    pub(crate) async fn deposit(
        &self,
        wallet: &str,
        amount: &str,
        asset: &str,
    ) -> Result<wire::Transaction, Failure> {
        let request = requests::deposit(wallet, amount, asset);
        let response = self.admin.transactions().create_deposit(request).await;
        Ok(result(response)?.transaction.unwrap())
    }

    pub(crate) async fn transfer(
        &self,
        from: &str,
        to: &str,
        amount: &str,
        commit: bool,
    ) -> Result<wire::Transaction, Failure> {
        let request = requests::transfer(from, to, amount, commit);
        let response = self.admin.transactions().create_transfer(request).await;
        Ok(result(response)?.transaction.unwrap())
    }

    pub(crate) async fn withdraw(
        &self,
        from: &str,
        amount: &str,
    ) -> Result<wire::Transaction, Failure> {
        let request = requests::withdrawal(from, amount);
        let response = self.admin.transactions().create_withdrawal(request).await;
        Ok(result(response)?.transaction.unwrap())
    }

    pub(crate) async fn approve(&self, id: &str) -> Result<wire::Transaction, Failure> {
        let request = wire::ApproveTransactionRequest { id: id.to_owned() };
        let response = self.admin.transactions().approve_transaction(request).await;
        Ok(result(response)?.transaction.unwrap())
    }

    pub(crate) async fn confirm(&self, id: &str) -> Result<wire::Transaction, Failure> {
        let request = wire::ConfirmTransactionRequest { id: id.to_owned() };
        let response = self.admin.transactions().confirm_transaction(request).await;
        Ok(result(response)?.transaction.unwrap())
    }

    pub(crate) async fn fail(&self, id: &str) -> Result<wire::Transaction, Failure> {
        let request = wire::FailTransactionRequest {
            id: id.to_owned(),
            reason: Some("\"no answer\"".to_owned()),
        };
        let response = self.admin.transactions().fail_transaction(request).await;
        Ok(result(response)?.transaction.unwrap())
    }

    pub(crate) async fn reject(&self, id: &str) -> Result<wire::Transaction, Failure> {
        let request = wire::RejectTransactionRequest {
            id: id.to_owned(),
            reason: None,
        };
        let response = self.admin.transactions().reject_transaction(request).await;
        Ok(result(response)?.transaction.unwrap())
    }

    /// Locks or unlocks a wallet.
    pub(crate) async fn lock(&self, wallet: &str, locked: bool) {
        let request = wire::UpdateWalletRequest {
            id: wallet.to_owned(),
            locked: Some(locked),
            update_mask: Some(requests::mask(&["locked"])),
            ..wire::UpdateWalletRequest::default()
        };
        self.admin.wallets().update_wallet(request).await.unwrap();
    }

    /// Enables or disables an asset.
    pub(crate) async fn enable(&self, asset: &str, enabled: bool) {
        let request = wire::UpdateAssetRequest {
            code: asset.to_owned(),
            enabled: Some(enabled),
            update_mask: Some(requests::mask(&["enabled"])),
            ..wire::UpdateAssetRequest::default()
        };
        self.admin.assets().update_asset(request).await.unwrap();
    }

    /// Creates an exchange rate.
    pub(crate) async fn set_rate(&self, base: &str, quote: &str, rate: &str) {
        let request = requests::rate(base, quote, rate);
        self.admin.rates().create_rate(request).await.unwrap();
    }

    /// Returns the wallet's balances, one for each asset, by code.
    pub(crate) async fn balances(&self, wallet: &str) -> Vec<Balance> {
        let request = wire::GetWalletBalanceRequest {
            id: wallet.to_owned(),
            list: None,
            at: None,
        };
        let response = self.admin.wallets().get_wallet_balance(request).await;
        let balances = result(response).unwrap().balances;
        balances.into_iter().map(Balance::from).collect()
    }
}
