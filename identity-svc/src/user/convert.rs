//! Conversion between users and their messages.

use chrono::{DateTime, SecondsFormat, Utc};
use platform::{
    auth::Role,
    clock::to_proto,
    error::{Failure, FieldCode, InvalidValue, Violations},
    fields::Fields,
    text,
};
use proto::identity::v1::{self as wire, CreateUserRequest, SignUpRequest, UpdateUserRequest};

use super::{
    email::Email,
    model::{NewProfile, NewUser, User, UserId, UserPatch},
    password::Password,
};
use crate::{
    clients::wallet::WalletId,
    fields::{self, MAX_TEXT, cleared},
    sign_up_code::SignUpCode,
};

/// Decodes a creation. The error names every invalid field.
pub(crate) fn new_user(request: CreateUserRequest) -> Result<NewUser, Failure> {
    let mut violations = Violations::default();
    let v = &mut violations;
    let email =
        required(v, "email", &request.email).and_then(|text| v.value("email", Email::parse(text)));
    let password = required(v, "password", &request.password)
        .and_then(|text| v.value("password", Password::parse(text)));
    if let (Some(email), Some(password)) = (&email, &password) {
        v.value("password", password.check_for(email.as_str()));
    }
    let wallet_id = request
        .primary_wallet_id
        .and_then(|text| v.value("primaryWalletId", WalletId::parse(&text)));
    let profile = NewProfile {
        name: optional(v, "name", request.name, fields::name),
        locale: optional(v, "locale", request.locale, fields::text),
        roles: roles(v, &request.roles),
        approved: request.approved,
        blocked: request.blocked,
        verified: request.verified,
        custom_data: fields::custom_data(v, request.custom_data),
    };
    // An empty code is one that nobody has, not an absent one.
    let code = request
        .code
        .filter(|code| v.value("code", text::check(code, 0..=MAX_TEXT)).is_some());
    match (email, password) {
        (Some(email), Some(password)) if violations.is_empty() => Ok(NewUser {
            email,
            password,
            profile,
            code: code.as_deref().map(SignUpCode::parse),
            wallet_id,
            confirms_email: false,
        }),
        _ => Err(violations.into_failure()),
    }
}

/// Parses an optional text; an empty one is `None`.
fn optional(
    violations: &mut Violations,
    field: &str,
    written: Option<String>,
    parse: impl FnOnce(String) -> Result<Option<String>, InvalidValue>,
) -> Option<String> {
    violations.value(field, parse(written?)).flatten()
}

/// Decodes a change of the profile. The error names every invalid field.
pub(crate) fn user_patch(request: UpdateUserRequest) -> Result<UserPatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask);
    let patch = UserPatch {
        name: cleared(fields.patched("name", request.name, fields::name)),
        locale: cleared(fields.patched("locale", request.locale, fields::text)),
        custom_data: fields.changed("custom_data", request.custom_data, text::object),
    };
    fields.finish()?;
    Ok(patch)
}

/// Decodes a new password.
pub(crate) fn password(text: &str) -> Result<Password, Failure> {
    let mut violations = Violations::default();
    let password = required(&mut violations, "password", text)
        .and_then(|text| violations.value("password", Password::parse(text)));
    password.ok_or_else(|| violations.into_failure())
}

fn required<'t>(violations: &mut Violations, field: &str, text: &'t str) -> Option<&'t str> {
    violations.check(field, !text.is_empty(), FieldCode::Required, "is required");
    (!text.is_empty()).then_some(text)
}

/// Parses role names and drops repeats; the default is `user`.
fn roles(violations: &mut Violations, names: &[String]) -> Vec<Role> {
    let mut roles = Vec::new();
    for name in names {
        match Role::parse(name) {
            Some(role) if roles.contains(&role) => {}
            Some(role) => roles.push(role),
            None => violations.add("roles", FieldCode::Enum, "must be of: admin, user"),
        }
    }
    if roles.is_empty() {
        roles.push(Role::User);
    }
    roles
}

/// Parses the ids of a batch.
pub(crate) fn ids(texts: &[String]) -> Result<Vec<UserId>, Failure> {
    texts
        .iter()
        .map(|text| UserId::parse(text).map_err(|invalid| invalid.at("ids")))
        .collect()
}

pub(crate) fn user(user: User) -> wire::User {
    wire::User {
        id: user.id.to_string(),
        email: user.email,
        name: user.name,
        phone: user.phone,
        locale: user.locale,
        roles: user
            .roles
            .iter()
            .map(|role| role.as_str().to_owned())
            .collect(),
        approved: user.approved,
        blocked: user.blocked,
        verified: user.verified,
        primary_wallet_id: user.primary_wallet_id.to_string(),
        referral_code: user.referral_code,
        referral_user_id: user.referral_user_id.map(String::from),
        custom_data: user.custom_data,
        metadata: metadata(user.email_confirmed_at),
        created_at: Some(to_proto(user.created_at)),
        updated_at: Some(to_proto(user.updated_at)),
        version: user.version,
    }
}

