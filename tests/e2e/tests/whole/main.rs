//! The product as its users meet it: five processes, Postgres and NATS.

mod crash;
mod demo;
mod flow;
mod outage;
mod readme;
mod refusals;
mod sdk;
mod skeleton;
mod tiers;
mod trace;
