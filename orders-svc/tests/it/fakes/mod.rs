//! Fakes of the other services, as far as orders-svc calls them. They share one state.

mod catalog;
mod identity;
mod rates;
mod wallet;

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use platform::{error::Failure, ids::Ids, money::Amount};
use proto::{
    catalog::v1::{QuoteLine, catalog_quote_service_server::CatalogQuoteServiceServer},
    identity::v1::{User, user_service_server::UserServiceServer},
    wallet::v1::{
        PostRequest, Posting, Transaction, Wallet, asset_service_server::AssetServiceServer,
        ledger_service_server::LedgerServiceServer, rate_service_server::RateServiceServer,
        settings_service_server::SettingsServiceServer, wallet_service_server::WalletServiceServer,
    },
};
use tokio::{net::TcpListener, sync::Notify};
use tonic::transport::{Server, server::TcpIncoming};

/// The wallet that receives payments.
pub(crate) const DEFAULT_WALLET: &str = "01920000-0000-7000-8000-00000000d0d0";

/// The behaviour of `LedgerService.Post`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LedgerMode {
    #[default]
    Works,
    /// Posts nothing and answers `unavailable`.
    Unreachable,
    /// Posts, and the connection breaks before the response.
    LosesResponses,
    /// Posts, and answers without the transactions.
    LosesTransactions,
    /// Posts once `post_may_continue` is notified.
    Waits,
    /// Answers `unavailable`, and posts when the test says so.
    PostsLate,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) products: HashMap<String, QuoteLine>,
    pub(crate) users: HashMap<String, User>,
    pub(crate) wallets: HashMap<String, Wallet>,
    /// By wallet id and asset code.
    balances: HashMap<(String, String), Amount>,
    pub(crate) default_wallet_id: String,
    pub(crate) bonus_asset_code: Option<String>,
    /// By base and quote asset.
    pub(crate) rates: HashMap<(String, String), String>,
    pub(crate) ledger: LedgerMode,
    /// Every posting that moved money, oldest first.
    pub(crate) postings: Vec<Posting>,
    operations: HashMap<String, Vec<Transaction>>,
    /// The last request in [`LedgerMode::PostsLate`].
    late: Option<PostRequest>,
    ids: Ids,
}

/// All peers; clones share their state.
#[derive(Debug, Clone)]
pub(crate) struct FakePeers {
    state: Arc<Mutex<State>>,
    /// Notified by each call to `LedgerService.Post`.
    pub(crate) post_called: Arc<Notify>,
    /// Lets a call in [`LedgerMode::Waits`] continue.
    pub(crate) post_may_continue: Arc<Notify>,
}

impl Default for FakePeers {
    fn default() -> Self {
        let state = State {
            products: HashMap::new(),
            users: HashMap::new(),
            wallets: HashMap::new(),
            balances: HashMap::new(),
            default_wallet_id: DEFAULT_WALLET.to_owned(),
            bonus_asset_code: None,
            rates: HashMap::new(),
            ledger: LedgerMode::Works,
            postings: Vec::new(),
            operations: HashMap::new(),
            late: None,
            ids: Ids::seeded(3),
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            post_called: Arc::default(),
            post_may_continue: Arc::default(),
        }
    }
}

impl FakePeers {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn set_ledger(&self, mode: LedgerMode) {
        self.state().ledger = mode;
    }

    pub(crate) fn balance(&self, wallet_id: &str, asset_code: &str) -> String {
        let key = (wallet_id.to_owned(), asset_code.to_owned());
        let balance = self.state().balances.get(&key).copied();
        balance.unwrap_or(Amount::ZERO).to_string()
    }

    pub(crate) fn set_balance(&self, wallet_id: &str, asset_code: &str, amount: &str) {
        let key = (wallet_id.to_owned(), asset_code.to_owned());
        self.state().balances.insert(key, amount.parse().unwrap());
    }

    /// Posts what is on its way since [`LedgerMode::PostsLate`].
    pub(crate) fn post_late(&self) -> Result<(), Failure> {
        let mut state = self.state();
        let request = state.late.take().unwrap();
        state.post(&request)?;
        Ok(())
    }

    /// Changes a user that exists.
    pub(crate) fn change_user(&self, id: &str, change: impl FnOnce(&mut User)) {
        change(self.state().users.get_mut(id).unwrap());
    }

    /// Changes a wallet that exists.
    pub(crate) fn change_wallet(&self, id: &str, change: impl FnOnce(&mut Wallet)) {
        change(self.state().wallets.get_mut(id).unwrap());
    }

    /// Serves all peers at one address, until the test ends.
    pub(crate) async fn serve(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::builder()
            .add_service(CatalogQuoteServiceServer::new(self.clone()))
            .add_service(UserServiceServer::new(self.clone()))
            .add_service(WalletServiceServer::new(self.clone()))
            .add_service(SettingsServiceServer::new(self.clone()))
            .add_service(LedgerServiceServer::new(self.clone()))
            .add_service(AssetServiceServer::new(self.clone()))
            .add_service(RateServiceServer::new(self.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(server);
        address
    }
}
