//! `/.well-known/jwks.json`

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use proto::identity::v1::GetJwksRequest;

use crate::{error::Problem, extract::Call};

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
