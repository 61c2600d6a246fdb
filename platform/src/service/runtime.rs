//! What an application gets from its surroundings, and tests replace.

use crate::{
    auth::Auth,
    clock::Clock,
    config::Common,
    ids::Ids,
    lifecycle::{Metrics, Readiness},
};

/// The surroundings of an application.
#[derive(Debug, Clone)]
pub struct Runtime {
    /// Tells the time.
    pub clock: Clock,
    /// Makes ids.
    pub ids: Ids,
    /// Where the application registers what it can't do without.
    pub readiness: Readiness,
    /// What was counted so far, for an application that shows it itself.
    pub metrics: Metrics,
    /// Replaces the keys and tokens of identity-svc.
    pub auth: Option<Auth>,
}

impl Runtime {
    /// The real world.
    pub fn system() -> Self {
        Self {
            clock: Clock::system(),
            ids: Ids::system(),
            readiness: Readiness::default(),
            metrics: Metrics::default(),
            auth: None,
        }
    }

    /// Keys and tokens: identity-svc's, unless others were given. identity-svc itself makes its
    /// own from its signing key and doesn't ask.
    pub fn auth(&self, service: &'static str, common: &Common) -> anyhow::Result<Auth> {
        match &self.auth {
            Some(auth) => Ok(auth.clone()),
            None => Auth::remote(service, common),
        }
    }
}
