//! `POST /users`: by an admin, or by anybody who signs up.

use platform::error::{Code, Failure};
use proto::identity::v1::{CreateUserRequest, SignUpRequest};
use serde::Deserialize;

use super::User;
use crate::{
    extract::{Call, CustomData, Id, Json, Name, Text},
    resources::result::{self, DataResult},
};

/// A user to create.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewUser {
    email: String,
    /// At least 8 characters with a capital, a lower-case letter and a digit; at most 256.
    password: String,
    name: Option<Name>,
    locale: Option<Text>,
    approved: Option<bool>,
    blocked: Option<bool>,
    verified: Option<bool>,
    /// Default `["user"]`.
    roles: Option<Vec<String>>,
    /// A referral code or an invite code.
    code: Option<Text>,
    primary_wallet_id: Option<Id>,
    custom_data: Option<CustomData>,
}

/// Create a user and its primary wallet.
pub(crate) async fn create(call: Call, Json(body): Json<NewUser>) -> DataResult<User> {
    if !call.is_admin() {
        return sign_up(call, body).await;
    }
    let request = call.request(body.into());
    result::created(call.clients.users().create_user(request), |response| {
        response.user
    })
    .await
}

async fn sign_up(call: Call, body: NewUser) -> DataResult<User> {
    let request = call.request(body.into_sign_up()?);
    result::created(call.clients.users().sign_up(request), |response| {
        response.user
    })
    .await
}

impl NewUser {
    /// Refuses the fields that only an admin may set.
    fn into_sign_up(self) -> Result<SignUpRequest, Failure> {
        let admins = [
            ("approved", self.approved.is_some()),
            ("blocked", self.blocked.is_some()),
            ("verified", self.verified.is_some()),
            ("roles", self.roles.is_some()),
            ("primaryWalletId", self.primary_wallet_id.is_some()),
        ];
        let set = admins.into_iter().filter(|(_, is_set)| *is_set);
        let refusal = set.fold(None, |refusal: Option<Failure>, (field, _)| {
            let message = "only an admin may set this";
            let refusal = refusal.unwrap_or_else(|| Failure::new(Code::Forbidden, message));
            Some(refusal.field(field, Code::Forbidden, message))
        });
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        Ok(SignUpRequest {
            email: self.email,
            password: self.password,
            name: self.name.map(Into::into),
            locale: self.locale.map(Into::into),
            code: self.code.map(Into::into),
            custom_data: self.custom_data.map(Into::into),
        })
    }
}

impl From<NewUser> for CreateUserRequest {
    fn from(body: NewUser) -> Self {
        Self {
            email: body.email,
            password: body.password,
            name: body.name.map(Into::into),
            locale: body.locale.map(Into::into),
            approved: body.approved.unwrap_or_default(),
            blocked: body.blocked.unwrap_or_default(),
            verified: body.verified.unwrap_or_default(),
            roles: body.roles.unwrap_or_default(),
            code: body.code.map(Into::into),
            primary_wallet_id: body.primary_wallet_id.map(Into::into),
            custom_data: body.custom_data.map(Into::into),
        }
    }
}
