//! What users do with their accounts by mail: reset a password, confirm or change an email.

#![expect(dead_code, reason = "the use of tokens follows")]

pub(crate) mod token;
pub(crate) mod tokens;
