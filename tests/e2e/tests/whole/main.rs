//! Tests of the whole system: five processes, Postgres and NATS.

mod access;
mod architecture;
mod audit;
mod backup;
mod bombs;
mod deletion;
mod demo;
mod dry_run;
mod errors;
mod flow;
mod grpc_page;
mod handover;
mod mtls;
mod nats_users;
mod orders;
mod outage;
mod ports;
mod readme;
mod referrals;
mod revocations;
mod sdk;
mod secrets;
mod skeleton;
mod trace;
mod typed_clients;
mod webhooks;
