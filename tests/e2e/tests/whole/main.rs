//! The product as its users meet it: five processes, Postgres and NATS.

mod crash;
mod flow;
mod outage;
mod readme;
mod refusals;
mod sdk;
mod tiers;
mod trace;
