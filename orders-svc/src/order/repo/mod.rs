//! SQL of orders, their lines, payments and claims, and no rules. Everything here runs in the
//! caller's transaction.

pub mod claims;
pub mod lines;
pub mod orders;
pub mod payments;
