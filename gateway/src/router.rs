//! The whole public API: one row a route, in the order of the contract, each with who may call it.

use axum::{Router, middleware};
use proto::lists::{catalog, identity, orders as order_lists, wallet};

use crate::{
    App,
    access::{self, Access},
    idempotency,
    resources::{
        activity, addresses, assets, categories, dto::Reorder, movements, order_lines, orders,
        payment_methods, product_questions, products, questions, rates, tasks, tax_rates,
        transactions, users, wallets,
    },
};

mod route;

pub use route::Route;
use route::{delete, get, patch, post};

use Access::{Admin, User};

/// Every route.
pub fn routes() -> Vec<Route> {
    let mut routes = catalogue();
    routes.extend(people());
    routes.extend(purchases());
    routes.extend(money());
    routes
}

fn catalogue() -> Vec<Route> {
    let mut routes = product_routes();
    routes.extend(question_routes());
    routes.extend(filing());
    routes
}

fn product_routes() -> Vec<Route> {
    use products as p;
    vec![
        get("/products", User, "List products", p::list).page::<p::Product>(&catalog::PRODUCTS),
        post(
            "/products/import",
            Admin,
            "Create many products: all, or with `mode=partial` those that can be",
            p::import,
        )
        .takes_many::<p::NewProduct>()
        .one::<p::Import>(),
        get(
            "/products/export",
            Admin,
            "Read all products, a line each",
            p::export,
        )
        .lines::<p::Product>(),
        get("/products/{id}", User, "Read a product", p::get).one::<p::Product>(),
        post("/products", Admin, "Create a product", p::create)
            .takes::<p::NewProduct>()
            .creates::<p::Product>(),
        patch("/products/{id}", Admin, "Change a product", p::update)
            .takes::<p::ProductPatch>()
            .one::<p::Product>(),
        delete("/products/{id}", Admin, "Delete a product", p::delete),
        post(
            "/products/{id}/reorder",
            Admin,
            "Put a product right before another, or last",
            p::reorder,
        )
        .takes::<Reorder>()
        .nothing(),
    ]
}

fn question_routes() -> Vec<Route> {
    use {product_questions as l, questions as q};
    vec![
        post(
            "/products/{id}/questions",
            Admin,
            "Make a product ask a question",
            l::create,
        )
        .takes::<l::NewProductQuestion>()
        .creates::<l::ProductQuestion>(),
        delete(
            "/products/{productId}/questions/{id}",
            Admin,
            "Make a product ask a question no more",
            l::delete,
        ),
        post(
            "/products/{productId}/questions/{id}/reorder",
            Admin,
            "Put a question right before another of its product, or last",
            l::reorder,
        )
        .takes::<Reorder>()
        .nothing(),
        get("/questions", User, "List questions", q::list).page::<q::Question>(&catalog::QUESTIONS),
        get("/questions/{id}", User, "Read a question", q::get).one::<q::Question>(),
        post("/questions", Admin, "Create a question", q::create)
            .takes::<q::NewQuestion>()
            .creates::<q::Question>(),
        patch("/questions/{id}", Admin, "Change a question", q::update)
            .takes::<q::QuestionPatch>()
            .one::<q::Question>(),
        delete("/questions/{id}", Admin, "Delete a question", q::delete),
        get(
            "/question-types",
            User,
            "List the types of questions",
            q::list_types,
        )
        .page::<q::QuestionType>(&catalog::QUESTION_TYPES),
    ]
}

fn filing() -> Vec<Route> {
    use {categories as c, tax_rates as t};
    vec![
        get("/categories", User, "List categories", c::list)
            .page::<c::Category>(&catalog::CATEGORIES),
        get("/categories/{id}", User, "Read a category", c::get).one::<c::Category>(),
        post("/categories", Admin, "Create a category", c::create)
            .takes::<c::NewCategory>()
            .creates::<c::Category>(),
        patch("/categories/{id}", Admin, "Change a category", c::update)
            .takes::<c::CategoryPatch>()
            .one::<c::Category>(),
        delete("/categories/{id}", Admin, "Delete a category", c::delete),
        post(
            "/categories/{id}/reorder",
            Admin,
            "Put a category right before another, or last",
            c::reorder,
        )
        .takes::<Reorder>()
        .nothing(),
        get("/tax-rates", User, "List tax rates", t::list).page::<t::TaxRate>(&catalog::TAX_RATES),
        get("/tax-rates/{id}", User, "Read a tax rate", t::get).one::<t::TaxRate>(),
        post("/tax-rates", Admin, "Create a tax rate", t::create)
            .takes::<t::NewTaxRate>()
            .creates::<t::TaxRate>(),
        patch("/tax-rates/{id}", Admin, "Change a tax rate", t::update)
            .takes::<t::TaxRatePatch>()
            .one::<t::TaxRate>(),
        delete("/tax-rates/{id}", Admin, "Delete a tax rate", t::delete),
    ]
}

