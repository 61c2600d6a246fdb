//! Path parameters. A malformed id is not found: 404, not 400.

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use platform::{
    error::{Code, Failure},
    ids,
};

use crate::{App, error::Problem};

/// The parameters of the matched route, decoded.
#[derive(Debug)]
pub(crate) struct PathParams(Vec<(String, String)>);

impl FromRequestParts<App> for PathParams {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &App) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| Failure::new(Code::RouteNotFound, "the path is not valid UTF-8"))?;
        Ok(Self(
            params
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        ))
    }
}

impl PathParams {
    /// Parses a UUID, returned in lower case. Another form is not found, with this code.
    pub(crate) fn id(&self, name: &str, missing: Code) -> Result<String, Problem> {
        let value = self.text(name);
        let not_found = || Failure::new(missing, missing.title().to_lowercase());
        ids::parse_uuid(value)
            .map(|id| id.to_string())
            .map_err(|_| not_found().into())
    }

    /// Returns the parameter as it is.
    pub(crate) fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        &found.expect("the route's path has this parameter").1
    }
}
