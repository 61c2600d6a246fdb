//! `guerdon.identity.v1.AuthService`.

use std::net::{IpAddr, Ipv4Addr};

use platform::{auth::Caller, clock::to_proto};
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
        let from = address_of(&request);
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
        let by_service = Caller::of(&request).is_ok_and(Caller::is_service);
        let from = address_of(&request);
        let ExchangeApiKeyRequest { key } = request.into_inner();
        let issued = if by_service {
            self.0.exchange_api_key(&key).await?
        } else {
            self.0.exchange_api_key_from(&key, from).await?
        };
        Ok(Response::new(ExchangeApiKeyResponse {
            token: issued.token,
            expires_at: Some(to_proto(issued.expires_at)),
        }))
    }
}

/// Returns the address of the caller's connection.
fn address_of<T>(request: &Request<T>) -> IpAddr {
    let address = request.remote_addr();
    address.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |address| address.ip())
}
