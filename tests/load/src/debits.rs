//! 400 concurrent debits of 1.00 on a wallet with 100.00: exactly 100 are confirmed, every time.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use clap::Args;
use futures::future::join_all;
use proto::wallet::v1::{
    ConfirmTransactionRequest, CreateDepositRequest, CreatePaymentRequest, CreateWalletRequest,
    transaction_service_client::TransactionServiceClient,
    wallet_service_client::WalletServiceClient,
};
use sqlx::PgConnection;
use tonic::transport::Channel;

use crate::{
    Server,
    environment::{Environment, Options},
    rpc::{self, Token},
};

const DEBITS: usize = 400;
const FUNDS: u32 = 100;

/// Options of `load debits`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The number of runs.
    #[arg(long, default_value_t = 20)]
    runs: u32,
    #[command(flatten)]
    server: Server,
}

/// Prints how many runs were correct, and fails unless all were.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let environment = Environment::start(Options::new("debits", arguments.server))?;
    let token = rpc::admin_token(&environment).await?;
    let channels = rpc::wallets(&environment, 1, 4).await?;
    let mut conn = environment.connect(None).await?;
    let mut correct = 0;
    for number in 1..=arguments.runs {
        let wallet = funded_wallet(&channels[0], &token).await?;
        let outcomes = debit(&channels, &token, &wallet).await;
        let remaining = balance(&mut conn, &wallet).await?;
        let confirmed = outcomes.get("confirmed").copied().unwrap_or_default();
        if confirmed == FUNDS && remaining == "0.00000000" {
            correct += 1;
        } else {
            println!("run {number}: {outcomes:?}, {remaining} left");
        }
    }
    environment.stack.verify_ledger()?;
    println!(
        "{DEBITS} concurrent debits of 1.00 on {FUNDS}.00: exactly {FUNDS} confirmed in {correct} of {} runs",
        arguments.runs
    );
    ensure!(correct == arguments.runs, "money was lost or made");
    environment.stop()
}

async fn funded_wallet(channel: &Channel, token: &Token) -> anyhow::Result<String> {
    let request = rpc::authorized(CreateWalletRequest::default(), token);
    let created = WalletServiceClient::new(channel.clone())
        .create_wallet(request)
        .await?;
    let wallet = created.into_inner().wallet.context("a wallet")?.id;
    let deposit = CreateDepositRequest {
        amount: format!("{FUNDS}.00"),
        asset_code: "usd".to_owned(),
        code: "internal".to_owned(),
        data: "{}".to_owned(),
        destination_wallet_id: wallet.clone(),
        commit: true,
        ..CreateDepositRequest::default()
    };
    let mut client = TransactionServiceClient::new(channel.clone());
    let created = client
        .create_deposit(rpc::authorized(deposit, token))
        .await?;
    let id = created.into_inner().transaction.context("a deposit")?.id;
    let confirm = rpc::authorized(ConfirmTransactionRequest { id }, token);
    client.confirm_transaction(confirm).await?;
    Ok(wallet)
}

/// Counts debits by outcome.
async fn debit(channels: &[Channel], token: &Token, wallet: &str) -> BTreeMap<&'static str, u32> {
    let debits = channels.iter().cycle().take(DEBITS).map(|channel| {
        let payment = CreatePaymentRequest {
            amount: "1.00".to_owned(),
            asset_code: "usd".to_owned(),
            origin_wallet_id: wallet.to_owned(),
            ..CreatePaymentRequest::default()
        };
        let request = rpc::authorized(payment, token);
        let mut client = TransactionServiceClient::new(channel.clone());
        async move { client.create_payment(request).await }
    });
    let mut outcomes = BTreeMap::new();
    for outcome in join_all(debits).await {
        let outcome = outcome.map_or_else(|status| rpc::reason(&status), |_| "confirmed");
        *outcomes.entry(outcome).or_default() += 1;
    }
    outcomes
}

async fn balance(conn: &mut PgConnection, wallet: &str) -> anyhow::Result<String> {
    let amount = "select amount::text from wallet.balances where wallet_id = $1::uuid";
    let amount = sqlx::query_scalar(amount).bind(wallet);
    Ok(amount.fetch_one(conn).await?)
}
