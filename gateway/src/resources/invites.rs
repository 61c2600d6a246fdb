//! `/invites`

use proto::identity::v1::{
    self as wire, CancelInviteRequest, CreateInviteRequest, GetInviteRequest, ListInvitesRequest,
    SendInvitesRequest, ValidateInviteRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Raw, Time},
    result::{self, DataResult, EmptyResult, ListResult, Located},
};
use crate::extract::{Action, Call, Id, Json, ListParams, NoFields, PathParams};

mod addresses;

use addresses::Addresses;

/// A code that brings one new user.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Invite {
    /// The `code` of the new user.
    code: String,
    /// The page where the new user signs up.
    url: String,
    /// `invite`.
    r#type: &'static str,
    /// `pending`, `accepted`, `canceled` or `expired`.
    status: String,
    /// The only email that may use the invite.
    invited_email: Option<String>,
    /// The user who used the invite.
    invited_user_id: Option<String>,
    /// The user who becomes the referrer of the new user.
    inviter_user_id: Option<String>,
    expired_at: Option<Time>,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// An invite to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewInvite {
    /// The only email that may use the invite; by default any may.
    email: Option<String>,
    /// Default: the calling user, and nobody for an API key.
    inviter_user_id: Option<Id>,
}

/// Invites to send.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewInvites {
    /// One address, or a list of at most 100.
    email: Addresses,
    /// Default: the calling user, and nobody for an API key.
    inviter_user_id: Option<Id>,
}

/// Whether a new user can sign up with a code.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InviteValidation {
    code: String,
    valid: bool,
    /// `accepted`, `canceled`, `expired`, `in_use` or `referrer_unavailable`; `null` if valid.
    reason: Option<String>,
    /// The name of the user who shared the code; `null` if it is not valid.
    referrer_name: Option<String>,
    /// `null` for a referral code.
    expired_at: Option<Time>,
}

/// Create an invite.
pub(crate) async fn create(call: Call, Action(body): Action<NewInvite>) -> DataResult<Invite> {
    let request = call.request(CreateInviteRequest {
        email: body.email,
        inviter_user_id: body.inviter_user_id.map(Into::into),
    });
    result::created(call.clients.invites().create_invite(request), |response| {
        response.invite
    })
    .await
}

/// Create an invite for each address and mail it.
///
/// A user sends at most 100 an hour. Above that the response is 429 with `Retry-After`, and no mail of the
/// request is sent. Admins send any number.
pub(crate) async fn send(call: Call, Json(body): Json<NewInvites>) -> EmptyResult {
    let request = call.request(SendInvitesRequest {
        emails: body.email.0,
        inviter_user_id: body.inviter_user_id.map(Into::into),
    });
    result::empty(call.clients.invites().send_invites(request)).await
}

/// List invites; users see their own.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Invite> {
    let request = call.request(ListInvitesRequest { list: Some(list) });
    result::list(call.clients.invites().list_invites(request), |response| {
        (response.invites, response.page)
    })
    .await
}

/// Get an invite.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Invite> {
    let code = code(&path);
    let request = call.request(GetInviteRequest { code });
    result::data(call.clients.invites().get_invite(request), |response| {
        response.invite
    })
    .await
}

/// Validate an invite code or a referral code.
///
/// An unknown code is 404; one that cannot be used is 200 with `valid: false`.
pub(crate) async fn validate(call: Call, path: PathParams) -> DataResult<InviteValidation> {
    let code = code(&path);
    let request = call.request(ValidateInviteRequest { code });
    result::data(call.clients.invites().validate_invite(request), Some).await
}

/// Cancel a pending invite.
pub(crate) async fn cancel(
    call: Call,
    path: PathParams,
    _: Action<NoFields>,
) -> DataResult<Invite> {
    let code = code(&path);
    let request = call.request(CancelInviteRequest { code });
    result::data(call.clients.invites().cancel_invite(request), |response| {
        response.invite
    })
    .await
}

fn code(path: &PathParams) -> String {
    path.text("code").to_owned()
}

impl Located for Invite {
    fn location(&self) -> String {
        format!("/invites/{}", self.code)
    }
}

impl From<wire::Invite> for Invite {
    fn from(invite: wire::Invite) -> Self {
        Self {
            status: dto::text(invite.status().as_str_name(), "INVITE_STATUS_"),
            r#type: "invite",
            code: invite.code,
            url: invite.url,
            invited_email: invite.invited_email,
            invited_user_id: invite.invited_user_id,
            inviter_user_id: invite.inviter_user_id,
            expired_at: Time::of(invite.expired_at),
            metadata: Raw::of(invite.metadata),
            created_at: Time::of(invite.created_at),
            updated_at: Time::of(invite.updated_at),
        }
    }
}

impl From<wire::ValidateInviteResponse> for InviteValidation {
    fn from(validation: wire::ValidateInviteResponse) -> Self {
        let fault = validation.fault();
        let valid = fault == wire::InviteFault::Unspecified;
        Self {
            valid,
            reason: (!valid).then(|| dto::text(fault.as_str_name(), "INVITE_FAULT_")),
            code: validation.code,
            referrer_name: validation.referrer_name,
            expired_at: Time::of(validation.expired_at),
        }
    }
}
