//! Placing an order, paid at once or not, or only as if.

use std::collections::HashMap;

use platform::{
    auth::Caller,
    failpoint,
    idempotency::{self, Begin, Key, Reply, Started},
    money::Amount,
    pg,
};
use sqlx::PgConnection;

use super::{OrderAnswer, Orders};
use crate::{
    SCHEMA,
    clients::Settings,
    error::Error,
    order::{
        cart::{Cart, NewOrder},
        claim::{Claim, Kind, Leg, Plan, Step},
        convert,
        model::{Event, Order, OrderStatus, OrderWithLines, WalletId},
        repo,
    },
};

/// How many references are tried; one in a billion is taken already.
const REFERENCES: usize = 5;

/// An order that could be placed.
struct Draft {
    placed: OrderWithLines,
    /// What pays it at once.
    legs: Vec<Leg>,
    till: WalletId,
}

impl Orders {
    /// Places an order, and pays it if the buyer said from where: then a refused payment leaves no
    /// order behind. A dry run answers what would be, and refuses what would be refused.
    pub async fn create(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        new: NewOrder,
        dry_run: bool,
    ) -> Result<OrderAnswer, Error> {
        if !dry_run && let Some(answer) = self.replayed(key).await? {
            return Ok(answer);
        }
        let draft = self.draft(caller, &new).await?;
        if dry_run {
            self.rehearse(draft).await
        } else if draft.legs.is_empty() {
            self.place(key, draft.placed).await
        } else {
            self.place_paid(key, draft).await
        }
    }

    async fn draft(&self, caller: &Caller, new: &NewOrder) -> Result<Draft, Error> {
        let unknown = || Error::unknown_reference("userId");
        caller
            .require_self_or_admin(new.user_id)
            .map_err(|_| unknown())?;
        let (buyer, quotes, settings) = tokio::try_join!(
            self.clients.identity.find_buyer(new.user_id),
            self.clients.catalog.quote(&new.lines),
            self.clients.wallets.settings(),
        )?;
        let buyer = buyer.ok_or_else(unknown)?;
        let bonus = self.bonus_asset(&settings, &quotes).await?;
        let cart = Cart {
            new,
            quotes,
            buyer: &buyer,
            bonus: bonus.as_ref(),
            shipping: &self.shipping,
        };
        let placed = cart.order(&self.ids, self.clock.now())?;
        if let Some(wallet_id) = new.wallet_id {
            self.check_payer(caller, &placed.order, wallet_id, &settings)
                .await?;
        }
        let legs = self.immediate_payment(new, &placed.order).await?;
        let till = settings.till;
        Ok(Draft { placed, legs, till })
    }

    /// Checks a wallet that a request names as payer: it exists, it is the caller's own or the
    /// caller is an admin, and it isn't the one that receives.
    pub(super) async fn check_payer(
        &self,
        caller: &Caller,
        order: &Order,
        wallet_id: WalletId,
        settings: &Settings,
    ) -> Result<(), Error> {
        if wallet_id == settings.till {
            return Err(Error::PaysItself);
        }
        if wallet_id == order.wallet_id {
            return Ok(());
        }
        let wallet = self.clients.wallets.find(wallet_id).await?;
        wallet
            .filter(|wallet| {
                caller.is_admin()
                    || wallet
                        .owner_id
                        .is_some_and(|owner| caller.require_self_or_admin(owner).is_ok())
            })
            .map(drop)
            .ok_or_else(|| Error::unknown_reference("walletId"))
    }

    /// Bonus first, as far as it goes, then the wallet.
    async fn immediate_payment(&self, new: &NewOrder, order: &Order) -> Result<Vec<Leg>, Error> {
        let mut legs = Vec::new();
        let mut rest = order.amount;
        if new.use_bonus {
            let leg = self.bonus_leg(order).await?;
            rest = rest.sub(leg.covered())?;
            legs.push(leg);
        }
        if let Some(wallet_id) = new.wallet_id {
            legs.push(Leg {
                wallet_id,
                asset_code: order.asset_code.clone(),
                amount: rest,
                covers: None,
                refunds: None,
            });
        }
        legs.retain(|leg| leg.amount.is_positive());
        Ok(legs)
    }

