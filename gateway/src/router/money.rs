//! Wallets, and all that they hold and move.

use proto::lists::wallet;

use super::route::{Route, delete, get, patch, post};
use crate::{
    access::Access::{Admin, User},
    resources::{
        activity, addresses, assets, movements, payment_methods, rates, transactions, wallets,
    },
};

/// Their routes.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = ledger();
    routes.extend(assets_and_rates());
    routes.extend(wallet_routes());
    routes.extend(ways_in());
    routes
}

fn assets_and_rates() -> Vec<Route> {
    use {assets as a, rates as r};
    vec![
        get("/rates", User, "List rates", r::list).page::<r::Rate>(&wallet::RATES),
        get(
            "/rates/{baseAssetCode}/{quoteAssetCode}",
            User,
            "Read a rate",
            r::get,
        )
        .one::<r::Rate>(),
        post("/rates", Admin, "Create a rate", r::create)
            .takes::<r::NewRate>()
            .creates::<r::Rate>(),
        patch(
            "/rates/{baseAssetCode}/{quoteAssetCode}",
            Admin,
            "Change a rate",
            r::update,
        )
        .takes::<r::RatePatch>()
        .one::<r::Rate>(),
        delete(
            "/rates/{baseAssetCode}/{quoteAssetCode}",
            Admin,
            "Delete a rate",
            r::delete,
        ),
        get("/assets", User, "List assets", a::list).page::<a::Asset>(&wallet::ASSETS),
        get("/assets/{code}", User, "Read an asset", a::get).one::<a::Asset>(),
        patch("/assets/{code}", Admin, "Change an asset", a::update)
            .takes::<a::AssetPatch>()
            .one::<a::Asset>(),
        post("/assets", Admin, "Create an asset", a::create)
            .takes::<a::NewAsset>()
            .creates::<a::Asset>(),
    ]
}

fn ledger() -> Vec<Route> {
    use {movements as m, transactions as t};
    vec![
        get("/movements", User, "List movements", m::list).page::<m::Movement>(&wallet::MOVEMENTS),
        get("/movements/{id}", User, "Read a movement", m::get).one::<m::Movement>(),
        get("/transactions", User, "List transactions", t::list)
            .page::<t::Transaction>(&wallet::TRANSACTIONS),
        get("/transactions/{id}", User, "Read a transaction", t::get).one::<t::Transaction>(),
        get(
            "/transactions/{id}/history",
            Admin,
            "Who brought it from which state to which",
            t::history,
        )
        .page::<t::TransactionChange>(&wallet::TRANSACTION_CHANGES),
        post(
            "/transactions/{id}/approve",
            Admin,
            "Approve: pending to processing",
            t::approve,
        )
        .one::<t::Transaction>(),
        post(
            "/transactions/{id}/confirm",
            Admin,
            "Confirm: the money moves",
            t::confirm,
        )
        .one::<t::Transaction>(),
        post(
            "/transactions/{id}/fail",
            Admin,
            "Fail: the hold is released",
            t::fail,
        )
        .takes::<t::Reason>()
        .one::<t::Transaction>(),
        post(
            "/transactions/{id}/reject",
            Admin,
            "Reject: the hold is released",
            t::reject,
        )
        .takes::<t::Reason>()
        .one::<t::Transaction>(),
        post("/transactions/deposit", Admin, "Bring money in", t::deposit)
            .takes::<t::NewDeposit>()
            .creates::<t::Transaction>(),
        post(
            "/transactions/pay",
            User,
            "Pay into the default wallet",
            t::pay,
        )
        .takes::<t::NewPayment>()
        .creates::<t::Transaction>(),
        post(
            "/transactions/transfer",
            User,
            "Move money between wallets",
            t::transfer,
        )
        .takes::<t::NewTransfer>()
        .creates::<t::Transaction>(),
        post(
            "/transactions/withdrawal",
            User,
            "Take money out",
            t::withdrawal,
        )
        .takes::<t::NewWithdrawal>()
        .creates::<t::Transaction>(),
        post(
            "/transactions/exchange",
            User,
            "Change money into another asset",
            t::exchange,
        )
        .takes::<t::NewExchange>()
        .creates::<t::Transaction>(),
    ]
}

fn wallet_routes() -> Vec<Route> {
    use {activity as a, movements as m, transactions as t, wallets as w};
    vec![
        get("/wallets", User, "List wallets", w::list).page::<w::Wallet>(&wallet::WALLETS),
        get(
            "/wallets/balance",
            User,
            "Balances over all wallets",
            w::total_balance,
        )
        .page::<w::BalanceEntry>(&wallet::BALANCES),
        get(
            "/wallets/activity",
            User,
            "Transactions over all wallets",
            a::list,
        )
        .page::<a::Activity>(&wallet::ACTIVITY),
        get("/wallets/{id}", User, "Read a wallet", w::get).one::<w::Wallet>(),
        get(
            "/wallets/{id}/activity",
            User,
            "Transactions of a wallet, with those they were made with",
            a::of_wallet,
        )
        .page::<a::Activity>(&wallet::ACTIVITY),
        get(
            "/wallets/{id}/balance",
            User,
            "Balances of a wallet, now or then",
            w::balance,
        )
        .page::<w::BalanceEntry>(&wallet::BALANCES)
        .asks(
            "at",
            "A past moment, in RFC 3339: the balance as it was then.",
        ),
        get(
            "/wallets/{id}/movements",
            User,
            "Movements of a wallet",
            w::movements,
        )
        .page::<m::Movement>(&wallet::MOVEMENTS),
        get(
            "/wallets/{id}/transactions",
            User,
            "Transactions of a wallet",
            w::transactions,
        )
        .page::<t::Transaction>(&wallet::TRANSACTIONS),
        post("/wallets", Admin, "Create a wallet", w::create)
            .takes::<w::NewWallet>()
            .creates::<w::Wallet>(),
        patch("/wallets/{id}", Admin, "Change or lock a wallet", w::update)
            .takes::<w::WalletPatch>()
            .one::<w::Wallet>(),
    ]
}

fn ways_in() -> Vec<Route> {
    use {addresses as a, payment_methods as p};
    vec![
        get("/addresses", User, "List addresses", a::list).page::<a::Address>(&wallet::ADDRESSES),
        get("/addresses/{address}", User, "Read an address", a::get).one::<a::Address>(),
        post("/addresses", Admin, "Keep or derive an address", a::create)
            .takes::<a::NewAddress>()
            .creates::<a::Address>(),
        get("/payment-methods", User, "List payment methods", p::list)
            .page::<p::PaymentMethod>(&wallet::PAYMENT_METHODS),
        get(
            "/payment-methods/{slug}",
            User,
            "Read a payment method",
            p::get,
        )
        .one::<p::PaymentMethod>(),
    ]
}
