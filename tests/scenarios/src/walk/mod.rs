//! A random walk: orders are created, paid with usd and points, canceled, fulfilled and taken back while
//! products, tax rates, rates and assets change. Each answer is compared with that of a model, and each
//! order stays as it was when its products change.

mod account;
mod catalogue;
mod compare;
mod order;
mod payment;
mod rates;
mod report;
mod step;

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use stack::{Stack, Variable};

pub use self::report::Report;
use self::{
    account::Account,
    catalogue::Catalogue,
    compare::{cents, compare, dollars, expected_of},
    order::Order,
    step::{Cart, Request, Step},
};
use crate::{
    checks,
    client::{Client, text, until},
    shop::{Buyer, create_buyer, deposit},
};

/// What the rich buyers have, in usd. Another one has none.
const FUNDS: u32 = 1_000_000;
const RICH_BUYERS: usize = 3;
/// What each buyer has, in the asset of bonuses.
const POINTS: u32 = 100;
/// Actions are about one of the newest orders, so that each takes several.
const NEWEST: usize = 8;
/// How long an order may differ at the end, until it shows what its buyer owes.
const SETTLEMENT_TIME: Duration = Duration::from_mins(1);

/// Returns the settings that [`run`] needs: bonuses are in another asset than orders.
pub fn settings() -> Vec<Variable> {
    vec![("BONUS_ASSET_CODE".to_owned(), "points".to_owned())]
}

/// Takes this many steps on a stack with [`settings`], the same for the same seed. Fails on the first answer
/// that is not the model's, and if an order, a balance or a rule about orders is wrong at the end.
pub async fn run(stack: &Stack, steps: u32, seed: u64) -> anyhow::Result<Report> {
    let mut walk = Walk::prepare(stack, seed).await?;
    for number in 0..steps {
        let step = walk.next_step();
        let taken = walk.take(&step).await;
        taken.with_context(|| format!("seed {seed}, step {number}: {step:?}"))?;
    }
    walk.check_all()
        .await
        .with_context(|| format!("seed {seed}"))?;
    checks::assert_settled(stack).await?;
    Ok(walk.report)
}

/// The model of everything, beside the client of the real one.
struct Walk<'a> {
    stack: &'a Stack,
    client: Client,
    random: StdRng,
    buyers: Vec<Buyer>,
    /// Those of the buyers.
    accounts: Vec<Account>,
    catalogue: Catalogue,
    orders: Vec<Order>,
    report: Report,
}

impl<'a> Walk<'a> {
    async fn prepare(stack: &'a Stack, seed: u64) -> anyhow::Result<Self> {
        let client = Client::new(stack);
        let (mut buyers, mut accounts) = (Vec::new(), Vec::new());
        for number in 0..=RICH_BUYERS {
            let usd = if number < RICH_BUYERS { FUNDS } else { 0 };
            let buyer = create_buyer(&client, &format!("walker{number}"), usd).await?;
            deposit(&client, &buyer, POINTS, "points").await?;
            buyers.push(buyer);
            accounts.push(Account {
                usd: i64::from(usd) * 100,
                points: i64::from(POINTS) * 100,
                owed: 0,
            });
        }
        Ok(Self {
            stack,
            catalogue: Catalogue::create(&client).await?,
            random: StdRng::seed_from_u64(seed),
            buyers,
            accounts,
            orders: Vec::new(),
            report: Report::default(),
            client,
        })
    }

    fn next_step(&mut self) -> Step {
        let kind = self.random.random_range(0..100);
        if self.orders.is_empty() || kind < 20 {
            return step::create(&mut self.random, &self.catalogue, self.buyers.len());
        }
        if kind < 40 {
            return Step::Edit(self.catalogue.random_edit(&mut self.random));
        }
        let newest = self.orders.len().saturating_sub(NEWEST);
        let index = self.random.random_range(newest..self.orders.len());
        step::action(&mut self.random, index, &self.orders[index])
    }

    /// Takes a step on both sides, and compares the answers, and an order that it is not about.
    async fn take(&mut self, step: &Step) -> anyhow::Result<()> {
        match step {
            Step::Edit(edit) => {
                self.catalogue.apply(&self.client, edit).await?;
                self.report.count("edit", "200");
            }
            Step::Create(cart) => self.create(cart).await?,
            Step::Act { order, request } => self.act(*order, request).await?,
        }
        self.check_another().await
    }

