//! Authentication, API keys, users, invites, tasks and webhooks.

mod accounts;
mod api_keys;
mod auth;
mod invites;
mod tasks;
mod users;
mod webhooks;

use super::route::Route;

/// Returns the rows of the context, in one file a resource.
pub(super) fn routes() -> Vec<Route> {
    [
        auth::routes(),
        api_keys::routes(),
        users::routes(),
        accounts::routes(),
        invites::routes(),
        tasks::routes(),
        webhooks::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
