//! Conversion between API keys and their messages.

use chrono::{DateTime, SubsecRound as _, Utc};
use platform::{
    auth::Role,
    clock::to_proto,
    error::{Failure, FieldCode, InvalidValue, Violations},
    text,
};
use proto::identity::v1::{self as wire, CreateApiKeyRequest};

use super::model::{ApiKey, NewApiKey};
use crate::fields::MAX_NAME;

/// Decodes a creation. The error names every invalid field.
pub(super) fn new_api_key(
    request: CreateApiKeyRequest,
    now: DateTime<Utc>,
) -> Result<NewApiKey, Failure> {
    let mut violations = Violations::default();
    let v = &mut violations;
    v.check(
        "name",
        !request.name.is_empty(),
        FieldCode::Required,
        "is required",
    );
    v.value("name", text::check(&request.name, 0..=MAX_NAME));
    let roles = roles(v, &request.roles);
    let expires_at = request
        .expires_at
        .and_then(|text| v.value("expiresAt", future(&text, now)));
    violations.finish()?;
    Ok(NewApiKey {
        name: request.name,
        roles,
        expires_at,
    })
}

/// Parses role names and drops repeats.
fn roles(violations: &mut Violations, names: &[String]) -> Vec<Role> {
    let mut roles = Vec::new();
    violations.check(
        "roles",
        !names.is_empty(),
        FieldCode::Required,
        "is required",
    );
    for name in names {
        match Role::parse(name) {
            Some(role) if roles.contains(&role) => {}
            Some(role) => roles.push(role),
            None => violations.add("roles", FieldCode::Enum, "must be of: admin, user"),
        }
    }
    roles
}

/// Parses a time that is to come.
fn future(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, InvalidValue> {
    let time = DateTime::parse_from_rfc3339(text)
        .map_err(|_| InvalidValue::new(FieldCode::Format, "must be a time (RFC 3339)"))?;
    let time = time.to_utc().trunc_subsecs(3);
    if time <= now {
        return Err(InvalidValue::new(FieldCode::Range, "must be in the future"));
    }
    Ok(time)
}

pub(super) fn api_key(key: ApiKey) -> wire::ApiKey {
    wire::ApiKey {
        id: key.id.to_string(),
        name: key.name,
        roles: key
            .roles
            .iter()
            .map(|role| role.as_str().to_owned())
            .collect(),
        expires_at: key.expires_at.map(to_proto),
        last_used_at: key.last_used_at.map(to_proto),
        created_at: Some(to_proto(key.created_at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(expires_at: &str) -> CreateApiKeyRequest {
        CreateApiKeyRequest {
            name: "Shop".to_owned(),
            roles: ["admin", "user", "admin"].map(str::to_owned).to_vec(),
            expires_at: Some(expires_at.to_owned()),
        }
    }

    fn now() -> DateTime<Utc> {
        "2026-01-31T10:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_creation_has_each_role_once_and_a_time_in_milliseconds() {
        let new = new_api_key(request("2026-01-31T11:00:00.0019+01:00"), now()).unwrap();
        assert_eq!(new.roles, [Role::Admin, Role::User]);
        let expires_at = new.expires_at.unwrap().to_rfc3339();
        assert_eq!(expires_at, "2026-01-31T10:00:00.001+00:00");
    }

    #[test]
    fn every_invalid_field_is_named() {
        let codes = |request| {
            let failure = new_api_key(request, now()).unwrap_err();
            let fields = failure.fields.into_iter();
            fields
                .map(|field| (field.field, field.code))
                .collect::<Vec<_>>()
        };
        let named = |field: &str, code| (field.to_owned(), code);
        assert_eq!(
            codes(CreateApiKeyRequest::default()),
            [
                named("name", FieldCode::Required),
                named("roles", FieldCode::Required)
            ]
        );
        let mut bad = request("2026-01-31T10:00:00Z");
        bad.name = "x".repeat(256);
        bad.roles = vec!["emperor".to_owned()];
        assert_eq!(
            codes(bad),
            [
                named("name", FieldCode::Length),
                named("roles", FieldCode::Enum),
                named("expiresAt", FieldCode::Range)
            ]
        );
        for text in ["", "tomorrow", "2026-02-01", "2026-02-30T00:00:00Z"] {
            assert_eq!(
                codes(request(text)),
                [named("expiresAt", FieldCode::Format)],
                "{text}"
            );
        }
    }
}
