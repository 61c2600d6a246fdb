//! Problem documents: every public code, faults of our own, and statuses of others.

use std::time::Duration;

use platform::error::{Code, Failure, FieldCode};
use proto::catalog::v1::GetProductResponse;
use serde_json::json;
use tonic::Status;

use crate::harness::{ID, TestApp, problem, problem_of};

const GET_PRODUCT: &str = "ProductService/GetProduct";

fn path() -> String {
    format!("/products/{ID}")
}

#[tokio::test]
async fn a_refusal_of_a_service_is_shown_whole() {
    let app = TestApp::start().await;
    let refusal = Failure::new(Code::AmountPrecision, "usd has 2 decimal places")
        .field(
            "lines[0].amount",
            FieldCode::Precision,
            "at most 2 decimal places",
        )
        .field("walletId", Code::WalletLocked, "wallet locked");
    app.services.fail(GET_PRODUCT, refusal);
    let request = app.admin("GET", &path()).header("x-request-id", "r-1");
    let mut document = problem(request, 422, "amount_precision").await;
    document.as_object_mut().unwrap().remove("traceId");
    insta::assert_json_snapshot!(document, @r#"
    {
      "code": "amount_precision",
      "data": {},
      "detail": "usd has 2 decimal places",
      "errors": [
        {
          "code": "precision",
          "field": "lines[0].amount",
          "message": "at most 2 decimal places"
        },
        {
          "code": "wallet_locked",
          "field": "walletId",
          "message": "wallet locked"
        }
      ],
      "instance": "/products/01920000-0000-7000-8000-000000000001",
      "requestId": "r-1",
      "status": 422,
      "title": "Amount precision",
      "type": "/docs/errors#amount_precision"
    }
    "#);
}

#[tokio::test]
async fn an_internal_code_is_a_fault() {
    let app = TestApp::start().await;
    let failure = Failure::new(Code::OperationExpired, "too late");
    app.services.fail(GET_PRODUCT, failure);
    let response = app.admin("GET", &path()).send().await.unwrap();
    let document = problem_of(response, 500, "internal").await;
    assert_eq!(document["detail"], Code::Internal.about());
}

#[tokio::test]
async fn every_code_has_its_status_title_and_page() {
    let app = TestApp::start().await;
    for code in Code::PUBLIC.iter().copied() {
        app.services
            .fail(GET_PRODUCT, Failure::new(code, "the detail"));
        let response = app.admin("GET", &path()).send().await.unwrap();
        let headers = response.headers().clone();
        let document = problem_of(response, code.http().as_u16(), code.as_str()).await;
        let is_fault = code.http().is_server_error();
        let detail = if is_fault { code.about() } else { "the detail" };
        assert_eq!(document["detail"], detail, "{code}");
        assert_eq!(document["title"], code.title());
        assert_eq!(document["errors"], json!([]));
        assert_eq!(document["data"], json!({}));
        assert_eq!(document["instance"], path());
        let retry_after = headers
            .get("retry-after")
            .map(|value| value.to_str().unwrap());
        assert_eq!(retry_after, code.is_transient().then_some("1"), "{code}");
        let challenge = headers.contains_key("www-authenticate");
        assert_eq!(challenge, code == Code::Unauthenticated, "{code}");
    }
}

#[tokio::test]
async fn the_delay_of_a_service_is_forwarded_in_whole_seconds() {
    let app = TestApp::start().await;
    for (delay, seconds) in [(200, "1"), (1_500, "2"), (7_000, "7")] {
        let busy = Failure::new(Code::OrderBusy, "a payment is in progress");
        let busy = busy.retry_after(Duration::from_millis(delay));
        app.services.fail(GET_PRODUCT, busy);
        let response = app.admin("GET", &path()).send().await.unwrap();
        assert_eq!(response.headers()["retry-after"], seconds, "{delay} ms");
    }
}

#[tokio::test]
async fn statuses_of_others_are_never_the_clients_fault() {
    let app = TestApp::start().await;
    for (status, http, code) in [
        (
            Status::unavailable("connection refused"),
            503,
            "unavailable",
        ),
        (
            Status::resource_exhausted("enhance your calm"),
            503,
            "unavailable",
        ),
        (Status::deadline_exceeded("slow"), 504, "timeout"),
        (Status::cancelled("Timeout expired"), 504, "timeout"),
        (Status::invalid_argument("bad frame"), 500, "internal"),
        (Status::not_found("no such host"), 500, "internal"),
        (Status::permission_denied("proxy"), 500, "internal"),
        (Status::unauthenticated("proxy"), 500, "internal"),
        (Status::unimplemented("no such method"), 500, "internal"),
        (Status::unknown("?"), 500, "internal"),
    ] {
        let secret = status.message().to_owned();
        app.services.fail_with_status(GET_PRODUCT, status);
        let document = problem(app.admin("GET", &path()), http, code).await;
        assert!(!document.to_string().contains(&secret), "{secret}");
    }
}

#[tokio::test]
async fn faults_show_nothing_of_their_cause() {
    let app = TestApp::start().await;
    let fault = Failure::internal("relation \"products\" does not exist");
    app.services.fail(GET_PRODUCT, fault);
    let document = problem(app.admin("GET", &path()), 500, "internal").await;
    assert_eq!(document["detail"], Code::Internal.about());
}

#[tokio::test]
async fn a_response_without_its_resource_is_a_fault() {
    let app = TestApp::start().await;
    let empty = GetProductResponse::default();
    app.services.reply(GET_PRODUCT, &empty);
    problem(app.admin("GET", &path()), 500, "internal").await;
}

#[tokio::test]
async fn a_fault_of_one_of_two_calls_is_the_responses() {
    let app = TestApp::start().await;
    let missing = Failure::new(Code::OrderLineNotFound, "order line not found");
    app.services.fail("OrderLineService/GetOrderLine", missing);
    let request = app.admin("GET", &format!("/orders/{ID}/lines/{ID}"));
    problem(request, 404, "order_line_not_found").await;
}

#[tokio::test]
async fn head_of_a_problem_has_no_body() {
    let app = TestApp::start().await;
    let missing = Failure::new(Code::ProductNotFound, "product not found");
    app.services.fail(GET_PRODUCT, missing);
    let exchange = app.exchange(app.admin("HEAD", &path())).await;
    assert_eq!(exchange.status, 404);
    assert!(exchange.body.is_null());
}
