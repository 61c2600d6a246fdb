//! `/users/forgot-password` and what else users do by mail.

use platform::error::Code;
use proto::identity::v1::{
    ChangeEmailRequest, ConfirmEmailRequest, ForgotPasswordRequest, ResendConfirmationRequest,
    ResetPasswordRequest,
};
use serde::Deserialize;

use super::result::{self, EmptyResult};
use crate::extract::{Call, Json, PathParams};

/// The email of an account, in any case.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AccountEmail {
    email: String,
}

/// A new password for the owner of a mailed token.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PasswordReset {
    /// From the link in the mail. It works once.
    token: String,
    /// At least 8 characters with a capital, a lower-case letter and a digit; at most 256.
    password: String,
}

/// A mailed token that confirms an email.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EmailConfirmation {
    /// From the link in the mail. It works once.
    token: String,
}

/// The new email of a user.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewEmail {
    email: String,
}

/// Mail a link that resets a password.
///
/// The response is the same whether or not there is a user with this email. The link works for an hour, and
/// once. A user gets at most five such mails an hour.
pub(crate) async fn forgot_password(call: Call, Json(body): Json<AccountEmail>) -> EmptyResult {
    let request = call.request(ForgotPasswordRequest { email: body.email });
    result::empty(call.clients.accounts().forgot_password(request)).await
}

/// Reset a password.
///
/// It ends all sessions of the user. An unknown, used or expired token is a 422 that names `token`.
pub(crate) async fn reset_password(call: Call, Json(body): Json<PasswordReset>) -> EmptyResult {
    let request = call.request(ResetPasswordRequest {
        token: body.token,
        password: body.password,
    });
    result::empty(call.clients.accounts().reset_password(request)).await
}

/// Mail a link that confirms an email.
///
/// The response is the same whether or not there is a user with this email, and whether or not it is
/// confirmed. A user gets at most five such mails an hour.
pub(crate) async fn resend_confirmation(call: Call, Json(body): Json<AccountEmail>) -> EmptyResult {
    let request = call.request(ResendConfirmationRequest { email: body.email });
    result::empty(call.clients.accounts().resend_confirmation(request)).await
}

/// Confirm an email.
///
/// The token is that of a sign-up, of a repeated confirmation, or of a new email, which becomes the
/// user's. The time is `metadata.emailConfirmedAt` of the user; users log in without it.
pub(crate) async fn confirm_email(call: Call, Json(body): Json<EmailConfirmation>) -> EmptyResult {
    let request = call.request(ConfirmEmailRequest { token: body.token });
    result::empty(call.clients.accounts().confirm_email(request)).await
}

/// Change the email of a user.
///
/// The new address gets a link, which works for a day; the email changes when it is confirmed. The present
/// address gets a warning. At most five changes an hour.
pub(crate) async fn change_email(
    call: Call,
    path: PathParams,
    Json(body): Json<NewEmail>,
) -> EmptyResult {
    let request = call.request(ChangeEmailRequest {
        id: path.id("id", Code::UserNotFound)?,
        email: body.email,
    });
    result::empty(call.clients.accounts().change_email(request)).await
}
