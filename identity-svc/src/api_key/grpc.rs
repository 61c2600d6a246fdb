//! `guerdon.identity.v1.ApiKeyService`.

use platform::grpc::{Call, respond};
use proto::identity::v1::{
    CreateApiKeyRequest, CreateApiKeyResponse, DeleteApiKeyRequest, DeleteApiKeyResponse,
    GetApiKeyRequest, GetApiKeyResponse, ListApiKeysRequest, ListApiKeysResponse,
    api_key_service_server::ApiKeyService,
};
use tonic::{Request, Response, Status};

use super::{ApiKeys, convert, service::Created};
use crate::{auth::api_key::ApiKeyId, error::Error};

#[derive(Debug)]
pub(crate) struct ApiKeyGrpc(pub(crate) ApiKeys);

#[tonic::async_trait]
impl ApiKeyService for ApiKeyGrpc {
    async fn create_api_key(
        &self,
        request: Request<CreateApiKeyRequest>,
    ) -> Result<Response<CreateApiKeyResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let Created { reply, secret } = self.0.create(key.as_ref(), body).await?;
        Ok(respond(reply, |api_key| CreateApiKeyResponse {
            api_key: Some(api_key),
            key: secret.unwrap_or_default(),
        }))
    }

    async fn get_api_key(
        &self,
        request: Request<GetApiKeyRequest>,
    ) -> Result<Response<GetApiKeyResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let api_key = self.0.get(path_id(&body.id)?).await?;
        Ok(Response::new(GetApiKeyResponse {
            api_key: Some(convert::api_key(api_key)),
        }))
    }

    async fn list_api_keys(
        &self,
        request: Request<ListApiKeysRequest>,
    ) -> Result<Response<ListApiKeysResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let page = self.0.list(&body.list.unwrap_or_default()).await?;
        let (api_keys, page) = page.encode(convert::api_key);
        let page = Some(page);
        Ok(Response::new(ListApiKeysResponse { api_keys, page }))
    }

    async fn delete_api_key(
        &self,
        request: Request<DeleteApiKeyRequest>,
    ) -> Result<Response<DeleteApiKeyResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        self.0.delete(&caller, path_id(&body.id)?).await?;
        Ok(Response::new(DeleteApiKeyResponse {}))
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<ApiKeyId, Error> {
    ApiKeyId::parse(text).map_err(|_| Error::ApiKeyNotFound)
}
