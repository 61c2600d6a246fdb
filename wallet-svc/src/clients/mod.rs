//! Calls to other services.

pub(crate) mod identity;
