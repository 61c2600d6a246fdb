//! `/api-keys`

use platform::error::Code;
use proto::identity::v1::{
    self as wire, CreateApiKeyRequest, CreateApiKeyResponse, DeleteApiKeyRequest, GetApiKeyRequest,
    ListApiKeysRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::Time,
    result::{self, DataResult, EmptyResult, ListResult, Located},
};
use crate::{
    error::Problem,
    extract::{Call, Json, ListParams, PathParams, Title},
};

/// The credential of a back end.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKey {
    id: String,
    name: String,
    roles: Vec<String>,
    expires_at: Option<Time>,
    /// To the minute.
    last_used_at: Option<Time>,
    created_at: Option<Time>,
    /// `gk_…`, in the response to the creation only; a repeated response lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key: Option<String>,
}

/// An API key to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewApiKey {
    name: Title,
    /// One or more of `admin`, `user`.
    roles: Vec<String>,
    /// RFC 3339, in the future; by default the key does not expire.
    expires_at: Option<String>,
}

/// Create an API key.
///
/// The response holds the key itself. It is stored as a hash and cannot be shown again.
pub(crate) async fn create(call: Call, Json(body): Json<NewApiKey>) -> DataResult<ApiKey> {
    let request = call.request(CreateApiKeyRequest {
        name: body.name.into(),
        roles: body.roles,
        expires_at: body.expires_at,
    });
    result::created(call.clients.api_keys().create_api_key(request), with_key).await
}

/// List API keys.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<ApiKey> {
    let request = call.request(ListApiKeysRequest { list: Some(list) });
    result::list(call.clients.api_keys().list_api_keys(request), |response| {
        (response.api_keys, response.page)
    })
    .await
}

/// Get an API key.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<ApiKey> {
    let request = call.request(GetApiKeyRequest { id: id(&path)? });
    result::data(call.clients.api_keys().get_api_key(request), |response| {
        response.api_key
    })
    .await
}

/// Revoke an API key.
///
/// It works no more within a second. The key that makes the request and the one of the configuration
/// cannot be revoked (409).
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let request = call.request(DeleteApiKeyRequest { id: id(&path)? });
    result::empty(call.clients.api_keys().delete_api_key(request)).await
}

fn id(path: &PathParams) -> Result<String, Problem> {
    path.id("id", Code::ApiKeyNotFound)
}

/// Takes the created key with its secret, if the response holds it.
fn with_key(response: CreateApiKeyResponse) -> Option<ApiKey> {
    let mut api_key = ApiKey::from(response.api_key?);
    api_key.key = Some(response.key).filter(|key| !key.is_empty());
    Some(api_key)
}

impl Located for ApiKey {
    fn location(&self) -> String {
        format!("/api-keys/{}", self.id)
    }
}

impl From<wire::ApiKey> for ApiKey {
    fn from(key: wire::ApiKey) -> Self {
        Self {
            id: key.id,
            name: key.name,
            roles: key.roles,
            expires_at: Time::of(key.expires_at),
            last_used_at: Time::of(key.last_used_at),
            created_at: Time::of(key.created_at),
            key: None,
        }
    }
}
