//! Accounts: what users do by mail.

use crate::{
    access::Access::{Anonymous, User},
    resources::accounts::{self, AccountEmail, EmailConfirmation, NewEmail, PasswordReset},
    router::route::{Route, post},
};

/// A mailed token says who is asking, whatever credentials a client sends with it.
pub(super) fn routes() -> Vec<Route> {
    vec![
        post(
            "/users/forgot-password",
            Anonymous,
            accounts::forgot_password,
        )
        .body::<AccountEmail>()
        .no_content(),
        post("/users/reset-password", Anonymous, accounts::reset_password)
            .body::<PasswordReset>()
            .no_content(),
        post(
            "/users/resend-confirmation",
            Anonymous,
            accounts::resend_confirmation,
        )
        .body::<AccountEmail>()
        .no_content(),
        post("/users/confirm-email", Anonymous, accounts::confirm_email)
            .body::<EmailConfirmation>()
            .no_content(),
        post("/users/{id}/change-email", User, accounts::change_email)
            .body::<NewEmail>()
            .no_content(),
    ]
}
