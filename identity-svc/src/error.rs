//! Everything that identity-svc refuses or fails on, and the public code of each.

use platform::{
    error::{Code, Failure, Source},
    idempotency,
};
use tonic::Status;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such user, or none the caller may know of.
    #[error("no such user")]
    UserNotFound,
    /// No such task, or none the caller may know of.
    #[error("no such task")]
    TaskNotFound,
    /// Two addresses in different case are one.
    #[error("the email belongs to another user")]
    EmailTaken,
    /// Another user has, or waits for, this primary wallet.
    #[error("the wallet belongs to another user")]
    WalletTaken,
    /// A code that leads to nobody.
    #[error("the code is neither a referral code nor an invite code that can be used")]
    InviteInvalid,
    /// A reward is paid once.
    #[error("the user has completed the task before")]
    TaskAlreadyCompleted,
    /// The state does not allow it; the text says which.
    #[error("{0}")]
    InvalidState(&'static str),
    /// Wrong service secret, or an API key that is unknown, expired or revoked: one answer to all.
    #[error("the credentials are not valid")]
    BadCredentials,
    /// Input, access, or what another service answered: it has its public form already.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The idempotency key does not go with the request.
    #[error(transparent)]
    Idempotency(#[from] idempotency::Error),
    /// The database.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// A broken invariant.
    #[error("{0}")]
    Internal(Source),
}

/// The result of everything here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A fault of ours.
    pub fn internal(source: impl Into<Source>) -> Self {
        Self::Internal(source.into())
    }

    /// Whether it is a final no: neither a fault, nor something that passes.
    pub fn is_refusal(&self) -> bool {
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
            Error::EmailTaken => Code::EmailTaken,
            Error::WalletTaken => Code::PrimaryWalletIdTaken,
            Error::InviteInvalid => Code::InviteInvalid,
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