fn people() -> Vec<Route> {
    use {tasks as t, users as u};
    vec![
        get("/users", User, "List users", u::list).page::<u::User>(&identity::USERS),
        get("/users/{id}", User, "Read a user", u::get).one::<u::User>(),
        post(
            "/users",
            Admin,
            "Create a user and its primary wallet",
            u::create,
        )
        .takes::<u::NewUser>()
        .creates::<u::User>(),
        post("/users/{id}/approve", Admin, "Approve a user", u::approve).nothing(),
        post("/users/{id}/block", Admin, "Block a user", u::block).nothing(),
        post("/users/{id}/unblock", Admin, "Unblock a user", u::unblock).nothing(),
        post(
            "/users/{id}/unlock",
            Admin,
            "Unblock a user (alias)",
            u::unblock,
        )
        .nothing(),
        get("/tasks", User, "List tasks", t::list).page::<t::Task>(&identity::TASKS),
        get("/tasks/{id}", User, "Read a task", t::get).one::<t::Task>(),
        post("/tasks", Admin, "Create a task", t::create)
            .takes::<t::NewTask>()
            .creates::<t::Task>(),
        post(
            "/tasks/{id}/complete",
            Admin,
            "Record that a user completed a task",
            t::complete,
        )
        .takes::<t::NewCompletion>()
        .one::<t::TaskCompletion>(),
    ]
}

fn purchases() -> Vec<Route> {
    use {order_lines as l, orders as o};
    vec![
        get("/orders", User, "List orders", o::list).page::<o::Order>(&order_lists::ORDERS),
        get("/orders/{id}", User, "Read an order with its lines", o::get).one::<o::Order>(),
        get(
            "/orders/{orderId}/lines",
            User,
            "List the lines of an order",
            l::list,
        )
        .page::<l::OrderLine>(&order_lists::ORDER_LINES),
        get(
            "/orders/{orderId}/lines/{id}",
            User,
            "Read a line with its order",
            l::get,
        )
        .one::<l::OrderLineDetail>(),
        post("/orders", User, "Place an order", o::create)
            .takes::<o::NewOrder>()
            .creates::<o::Order>(),
        patch("/orders/{id}", Admin, "Change an order", o::update)
            .takes::<o::OrderPatch>()
            .one::<o::Order>(),
        patch("/order/{id}", Admin, "Change an order (alias)", o::update)
            .takes::<o::OrderPatch>()
            .one::<o::Order>(),
        post(
            "/orders/{id}/cancel",
            Admin,
            "Cancel and refund an order",
            o::cancel,
        )
        .takes::<o::Cancellation>()
        .one::<o::Order>(),
        post(
            "/orders/{id}",
            Admin,
            "Cancel and refund an order (alias of older clients)",
            o::cancel,
        )
        .takes::<o::Cancellation>()
        .one::<o::Order>(),
        post(
            "/orders/{id}/fulfill",
            Admin,
            "Fulfil all that is left",
            o::fulfill,
        )
        .takes::<o::Fulfilment>()
        .one::<o::Order>(),
        post(
            "/orders/{id}/unfulfill",
            Admin,
            "Unfulfil an order",
            o::unfulfill,
        )
        .one::<o::Order>(),
        post(
            "/orders/{id}/pay",
            User,
            "Pay an order, or a part of it",
            o::pay,
        )
        .takes::<o::Payment>()
        .one::<o::Order>(),
        post(
            "/orders/{orderId}/lines/{id}/fulfill",
            Admin,
            "Fulfil units of a line",
            l::fulfill,
        )
        .takes::<l::Units>()
        .one::<o::Order>(),
        post(
            "/orders/{orderId}/lines/{id}/unfulfill",
            Admin,
            "Unfulfil units of a line",
            l::unfulfill,
        )
        .takes::<l::Units>()
        .one::<o::Order>(),
    ]
}

fn money() -> Vec<Route> {
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

/// The routes with their guards, ready to serve.
pub fn router(app: &App) -> Router<App> {
    routes().into_iter().fold(Router::new(), |router, route| {
        let guard = middleware::from_fn_with_state((app.clone(), route.access), access::guard);
        let keys = middleware::from_fn_with_state(app.clone(), idempotency::read_key);
        let handler = if route.many {
            // It reads the key by itself, because it never has the whole body.
            route.handler
        } else {
            route.handler.route_layer(keys)
        };
        router.route(route.path, handler.route_layer(guard))
    })
}
