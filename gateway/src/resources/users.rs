//! `/users`

use platform::error::Code;
use proto::identity::v1::{
    self as wire, ApproveUserRequest, BlockUserRequest, CreateUserRequest, GetUserRequest,
    ListUsersRequest, UnblockUserRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Raw, Time},
    result::{self, DataResult, EmptyResult, ListResult, Located},
};
use crate::extract::{Action, Call, CustomData, Json, ListParams, NoFields, PathParams};

/// A user of the shop.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct User {
    id: String,
    email: String,
    name: Option<String>,
    phone: Option<String>,
    locale: Option<String>,
    roles: Vec<String>,
    approved: bool,
    blocked: bool,
    verified: bool,
    primary_wallet_id: String,
    /// The `code` of new users who are referred by this one.
    referral_code: String,
    /// The user that referred this one.
    referral_user_id: Option<String>,
    custom_data: Raw,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// A user to create.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewUser {
    email: String,
    /// At least 8 characters with a capital, a lower-case letter and a digit; at most 256.
    password: String,
    name: Option<String>,
    locale: Option<String>,
    approved: Option<bool>,
    blocked: Option<bool>,
    verified: Option<bool>,
    /// Default `["user"]`.
    roles: Option<Vec<String>>,
    /// A referral code.
    code: Option<String>,
    primary_wallet_id: Option<String>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
}

/// Create a user and its primary wallet.
pub(crate) async fn create(call: Call, Json(body): Json<NewUser>) -> DataResult<User> {
    let request = call.request(body.into());
    result::created(call.clients.users().create_user(request), |response| {
        response.user
    })
    .await
}

/// List users.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<User> {
    let request = call.request(ListUsersRequest { list: Some(list) });
    result::list(call.clients.users().list_users(request), |response| {
        (response.users, response.page)
    })
    .await
}

/// Get a user.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<User> {
    let request = call.request(GetUserRequest {
        id: path.id("id", Code::UserNotFound)?,
    });
    result::data(call.clients.users().get_user(request), |response| {
        response.user
    })
    .await
}

/// Approve a user.
pub(crate) async fn approve(call: Call, path: PathParams, _: Action<NoFields>) -> EmptyResult {
    let request = call.request(ApproveUserRequest {
        id: path.id("id", Code::UserNotFound)?,
    });
    result::empty(call.clients.users().approve_user(request)).await
}

/// Block a user.
pub(crate) async fn block(call: Call, path: PathParams, _: Action<NoFields>) -> EmptyResult {
    let request = call.request(BlockUserRequest {
        id: path.id("id", Code::UserNotFound)?,
    });
    result::empty(call.clients.users().block_user(request)).await
}

/// Unblock a user.
pub(crate) async fn unblock(call: Call, path: PathParams, _: Action<NoFields>) -> EmptyResult {
    let request = call.request(UnblockUserRequest {
        id: path.id("id", Code::UserNotFound)?,
    });
    result::empty(call.clients.users().unblock_user(request)).await
}

impl Located for User {
    fn location(&self) -> String {
        format!("/users/{}", self.id)
    }
}

impl From<wire::User> for User {
    fn from(user: wire::User) -> Self {
        Self {
            id: user.id,
            email: user.email,
            name: user.name,
            phone: user.phone,
            locale: user.locale,
            roles: user.roles,
            approved: user.approved,
            blocked: user.blocked,
            verified: user.verified,
            primary_wallet_id: user.primary_wallet_id,
            referral_code: user.referral_code,
            referral_user_id: user.referral_user_id,
            custom_data: Raw::of(user.custom_data),
            metadata: Raw::of(user.metadata),
            created_at: Time::of(user.created_at),
            updated_at: Time::of(user.updated_at),
        }
    }
}

impl From<NewUser> for CreateUserRequest {
    fn from(body: NewUser) -> Self {
        Self {
            email: body.email,
            password: body.password,
            name: body.name,
            locale: body.locale,
            approved: body.approved.unwrap_or_default(),
            blocked: body.blocked.unwrap_or_default(),
            verified: body.verified.unwrap_or_default(),
            roles: body.roles.unwrap_or_default(),
            code: body.code,
            primary_wallet_id: body.primary_wallet_id,
            custom_data: body.custom_data.map(|data| data.0),
        }
    }
}
