//! Invites: codes that each bring one new user, and the use of invite and referral codes by sign-ups.

mod convert;
mod events;
pub(crate) mod grpc;
mod model;
mod open_invites;
mod repo;
mod service;
mod sign_up;
mod validation;

pub(crate) use model::{Fault, InviteId};
pub(crate) use open_invites::OpenInvites;
pub(crate) use service::Invites;
pub(crate) use sign_up::SignUps;
pub(crate) use validation::Validations;
