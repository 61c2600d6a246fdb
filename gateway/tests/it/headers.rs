//! Headers of all responses, names in metrics, and the home page.

use reqwest::StatusCode;

use crate::harness::{TestApp, assert_status, problem_of};

#[tokio::test]
async fn every_response_tells_browsers_what_it_is() {
    let app = TestApp::start().await;
    for path in ["/products", "/nope", "/docs/", "/docs/errors", "/"] {
        let response = app.admin("GET", path).send().await.unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("x-frame-options"), "DENY", "{path}");
        assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
        assert!(header("content-security-policy").contains("frame-ancestors 'none'"));
        let is_page = path.starts_with("/docs") || path == "/";
        let scripts = header("content-security-policy").contains("'self'");
        assert_eq!(scripts, is_page, "{path}");
    }
    let response = app.admin("GET", "/products").send().await.unwrap();
    assert_eq!(response.headers()["cache-control"], "no-store");
}

#[tokio::test]
async fn the_home_page_leads_to_the_documentation() {
    let app = TestApp::start().await;
    let home = app.exchange(app.anonymous("GET", "/")).await;
    assert_eq!(home.body["data"]["docs"], "/docs/");
    let page = app.anonymous("GET", "/").header("accept", "text/html,*/*");
    let page = assert_status(page, StatusCode::OK).await;
    assert!(
        page.headers()["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
    );
    let page = page.text().await.unwrap();
    for link in ["/docs/", "/docs/errors", "/openapi.json"] {
        assert!(page.contains(&format!("href=\"{link}\"")), "{link}");
        assert_status(app.anonymous("GET", link), StatusCode::OK).await;
    }
}

#[tokio::test]
async fn an_invented_method_is_405_whatever_the_path() {
    let app = TestApp::start().await;
    for path in ["/products", "/nope", "/"] {
        let response = app.anonymous("INVENTED", path).send().await.unwrap();
        let allowed = response.headers()["allow"].to_str().unwrap().to_owned();
        assert!(allowed.contains("PATCH"), "{allowed}");
        problem_of(response, 405, "method_not_allowed").await;
    }
}
