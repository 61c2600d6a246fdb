//! API keys.

use proto::lists::identity as lists;

use crate::{
    access::Access::Admin,
    resources::api_keys::{self, ApiKey, NewApiKey},
    router::route::{Route, delete, get, post},
};

/// Admins manage the keys of back ends.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/api-keys", Admin, api_keys::list).page::<ApiKey>(&lists::API_KEYS),
        get("/api-keys/{id}", Admin, api_keys::get).response::<ApiKey>(),
        post("/api-keys", Admin, api_keys::create)
            .body::<NewApiKey>()
            .created::<ApiKey>()
            .secret(),
        delete("/api-keys/{id}", Admin, api_keys::delete),
    ]
}
