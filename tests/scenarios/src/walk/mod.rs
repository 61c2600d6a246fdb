//! A random walk: orders are created, paid, canceled, fulfilled and taken back while products, tax rates,
//! rates and assets change. Each answer is compared with that of a model, and each order stays as it was
//! when its products change.

mod catalogue;
mod compare;
mod order;
mod step;

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::Value;
use stack::Stack;

use self::{
    catalogue::Catalogue,
    compare::{compare, dollars},
    order::Order,
    step::{Request, Step},
};
use crate::{
    checks,
    client::{Client, Reply, text, until},
    shop::{Buyer, create_buyer},
};

/// What the rich buyers have, in usd. Another one has nothing.
const FUNDS: u32 = 1_000_000;
const RICH_BUYERS: usize = 3;
/// Actions are about one of the newest orders, so that each takes several.
const NEWEST: usize = 8;
/// How long a balance may differ at the end, until every bonus is granted.
const SETTLEMENT_TIME: Duration = Duration::from_mins(1);

/// What a walk did.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of requests by kind and answer.
    answers: BTreeMap<String, u32>,
    /// Orders that were created.
    orders: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} orders, as the model has them", self.orders)?;
        for (answer, count) in &self.answers {
            writeln!(f, "{count:>8} {answer}")?;
        }
        Ok(())
    }
}

/// Takes this many steps, the same for the same seed. Fails on the first answer that is not the model's,
/// and if an order, a balance or a rule about orders is wrong at the end.
pub async fn run(stack: &Stack, steps: u32, seed: u64) -> anyhow::Result<Report> {
    let mut walk = Walk::prepare(Client::new(stack), seed).await?;
    for number in 0..steps {
        let step = walk.next_step();
        let taken = walk.take(&step).await;
        taken.with_context(|| format!("seed {seed}, step {number}: {step:?}"))?;
    }
    walk.check_all()
        .await
        .with_context(|| format!("seed {seed}"))?;
    checks::assert_settled(stack).await?;
    Ok(Report {
        orders: walk.orders.len(),
        answers: walk.answers,
    })
}

/// The model of everything, beside the client of the real one.
struct Walk {
    client: Client,
    random: StdRng,
    buyers: Vec<Buyer>,
    catalogue: Catalogue,
    orders: Vec<Order>,
    answers: BTreeMap<String, u32>,
}

impl Walk {
    async fn prepare(client: Client, seed: u64) -> anyhow::Result<Self> {
        let mut buyers = Vec::new();
        for number in 0..=RICH_BUYERS {
            let funds = if number < RICH_BUYERS { FUNDS } else { 0 };
            buyers.push(create_buyer(&client, &format!("walker{number}"), funds).await?);
        }
        Ok(Self {
            catalogue: Catalogue::create(&client).await?,
            random: StdRng::seed_from_u64(seed),
            buyers,
            orders: Vec::new(),
            answers: BTreeMap::new(),
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
                self.count("edit", "200");
            }
            Step::Create(cart) => {
                let expected = self.catalogue.order(cart);
                let body = self.catalogue.body(cart, &self.buyers);
                let answer = self.client.post("/orders", &body).await?;
                self.count("create", &answer.outcome());
                if let Some(mut order) = expected_of(expected, &answer)? {
                    order.take_ids(answer.data())?;
                    compare(&order, answer.data())?;
                    self.orders.push(order);
                }
            }
            Step::Act { order, request } => self.act(*order, request).await?,
        }
        self.check_another().await
    }

    async fn act(&mut self, index: usize, request: &Request) -> anyhow::Result<()> {
        let order = &self.orders[index];
        let is_poor = order.buyer == RICH_BUYERS;
        let mut after = order.clone();
        let result = after.act(request, self.catalogue.usd_enabled, is_poor);
        let path = format!("{}{}", order.path, request.path(order));
        let answer = self.client.post(&path, &request.body(order)).await?;
        self.count(request.name(), &answer.outcome());
        if expected_of(result, &answer)?.is_some() {
            compare(&after, answer.data())?;
            self.orders[index] = after;
        }
        self.check(index).await
    }

    fn count(&mut self, request: &str, answer: &str) {
        let kind = format!("{request}: {answer}");
        *self.answers.entry(kind).or_default() += 1;
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

    /// Compares every order, and every balance once the bonuses are settled.
    async fn check_all(&self) -> anyhow::Result<()> {
        for index in 0..self.orders.len() {
            self.check(index).await?;
        }
        for (number, buyer) in self.buyers.iter().enumerate() {
            let own = self.orders.iter().filter(|order| order.buyer == number);
            let moved: i64 = own.map(|order| order.net_bonus() - order.paid).sum();
            let funds = if number < RICH_BUYERS { FUNDS } else { 0 };
            let expected = dollars(i64::from(funds) * 100 + moved);
            until(Instant::now() + SETTLEMENT_TIME, async || {
                let balance = self.balance(buyer).await?;
                let reason = || format!("buyer {number} has {balance}, not {expected}");
                Ok((balance != expected).then(reason))
            })
            .await?;
        }
        Ok(())
    }

    async fn balance(&self, buyer: &Buyer) -> anyhow::Result<String> {
        let path = format!("/wallets/{}/balance?filter[assetCode]=usd", buyer.wallet);
        match self.client.get(&path).await? {
            Value::Array(entries) if entries.is_empty() => Ok(dollars(0)),
            entries => text(&entries[0], "amount"),
        }
    }
}

/// Fails unless the answer is the expected one; returns what was expected of a success.
fn expected_of<T>(expected: Result<T, &str>, answer: &Reply) -> anyhow::Result<Option<T>> {
    match expected {
        Ok(after) => {
            ensure!(answer.is_success(), "a success is expected: {answer:?}");
            Ok(Some(after))
        }
        Err(code) => {
            let refused = !answer.is_success() && answer.body["code"] == code;
            ensure!(refused, "{code} is expected: {answer:?}");
            Ok(None)
        }
    }
}
