//! Changes of a user by itself or by an admin.

use platform::{error::Code, patch::Patch};
use proto::identity::v1::{ChangePasswordRequest, UpdateUserRequest};
use serde::Deserialize;

use super::User;
use crate::{
    extract::{Call, Change, CustomDataOrText, Json, Name, PathParams, Text},
    resources::{
        dto::Mask,
        result::{self, DataResult, EmptyResult},
    },
};

/// Changes of a user; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UserPatch {
    #[serde(default)]
    #[schema(value_type = Option<Name>)]
    name: Patch<Name>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    locale: Patch<Text>,
    /// A JSON object, or a string that holds one.
    #[serde(default)]
    #[schema(value_type = CustomDataOrText)]
    custom_data: Change<CustomDataOrText>,
}

/// A password to set.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewPassword {
    /// At least 8 characters with a capital, a lower-case letter and a digit; at most 256.
    password: String,
}

/// Update a user.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<UserPatch>,
) -> DataResult<User> {
    let request = call.request(body.into_request(path.id("id", Code::UserNotFound)?));
    result::versioned(call.clients.users().update_user(request), |response| {
        response.user
    })
    .await
}

/// Change the password of a user, which ends the user's sessions. The old password is not asked for.
pub(crate) async fn change_password(
    call: Call,
    path: PathParams,
    Json(body): Json<NewPassword>,
) -> EmptyResult {
    let request = call.request(ChangePasswordRequest {
        id: path.id("id", Code::UserNotFound)?,
        password: body.password,
    });
    result::empty(call.clients.users().change_password(request)).await
}

impl UserPatch {
    fn into_request(self, id: String) -> UpdateUserRequest {
        let mut mask = Mask::default();
        UpdateUserRequest {
            id,
            name: mask.nullable("name", self.name),
            locale: mask.nullable("locale", self.locale),
            custom_data: mask.required("custom_data", self.custom_data),
            update_mask: Some(mask.finish()),
        }
    }
}
