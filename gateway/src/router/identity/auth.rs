//! Authentication.

use crate::{
    access::Access::Public,
    resources::auth::{self, JsonWebKeySet},
    router::route::{Route, get},
};

/// Anybody may verify tokens.
pub(super) fn routes() -> Vec<Route> {
    vec![get("/.well-known/jwks.json", Public, auth::jwks).document::<JsonWebKeySet>()]
}
