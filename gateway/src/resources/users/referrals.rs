//! `/users/:id/referrals`

use platform::error::Code;
use proto::identity::v1::{self as wire, ListReferralsRequest};
use serde::Serialize;

use super::User;
use crate::{
    extract::{Call, ListParams, PathParams},
    resources::{
        dto::Time,
        result::{self, ListResult},
    },
};

/// A user whom another user referred.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub(crate) enum Referral {
    /// For admins.
    User(Box<User>),
    /// For the referrer.
    Reduced(ReferredUser),
}

/// What a referrer sees of a user.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReferredUser {
    id: String,
    name: Option<String>,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// List the users whom a user referred. Users see only names and times.
pub(crate) async fn referrals(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<Referral> {
    let request = call.request(ListReferralsRequest {
        user_id: path.id("id", Code::UserNotFound)?,
        list: Some(list),
    });
    result::list(call.clients.users().list_referrals(request), |response| {
        (response.referrals, response.page)
    })
    .await
}

impl From<wire::Referral> for Referral {
    fn from(referral: wire::Referral) -> Self {
        match referral.user {
            Some(user) => Self::User(Box::new(user.into())),
            None => Self::Reduced(ReferredUser {
                id: referral.id,
                name: referral.name,
                created_at: Time::of(referral.created_at),
                updated_at: Time::of(referral.updated_at),
            }),
        }
    }
}
