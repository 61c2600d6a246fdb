//! The local stack: finds or fetches Postgres and NATS, sets them up, and runs the five
//! processes of the product as one [`Stack`]. `cargo stack` is its command line; the
//! whole-system tests use it as a library.

pub mod account;
pub mod cluster;
pub mod database;
pub mod demo;
pub mod envfile;
pub mod find;
pub mod http;
pub mod logs;
pub mod nats;
pub mod options;
pub mod ports;
pub mod process;
pub mod programs;
pub mod progress;
pub mod project;
pub mod secrets;
pub mod service;
mod stack;
pub mod wiring;

pub use options::{Broker, StackOptions};
pub use service::{Auth, Service};
pub use stack::Stack;
