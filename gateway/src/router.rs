//! The whole public API: one row a route, each with who may call it, in a file for each part of the
//! contract.

mod catalogue;
mod money;
mod people;
mod purchases;
mod route;

use axum::{Router, middleware};

pub use route::Route;

use crate::{App, access, idempotency};

/// Every route.
pub fn routes() -> Vec<Route> {
    let mut routes = catalogue::routes();
    routes.extend(people::routes());
    routes.extend(purchases::routes());
    routes.extend(money::routes());
    routes
}

/// The routes with their guards, ready to serve.
pub fn router(app: &App) -> Router<App> {
    routes().into_iter().fold(Router::new(), |router, route| {
        let guard = middleware::from_fn_with_state((app.clone(), route.access), access::guard);
        let keys = middleware::from_fn_with_state(app.clone(), idempotency::read_key);
        let handler = if route.many {
            // It reads the key by itself, because it never has the whole body.
            route.handler
        } else {
            route.handler.route_layer(keys)
        };
        router.route(route.path, handler.route_layer(guard))
    })
}
