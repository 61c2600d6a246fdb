//! `/auth/token` and `/.well-known/jwks.json`

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use proto::identity::v1::{
    GetJwksRequest, LogInRequest, RefreshTokenRequest, RevokeRefreshTokenRequest, UserTokens,
    ValidateTokenRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    result::{self, DataResult, EmptyResult},
    users::User,
};
use crate::{
    App,
    client_address::ClientAddress,
    error::Problem,
    extract::{Call, Json},
};

/// The email and password of a user.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewLogin {
    /// In any case.
    email: String,
    password: String,
}

/// The tokens of a user who is logged in.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tokens {
    /// For `Authorization: Bearer`.
    token: String,
    /// To be used once, for the next tokens. It expires after 30 days without use.
    refresh_token: String,
    roles: Vec<String>,
    /// The lifetime of `token` in seconds.
    expires_in: u32,
}

/// A refresh token.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RefreshToken {
    refresh_token: String,
}

/// A user's token to validate.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ValidatedToken {
    token: String,
}

/// What a valid token stands for.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ValidToken {
    user: User,
}

/// How long a client may use the keys before it fetches them again.
const KEYS_MAX_AGE: &str = "public, max-age=60";

/// The public keys that verify tokens, a JSON Web Key Set (RFC 7517).
#[derive(utoipa::ToSchema)]
#[expect(
    dead_code,
    reason = "it describes the document that identity-svc writes"
)]
pub(crate) struct JsonWebKeySet {
    keys: Vec<JsonWebKey>,
}

/// A public key (RFC 8037).
#[derive(utoipa::ToSchema)]
#[expect(
    dead_code,
    reason = "it describes the document that identity-svc writes"
)]
pub(crate) struct JsonWebKey {
    /// `OKP`
    kty: String,
    /// `Ed25519`
    crv: String,
    /// `sig`
    r#use: String,
    /// `EdDSA`
    alg: String,
    /// The id of the key, which the header of a token names.
    kid: String,
    /// The public key in base64url.
    x: String,
}

/// Log a user in.
///
/// An unknown email, a wrong password, and a user who is blocked or not approved yet get the same 401.
/// After five wrong passwords of one address for one email, each attempt has to wait twice as long as
/// the one before, up to 15 minutes: 429 with `Retry-After`. Other addresses are not affected.
pub(crate) async fn log_in(
    call: Call,
    State(app): State<App>,
    address: ClientAddress,
    Json(body): Json<NewLogin>,
) -> DataResult<Tokens> {
    let login = app.login_waits.begin(&body.email, address)?;
    let request = call.request(LogInRequest {
        email: body.email,
        password: body.password,
        client_address: address.0.to_string(),
    });
    let mut auth = call.clients.auth();
    let tokens = result::data(auth.log_in(request), |response| response.tokens);
    tokens.await.inspect_err(|problem| login.refused(problem))
}

/// Get new tokens for a refresh token.
///
/// A refresh token works once. If it is used again, also at the same time, it was copied: that is 401,
/// and the refresh tokens that followed from the same login work no more.
pub(crate) async fn refresh(call: Call, Json(body): Json<RefreshToken>) -> DataResult<Tokens> {
    let request = call.request(RefreshTokenRequest {
        refresh_token: body.refresh_token,
    });
    result::data(call.clients.auth().refresh_token(request), |response| {
        response.tokens
    })
    .await
}

/// Log a user out.
///
/// The refresh tokens that followed from the same login work no more; a token ends by itself within
/// ten minutes. A refresh token that is not valid is accepted as well.
pub(crate) async fn revoke(call: Call, Json(body): Json<RefreshToken>) -> EmptyResult {
    let request = call.request(RevokeRefreshTokenRequest {
        refresh_token: body.refresh_token,
    });
    result::empty(call.clients.auth().revoke_refresh_token(request)).await
}

/// Get the user of a token.
///
/// A token that is not valid is 401, and so is that of a user who may not log in any more.
pub(crate) async fn validate(
    call: Call,
    Json(body): Json<ValidatedToken>,
) -> DataResult<ValidToken> {
    let request = call.request(ValidateTokenRequest {
        access_token: body.token,
    });
    result::data(call.clients.auth().validate_token(request), |response| {
        response.user
    })
    .await
}

/// Get the public keys that verify tokens.
///
/// A token names its key in `kid`. Fetch the keys again when a token names an unknown one.
pub(crate) async fn jwks(call: Call) -> Result<Response, Problem> {
    let request = call.request(GetJwksRequest {});
    let response = call.clients.auth().get_jwks(request).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, KEYS_MAX_AGE),
    ];
    Ok((headers, response.into_inner().jwks_json).into_response())
}

impl From<UserTokens> for Tokens {
    fn from(tokens: UserTokens) -> Self {
        Self {
            token: tokens.access_token,
            refresh_token: tokens.refresh_token,
            roles: tokens.roles,
            expires_in: tokens.expires_in_seconds,
        }
    }
}

impl From<proto::identity::v1::User> for ValidToken {
    fn from(user: proto::identity::v1::User) -> Self {
        Self { user: user.into() }
    }
}
