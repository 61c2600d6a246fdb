//! The local stack: finds or fetches Postgres and NATS, starts them as an [`Environment`], and runs
//! the five processes of the product on it as one [`Stack`]. `cargo stack` is its command line; the
//! whole-system tests and the benchmarks use it as a library.

mod account;
mod cluster;
pub mod command;
mod database;
pub mod demo;
mod envfile;
mod environment;
mod find;
mod handover;
mod http;
mod logs;
mod nats;
mod options;
mod ports;
mod process;
mod programs;
mod progress;
mod roles;
mod run_lock;
mod secrets;
mod servers;
mod service;
mod stack;
mod wiring;
mod workspace;

pub use environment::{Environment, EnvironmentOptions};
pub use handover::is_passed;
pub use options::StackOptions;
pub use run_lock::RunLock;
pub use secrets::Secrets;
pub use servers::ServerOptions;
pub use service::{Auth, Replicas, Service};
pub use stack::Stack;
pub use wiring::{Instance, Variable, Wiring};
pub use workspace::Workspace;
