//! The other contexts, as wallet-svc needs them.

pub mod identity;
