//! `guerdon.identity.v1.AuthService`.

use std::net::{IpAddr, Ipv4Addr};

use platform::{clock::to_proto, grpc::Call};
use proto::identity::v1::{
    ExchangeApiKeyRequest, ExchangeApiKeyResponse, GetJwksRequest, GetJwksResponse,
    IssueAnonymousTokenRequest, IssueAnonymousTokenResponse, IssueServiceTokenRequest,
    IssueServiceTokenResponse, auth_service_server::AuthService,
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
        let from = request.remote_addr();
        let from = from.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |address| address.ip());
        let IssueServiceTokenRequest { service, secret } = request.into_inner();
        let issued = self.0.service_token(&service, &secret, from).await?;
        Ok(Response::new(IssueServiceTokenResponse {
            token: issued.token,
            expires_at: Some(to_proto(issued.expires_at)),
        }))
    }

    async fn issue_anonymous_token(
        &self,
        _request: Request<IssueAnonymousTokenRequest>,
    ) -> Result<Response<IssueAnonymousTokenResponse>, Status> {
        let issued = self.0.anonymous_token()?;
        Ok(Response::new(IssueAnonymousTokenResponse {
            token: issued.token,
            expires_at: Some(to_proto(issued.expires_at)),
        }))
    }

    async fn exchange_api_key(
        &self,
        request: Request<ExchangeApiKeyRequest>,
    ) -> Result<Response<ExchangeApiKeyResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let issued = self.0.exchange_api_key(&body.key).await?;
        Ok(Response::new(ExchangeApiKeyResponse {
            token: issued.token,
            expires_at: Some(to_proto(issued.expires_at)),
        }))
    }
}
