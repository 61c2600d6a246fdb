//! Users.

mod creation;
mod deletion;
mod profile;
mod reading;
mod referral;
mod sign_up;
mod states;

use proto::{
    common::v1::{Filter, ListRequest, Operator},
    identity::v1::{
        ApproveUserRequest, BlockUserRequest, CreateUserRequest, GetUserRequest, ListUsersRequest,
        UnblockUserRequest, User,
    },
};
use tonic::IntoRequest;

use crate::harness::{TestApp, new_user};

/// The id of no user.
const UNKNOWN: &str = "0192abcd-0000-7000-8000-00000000000f";

fn get(id: &str) -> GetUserRequest {
    GetUserRequest { id: id.to_owned() }
}

/// Lists the users for which a field has this value.
fn filter(field: &str, operator: Operator, value: &str) -> ListUsersRequest {
    let filter = Filter {
        field: field.to_owned(),
        operator: operator.into(),
        values: vec![value.to_owned()],
    };
    ListUsersRequest {
        list: Some(ListRequest {
            filters: vec![filter],
            ..ListRequest::default()
        }),
    }
}

/// A creation with the code of another user.
fn with_code(email: &str, code: &str) -> CreateUserRequest {
    CreateUserRequest {
        code: Some(code.to_owned()),
        ..new_user(email)
    }
}

async fn create(app: &TestApp, new: CreateUserRequest) -> User {
    let created = app.users().create_user(new).await.unwrap();
    created.into_inner().user.unwrap()
}

async fn approve(app: &TestApp, request: impl IntoRequest<ApproveUserRequest>) -> User {
    let approved = app.users().approve_user(request).await.unwrap();
    approved.into_inner().user.unwrap()
}

async fn block(app: &TestApp, id: &str) -> User {
    let request = BlockUserRequest { id: id.to_owned() };
    let blocked = app.users().block_user(request).await.unwrap();
    blocked.into_inner().user.unwrap()
}

async fn unblock(app: &TestApp, id: &str) -> User {
    let request = UnblockUserRequest { id: id.to_owned() };
    let unblocked = app.users().unblock_user(request).await.unwrap();
    unblocked.into_inner().user.unwrap()
}

/// The emails in a list.
async fn emails(app: &TestApp, request: ListUsersRequest) -> Vec<String> {
    let list = app.users().list_users(request).await.unwrap().into_inner();
    assert_eq!(list.page.unwrap().total, list.users.len() as u64);
    list.users.into_iter().map(|user| user.email).collect()
}
