//! The other services, as far as orders needs them: all of their state is one [`World`].

mod catalog;
mod identity;
mod rates;
mod wallet;

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use platform::money::Amount;
use proto::{
    catalog::v1::{QuoteLine, catalog_quote_service_server::CatalogQuoteServiceServer},
    identity::v1::{User, user_service_server::UserServiceServer},
    wallet::v1::{
        Posting, Transaction, Wallet, asset_service_server::AssetServiceServer,
        ledger_service_server::LedgerServiceServer, rate_service_server::RateServiceServer,
        settings_service_server::SettingsServiceServer, wallet_service_server::WalletServiceServer,
    },
};
use tokio::net::TcpListener;
use tonic::transport::{Server, server::TcpIncoming};

/// How wallet-svc behaves when it is asked to post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ledger {
    /// As it should.
    #[default]
    Works,
    /// It is not there.
    Down,
    /// It posts, and its answer is lost.
    LosesAnswers,
    /// It answers only after `World::go` is notified.
    Waits,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) products: HashMap<String, QuoteLine>,
    pub(crate) users: HashMap<String, User>,
    pub(crate) wallets: HashMap<String, Wallet>,
    pub(crate) balances: HashMap<(String, String), Amount>,
    pub(crate) bonus_asset_code: Option<String>,
    /// By base and quote.
    pub(crate) rates: HashMap<(String, String), String>,
    pub(crate) ledger: Ledger,
    /// Every posting that moved money, in order.
    pub(crate) posted: Vec<Posting>,
    operations: HashMap<String, Vec<Transaction>>,
}

/// What the other services know.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    state: Arc<Mutex<State>>,
    /// Somebody asked the ledger.
    pub(crate) asked: Arc<tokio::sync::Notify>,
    /// A ledger that waits may answer.
    pub(crate) go: Arc<tokio::sync::Notify>,
}

/// The wallet that receives payments.
pub(crate) const TILL: &str = "01920000-0000-7000-8000-00000000d0d0";

impl World {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn balance(&self, wallet_id: &str, asset_code: &str) -> String {
        let key = (wallet_id.to_owned(), asset_code.to_owned());
        let balance = self.state().balances.get(&key).copied();
        balance.unwrap_or(Amount::ZERO).to_string()
    }

    pub(crate) fn fund(&self, wallet_id: &str, asset_code: &str, amount: &str) {
        let key = (wallet_id.to_owned(), asset_code.to_owned());
        self.state().balances.insert(key, amount.parse().unwrap());
    }

    /// Serves all three on one port, until the test ends.
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