    async fn create(&mut self, cart: &Cart) -> anyhow::Result<()> {
        if cart.uses_bonus {
            self.settle(cart.buyer).await?;
        }
        let mut account = self.accounts[cart.buyer];
        let expected = self.catalogue.order(cart, &mut account);
        let body = self.catalogue.body(cart, &self.buyers);
        let answer = self.client.post("/orders", &body).await?;
        self.report.count(cart.name(), &answer.outcome());
        if let Some(mut order) = expected_of(expected, &answer)? {
            order.take_ids(answer.data())?;
            compare(&order, answer.data())?;
            let unpaid = Order::new(cart.buyer, Vec::new());
            let accounts = [&self.accounts[cart.buyer], &account];
            let orders = [&unpaid, &order];
            self.report.count_order();
            self.report.count_effects(cart.name(), orders, accounts);
            self.orders.push(order);
            self.accounts[cart.buyer] = account;
        }
        Ok(())
    }

    async fn act(&mut self, index: usize, request: &Request) -> anyhow::Result<()> {
        let buyer = self.orders[index].buyer;
        if request.may_refund() {
            self.settle(buyer).await?;
        }
        let order = &self.orders[index];
        let (mut after, mut account) = (order.clone(), self.accounts[buyer]);
        let result = after.act(request, &mut account, self.catalogue.usd_enabled);
        let path = format!("{}{}", order.path, request.path(order));
        let answer = self.client.post(&path, &request.body(order)).await?;
        self.report.count(request.name(), &answer.outcome());
        if expected_of(result, &answer)?.is_some() {
            compare(&after, answer.data())?;
            let orders = [&self.orders[index], &after];
            let accounts = [&self.accounts[buyer], &account];
            self.report.count_effects(request.name(), orders, accounts);
            self.orders[index] = after;
            self.accounts[buyer] = account;
        }
        self.check(index).await
    }

    /// Waits until the ledger has all bonuses that orders granted or took back, and fails if the balance is
    /// not that of the model. Events grant bonuses, and what one takes back or settles depends on the
    /// balance: it is known only if no event is on its way when points are paid or returned.
    async fn settle(&self, buyer: usize) -> anyhow::Result<()> {
        checks::wait_until_settled(self.stack).await?;
        self.check_balances(buyer).await
    }

    async fn check_balances(&self, buyer: usize) -> anyhow::Result<()> {
        let Account { usd, points, .. } = self.accounts[buyer];
        for (asset, expected) in [("usd", usd), ("points", points)] {
            let (balance, expected) = (self.balance(buyer, asset).await?, dollars(expected));
            ensure!(
                balance == expected,
                "buyer {buyer} has {balance} {asset}, not {expected}"
            );
        }
        Ok(())
    }

    async fn check(&self, index: usize) -> anyhow::Result<()> {
        let order = &self.orders[index];
        let path = format!("{}?include=lines", order.path);
        compare(order, &self.client.get(&path).await?)
    }

    async fn check_another(&mut self) -> anyhow::Result<()> {
        let indexes: Vec<_> = (0..self.orders.len()).collect();
        match indexes.choose(&mut self.random) {
            Some(index) => self.check(*index).await,
            None => Ok(()),
        }
    }

    /// Compares every order, and what every buyer has and owes: nobody has a bonus that was not paid for.
    async fn check_all(&self) -> anyhow::Result<()> {
        for index in 0..self.orders.len() {
            self.check(index).await?;
        }
        for (buyer, account) in self.accounts.iter().enumerate() {
            self.settle(buyer).await?;
            until(Instant::now() + SETTLEMENT_TIME, async || {
                let owed = self.owed(buyer).await?;
                let reason = || format!("buyer {buyer} owes {owed}, not {}", account.owed);
                Ok((owed != account.owed).then(reason))
            })
            .await?;
        }
        Ok(())
    }

    async fn balance(&self, buyer: usize, asset: &str) -> anyhow::Result<String> {
        let wallet = &self.buyers[buyer].wallet;
        let path = format!("/wallets/{wallet}/balance?filter[assetCode]={asset}");
        let entries = self.client.get(&path).await?;
        match entries.get(0) {
            None => Ok(dollars(0)),
            Some(entry) => text(entry, "amount"),
        }
    }

    /// Returns the hundredths of points that a buyer's orders show as owed.
    async fn owed(&self, buyer: usize) -> anyhow::Result<i64> {
        let mut sum = 0;
        for order in self.orders.iter().filter(|order| order.buyer == buyer) {
            let shown = self.client.get(&order.path).await?;
            let owed = shown["metadata"]["bonusShortfall"].as_str();
            sum += owed.map_or(Ok(0), cents)?;
        }
        Ok(sum)
    }
}
