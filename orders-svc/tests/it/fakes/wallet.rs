//! wallet-svc: wallets, settings, and a ledger that keeps balances and operation ids.

use std::collections::HashMap;

use platform::{
    error::{Code, Failure},
    ids::Ids,
    money::Amount,
};
use proto::wallet::v1::{
    BalanceEntry, CaptureRequest, CaptureResponse, CreateWalletRequest, CreateWalletResponse,
    GetOperationRequest, GetOperationResponse, GetSettingsRequest, GetSettingsResponse,
    GetTotalBalanceRequest, GetTotalBalanceResponse, GetWalletBalanceRequest,
    GetWalletBalanceResponse, GetWalletRequest, GetWalletResponse, HoldRequest, HoldResponse,
    ListWalletsRequest, ListWalletsResponse, PostRequest, PostResponse, Posting, RefundRequest,
    RefundResponse, ReleaseRequest, ReleaseResponse, Settings, Transaction, UpdateWalletRequest,
    UpdateWalletResponse, ledger_service_server::LedgerService,
    settings_service_server::SettingsService, wallet_service_server::WalletService,
};
use tonic::{Request, Response, Status};

use super::{Ledger, State, TILL, World, identity::uncalled};

#[tonic::async_trait]
impl SettingsService for World {
    async fn get_settings(
        &self,
        _: Request<GetSettingsRequest>,
    ) -> Result<Response<GetSettingsResponse>, Status> {
        let settings = Settings {
            default_wallet_id: TILL.to_owned(),
            default_asset_code: "usd".to_owned(),
            bonus_asset_code: self.state().bonus_asset_code.clone(),
        };
        let settings = Some(settings);
        Ok(Response::new(GetSettingsResponse { settings }))
    }
}

#[tonic::async_trait]
impl LedgerService for World {
    async fn post(&self, request: Request<PostRequest>) -> Result<Response<PostResponse>, Status> {
        self.asked.notify_one();
        let behaviour = self.state().ledger;
        match behaviour {
            Ledger::Down => return Err(Failure::unavailable("wallet").into()),
            Ledger::Waits => self.go.notified().await,
            Ledger::Works | Ledger::LosesAnswers => {}
        }
        let transactions = self.state().post(request.get_ref())?;
        if behaviour == Ledger::LosesAnswers {
            return Err(Status::unavailable("connection reset"));
        }
        Ok(Response::new(PostResponse { transactions }))
    }

    async fn hold(&self, _: Request<HoldRequest>) -> Result<Response<HoldResponse>, Status> {
        uncalled()
    }

    async fn capture(
        &self,
        _: Request<CaptureRequest>,
    ) -> Result<Response<CaptureResponse>, Status> {
        uncalled()
    }

    async fn release(
        &self,
        _: Request<ReleaseRequest>,
    ) -> Result<Response<ReleaseResponse>, Status> {
        uncalled()
    }

    async fn refund(&self, _: Request<RefundRequest>) -> Result<Response<RefundResponse>, Status> {
        uncalled()
    }

    async fn get_operation(
        &self,
        _: Request<GetOperationRequest>,
    ) -> Result<Response<GetOperationResponse>, Status> {
        uncalled()
    }
}

impl State {
    fn post(&mut self, request: &PostRequest) -> Result<Vec<Transaction>, Failure> {
        if let Some(known) = self.operations.get(&request.operation_id) {
            return Ok(known.clone());
        }
        let mut balances = self.balances.clone();
        for posting in &request.postings {
            apply(&mut balances, posting)?;
        }
        self.balances = balances;
        self.posted.extend(request.postings.iter().cloned());
        let transaction = |_| Transaction {
            id: Ids::system().uuid().to_string(),
            ..Transaction::default()
        };
        let transactions: Vec<_> = request.postings.iter().map(transaction).collect();
        self.operations
            .insert(request.operation_id.clone(), transactions.clone());
        Ok(transactions)
    }
}

fn apply(
    balances: &mut HashMap<(String, String), Amount>,
    posting: &Posting,
) -> Result<(), Failure> {
    let amount: Amount = posting.amount.parse().unwrap();
    let mut balance = |wallet_id: &String| {
        let key = (wallet_id.clone(), posting.asset_code.clone());
        *balances.entry(key).or_insert(Amount::ZERO)
    };
    let left = balance(&posting.origin_wallet_id).sub(amount).unwrap();
    if left.is_negative() {
        return Err(Failure::new(Code::InsufficientFunds, "not enough").field(
            "postings[0].amount",
            Code::InsufficientFunds,
            "not enough",
        ));
    }
    let grown = balance(&posting.destination_wallet_id).add(amount).unwrap();
    for (wallet_id, balance) in [
        (&posting.origin_wallet_id, left),
        (&posting.destination_wallet_id, grown),
    ] {
        let key = (wallet_id.clone(), posting.asset_code.clone());
        balances.insert(key, balance);
    }
    Ok(())
}

#[tonic::async_trait]
impl WalletService for World {
    async fn get_wallet(
        &self,
        request: Request<GetWalletRequest>,
    ) -> Result<Response<GetWalletResponse>, Status> {
        let wallet = self.state().wallets.get(&request.get_ref().id).cloned();
        let unknown = || Failure::new(Code::WalletNotFound, "no such wallet");
        let wallet = Some(wallet.ok_or_else(unknown)?);
        Ok(Response::new(GetWalletResponse { wallet }))
    }

    async fn get_wallet_balance(
        &self,
        request: Request<GetWalletBalanceRequest>,
    ) -> Result<Response<GetWalletBalanceResponse>, Status> {
        let state = self.state();
        let of_wallet = |((wallet_id, asset_code), amount): (&(String, String), &Amount)| {
            let entry = BalanceEntry {
                asset_code: asset_code.clone(),
                available_amount: amount.to_string(),
                ..BalanceEntry::default()
            };
            (*wallet_id == request.get_ref().id).then_some(entry)
        };
        let balances = state.balances.iter().filter_map(of_wallet).collect();
        Ok(Response::new(GetWalletBalanceResponse { balances }))
    }

    async fn create_wallet(
        &self,
        _: Request<CreateWalletRequest>,
    ) -> Result<Response<CreateWalletResponse>, Status> {
        uncalled()
    }

    async fn list_wallets(
        &self,
        _: Request<ListWalletsRequest>,
    ) -> Result<Response<ListWalletsResponse>, Status> {
        uncalled()
    }

    async fn update_wallet(
        &self,
        _: Request<UpdateWalletRequest>,
    ) -> Result<Response<UpdateWalletResponse>, Status> {
        uncalled()
    }

    async fn get_total_balance(
        &self,
        _: Request<GetTotalBalanceRequest>,
    ) -> Result<Response<GetTotalBalanceResponse>, Status> {
        uncalled()
    }
}
