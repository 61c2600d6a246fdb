//! The state of a user and its changes. Pure: no database, network, clock or randomness.

use chrono::{DateTime, Utc};
use platform::{auth::Role, ids::Id, patch::Patch};

use super::{email::Email, password::Password};
use crate::{
    clients::wallet::{MAX_WALLET_NAME, WalletId},
    sign_up_code::SignUpCode,
};

pub(crate) type UserId = Id<User>;

/// A user with a wallet; one still being provisioned is not read as a `User`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) id: UserId,
    /// The version in its last event.
    pub(crate) version: i64,
    pub(crate) email: String,
    pub(crate) name: Option<String>,
    /// A confirmed number; nothing confirms one yet.
    pub(crate) phone: Option<String>,
    pub(crate) locale: Option<String>,
    /// Never empty.
    pub(crate) roles: Vec<Role>,
    pub(crate) approved: bool,
    pub(crate) blocked: bool,
    /// Whether the user's identity was checked.
    pub(crate) verified: bool,
    /// When the user proved to receive mail at the email.
    pub(crate) email_confirmed_at: Option<DateTime<Utc>>,
    /// Rewards are paid to it.
    pub(crate) primary_wallet_id: WalletId,
    pub(crate) referral_code: String,
    /// The user who referred this one.
    pub(crate) referral_user_id: Option<UserId>,
    /// JSON object as the client wrote it.
    pub(crate) custom_data: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// A creation.
#[derive(Debug)]
pub(crate) struct NewUser {
    pub(crate) email: Email,
    pub(crate) password: Password,
    pub(crate) profile: NewProfile,
    /// A referral code or an invite code.
    pub(crate) code: Option<SignUpCode>,
    /// An existing wallet to become the primary one.
    pub(crate) wallet_id: Option<WalletId>,
    /// Whether the user is asked to confirm the email.
    pub(crate) confirms_email: bool,
}

/// The fields of a creation that are stored as they are.
#[derive(Debug, Clone)]
pub(crate) struct NewProfile {
    pub(crate) name: Option<String>,
    pub(crate) locale: Option<String>,
    /// Never empty.
    pub(crate) roles: Vec<Role>,
    pub(crate) approved: bool,
    pub(crate) blocked: bool,
    pub(crate) verified: bool,
    /// JSON object as the client wrote it.
    pub(crate) custom_data: String,
}

/// A change of a user's profile.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserPatch {
    pub(crate) name: Patch<String>,
    pub(crate) locale: Patch<String>,
    /// JSON object as the client wrote it.
    pub(crate) custom_data: Option<String>,
}

/// A change of a user's state by an admin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Approve,
    Block,
    Unblock,
}

impl Action {
    /// Returns its word in the audit log.
    pub(crate) const fn done(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Block => "blocked",
            Self::Unblock => "unblocked",
        }
    }
}

impl User {
    /// Tells whether notices to admins go to this user.
    pub(crate) fn gets_notices(&self) -> bool {
        let is_active = self.approved && !self.blocked;
        self.roles.contains(&Role::Admin) && is_active && self.email_confirmed_at.is_some()
    }

    /// Applies an action. Returns `false` if it changes nothing.
    pub(crate) fn apply(&mut self, action: Action, now: DateTime<Utc>) -> bool {
        let (flag, value) = match action {
            Action::Approve => (&mut self.approved, true),
            Action::Block => (&mut self.blocked, true),
            Action::Unblock => (&mut self.blocked, false),
        };
        if *flag == value {
            return false;
        }
        *flag = value;
        self.touch(now);
        true
    }

    /// Applies a change of the profile. Returns `false` if it changes nothing.
    pub(crate) fn patch(&mut self, patch: UserPatch, now: DateTime<Utc>) -> bool {
        let before = self.clone();
        self.name = patch.name.or(self.name.take());
        self.locale = patch.locale.or(self.locale.take());
        if let Some(custom_data) = patch.custom_data {
            self.custom_data = custom_data;
        }
        if *self == before {
            return false;
        }
        self.touch(now);
        true
    }

    /// Records that the user receives mail at the email. Returns `false` if that is known.
    pub(crate) fn confirm_email(&mut self, now: DateTime<Utc>) -> bool {
        if self.email_confirmed_at.is_some() {
            return false;
        }
        self.email_confirmed_at = Some(now);
        self.touch(now);
        true
    }

