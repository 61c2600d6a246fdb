//! Tokens: what buys them, and the keys that check them.

pub mod api_key;
pub mod grpc;
mod repo;
pub mod service;

pub use service::Auth;
