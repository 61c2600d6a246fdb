//! Which caller may call which route.

use platform::auth::{Kind, Role};
use reqwest::RequestBuilder;

use crate::{
    harness::{ADMIN_KEY, ID, TestApp, problem},
    operations::{self, Access, Operation},
};

/// Asserts that a request gets past the access guard, whatever the route makes of it.
async fn assert_allowed(request: RequestBuilder, operation: &Operation, caller: &str) {
    let response = request.send().await.expect("a response");
    let status = response.status().as_u16();
    let text = response.text().await.expect("a body");
    let (method, path) = (&operation.method, &operation.path);
    assert!(
        !matches!(status, 401 | 403),
        "{caller} {method} {path}: {status} {text}"
    );
}

#[tokio::test]
async fn anonymous_requests_are_refused_on_all_but_public_routes() {
    let app = TestApp::start().await;
    for operation in operations::all() {
        let request = app.anonymous(&operation.method, &operation.url());
        if operation.is_public() {
            assert_allowed(request, &operation, "nobody").await;
        } else {
            problem(request, 401, "unauthenticated").await;
            assert!(app.services.take_calls().is_empty(), "no service is called");
        }
        app.services.take_calls();
    }
}

#[tokio::test]
async fn public_routes_are_few_and_known() {
    let public = operations::all().into_iter().filter(Operation::is_public);
    let lines: Vec<_> = public
        .map(|one| format!("{} {} {:?}", one.method, one.path, one.access))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    GET /.well-known/jwks.json Public
    POST /auth/token Anonymous
    POST /auth/token/refresh Anonymous
    POST /auth/token/revoke Anonymous
    POST /auth/token/validate Anonymous
    GET /invites/{code}/validate Public
    POST /users/confirm-email Anonymous
    POST /users/forgot-password Anonymous
    POST /users/resend-confirmation Anonymous
    POST /users/reset-password Anonymous
    ");
}

#[tokio::test]
async fn wrong_credentials_are_refused_or_ignored_on_public_routes() {
    let app = TestApp::start().await;
    for operation in operations::all().iter().filter(|one| one.is_public()) {
        let request = app.anonymous(&operation.method, &operation.url());
        let request = request.bearer_auth("a.b.c");
        if operation.access == Access::Anonymous {
            assert_allowed(request, operation, "a wrong token").await;
        } else {
            problem(request, 401, "unauthenticated").await;
        }
    }
}

#[tokio::test]
async fn services_are_called_with_the_gateways_token_for_callers_without_credentials() {
    let app = TestApp::start().await;
    let keys = app.exchange(app.anonymous("GET", "/.well-known/jwks.json"));
    let header = keys.await.call().metadata["authorization"].clone();
    assert_eq!(header, format!("Bearer {}", app.own_token));
    let keys = app.exchange(app.user("GET", "/.well-known/jwks.json"));
    let header = keys.await.call().metadata["authorization"].clone();
    assert_ne!(header, format!("Bearer {}", app.own_token));
}

#[tokio::test]
async fn callers_without_the_role_admin_are_refused_on_admin_routes_only() {
    let app = TestApp::start().await;
    let callers = [
        ("a user", Kind::User, &[Role::User][..]),
        ("a user without roles", Kind::User, &[]),
        ("a key without roles", Kind::Key, &[]),
    ];
    for operation in operations::all() {
        for (caller, kind, roles) in callers {
            let request = app.with_token(&operation.method, &operation.url(), kind, roles);
            if operation.access == Access::Admin {
                // The body is not read: it would be refused.
                let request = request.header("content-type", "text/plain").body("{");
                problem(request, 403, "forbidden").await;
            } else {
                assert_allowed(request, &operation, caller).await;
            }
        }
    }
}

#[tokio::test]
async fn admins_are_allowed_on_every_route() {
    let app = TestApp::start().await;
    for operation in operations::all() {
        let (method, url) = (&*operation.method, operation.url());
        let by_key = app.anonymous(method, &url).header("apikey", ADMIN_KEY);
        let by_user = app.with_token(method, &url, Kind::User, &[Role::Admin]);
        assert_allowed(by_key, &operation, "an admin key").await;
        assert_allowed(by_user, &operation, "an admin user").await;
    }
}

#[tokio::test]
async fn tokens_of_services_are_refused_on_every_route() {
    let app = TestApp::start().await;
    let checked = operations::all()
        .into_iter()
        .filter(|one| one.access != Access::Anonymous);
    for operation in checked {
        let (method, url) = (&*operation.method, operation.url());
        let request = app.with_token(method, &url, Kind::Service, &[Role::Admin]);
        problem(request, 401, "unauthenticated").await;
    }
    assert!(
        app.services.take_calls().is_empty(),
        "no service was called"
    );
}

#[tokio::test]
async fn the_callers_token_is_passed_to_the_service() {
    let app = TestApp::start().await;
    let url = format!("/products/{ID}");
    let user = app.exchange(app.user("GET", &url)).await;
    let admin = app.exchange(app.admin("GET", &url)).await;
    let token = |exchange: &crate::harness::Exchange| {
        let header = &exchange.call().metadata["authorization"];
        header.to_str().expect("ASCII").to_owned()
    };
    assert!(token(&user).starts_with("Bearer ey"));
    assert_ne!(token(&user), token(&admin));
}

#[tokio::test]
async fn documentation_needs_no_credentials() {
    let app = TestApp::start().await;
    for path in ["/", "/docs/", "/docs/errors", "/openapi.json"] {
        let response = app.anonymous("GET", path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
    }
}

#[tokio::test]
async fn probes_and_metrics_are_not_public() {
    let app = TestApp::start().await;
    for path in ["/livez", "/readyz", "/metrics"] {
        problem(app.admin("GET", path), 404, "route_not_found").await;
    }
}
