//! The ledger, assets, rates, wallets, addresses and payment methods.

use proto::lists::wallet as lists;

use super::route::{Route, delete, get, patch, post};
use crate::{
    access::Access::{Admin, User},
    resources::{
        activity::{self, Activity},
        addresses::{self, Address, NewAddress},
        assets::{self, Asset, AssetPatch, NewAsset},
        movements::{self, Movement},
        payment_methods::{self, PaymentMethod},
        rates::{self, NewRate, Rate, RatePatch},
        transactions::{
            self, Transaction,
            deposit::{self, NewDeposit},
            exchange::{self, NewExchange},
            history::{self, TransactionChange},
            payment::{self, NewPayment},
            sending::{self, NewSending},
            status::{self, Reason},
            transfer::{self, NewTransfer},
            withdrawal::{self, NewWithdrawal},
        },
        wallets::{self, BalanceEntry, NewWallet, Wallet, WalletPatch},
    },
};

/// Users see and spend what is in their own wallets; back offices do the rest.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = ledger_routes();
    routes.extend(transaction_routes());
    routes.extend(rate_and_asset_routes());
    routes.extend(wallet_routes());
    routes.extend(funding_routes());
    routes
}

fn ledger_routes() -> Vec<Route> {
    vec![
        get("/movements", User, movements::list).page::<Movement>(&lists::MOVEMENTS),
        get("/movements/{id}", User, movements::get)
            .response::<Movement>()
            .includes(&lists::MOVEMENTS),
        get("/transactions", User, transactions::list).page::<Transaction>(&lists::TRANSACTIONS),
        get("/transactions/{id}", User, transactions::get).response::<Transaction>(),
        get("/transactions/{id}/history", Admin, history::list)
            .page::<TransactionChange>(&lists::TRANSACTION_CHANGES),
        post("/transactions/{id}/approve", Admin, status::approve).response::<Transaction>(),
        post("/transactions/{id}/confirm", Admin, status::confirm).response::<Transaction>(),
        post("/transactions/{id}/fail", Admin, status::fail)
            .body::<Reason>()
            .response::<Transaction>(),
        post("/transactions/{id}/reject", Admin, status::reject)
            .body::<Reason>()
            .response::<Transaction>(),
    ]
}

fn transaction_routes() -> Vec<Route> {
    vec![
        post("/transactions/deposit", Admin, deposit::create)
            .body::<NewDeposit>()
            .created::<Transaction>(),
        post("/transactions/pay", User, payment::create)
            .body::<NewPayment>()
            .created::<Transaction>(),
        post("/transactions/send", User, sending::create)
            .body::<NewSending>()
            .created::<Transaction>()
            .limits_users(),
        post("/transactions/transfer", User, transfer::create)
            .body::<NewTransfer>()
            .created::<Transaction>(),
        post("/transactions/withdrawal", User, withdrawal::create)
            .body::<NewWithdrawal>()
            .created::<Transaction>(),
        post("/transactions/exchange", User, exchange::create)
            .body::<NewExchange>()
            .created::<Transaction>(),
    ]
}

fn rate_and_asset_routes() -> Vec<Route> {
    vec![
        get("/rates", User, rates::list).page::<Rate>(&lists::RATES),
        get("/rates/{baseAssetCode}/{quoteAssetCode}", User, rates::get).response::<Rate>(),
        post("/rates", Admin, rates::create)
            .body::<NewRate>()
            .created::<Rate>(),
        patch(
            "/rates/{baseAssetCode}/{quoteAssetCode}",
            Admin,
            rates::update,
        )
        .body::<RatePatch>()
        .response::<Rate>()
        .versioned(),
        delete(
            "/rates/{baseAssetCode}/{quoteAssetCode}",
            Admin,
            rates::delete,
        )
        .versioned(),
        get("/assets", User, assets::list).page::<Asset>(&lists::ASSETS),
        get("/assets/{code}", User, assets::get).response::<Asset>(),
        patch("/assets/{code}", Admin, assets::update)
            .body::<AssetPatch>()
            .response::<Asset>()
            .versioned(),
        post("/assets", Admin, assets::create)
            .body::<NewAsset>()
            .created::<Asset>(),
    ]
}

fn wallet_routes() -> Vec<Route> {
    vec![
        get("/wallets", User, wallets::list).page::<Wallet>(&lists::WALLETS),
        get("/wallets/{id}", User, wallets::get).response::<Wallet>(),
        get("/wallets/{id}/activity", User, activity::of_wallet).page::<Activity>(&lists::ACTIVITY),
        get("/wallets/{id}/balance", User, wallets::balance)
            .page::<BalanceEntry>(&lists::BALANCES)
            .query_param(
                "at",
                "A past moment (RFC 3339): the balance as it was then.",
                "2026-01-31T10:00:00.000Z",
            ),
        get("/wallets/{id}/movements", User, wallets::movements)
            .page::<Movement>(&lists::MOVEMENTS),
        get("/wallets/{id}/transactions", User, wallets::transactions)
            .page::<Transaction>(&lists::TRANSACTIONS),
        get("/wallets/activity", User, activity::list).page::<Activity>(&lists::ACTIVITY),
        get("/wallets/balance", User, wallets::total_balance)
            .page::<BalanceEntry>(&lists::BALANCES),
        post("/wallets", Admin, wallets::create)
            .body::<NewWallet>()
            .created::<Wallet>(),
        patch("/wallets/{id}", Admin, wallets::update)
            .body::<WalletPatch>()
            .response::<Wallet>()
            .versioned(),
    ]
}

fn funding_routes() -> Vec<Route> {
    vec![
        get("/addresses", User, addresses::list).page::<Address>(&lists::ADDRESSES),
        get("/addresses/{address}", User, addresses::get).response::<Address>(),
        post("/addresses", Admin, addresses::create)
            .body::<NewAddress>()
            .created::<Address>(),
        get("/payment-methods", User, payment_methods::list)
            .page::<PaymentMethod>(&lists::PAYMENT_METHODS),
        get("/payment-methods/{slug}", User, payment_methods::get).response::<PaymentMethod>(),
    ]
}