/// Returns what the contract has no field for.
fn metadata(email_confirmed_at: Option<DateTime<Utc>>) -> String {
    let mut metadata = serde_json::Map::new();
    if let Some(time) = email_confirmed_at {
        let time = time.to_rfc3339_opts(SecondsFormat::Millis, true);
        metadata.insert("emailConfirmedAt".to_owned(), time.into());
    }
    serde_json::Value::from(metadata).to_string()
}

/// Decodes a sign-up: a creation without the fields that only admins may set.
pub(crate) fn sign_up(request: SignUpRequest) -> Result<NewUser, Failure> {
    let new = new_user(CreateUserRequest {
        email: request.email,
        password: request.password,
        name: request.name,
        locale: request.locale,
        code: request.code,
        custom_data: request.custom_data,
        ..CreateUserRequest::default()
    })?;
    // Whom an admin creates is known to the admin.
    Ok(NewUser {
        confirms_email: true,
        ..new
    })
}

/// Encodes a referral: the whole user for admins, and what its referrer may know for others.
pub(crate) fn referral(referred: User, whole: bool) -> wire::Referral {
    wire::Referral {
        id: referred.id.to_string(),
        name: referred.name.clone(),
        created_at: Some(to_proto(referred.created_at)),
        updated_at: Some(to_proto(referred.updated_at)),
        user: whole.then(|| user(referred)),
    }
}

#[cfg(test)]
mod tests {
    use platform::patch::Patch;

    use super::*;

    fn request() -> CreateUserRequest {
        CreateUserRequest {
            email: " Ann@Example.com ".to_owned(),
            password: "Abcdefg1".to_owned(),
            ..CreateUserRequest::default()
        }
    }

    #[test]
    fn absent_fields_have_defaults() {
        let user = new_user(request()).unwrap();
        assert_eq!(user.email.as_str(), "Ann@example.com");
        assert_eq!(user.profile.roles, [Role::User]);
        assert_eq!(user.profile.custom_data, "{}");
        assert_eq!(user.code, None);
        assert_eq!(user.wallet_id, None);
        assert_eq!(user.profile.name, None);
    }

    #[test]
    fn an_empty_code_is_a_code() {
        let user = new_user(CreateUserRequest {
            code: Some(String::new()),
            ..request()
        });
        assert_eq!(user.unwrap().code, Some(SignUpCode::parse("")));
    }

    #[test]
    fn every_invalid_field_is_named() {
        let failure = new_user(CreateUserRequest {
            email: String::new(),
            password: "short".to_owned(),
            name: Some("x".repeat(256)),
            roles: vec!["user".to_owned(), "emperor".to_owned()],
            primary_wallet_id: Some("1".to_owned()),
            custom_data: Some("[]".to_owned()),
            ..CreateUserRequest::default()
        })
        .unwrap_err();
        let violations: Vec<_> = failure
            .fields
            .iter()
            .map(|violation| (violation.field.as_str(), violation.code))
            .collect();
        assert_eq!(
            violations,
            [
                ("email", FieldCode::Required),
                ("password", FieldCode::Length),
                ("primaryWalletId", FieldCode::Format),
                ("name", FieldCode::Length),
                ("roles", FieldCode::Enum),
                ("customData", FieldCode::Type),
            ]
        );
    }

    #[test]
    fn metadata_has_the_time_of_the_confirmation() {
        assert_eq!(metadata(None), "{}");
        let time = "2026-01-31T12:00:00Z".parse().unwrap();
        assert_eq!(
            metadata(Some(time)),
            r#"{"emailConfirmedAt":"2026-01-31T12:00:00.000Z"}"#
        );
    }

    #[test]
    fn a_patch_has_three_states() {
        let patch = |paths: &[&str], name: Option<&str>, custom_data: Option<&str>| {
            user_patch(UpdateUserRequest {
                name: name.map(str::to_owned),
                custom_data: custom_data.map(str::to_owned),
                update_mask: Some(prost_types::FieldMask {
                    paths: paths.iter().map(|path| (*path).to_owned()).collect(),
                }),
                ..UpdateUserRequest::default()
            })
        };
        let name = |paths, name| patch(paths, name, None).unwrap().name;
        assert_eq!(name(&[], Some("Ann")), Patch::Absent);
        assert_eq!(name(&["name"], Some("Ann")), Patch::Set("Ann".to_owned()));
        assert_eq!(name(&["name"], Some("")), Patch::Null);
        assert_eq!(name(&["name"], None), Patch::Null);

        let fields = |paths, name, data| {
            let failure = patch(paths, name, data).unwrap_err();
            let fields = failure.fields.into_iter();
            fields.map(|field| field.field).collect::<Vec<_>>()
        };
        let long = "x".repeat(256);
        assert_eq!(
            fields(&["name", "custom_data"], Some(&*long), None),
            ["name", "customData"]
        );
        assert_eq!(fields(&["custom_data"], None, Some("[]")), ["customData"]);
        assert_eq!(fields(&["roles"], None, None), ["roles"]);
    }

    #[test]
    fn repeated_roles_are_dropped() {
        let names = ["admin", "user", "admin"].map(str::to_owned).to_vec();
        let user = new_user(CreateUserRequest {
            roles: names,
            ..request()
        })
        .unwrap();
        assert_eq!(user.profile.roles, [Role::Admin, Role::User]);
    }
}
