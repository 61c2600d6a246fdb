//! The runtime of an application, parts of which tests replace.

use crate::{
    auth::Auth,
    clock::Clock,
    config::{Common, ServiceSecret},
    ids::Ids,
    lifecycle::{Metrics, Readiness},
};

/// Clock, ids and registries of an application.
#[derive(Debug, Clone)]
pub struct Runtime {
    /// Source of the current time.
    pub clock: Clock,
    /// Source of ids.
    pub ids: Ids,
    /// Registry of readiness checks.
    pub readiness: Readiness,
    /// The metrics, for an application that serves them itself.
    pub metrics: Metrics,
    /// Replacement of the keys and tokens of identity-svc, for tests.
    pub auth: Option<Auth>,
}

impl Runtime {
    /// Returns the runtime of a process in production.
    pub fn system() -> Self {
        Self {
            clock: Clock::system(),
            ids: Ids::system(),
            readiness: Readiness::default(),
            metrics: Metrics::default(),
            auth: None,
        }
    }

    /// Returns verifier and token: identity-svc's unless they are replaced. identity-svc makes its own
    /// from its signing keys.
    pub fn auth(
        &self,
        service: &'static str,
        common: &Common,
        secret: &ServiceSecret,
    ) -> anyhow::Result<Auth> {
        match &self.auth {
            Some(auth) => Ok(auth.clone()),
            None => Auth::remote(service, common, secret),
        }
    }
}
