//! Creates an order, optionally paid immediately, optionally as a dry run.

use platform::{
    auth::Caller,
    idempotency::{self, Key, Reply, Started},
};
use proto::orders::v1::OrderUser;
use sqlx::PgConnection;

use super::{OrderReply, Orders, record::Change, saga::claim, showing};
use crate::{
    SCHEMA,
    clients::Settings,
    error::Error,
    order::{
        convert,
        model::{
            Action, Cart, Event, HistoryEntry, Leg, NewOrder, OrderWithLines, REFERENCE_LENGTH,
        },
        repo,
    },
};

/// Attempts to find a free reference; one in a billion is taken.
pub(super) const REFERENCE_ATTEMPTS: usize = 5;

/// An order that passed all checks and is not stored.
pub(super) struct PreparedOrder {
    pub(super) order: OrderWithLines,
    /// The immediate payment; empty if there is none.
    pub(super) legs: Vec<Leg>,
    pub(super) settings: Settings,
    /// What the response shows of the buyer.
    pub(super) user: OrderUser,
}

impl Orders {
    /// Creates an order, and pays it if the request names a payer; if that payment is refused, no
    /// order remains. A dry run returns the order as it would be and stores nothing.
    pub(crate) async fn create(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        new: NewOrder,
        dry_run: bool,
    ) -> Result<OrderReply, Error> {
        let _admitted = self.admit()?;
        if let Some(reply) = self.find_replay(key).await? {
            return Ok(reply);
        }
        let place = async |prepared| {
            if dry_run {
                self.dry_run(prepared).await
            } else {
                self.place(key, prepared).await
            }
        };
        let prepared = self.prepare(caller, &new).await?;
        let legs = prepared.legs.clone();
        let refused = match place(prepared).await {
            Err(error) if new.use_bonus && error.is_insufficient_funds() => error,
            placed => return placed,
        };
        // Points may have been spent after their balance was read.
        let again = self.prepare(caller, &new).await?;
        if again.legs == legs {
            return Err(refused);
        }
        place(again).await
    }

    async fn place(&self, key: Option<&Key>, prepared: PreparedOrder) -> Result<OrderReply, Error> {
        if prepared.legs.is_empty() {
            self.place_unpaid(key, prepared).await
        } else {
            self.place_paid(key, prepared).await
        }
    }

    async fn prepare(&self, caller: &Caller, new: &NewOrder) -> Result<PreparedOrder, Error> {
        let unknown_user = || Error::unknown_reference("userId", "user not found");
        caller
            .require_self_or_admin(new.user_id)
            .map_err(|_| unknown_user())?;
        let (buyer, quotes, settings) = tokio::try_join!(
            self.clients.identity.find_buyer(new.user_id),
            self.clients.catalog.quote(&new.lines),
            self.clients.wallets.settings(),
        )?;
        let (buyer, user) = buyer.ok_or_else(unknown_user)?;
        let bonus = self.bonus_asset(&settings, &quotes).await?;
        let cart = Cart {
            new,
            quotes,
            buyer: &buyer,
            by_admin: caller.is_admin(),
            bonus: bonus.as_ref(),
            shipping: &self.shipping,
        };
        let order = cart.into_order(&self.ids, self.clock.now())?;
        if let Some(wallet_id) = new.wallet_id {
            self.check_payer(caller, &order.order, wallet_id, &settings)
                .await?;
        }
        let bonus_leg = if new.use_bonus {
            Some(self.bonus_leg(caller, &order.order, &settings).await?)
        } else {
            None
        };
        let legs = order.order.immediate_payment(bonus_leg, new.wallet_id)?;
        Ok(PreparedOrder {
            order,
            legs,
            settings,
            user,
        })
    }

    /// Returns the order as it would be, if the ledger would accept its payment.
    async fn dry_run(&self, prepared: PreparedOrder) -> Result<OrderReply, Error> {
        let PreparedOrder {
            mut order,
            legs,
            settings,
            user,
        } = prepared;
        let now = order.order.created_at;
        if legs.is_empty() {
            order.order.mark_fully_paid_if_covered(now)?;
        } else {
            let action = Action::PlaceAndCharge(legs);
            let claim = claim(&mut order.order, action, &settings, None);
            self.clients.wallets.dry_run(&claim).await?;
            order
                .order
                .record_payment(claim.action().legs(), &[], now)?;
        }
        Ok(Reply::fresh(showing(convert::dry_run(&order), Some(user))))
    }

    async fn place_unpaid(
        &self,
        key: Option<&Key>,
        prepared: PreparedOrder,
    ) -> Result<OrderReply, Error> {
        let PreparedOrder {
            mut order, user, ..
        } = prepared;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let now = order.order.created_at;
        let mut events = vec![Event::Placed];
        events.extend(order.order.mark_fully_paid_if_covered(now)?);
        self.insert_in_tx(&mut work, &mut order).await?;
        self.write_in_tx(&mut work, &mut order.order, &events)
            .await?;
        let change = Change {
            done: "created",
            actor: None,
            before: None,
            entries: HistoryEntry::of_events(&events, None),
        };
        self.record_in_tx(&mut work, &order.order, change).await?;
        let encoded = showing(convert::order(&order), Some(user));
        let reply = work.commit(encoded).await?;
        if order.order.bonus_skipped.is_some() {
            count_skipped_bonus();
        }
        Ok(reply)
    }

    /// Inserts an order with its lines, under another reference if its own is taken.
    async fn insert_in_tx(
        &self,
        conn: &mut PgConnection,
        order: &mut OrderWithLines,
    ) -> Result<(), Error> {
        for _ in 0..REFERENCE_ATTEMPTS {
            let inserted = repo::orders::insert_all_in_tx(conn, &[order]).await?;
            if !inserted.is_empty() {
                return Ok(());
            }
            order.order.reference = self.ids.code(REFERENCE_LENGTH);
        }
        Err(no_free_reference())
    }
}

pub(super) fn no_free_reference() -> Error {
    Error::internal("no free reference found")
}

/// Counts an order whose bonus is left out.
pub(super) fn count_skipped_bonus() {
    metrics::counter!("orders_bonus_skipped_total", "reason" => "rate_not_found").increment(1);
}
