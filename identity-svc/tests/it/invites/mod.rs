//! Invites, and their use by sign-ups.

mod creation;
mod races;
mod reading;
mod sending;
mod sign_up;
mod validation;

use platform::error::Code;
use proto::identity::v1::{
    CancelInviteRequest, CreateInviteRequest, CreateUserRequest, GetInviteRequest, Invite,
    ListInvitesRequest, User, ValidateInviteRequest, ValidateInviteResponse,
};

use crate::harness::{TestApp, error, gateway, new_user};

/// No invite has it.
const UNKNOWN: &str = "I000000000";

fn get(code: &str) -> GetInviteRequest {
    GetInviteRequest {
        code: code.to_owned(),
    }
}

fn cancel(code: &str) -> CancelInviteRequest {
    CancelInviteRequest {
        code: code.to_owned(),
    }
}

/// An invite of this user, for anybody.
fn invite_of(inviter: &User) -> CreateInviteRequest {
    CreateInviteRequest {
        email: None,
        inviter_user_id: Some(inviter.id.clone()),
    }
}

/// A creation with this code.
fn with_code(email: &str, code: &str) -> CreateUserRequest {
    CreateUserRequest {
        code: Some(code.to_owned()),
        ..new_user(email)
    }
}

async fn create(app: &TestApp, request: CreateInviteRequest) -> Invite {
    let created = app.invites().create_invite(request).await.unwrap();
    created.into_inner().invite.unwrap()
}

async fn read(app: &TestApp, code: &str) -> Invite {
    let found = app.invites().get_invite(get(code)).await.unwrap();
    found.into_inner().invite.unwrap()
}

async fn list(app: &TestApp, list: ListInvitesRequest) -> Vec<Invite> {
    let list = app.invites().list_invites(list).await.unwrap().into_inner();
    assert_eq!(list.page.unwrap().total, list.invites.len() as u64);
    list.invites
}

async fn validate(app: &TestApp, code: &str) -> ValidateInviteResponse {
    let code = code.to_owned();
    let request = ValidateInviteRequest { code };
    let validation = app.invites_as(&gateway()).validate_invite(request).await;
    validation.unwrap().into_inner()
}

async fn sign_up(app: &TestApp, email: &str, code: &str) -> User {
    let created = app.users().create_user(with_code(email, code)).await;
    created.unwrap().into_inner().user.unwrap()
}

/// Asserts that a creation with the code is refused, and returns why.
async fn refusal(app: &TestApp, email: &str, invite: &str) -> String {
    let refused = app.users().create_user(with_code(email, invite)).await;
    let failure = error(refused);
    assert_eq!(failure.code, Code::InviteInvalid);
    assert_eq!(failure.fields[0].field, "code");
    failure.detail
}
