//! wallet-svc: settings, wallets, and a ledger that keeps balances and operations.

use std::collections::HashMap;

use chrono::TimeDelta;
use platform::{
    clock::{Clock, from_proto},
    error::{Code, Failure},
    money::Amount,
};
use proto::wallet::v1::{
    BalanceEntry, CaptureRequest, CaptureResponse, CloseWalletsRequest, CloseWalletsResponse,
    CreateWalletRequest, CreateWalletResponse, GetOperationRequest, GetOperationResponse,
    GetSettingsRequest, GetSettingsResponse, GetTotalBalanceRequest, GetTotalBalanceResponse,
    GetWalletBalanceRequest, GetWalletBalanceResponse, GetWalletRequest, GetWalletResponse,
    HoldRequest, HoldResponse, ListWalletsRequest, ListWalletsResponse, PostManyRequest,
    PostManyResponse, PostRequest, PostResponse, Posting, RefundRequest, RefundResponse,
    ReleaseRequest, ReleaseResponse, Settings, Transaction, UpdateWalletRequest,
    UpdateWalletResponse, ledger_service_server::LedgerService,
    settings_service_server::SettingsService, wallet_service_server::WalletService,
};
use tonic::{Request, Response, Status};

use super::{FakePeers, LedgerMode, State, identity::uncalled};

/// As in the ledger.
const EXPIRY_DELAY: TimeDelta = TimeDelta::seconds(5);

#[tonic::async_trait]
impl SettingsService for FakePeers {
    async fn get_settings(
        &self,
        _: Request<GetSettingsRequest>,
    ) -> Result<Response<GetSettingsResponse>, Status> {
        let state = self.state();
        let settings = Some(Settings {
            default_wallet_id: state.default_wallet_id.clone(),
            default_asset_code: "usd".to_owned(),
            bonus_asset_code: state.bonus_asset_code.clone(),
        });
        Ok(Response::new(GetSettingsResponse { settings }))
    }
}

#[tonic::async_trait]
impl LedgerService for FakePeers {
    async fn post(&self, request: Request<PostRequest>) -> Result<Response<PostResponse>, Status> {
        self.post_called.notify_one();
        let mode = self.state().ledger;
        match mode {
            LedgerMode::PostsLate => {
                self.state().late = Some(request.into_inner());
                return Err(Failure::unavailable("wallet").into());
            }
            LedgerMode::Unreachable => return Err(Failure::unavailable("wallet").into()),
            LedgerMode::Waits => self.post_may_continue.notified().await,
            LedgerMode::Works | LedgerMode::LosesResponses | LedgerMode::LosesTransactions => {}
        }
        let transactions = self.state().post(request.get_ref())?;
        match mode {
            LedgerMode::LosesResponses => Err(Status::unavailable("connection reset")),
            LedgerMode::LosesTransactions => Ok(Response::new(PostResponse::default())),
            _ => Ok(Response::new(PostResponse { transactions })),
        }
    }

    async fn post_many(
        &self,
        _: Request<PostManyRequest>,
    ) -> Result<Response<PostManyResponse>, Status> {
        uncalled()
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
    pub(super) fn post(&mut self, request: &PostRequest) -> Result<Vec<Transaction>, Failure> {
        if let Some(transactions) = self.operations.get(&request.operation_id) {
            return Ok(transactions.clone());
        }
        check_time(request)?;
        let mut balances = self.balances.clone();
        for posting in &request.postings {
            self.check_wallets(posting)?;
            apply(&mut balances, posting)?;
        }
        if request.dry_run {
            return Ok(Vec::new());
        }
        self.balances = balances;
        self.postings.extend(request.postings.iter().cloned());
        let transactions: Vec<_> = request
            .postings
            .iter()
            .map(|_| Transaction {
                id: self.ids.uuid().to_string(),
                ..Transaction::default()
            })
            .collect();
        self.operations
            .insert(request.operation_id.clone(), transactions.clone());
        Ok(transactions)
    }

    fn check_wallets(&self, posting: &Posting) -> Result<(), Failure> {
        for id in [&posting.origin_wallet_id, &posting.destination_wallet_id] {
            let is_locked = self.wallets.get(id).is_some_and(|wallet| wallet.locked);
            if is_locked && !posting.returns_money {
                return Err(Failure::new(Code::WalletLocked, "locked"));
            }
        }
        Ok(())
    }
}

fn check_time(request: &PostRequest) -> Result<(), Failure> {
    let not_after = request.not_after.as_ref().and_then(from_proto);
    let late = not_after.map(|not_after| Clock::system().now() - not_after);
    if late.is_some_and(|late| late > EXPIRY_DELAY) {
        return Err(Failure::new(Code::OperationExpired, "too late"));
    }
    if late.is_some_and(|late| late > TimeDelta::zero()) {
        return Err(Failure::unavailable("wallet"));
    }
    Ok(())
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
impl WalletService for FakePeers {
    async fn get_wallet(
        &self,
        request: Request<GetWalletRequest>,
    ) -> Result<Response<GetWalletResponse>, Status> {
        let wallet = self.state().wallets.get(&request.get_ref().id).cloned();
        let not_found = || Failure::new(Code::WalletNotFound, "wallet not found");
        let wallet = Some(wallet.ok_or_else(not_found)?);
        Ok(Response::new(GetWalletResponse { wallet }))
    }

    async fn get_wallet_balance(
        &self,
        request: Request<GetWalletBalanceRequest>,
    ) -> Result<Response<GetWalletBalanceResponse>, Status> {
        let state = self.state();
        let balances = state
            .balances
            .iter()
            .filter(|((wallet_id, _), _)| *wallet_id == request.get_ref().id)
            .map(|((_, asset_code), amount)| BalanceEntry {
                asset_code: asset_code.clone(),
                available_amount: amount.to_string(),
                ..BalanceEntry::default()
            })
            .collect();
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

    async fn close_wallets(
        &self,
        _: Request<CloseWalletsRequest>,
    ) -> Result<Response<CloseWalletsResponse>, Status> {
        uncalled()
    }
}