    /// Replaces the email by one at which the user receives mail.
    pub(crate) fn change_email(&mut self, email: &Email, now: DateTime<Utc>) {
        email.as_str().clone_into(&mut self.email);
        self.email_confirmed_at = Some(now);
        self.touch(now);
    }

    /// Counts a change, also of what is not in its fields, such as the password.
    pub(crate) fn touch(&mut self, now: DateTime<Utc>) {
        self.version += 1;
        self.updated_at = now;
    }
}

/// Returns the name of a user's wallet, truncated to the longest that a wallet may have. That of a user without
/// a name tells nothing about the user.
pub(crate) fn wallet_name(name: Option<&str>) -> String {
    const SUFFIX: &str = " wallet";
    let owner = name
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .unwrap_or("Primary");
    let room = MAX_WALLET_NAME - SUFFIX.len();
    owner.chars().take(room).chain(SUFFIX.chars()).collect()
}

#[cfg(test)]
mod tests {
    use platform::ids::Ids;

    use super::*;

    fn user() -> User {
        let ids = Ids::seeded(1);
        User {
            id: ids.next(),
            version: 1,
            email: "ann@example.com".to_owned(),
            name: None,
            phone: None,
            locale: None,
            roles: vec![Role::User],
            approved: false,
            blocked: false,
            verified: false,
            email_confirmed_at: None,
            primary_wallet_id: ids.next(),
            referral_code: "R000000000".to_owned(),
            referral_user_id: None,
            custom_data: "{}".to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn an_email_is_confirmed_once_and_a_new_one_is_confirmed() {
        let mut user = user();
        let now = DateTime::from_timestamp_millis(5).unwrap();
        let later = DateTime::from_timestamp_millis(9).unwrap();
        assert!(user.confirm_email(now) && !user.confirm_email(later));
        assert_eq!((user.email_confirmed_at, user.version), (Some(now), 2));
        user.change_email(&Email::parse("Bob@Example.com").unwrap(), later);
        assert_eq!(user.email, "Bob@example.com");
        assert_eq!((user.email_confirmed_at, user.version), (Some(later), 3));
    }

    #[test]
    fn a_repeated_action_changes_nothing() {
        let mut user = user();
        let now = DateTime::from_timestamp_millis(5).unwrap();
        let later = DateTime::from_timestamp_millis(9).unwrap();
        for (action, version) in [
            (Action::Approve, 2),
            (Action::Block, 3),
            (Action::Unblock, 4),
        ] {
            assert!(user.apply(action, now));
            let changed = user.clone();
            assert_eq!(changed.version, version);
            assert_eq!(changed.updated_at, now);
            assert!(!user.apply(action, later));
            assert_eq!(user, changed);
        }
        assert!(user.approved && !user.blocked);
    }

    #[test]
    fn a_patch_changes_the_profile_and_one_without_a_change_is_none() {
        let mut user = user();
        let now = DateTime::from_timestamp_millis(5).unwrap();
        assert!(!user.patch(UserPatch::default(), now));
        let named = UserPatch {
            name: Patch::Set("Ann".to_owned()),
            custom_data: Some("{\"a\":1}".to_owned()),
            ..UserPatch::default()
        };
        assert!(user.patch(named.clone(), now));
        assert_eq!(user.name.as_deref(), Some("Ann"));
        assert_eq!(user.custom_data, "{\"a\":1}");
        assert_eq!((user.version, user.updated_at), (2, now));

        let later = DateTime::from_timestamp_millis(9).unwrap();
        assert!(!user.patch(named, later));
        assert_eq!((user.version, user.updated_at), (2, now));
        let unnamed = UserPatch {
            name: Patch::Null,
            ..UserPatch::default()
        };
        assert!(user.patch(unnamed, later));
        assert_eq!((user.name, user.updated_at), (None, later));
    }

    #[test]
    fn a_wallet_is_named_after_its_owner() {
        assert_eq!(wallet_name(Some("Ann")), "Ann wallet");
        assert_eq!(wallet_name(None), "Primary wallet");
        assert_eq!(wallet_name(Some(" ")), "Primary wallet");
        let long = wallet_name(Some(&"é".repeat(255)));
        assert_eq!(long.chars().count(), MAX_WALLET_NAME);
        assert!(long.ends_with("é wallet"));
    }
}
