//! `/api-keys`

use proto::identity::v1::{ApiKey, CreateApiKeyResponse};
use serde_json::json;

use crate::harness::{ID, TestApp};

#[tokio::test]
async fn the_key_is_in_the_response_to_its_creation_only() {
    let app = TestApp::start().await;
    let body = json!({"name": "Shop", "roles": ["admin"], "expiresAt": "2030-01-01T00:00:00Z"});
    let created = app.post("/api-keys", &body).await;
    assert_eq!(created.status, 201);
    assert_eq!(created.call().message["expires_at"], "2030-01-01T00:00:00Z");
    assert_eq!(created.body["data"]["key"], "key");
    let read = app.get(&format!("/api-keys/{ID}")).await;
    assert_eq!(read.status, 200);
    assert!(read.body["data"].get("key").is_none(), "{}", read.body);
    assert_eq!(read.body["data"]["lastUsedAt"], "2026-01-31T10:00:05.007Z");
    // A recorded response lacks it.
    let replayed = CreateApiKeyResponse {
        api_key: Some(ApiKey::default()),
        key: String::new(),
    };
    app.services.reply("ApiKeyService/CreateApiKey", &replayed);
    let again = app.post("/api-keys", &body).await;
    assert!(again.body["data"].get("key").is_none(), "{}", again.body);
}

#[tokio::test]
async fn name_and_roles_are_required() {
    let app = TestApp::start().await;
    let refused = app.post("/api-keys", &json!({"key": "gk_x"})).await;
    let document = refused.problem(422, "validation_failed").to_string();
    for field in ["name", "roles", "key"] {
        let named = format!(r#""field":"{field}""#);
        assert!(document.contains(&named), "{field}: {document}");
    }
    let malformed = app.delete("/api-keys/x").await;
    malformed.problem(404, "api_key_not_found");
}
