//! `guerdon.identity.v1.AuthService`.

use std::net::{IpAddr, Ipv4Addr};

use platform::{auth::Caller, clock::to_proto};
use proto::identity::v1::{
    ExchangeApiKeyRequest, ExchangeApiKeyResponse, GetJwksRequest, GetJwksResponse,
    IssueAnonymousTokenRequest, IssueAnonymousTokenResponse, IssueServiceTokenRequest,
    IssueServiceTokenResponse, LogInRequest, LogInResponse, RefreshTokenRequest,
    RefreshTokenResponse, RevokeRefreshTokenRequest, RevokeRefreshTokenResponse,
    ValidateTokenRequest, ValidateTokenResponse, auth_service_server::AuthService,
};
use tonic::{Request, Response, Status};

use super::{Auth, Sessions, sessions::Login};
use crate::{error::Error, user::convert};

#[derive(Debug)]
pub(crate) struct AuthGrpc {
    pub(crate) auth: Auth,
    pub(crate) sessions: Sessions,
}

#[tonic::async_trait]
impl AuthService for AuthGrpc {
    async fn get_jwks(
        &self,
        _request: Request<GetJwksRequest>,
    ) -> Result<Response<GetJwksResponse>, Status> {
        let jwks_json = self.auth.jwks_json();
        Ok(Response::new(GetJwksResponse { jwks_json }))
    }

    async fn issue_service_token(
        &self,
        request: Request<IssueServiceTokenRequest>,
    ) -> Result<Response<IssueServiceTokenResponse>, Status> {
        let from = address_of(&request);
        let IssueServiceTokenRequest { service, secret } = request.into_inner();
        let issued = self.auth.service_token(&service, &secret, from).await?;
        Ok(Response::new(IssueServiceTokenResponse {
            token: issued.token,
            expires_at: Some(to_proto(issued.expires_at)),
        }))
    }

    async fn issue_anonymous_token(
        &self,
        _request: Request<IssueAnonymousTokenRequest>,
    ) -> Result<Response<IssueAnonymousTokenResponse>, Status> {
        let issued = self.auth.anonymous_token()?;
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
            self.auth.exchange_api_key(&key).await?
        } else {
            self.auth.exchange_api_key_from(&key, from).await?
        };
        Ok(Response::new(ExchangeApiKeyResponse {
            token: issued.token,
            expires_at: Some(to_proto(issued.expires_at)),
        }))
    }

    async fn log_in(
        &self,
        request: Request<LogInRequest>,
    ) -> Result<Response<LogInResponse>, Status> {
        let body = request.into_inner();
        let login = Login {
            from: body.client_address.parse().map_err(Error::internal)?,
            email: body.email,
            password: body.password,
        };
        let tokens = Some(self.sessions.log_in(login).await?);
        Ok(Response::new(LogInResponse { tokens }))
    }

    async fn refresh_token(
        &self,
        request: Request<RefreshTokenRequest>,
    ) -> Result<Response<RefreshTokenResponse>, Status> {
        let body = request.into_inner();
        let tokens = Some(self.sessions.refresh(&body.refresh_token).await?);
        Ok(Response::new(RefreshTokenResponse { tokens }))
    }

    async fn revoke_refresh_token(
        &self,
        request: Request<RevokeRefreshTokenRequest>,
    ) -> Result<Response<RevokeRefreshTokenResponse>, Status> {
        let body = request.into_inner();
        self.sessions.revoke(&body.refresh_token).await?;
        Ok(Response::new(RevokeRefreshTokenResponse {}))
    }

    async fn validate_token(
        &self,
        request: Request<ValidateTokenRequest>,
    ) -> Result<Response<ValidateTokenResponse>, Status> {
        let body = request.into_inner();
        let user = self.sessions.user_of(&body.access_token).await?;
        let user = Some(convert::user(user));
        Ok(Response::new(ValidateTokenResponse { user }))
    }
}

/// Returns the address of the caller's connection.
fn address_of<T>(request: &Request<T>) -> IpAddr {
    let address = request.remote_addr();
    address.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |address| address.ip())
}
