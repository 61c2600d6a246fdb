//! What a mail says: looks up its user, and makes its token.

use sqlx::PgPool;

use super::{
    DisabledWebhook, Kind,
    queue::{self, Queued},
};
use crate::{
    account::tokens::{self, Grant},
    error::{Error, Result},
    links::Links,
    user::{Email, User, repo as users},
};

/// Mails of one kind that an address gets within an hour. More are dropped: whoever asks for them is
/// not who gets them.
const MAX_PER_HOUR: i64 = 5;

/// A mail with everything that its template needs.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) kind: Kind,
    pub(super) to: Email,
    /// The recipient's name.
    pub(super) name: Option<String>,
    pub(super) locale: Option<String>,
    /// The name of the user who invites.
    pub(super) inviter: Option<String>,
    /// The page that the recipient is to open. It may hold a token.
    pub(super) link: Option<String>,
    /// How long the link works.
    pub(super) hours: Option<u64>,
    /// The webhook that was disabled.
    pub(super) webhook: Option<DisabledWebhook>,
}

/// Writes the contents of mails.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    pub(super) pool: PgPool,
    pub(super) links: Links,
}

impl Writer {
    /// Writes the content of a mail; `None` if nobody is to get it.
    pub(super) async fn write(&self, mail: &Queued) -> Result<Option<Content>> {
        if mail.kind.is_on_request() {
            let before = queue::count_before(&self.pool, mail).await?;
            if before >= MAX_PER_HOUR {
                return Ok(None);
            }
        }
        let to = Email::parse(&mail.recipient).map_err(Error::internal)?;
        match mail.kind {
            Kind::Invite => self.invite(mail, to).await,
            Kind::ResetPassword => {
                let user = self.user_with(&to).await?.filter(|user| !user.blocked);
                self.with_token(mail, user, Grant::ResetPassword).await
            }
            Kind::ConfirmEmail => {
                let user = self.user_with(&to).await?;
                let user = user.filter(|user| user.email_confirmed_at.is_none());
                self.with_token(mail, user, Grant::ConfirmEmail(to)).await
            }
            Kind::ChangeEmail => {
                let user = self.user_of(mail).await?;
                self.with_token(mail, user, Grant::ChangeEmail(to)).await
            }
            Kind::WebhookDisabled => self.webhook_disabled(mail, to).await,
            Kind::EmailChangeRequested | Kind::PasswordChanged => {
                let user = self.user_with(&to).await?;
                Ok(Some(Content::to(mail.kind, to, user)))
            }
        }
    }

    async fn invite(&self, mail: &Queued, to: Email) -> Result<Option<Content>> {
        let Some(code) = &mail.code else {
            return Ok(None);
        };
        let inviter = self.user_of(mail).await?;
        Ok(Some(Content {
            inviter: inviter.and_then(|user| user.name),
            link: Some(self.links.sign_up(code)),
            ..Content::to(mail.kind, to, None)
        }))
    }

    async fn webhook_disabled(&self, mail: &Queued, to: Email) -> Result<Option<Content>> {
        let user = self.user_with(&to).await?;
        let user = user.filter(User::gets_notices);
        let (Some(user), Some(details)) = (user, &mail.details) else {
            return Ok(None);
        };
        let webhook = serde_json::from_str(details).map_err(Error::internal)?;
        Ok(Some(Content {
            webhook: Some(webhook),
            ..Content::to(mail.kind, to, Some(user))
        }))
    }

    /// Writes the content of a mail with a link for which its user gets a token.
    async fn with_token(
        &self,
        mail: &Queued,
        user: Option<User>,
        grant: Grant,
    ) -> Result<Option<Content>> {
        let Some(user) = user else { return Ok(None) };
        let token = tokens::issue(&self.pool, user.id, &grant).await?;
        let link = match &grant {
            Grant::ResetPassword => self.links.reset_password(token.expose()),
            Grant::ConfirmEmail(_) | Grant::ChangeEmail(_) => {
                self.links.confirm_email(token.expose())
            }
        };
        let hours = grant.lifetime().as_secs() / 3600;
        let to = match grant {
            Grant::ChangeEmail(email) => email,
            // As the user wrote it, not as whoever asks for the mail does.
            Grant::ResetPassword | Grant::ConfirmEmail(_) => {
                Email::parse(&user.email).map_err(Error::internal)?
            }
        };
        Ok(Some(Content {
            link: Some(link),
            hours: Some(hours),
            ..Content::to(mail.kind, to, Some(user))
        }))
    }

    async fn user_with(&self, email: &Email) -> Result<Option<User>> {
        let mut conn = self.pool.acquire().await?;
        users::find_by_email(&mut conn, &email.canonical()).await
    }

    async fn user_of(&self, mail: &Queued) -> Result<Option<User>> {
        let Some(id) = mail.user_id else {
            return Ok(None);
        };
        let mut conn = self.pool.acquire().await?;
        users::find(&mut conn, id).await
    }
}

impl Content {
    fn to(kind: Kind, to: Email, user: Option<User>) -> Self {
        let (name, locale) = user.map_or((None, None), |user| (user.name, user.locale));
        Self {
            kind,
            to,
            name,
            locale,
            inviter: None,
            link: None,
            hours: None,
            webhook: None,
        }
    }
}
