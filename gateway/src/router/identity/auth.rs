//! Authentication.

use crate::{
    access::Access::{Anonymous, Public},
    resources::auth::{
        self, JsonWebKeySet, NewLogin, RefreshToken, Tokens, ValidToken, ValidatedToken,
    },
    router::route::{Route, get, post},
};

/// What the body holds proves who is asking, whatever credentials a client sends with it.
pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/auth/token", Anonymous, auth::log_in)
            .body::<NewLogin>()
            .response::<Tokens>()
            .secret(),
        post("/auth/token/refresh", Anonymous, auth::refresh)
            .body::<RefreshToken>()
            .response::<Tokens>()
            .secret(),
        post("/auth/token/revoke", Anonymous, auth::revoke)
            .body::<RefreshToken>()
            .no_content(),
        post("/auth/token/validate", Anonymous, auth::validate)
            .body::<ValidatedToken>()
            .response::<ValidToken>(),
        get("/.well-known/jwks.json", Public, auth::jwks).document::<JsonWebKeySet>(),
    ]
}
