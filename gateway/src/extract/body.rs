//! Reads request bodies whole, within the limit.

use axum::body::{Body, Bytes, HttpBody as _};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use platform::error::{Code, Failure};

/// Most bytes of a body.
pub(crate) const MAX_BODY: usize = 1024 * 1024;

/// Reads a whole body.
///
/// # Errors
/// `payload_too_large` past [`MAX_BODY`], before reading where the length is announced;
/// `malformed_json` where the connection ends early.
pub(crate) async fn read(body: Body) -> Result<Bytes, Failure> {
    let too_large = || Failure::new(Code::PayloadTooLarge, format!("at most {MAX_BODY} bytes"));
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(too_large());
    }
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err(Failure::new(Code::MalformedJson, "the body ended early")),
    }
}