    /// Answers the order as it would be, if its payment would go through.
    async fn rehearse(&self, draft: Draft) -> Result<OrderAnswer, Error> {
        let Draft {
            mut placed, legs, ..
        } = draft;
        let mut needed: HashMap<(WalletId, &str), Amount> = HashMap::new();
        for leg in &legs {
            let from = (leg.wallet_id, leg.asset_code.as_str());
            let sum = needed.entry(from).or_insert(Amount::ZERO);
            *sum = sum.add(leg.amount)?;
        }
        for ((wallet_id, asset_code), needed) in needed {
            let wallets = &self.clients.wallets;
            let (wallet, available) = tokio::try_join!(
                wallets.find(wallet_id),
                wallets.available(wallet_id, asset_code),
            )?;
            if wallet.is_some_and(|wallet| wallet.locked) {
                return Err(Error::WalletLocked);
            }
            if available < needed {
                return Err(Error::InsufficientFunds { needed, available });
            }
        }
        let now = placed.order.created_at;
        if legs.is_empty() {
            placed.order.cover(now);
        } else {
            placed.order.receive(&legs, &[], now)?;
        }
        let mut answer = convert::answer(&placed);
        convert::hide_ids(&mut answer);
        Ok(Reply::fresh(answer))
    }

    async fn place(
        &self,
        key: Option<&Key>,
        mut placed: OrderWithLines,
    ) -> Result<OrderAnswer, Error> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let mut happened = vec![Event::Placed];
        happened.extend(placed.order.cover(placed.order.created_at));
        self.insert_in_tx(&mut work, &mut placed).await?;
        self.write_in_tx(&mut work, &mut placed.order, &happened)
            .await?;
        let answer = work.commit(convert::answer(&placed)).await?;
        count(&placed.order);
        Ok(answer)
    }

    async fn place_paid(&self, key: Option<&Key>, draft: Draft) -> Result<OrderAnswer, Error> {
        let Draft {
            mut placed,
            legs,
            till,
        } = draft;
        placed.order.order_status = OrderStatus::Draft;
        placed.order.claims = 1;
        let claim = Claim {
            order_id: placed.order.id,
            n: placed.order.claims,
            kind: Kind::Create,
            plan: Plan {
                till,
                step: Step::Charge(legs),
            },
            idempotency_scope: key.map(|key| key.scope().as_bytes().to_vec()),
        };
        let mut tx = pg::tx(&self.pool).await?;
        if let Some(key) = key
            && let Begin::Replay(recorded) = idempotency::begin_in_tx(&mut tx, SCHEMA, key).await?
        {
            return Ok(Reply::replay(&recorded)?);
        }
        self.insert_in_tx(&mut tx, &mut placed).await?;
        repo::claims::insert_in_tx(&mut tx, &claim).await?;
        tx.commit().await?;
        failpoint::hit("orders.create.claimed");
        let answer = self.drive(&claim).await?;
        count(&placed.order);
        Ok(Reply::fresh(answer))
    }

    async fn insert_in_tx(
        &self,
        conn: &mut PgConnection,
        placed: &mut OrderWithLines,
    ) -> Result<(), Error> {
        for _ in 0..REFERENCES {
            if repo::orders::insert_in_tx(conn, &placed.order).await? {
                repo::lines::insert_in_tx(conn, &placed.lines).await?;
                return Ok(());
            }
            placed.order.reference = self.ids.code(8);
        }
        Err(Error::fault("no free reference"))
    }
}

fn count(order: &Order) {
    if order.bonus_skipped.is_some() {
        metrics::counter!("orders_bonus_skipped_total", "reason" => "rate_not_found").increment(1);
    }
}
