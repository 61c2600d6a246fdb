//! The public API as one table: one row a route, with the access it needs, in one file a context.

mod audit;
mod catalog;
mod identity;
mod matrix;
mod orders;
mod route;
mod wallet;

use axum::{Router, http::Method, middleware};

pub use matrix::access_page;
pub(crate) use route::{Form, Route};

use crate::{
    App,
    access::{self, Access},
    extract, idempotency,
};

/// Returns the route table.
pub(crate) fn routes() -> Vec<Route> {
    [
        audit::routes(),
        catalog::routes(),
        identity::routes(),
        orders::routes(),
        wallet::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Builds the router: every route behind its access guard.
pub(crate) fn router(app: &App) -> Router<App> {
    routes().into_iter().fold(Router::new(), |router, route| {
        let guard = middleware::from_fn_with_state((app.clone(), route.access), access::guard);
        let key = middleware::from_fn_with_state(app.clone(), idempotency::read_key);
        let reads_one = route.method == Method::GET && route.list.is_none();
        let handler = if reads_one {
            let includes = middleware::from_fn_with_state(route.includes, extract::check_includes);
            route.handler.route_layer(includes)
        } else if route.bulk || route.access == Access::Anonymous {
            // The middleware would hold the whole body, so bulk handlers read the key themselves. A
            // key belongs to a caller, and an anonymous route has none.
            route.handler
        } else {
            route.handler.route_layer(key)
        };
        router.route(route.path, handler.route_layer(guard))
    })
}
