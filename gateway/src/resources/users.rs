//! `/users`

use platform::error::Code;
use proto::identity::v1::{
    self as wire, ApproveUserRequest, BlockUserRequest, DeleteUserRequest, GetUserRequest,
    ListUsersRequest, UnblockUserRequest,
};
use serde::Serialize;

use super::{
    dto::{Raw, Time},
    result::{self, DataResult, EmptyResult, ListResult, Located, Versioned},
};
use crate::extract::{Action, Call, ListParams, NoFields, PathParams};

mod creation;
mod profile;
mod referrals;

pub(crate) use creation::{NewUser, create};
pub(crate) use profile::{NewPassword, UserPatch, change_password, update};
pub(crate) use referrals::{Referral, referrals};

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
    result::versioned(call.clients.users().get_user(request), |response| {
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

/// Delete a user and erase the personal data.
///
/// Responds 409 while a wallet of the user holds or expects money. Orders and transactions stay.
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let request = call.request(DeleteUserRequest {
        id: path.id("id", Code::UserNotFound)?,
    });
    result::empty(call.clients.users().delete_user(request)).await
}

impl Located for User {
    fn location(&self) -> String {
        format!("/users/{}", self.id)
    }
}

impl Versioned for wire::User {
    fn version(&self) -> i64 {
        self.version
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
