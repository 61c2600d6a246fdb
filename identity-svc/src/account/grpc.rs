//! `guerdon.identity.v1.AccountService`.

use platform::{
    error::{Failure, FieldCode, Violations},
    grpc::{Call, respond},
};
use proto::identity::v1::{
    ChangeEmailRequest, ChangeEmailResponse, ConfirmEmailRequest, ConfirmEmailResponse,
    ForgotPasswordRequest, ForgotPasswordResponse, ResendConfirmationRequest,
    ResendConfirmationResponse, ResetPasswordRequest, ResetPasswordResponse,
    account_service_server::AccountService,
};
use tonic::{Request, Response, Status};

use super::{
    Accounts,
    token::{self, TokenHash},
};
use crate::{
    error::Error,
    mail::Mail,
    user::{Email, Password, UserId},
};

#[derive(Debug)]
pub(crate) struct AccountGrpc(pub(crate) Accounts);

#[tonic::async_trait]
impl AccountService for AccountGrpc {
    async fn forgot_password(
        &self,
        request: Request<ForgotPasswordRequest>,
    ) -> Result<Response<ForgotPasswordResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let to = email(&body.email)?;
        let mail = Mail::ResetPassword { to };
        let reply = self.0.request_mail(key.as_ref(), &mail).await?;
        Ok(respond(reply, |()| ForgotPasswordResponse {}))
    }

    async fn reset_password(
        &self,
        request: Request<ResetPasswordRequest>,
    ) -> Result<Response<ResetPasswordResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let (token, password) = reset(&body)?;
        let reply = self.0.reset_password(key.as_ref(), &token, &password);
        Ok(respond(reply.await?, |()| ResetPasswordResponse {}))
    }

    async fn resend_confirmation(
        &self,
        request: Request<ResendConfirmationRequest>,
    ) -> Result<Response<ResendConfirmationResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let to = email(&body.email)?;
        let mail = Mail::ConfirmEmail { to };
        let reply = self.0.request_mail(key.as_ref(), &mail).await?;
        Ok(respond(reply, |()| ResendConfirmationResponse {}))
    }

    async fn confirm_email(
        &self,
        request: Request<ConfirmEmailRequest>,
    ) -> Result<Response<ConfirmEmailResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let mut violations = Violations::default();
        let token = token(&mut violations, &body.token);
        violations.finish()?;
        let reply = self.0.confirm_email(key.as_ref(), &token).await?;
        Ok(respond(reply, |()| ConfirmEmailResponse {}))
    }

    async fn change_email(
        &self,
        request: Request<ChangeEmailRequest>,
    ) -> Result<Response<ChangeEmailResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let id = UserId::parse(&body.id).map_err(|_| Error::UserNotFound)?;
        let to = email(&body.email)?;
        let reply = self.0.change_email(&caller, key.as_ref(), id, to).await?;
        Ok(respond(reply, |()| ChangeEmailResponse {}))
    }
}

fn email(text: &str) -> Result<Email, Failure> {
    if text.is_empty() {
        return Err(Failure::invalid(
            "email",
            FieldCode::Required,
            "is required",
        ));
    }
    Email::parse(text).map_err(|invalid| invalid.at("email"))
}

/// Returns the hash of a token, whatever its form: one of another form is unknown.
fn token(violations: &mut Violations, text: &str) -> TokenHash {
    violations.check(
        "token",
        !text.is_empty(),
        FieldCode::Required,
        "is required",
    );
    token::hash(text)
}

fn reset(request: &ResetPasswordRequest) -> Result<(TokenHash, Password), Failure> {
    let mut violations = Violations::default();
    let token = token(&mut violations, &request.token);
    let password = violations.value("password", Password::parse(&request.password));
    match password {
        Some(password) if violations.is_empty() => Ok((token, password)),
        _ => Err(violations.into_failure()),
    }
}
