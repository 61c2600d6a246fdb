//! How long a response may go on that has no end of its own.

use axum::http::HeaderMap;
use platform::error::Code;
use tokio_util::sync::CancellationToken;

use super::{Access, Gatekeeper};
use crate::{App, client_address::ClientAddress};

/// Checks the credentials of a request again while its response is sent.
#[derive(Debug)]
pub(crate) struct StreamGuard {
    gatekeeper: Gatekeeper,
    address: ClientAddress,
    headers: HeaderMap,
    stopping: CancellationToken,
}

impl App {
    /// Creates the guard of a response to a request with these headers.
    pub(crate) fn stream_guard(&self, address: ClientAddress, headers: HeaderMap) -> StreamGuard {
        StreamGuard {
            gatekeeper: self.gatekeeper.clone(),
            address,
            headers,
            stopping: self.stopping.clone(),
        }
    }
}

impl StreamGuard {
    /// Waits until the process stops.
    pub(crate) async fn stopped(&self) {
        self.stopping.cancelled().await;
    }

    /// Returns whether the credentials are still those of an admin. While that cannot be checked, they are.
    pub(crate) async fn still_admits(&self) -> bool {
        let gatekeeper = &self.gatekeeper;
        let principal = gatekeeper.authenticate(Access::Admin, self.address, &self.headers);
        match principal.await {
            Ok(principal) => principal.is_admin,
            Err(failure) => failure.code != Code::Unauthenticated,
        }
    }
}
