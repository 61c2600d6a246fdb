//! The state of an invite and its changes. Pure: no database, network, clock or randomness.

use chrono::{DateTime, TimeDelta, Utc};
use platform::ids::Id;

use crate::{
    error::{Error, Result},
    sign_up_code::SignUpCode,
    user::{Email, UserId, canonical_email},
};

pub(crate) type InviteId = Id<Invite>;

/// How long an invite can be used.
const LIFETIME: TimeDelta = TimeDelta::days(30);

/// An invite for one new user.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Invite {
    pub(crate) id: InviteId,
    pub(crate) code: String,
    pub(crate) state: State,
    /// The only email that may use it, as the inviter wrote it.
    pub(crate) invited_email: Option<String>,
    /// The user who used it.
    pub(crate) invited_user_id: Option<UserId>,
    /// The referrer of the user who uses it.
    pub(crate) inviter_user_id: Option<UserId>,
    /// The user who is being created with it.
    pub(crate) reserved_by: Option<UserId>,
    /// The version in its last event.
    pub(crate) version: i64,
    pub(crate) expired_at: DateTime<Utc>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// What is stored of a status: that an invite has expired follows from the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub(crate) enum State {
    Pending,
    Accepted,
    Canceled,
}

/// The public status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Pending,
    Accepted,
    Canceled,
    Expired,
}

/// Why a code cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("no invite and no user has this code")]
    Unknown,
    #[error("the invite was used")]
    Accepted,
    #[error("the invite was canceled")]
    Canceled,
    #[error("the invite has expired")]
    Expired,
    #[error("the user who shared the code is blocked or deleted")]
    ReferrerUnavailable,
    #[error("the invite is in use by another sign-up")]
    InUse,
    #[error("the invite is for another email")]
    OtherEmail,
}

/// The fields of a new invite.
#[derive(Debug, Clone)]
pub(crate) struct NewInvite {
    pub(crate) email: Option<Email>,
    pub(crate) inviter_user_id: Option<UserId>,
}

impl Invite {
    pub(crate) fn create(
        id: InviteId,
        code: &SignUpCode,
        new: NewInvite,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            id,
            code: code.as_str().to_owned(),
            state: State::Pending,
            invited_email: new.email.map(|email| email.as_str().to_owned()),
            invited_user_id: None,
            inviter_user_id: new.inviter_user_id,
            reserved_by: None,
            version: 1,
            expired_at: now + LIFETIME,
            created_at: now,
            updated_at: now,
        }
    }

    pub(crate) fn status(&self, now: DateTime<Utc>) -> Status {
        match self.state {
            State::Accepted => Status::Accepted,
            State::Canceled => Status::Canceled,
            // A sign-up that began in time may complete.
            State::Pending if self.expired_at <= now && self.reserved_by.is_none() => {
                Status::Expired
            }
            State::Pending => Status::Pending,
        }
    }

    /// Returns why no new user can use it, whatever their email.
    pub(crate) fn fault(&self, now: DateTime<Utc>) -> Option<Fault> {
        match self.status(now) {
            Status::Accepted => Some(Fault::Accepted),
            Status::Canceled => Some(Fault::Canceled),
            Status::Expired => Some(Fault::Expired),
            Status::Pending if self.reserved_by.is_some() => Some(Fault::InUse),
            Status::Pending => None,
        }
    }

    /// Checks that a new user with this email can use it.
    pub(crate) fn check_use(&self, email: &Email, now: DateTime<Utc>) -> Result<(), Fault> {
        if let Some(fault) = self.fault(now) {
            return Err(fault);
        }
        let invited = self.invited_email.as_deref();
        match invited {
            Some(invited) if canonical_email(invited) != email.canonical() => {
                Err(Fault::OtherEmail)
            }
            _ => Ok(()),
        }
    }

    /// Cancels a pending invite that no sign-up is using.
    pub(crate) fn cancel(&mut self, now: DateTime<Utc>) -> Result<()> {
        match self.fault(now) {
            None => {
                self.state = State::Canceled;
                self.touch(now);
                Ok(())
            }
            Some(Fault::InUse) => Err(Error::InvalidState("a user is signing up with the invite")),
            Some(_) => Err(Error::InvalidState("the invite is not pending")),
        }
    }

    /// Completes the use by the user who has reserved it.
    pub(crate) fn accept(&mut self, user_id: UserId, now: DateTime<Utc>) {
        self.state = State::Accepted;
        self.invited_user_id = Some(user_id);
        self.reserved_by = None;
        self.touch(now);
    }

    fn touch(&mut self, now: DateTime<Utc>) {
        self.version += 1;
        self.updated_at = now;
    }
}

#[cfg(test)]
mod tests {
    use platform::ids::Ids;

    use super::*;
    use crate::sign_up_code::Kind;

    fn day(n: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(n)
    }

    fn email(text: &str) -> Email {
        Email::parse(text).unwrap()
    }

    fn invite(email: Option<&str>) -> Invite {
        let ids = Ids::seeded(1);
        let code = SignUpCode::generate(Kind::Invite, &ids);
        let new = NewInvite {
            email: email.map(|text| Email::parse(text).unwrap()),
            inviter_user_id: None,
        };
        Invite::create(ids.next(), &code, new, day(0))
    }

    #[test]
    fn an_invite_expires_after_thirty_days() {
        let invite = invite(None);
        let just_before = day(30) - TimeDelta::milliseconds(1);
        assert_eq!(invite.status(just_before), Status::Pending);
        assert_eq!(invite.check_use(&email("a@x.com"), just_before), Ok(()));
        assert_eq!(invite.status(day(30)), Status::Expired);
        let used = invite.check_use(&email("a@x.com"), day(30));
        assert_eq!(used, Err(Fault::Expired));
    }

    #[test]
    fn an_invite_for_an_email_is_for_no_other() {
        let invite = invite(Some("Ann@X.com"));
        let check = |text| invite.check_use(&email(text), day(1));
        assert_eq!(check("ANN@x.com"), Ok(()));
        assert_eq!(check("bob@x.com"), Err(Fault::OtherEmail));
    }

    #[test]
    fn only_a_pending_invite_is_canceled() {
        let mut canceled = invite(None);
        canceled.cancel(day(1)).unwrap();
        assert_eq!((canceled.version, canceled.updated_at), (2, day(1)));
        assert_eq!(canceled.fault(day(2)), Some(Fault::Canceled));

        let mut accepted = invite(None);
        accepted.accept(Ids::seeded(2).next(), day(1));
        assert_eq!(accepted.fault(day(2)), Some(Fault::Accepted));

        let mut reserved = invite(None);
        reserved.reserved_by = Some(Ids::seeded(2).next());
        for mut invite in [canceled, accepted, reserved] {
            let before = invite.clone();
            assert!(matches!(invite.cancel(day(2)), Err(Error::InvalidState(_))));
            assert_eq!(invite, before);
        }
        assert!(invite(None).cancel(day(30)).is_err());
    }

    #[test]
    fn a_reserved_invite_can_be_used_by_nobody_else_and_does_not_expire() {
        let mut invite = invite(None);
        let user_id = Ids::seeded(2).next();
        invite.reserved_by = Some(user_id);
        assert_eq!(invite.status(day(31)), Status::Pending);
        assert_eq!(invite.fault(day(31)), Some(Fault::InUse));
        invite.accept(user_id, day(31));
        assert_eq!(invite.status(day(31)), Status::Accepted);
        assert_eq!(invite.invited_user_id, Some(user_id));
        assert_eq!(invite.reserved_by, None);
    }
}
