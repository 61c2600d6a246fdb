//! The public API as one table: one row a route, with the access it needs, in one file a context.

mod audit;
mod catalog;
mod identity;
mod matrix;
mod orders;
mod route;
mod wallet;

use axum::{
    Router,
    http::Method,
    middleware::{from_fn, from_fn_with_state},
    routing::MethodRouter,
};

pub use matrix::access_page;
pub(crate) use route::{Form, Route};

use crate::{
    App,
    access::{self, Access},
    deprecation, extract, idempotency,
    representation::{coding, conditional, media_type},
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
        router.route(route.path, layered(app, route))
    })
}

/// Puts the layers around a handler. The last is the outermost.
fn layered(app: &App, route: Route) -> MethodRouter<App> {
    let conditions = from_fn_with_state(route.conditions(), conditional::decide);
    let guard = from_fn_with_state((app.clone(), route.access), access::guard);
    let (deprecation, produces) = (route.deprecation, route.produces());
    let mut handler = if route.method == Method::GET && route.list.is_none() {
        let includes = from_fn_with_state(route.includes, extract::check_includes);
        route.handler.route_layer(includes)
    } else if route.bulk || route.access == Access::Anonymous {
        // The middleware would hold the whole body, so bulk handlers read the key themselves. A
        // key belongs to a caller, and an anonymous route has none.
        route.handler
    } else {
        let key = from_fn_with_state(app.clone(), idempotency::read_key);
        route.handler.route_layer(key)
    };
    handler = handler.route_layer(conditions);
    if route.limits_users {
        handler = handler.route_layer(from_fn_with_state(app.clone(), access::limit_users));
    }
    if let Some(media_types) = produces {
        if !route.secret {
            handler = handler.route_layer(coding::layer());
            handler = handler.route_layer(from_fn(coding::choose));
        }
        handler = handler.route_layer(from_fn_with_state(media_types, media_type::require));
    }
    deprecation::announced(handler.route_layer(guard), deprecation)
}

/// Returns a row of a route that is to go, as none of the table is.
#[cfg(test)]
pub(crate) fn deprecated_route(deprecation: deprecation::Deprecation) -> Route {
    use crate::resources::products;
    let row = route::get("/products/{id}", Access::User, products::get);
    row.deprecated(deprecation)
}
