//! `guerdon.identity.v1.AuthService`.

use platform::{
    auth::{Caller, Kind},
    clock::to_proto,
    error::{Code, Failure},
    grpc::Call,
};
use proto::identity::v1::{
    ExchangeApiKeyRequest, ExchangeApiKeyResponse, GetJwksRequest, GetJwksResponse,
    IssueServiceTokenRequest, IssueServiceTokenResponse, auth_service_server::AuthService,
};
use tonic::{Request, Response, Status};

use super::Auth;

#[derive(Debug)]
pub(crate) struct AuthGrpc(pub(crate) Auth);

#[tonic::async_trait]
impl AuthService for AuthGrpc {
    async fn get_jwks(
        &self,
        _request: Request<GetJwksRequest>,
    ) -> Result<Response<GetJwksResponse>, Status> {
        let jwks_json = self.0.jwks_json();
        Ok(Response::new(GetJwksResponse { jwks_json }))
    }

    async fn issue_service_token(
        &self,
        request: Request<IssueServiceTokenRequest>,
    ) -> Result<Response<IssueServiceTokenResponse>, Status> {
        let IssueServiceTokenRequest { service, secret } = request.into_inner();
        let issued = self.0.service_token(&service, &secret)?;
        Ok(Response::new(IssueServiceTokenResponse {
            token: issued.token,
            expires_at: Some(to_proto(issued.expires_at)),
        }))
    }

    async fn exchange_api_key(
        &self,
        request: Request<ExchangeApiKeyRequest>,
    ) -> Result<Response<ExchangeApiKeyResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        require_service(&caller)?;
        let issued = self.0.exchange_api_key(&body.key).await?;
        Ok(Response::new(ExchangeApiKeyResponse {
            token: issued.token,
            expires_at: Some(to_proto(issued.expires_at)),
        }))
    }
}

/// Only the gateway exchanges keys, never the holder of another credential.
fn require_service(caller: &Caller) -> Result<(), Failure> {
    match caller.kind {
        Kind::Service => Ok(()),
        Kind::User | Kind::Key => Err(Failure::new(
            Code::Forbidden,
            "only for Guerdon's own processes",
        )),
    }
}
