//! A user on the wire: requests become checked values, users become messages.

use platform::{
    auth::Role,
    clock::to_proto,
    error::{Failure, FieldCode, Violations},
};
use proto::identity::v1::{self as wire, CreateUserRequest};

use super::{
    email::Email,
    model::{NewProfile, NewUser, User, UserId},
    password::Password,
    referral::ReferralCode,
};
use crate::{
    clients::wallet::WalletId,
    fields::{self, NAME_MAX, TEXT_MAX},
};

/// Reads a creation; the refusal names every field at fault.
pub fn new_user(request: CreateUserRequest) -> Result<NewUser, Failure> {
    let mut violations = Violations::default();
    let v = &mut violations;
    let email =
        required(v, "email", &request.email).and_then(|text| v.value("email", Email::parse(text)));
    let password = required(v, "password", &request.password)
        .and_then(|text| v.value("password", Password::parse(text)));
    let wallet_id = request.primary_wallet_id.as_deref();
    let wallet_id = wallet_id.and_then(|text| v.value("primaryWalletId", WalletId::parse(text)));
    let profile = NewProfile {
        name: fields::optional_text(v, "name", request.name, NAME_MAX),
        locale: fields::optional_text(v, "locale", request.locale, TEXT_MAX),
        roles: roles(v, &request.roles),
        approved: request.approved,
        blocked: request.blocked,
        verified: request.verified,
        custom_data: fields::custom_data(v, request.custom_data),
    };
    let code = fields::optional_text(v, "code", request.code, TEXT_MAX);
    match (email, password) {
        (Some(email), Some(password)) if violations.is_empty() => {
            let code = code.as_deref().map(ReferralCode::read);
            Ok(NewUser {
                email,
                password,
                profile,
                code,
                wallet_id,
            })
        }
        _ => Err(violations.into_failure()),
    }
}

fn required<'t>(violations: &mut Violations, field: &str, text: &'t str) -> Option<&'t str> {
    violations.check(field, !text.is_empty(), FieldCode::Required, "is required");
    (!text.is_empty()).then_some(text)
}

/// The roles, each once; `user` where none is named.
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

/// The ids of a batch.
pub fn ids(texts: &[String]) -> Result<Vec<UserId>, Failure> {
    let ids = texts.iter().map(|text| UserId::parse(text));
    ids.collect::<Result<_, _>>()
        .map_err(|invalid| invalid.at("ids"))
}

/// A user as a message.
pub fn user(user: User) -> wire::User {
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
        metadata: "{}".to_owned(),
        created_at: Some(to_proto(user.created_at)),
        updated_at: Some(to_proto(user.updated_at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> CreateUserRequest {
        CreateUserRequest {
            email: " Ann@Example.com ".to_owned(),
            password: "Abcdefg1".to_owned(),
            ..CreateUserRequest::default()
        }
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let user = new_user(request()).unwrap();
        assert_eq!(user.email.as_str(), "Ann@example.com");
        assert_eq!(user.profile.roles, [Role::User]);
        assert_eq!(user.profile.custom_data, "{}");
        assert!(user.code.is_none() && user.wallet_id.is_none() && user.profile.name.is_none());
    }

    #[test]
    fn every_field_at_fault_is_named() {
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
        let faults: Vec<_> = failure
            .fields
            .iter()
            .map(|fault| (fault.field.as_str(), fault.code))
            .collect();
        assert_eq!(
            faults,
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
    fn a_role_named_twice_is_one() {
        let names = ["admin", "user", "admin"].map(str::to_owned).to_vec();
        let user = new_user(CreateUserRequest {
            roles: names,
            ..request()
        })
        .unwrap();
        assert_eq!(user.profile.roles, [Role::Admin, Role::User]);
    }
}
