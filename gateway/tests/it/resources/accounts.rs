//! What users do with their accounts by mail.

use serde_json::json;

use crate::{
    harness::{ID, TestApp},
    samples,
};

#[tokio::test]
async fn fields_are_passed_on_and_the_response_is_empty() {
    let app = TestApp::start().await;
    for (path, schema, rpc, message) in [
        (
            "forgot-password",
            "AccountEmail",
            "ForgotPassword",
            json!({"email": "email"}),
        ),
        (
            "reset-password",
            "PasswordReset",
            "ResetPassword",
            json!({"token": "token", "password": "password"}),
        ),
        (
            "resend-confirmation",
            "AccountEmail",
            "ResendConfirmation",
            json!({"email": "email"}),
        ),
        (
            "confirm-email",
            "EmailConfirmation",
            "ConfirmEmail",
            json!({"token": "token"}),
        ),
        (
            &format!("{ID}/change-email"),
            "NewEmail",
            "ChangeEmail",
            json!({"id": ID, "email": "email"}),
        ),
    ] {
        let exchange = app
            .post(&format!("/users/{path}"), &samples::body(schema))
            .await;
        assert_eq!(
            (exchange.status, &exchange.body),
            (204, &json!(null)),
            "{path}"
        );
        assert_eq!(exchange.call().rpc, format!("AccountService/{rpc}"));
        assert_eq!(exchange.call().message, message);
    }
}

#[tokio::test]
async fn a_field_that_is_missing_is_named() {
    let app = TestApp::start().await;
    for (path, field) in [
        ("forgot-password", "email"),
        ("reset-password", "token"),
        ("resend-confirmation", "email"),
        ("confirm-email", "token"),
        (&format!("{ID}/change-email"), "email"),
    ] {
        let exchange = app.post(&format!("/users/{path}"), &json!({})).await;
        assert_eq!(exchange.status, 422, "{path}");
        assert_eq!(exchange.body["errors"][0]["field"], field, "{path}");
    }
}
