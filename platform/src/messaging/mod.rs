//! Events between services: outbox → relay → JetStream → inbox, at least once, in order per
//! aggregate, with the effect applied once.
//!
//! # Publishing
//!
//! Append in the transaction of the change, while the aggregate's row is locked; the relay of
//! [`Backbone`](crate::service::Backbone) does the rest. No other code publishes to NATS.
//!
//! ```no_run
//! # use platform::{config, messaging::{jetstream, outbox, relay}, pg};
//! # use tokio_util::sync::CancellationToken;
//! # async fn example(nats: config::Nats, pool: sqlx::PgPool, event_id: uuid::Uuid, order_id: uuid::Uuid, body: prost_types::Timestamp)
//! # -> Result<(), Box<dyn std::error::Error>> {
//! const SCHEMA: pg::Schema = pg::Schema::new("orders");
//!
//! // In a use case. The version counts the aggregate's events from 1 without gaps; it is a column of
//! // the aggregate's row, raised by the update that makes the change.
//! let mut tx = pg::tx(&pool).await?;
//! let order = outbox::Aggregate { kind: "order", id: order_id, version: 2 };
//! let paid = outbox::Message::new(SCHEMA, event_id, "OrderPaid", order, &body);
//! outbox::append_in_tx(&mut tx, SCHEMA, [paid]).await?;
//! tx.commit().await?;
//!
//! // As Backbone does. `connect` returns immediately and retries; the relay waits for it.
//! let js = jetstream::connect(&nats, "orders-svc").await?;
//! tokio::spawn(relay::run(pool, SCHEMA, js, 1, CancellationToken::new()));
//! # Ok(()) }
//! ```
//!
//! # Consuming
//!
//! ```no_run
//! # use platform::{error::Failure, messaging::inbox::{self, Consumer, Envelope, Handler}, pg::Schema};
//! # use proto::events::v1::UserBlocked;
//! # use sqlx::PgConnection;
//! # use tokio_util::sync::CancellationToken;
//! # async fn block_in_tx(conn: &mut PgConnection, id: &str) -> Result<(), Failure> { Ok(()) }
//! struct BlockUser;
//!
//! impl Handler for BlockUser {
//!     type Body = UserBlocked;
//!
//!     // Runs once per event, in the transaction that also writes the inbox row.
//!     async fn apply_in_tx(
//!         &self,
//!         conn: &mut PgConnection,
//!         _envelope: &Envelope,
//!         body: UserBlocked,
//!     ) -> Result<(), Failure> {
//!         block_in_tx(conn, &body.user_id).await
//!     }
//! }
//!
//! # fn example(js: async_nats::jetstream::Context, pool: sqlx::PgPool) {
//! const ORDERS: Schema = Schema::new("orders");
//! const IDENTITY: Schema = Schema::new("identity");
//!
//! // The durable consumer is `orders-svc-UserBlocked`.
//! let consumer = Consumer::new("orders-svc", ORDERS, IDENTITY, "UserBlocked");
//! tokio::spawn(inbox::run(consumer, js, pool, BlockUser, CancellationToken::new()));
//! # }
//! ```
//!
//! A failure with a transient code ([`Code::is_transient`]) is retried without a limit; any other
//! counts, and after ten of them, with growing delays, the event is parked in `dead_letters`. So is an
//! event that JetStream refuses because it is too large, with the consumer `relay`. An
//! effect with its own transaction implements [`inbox::Effect`] instead, for [`inbox::run_effect`].
//!
//! [`Code::is_transient`]: crate::error::Code::is_transient

mod batch;
pub mod dead_letters;
mod housekeeping;
pub mod inbox;
pub mod jetstream;
mod lease;
pub mod outbox;
mod pending;
mod publish;
pub mod relay;
mod replay;

pub use lease::Lease;
pub use replay::replay;
