//! The errors of identity-svc, and the public code of each.

use platform::{
    error::{Code, Failure, Source},
    idempotency,
};
use tonic::Status;

use crate::invite::Fault;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Also for a user that the caller may not see.
    #[error("user not found")]
    UserNotFound,
    /// Also for a task that the caller may not see.
    #[error("task not found")]
    TaskNotFound,
    #[error("API key not found")]
    ApiKeyNotFound,
    #[error("webhook not found")]
    WebhookNotFound,
    /// Also for a delivery of another webhook.
    #[error("webhook delivery not found")]
    WebhookDeliveryNotFound,
    /// Also for an invite that the caller may not see.
    #[error("invite not found")]
    InviteNotFound,
    /// Compared without case.
    #[error("the email belongs to another user")]
    EmailTaken,
    /// The primary wallet of another user, or of another creation in progress.
    #[error("the wallet belongs to another user")]
    WalletTaken,
    /// A code that a new user cannot sign up with.
    #[error("{0}")]
    InviteInvalid(#[from] Fault),
    #[error("the user has already completed the task")]
    TaskAlreadyCompleted,
    #[error("{0}")]
    InvalidState(&'static str),
    /// A wrong service secret, or an unknown, expired or revoked API key: the same error for all.
    #[error("the credentials are not valid")]
    BadCredentials,
    /// An error that has its public form already: of input, of access, or of another service.
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error(transparent)]
    Idempotency(#[from] idempotency::Error),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// A broken invariant.
    #[error("{0}")]
    Internal(Source),
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Wraps a fault of identity-svc itself.
    pub(crate) fn internal(source: impl Into<Source>) -> Self {
        Self::Internal(source.into())
    }

    /// Tells a final refusal from a fault and from a transient error.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Self::Failure(failure) => {
                failure.code.http().is_client_error() && !failure.code.is_transient()
            }
            Self::Idempotency(_) | Self::Database(_) | Self::Internal(_) => false,
            _ => true,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::UserNotFound => Code::UserNotFound,
            Error::TaskNotFound => Code::TaskNotFound,
            Error::ApiKeyNotFound => Code::ApiKeyNotFound,
            Error::WebhookNotFound => Code::WebhookNotFound,
            Error::WebhookDeliveryNotFound => Code::WebhookDeliveryNotFound,
            Error::EmailTaken => Code::EmailTaken,
            Error::WalletTaken => Code::PrimaryWalletIdTaken,
            Error::InviteNotFound => Code::InviteNotFound,
            Error::InviteInvalid(fault) => {
                let failure = Self::new(Code::InviteInvalid, fault.to_string());
                return failure.field("code", Code::InviteInvalid, fault.to_string());
            }
            Error::TaskAlreadyCompleted => Code::TaskAlreadyCompleted,
            Error::InvalidState(_) => Code::InvalidState,
            Error::BadCredentials => Code::Unauthenticated,
            Error::Failure(failure) => return failure,
            Error::Idempotency(error) => return error.into(),
            Error::Database(error) => return error.into(),
            Error::Internal(source) => return Self::internal(source),
        };
        Self::new(code, error.to_string())
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        Failure::from(error).into()
    }
}
