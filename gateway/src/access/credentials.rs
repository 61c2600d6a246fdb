//! The credentials in the headers of a request.

use axum::http::{HeaderMap, header};
use platform::error::{Code, Failure};

/// The prefix of API keys, by which they are told from tokens in `Authorization`.
const KEY_PREFIX: &str = "gk_";

/// The credentials of a request.
#[derive(PartialEq, Eq)]
pub(super) enum Credentials<'a> {
    ApiKey(&'a str),
    Token(&'a str),
}

impl<'a> Credentials<'a> {
    /// Reads the credentials. More than one are refused: caches and logs between the client and the
    /// gateway may have looked at the other.
    pub(super) fn of(headers: &'a HeaderMap) -> Result<Option<Self>, Failure> {
        let key = only(headers, "apikey")?;
        let authorization = only(headers, header::AUTHORIZATION.as_str())?;
        match (key, authorization) {
            (Some(_), Some(_)) => Err(repeated()),
            (Some(key), None) => Ok(Some(Self::ApiKey(key))),
            (None, Some(authorization)) => Self::of_authorization(authorization).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn of_authorization(authorization: &'a str) -> Result<Self, Failure> {
        let (scheme, token) = authorization.split_once(' ').ok_or_else(malformed)?;
        match token.trim() {
            _ if !scheme.eq_ignore_ascii_case("bearer") => Err(malformed()),
            key if key.starts_with(KEY_PREFIX) => Ok(Self::ApiKey(key)),
            token => Ok(Self::Token(token)),
        }
    }
}

/// Returns the value of a header that may occur once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Failure> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() {
        return Err(repeated());
    }
    let text = value.map(|value| value.to_str().map_err(|_| malformed()));
    text.transpose()
}

fn malformed() -> Failure {
    Failure::new(Code::Unauthenticated, "the credentials are malformed")
}

fn repeated() -> Failure {
    let detail = "send one credential: an API key in `apikey`, or a token in `Authorization`";
    Failure::new(Code::Unauthenticated, detail)
}
