//! Mails to users. A use case queues a mail in its own transaction; a worker renders and sends it.
//!
//! The queue has kind and recipient, and no secret: the worker makes the token of a mail when it sends
//! it. Addresses, tokens and texts never appear in logs.

mod compose;
mod content;
mod disabled_webhook;
mod queue;
mod template;
mod transport;
mod worker;

pub(crate) use disabled_webhook::{DisabledWebhook, Line};
pub(crate) use queue::{enqueue_in_tx, enqueue_to_admins_in_tx, erase_in_tx, wait_for};
pub(crate) use transport::Transport;
pub(crate) use worker::Worker;

use crate::user::{Email, UserId};

/// A mail to queue.
#[derive(Debug)]
pub(crate) enum Mail {
    /// Invites somebody to sign up with a code.
    Invite {
        to: Email,
        code: String,
        /// `None` if the invite is nobody's.
        inviter: Option<UserId>,
    },
    /// Asks whoever has this address to confirm it. Dropped if no user has it, or it is confirmed.
    ConfirmEmail { to: Email },
    /// Lets the user with this address choose a new password. Dropped if there is none.
    ResetPassword { to: Email },
    /// Asks the owner of an address to confirm that it becomes a user's.
    ChangeEmail { to: Email, user: UserId },
    /// Tells the present address of a user that another one is to replace it.
    EmailChangeRequested { to: Email },
    /// Tells a user that the password was changed.
    PasswordChanged { to: Email },
}

/// The kinds of mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Invite,
    ConfirmEmail,
    ResetPassword,
    ChangeEmail,
    EmailChangeRequested,
    PasswordChanged,
    /// Tells admins that a webhook was disabled.
    WebhookDisabled,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Invite,
        Self::ConfirmEmail,
        Self::ResetPassword,
        Self::ChangeEmail,
        Self::EmailChangeRequested,
        Self::PasswordChanged,
        Self::WebhookDisabled,
    ];

    /// Returns the name in the table, in metrics, and of the template.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Invite => "invite",
            Self::ConfirmEmail => "confirm_email",
            Self::ResetPassword => "reset_password",
            Self::ChangeEmail => "change_email",
            Self::EmailChangeRequested => "email_change_requested",
            Self::PasswordChanged => "password_changed",
            Self::WebhookDisabled => "webhook_disabled",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Tells whether anybody can cause such a mail to an address that is not theirs. The number of
    /// these is limited; a warning is never left out.
    const fn is_on_request(self) -> bool {
        match self {
            Self::Invite | Self::ConfirmEmail | Self::ResetPassword | Self::ChangeEmail => true,
            Self::EmailChangeRequested | Self::PasswordChanged | Self::WebhookDisabled => false,
        }
    }
}

impl Mail {
    fn kind(&self) -> Kind {
        match self {
            Self::Invite { .. } => Kind::Invite,
            Self::ConfirmEmail { .. } => Kind::ConfirmEmail,
            Self::ResetPassword { .. } => Kind::ResetPassword,
            Self::ChangeEmail { .. } => Kind::ChangeEmail,
            Self::EmailChangeRequested { .. } => Kind::EmailChangeRequested,
            Self::PasswordChanged { .. } => Kind::PasswordChanged,
        }
    }

    fn recipient(&self) -> &Email {
        match self {
            Self::Invite { to, .. }
            | Self::ConfirmEmail { to }
            | Self::ResetPassword { to }
            | Self::ChangeEmail { to, .. }
            | Self::EmailChangeRequested { to }
            | Self::PasswordChanged { to } => to,
        }
    }

    /// The user who caused the mail, where this is not the recipient.
    fn user(&self) -> Option<UserId> {
        match self {
            Self::Invite { inviter, .. } => *inviter,
            Self::ChangeEmail { user, .. } => Some(*user),
            _ => None,
        }
    }

    fn code(&self) -> Option<&str> {
        match self {
            Self::Invite { code, .. } => Some(code),
            _ => None,
        }
    }
}
