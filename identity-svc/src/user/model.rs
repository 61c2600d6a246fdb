//! What a user is and how it changes. Pure: no database, network, clock or randomness.

use chrono::{DateTime, Utc};
use platform::{auth::Role, ids::Id};

use super::{email::Email, password::Password, referral::ReferralCode};
use crate::clients::wallet::{WALLET_NAME_MAX, WalletId};

/// The id of a user.
pub type UserId = Id<User>;

/// A user whose creation is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// Number of its last event.
    pub version: i64,
    /// As it is shown.
    pub email: String,
    /// What it is called.
    pub name: Option<String>,
    /// Confirmed phone number; nothing confirms one yet.
    pub phone: Option<String>,
    /// Language and region.
    pub locale: Option<String>,
    /// What it may do; never empty.
    pub roles: Vec<Role>,
    /// Whether an admin let it in.
    pub approved: bool,
    /// Whether an admin shut it out.
    pub blocked: bool,
    /// Whether its identity was checked.
    pub verified: bool,
    /// The wallet that rewards are paid to.
    pub primary_wallet_id: WalletId,
    /// What it gives to others to join with.
    pub referral_code: String,
    /// Who referred it.
    pub referral_user_id: Option<UserId>,
    /// JSON object as the client wrote it.
    pub custom_data: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// What the creator says about a user.
#[derive(Debug)]
pub struct NewUser {
    /// Its address.
    pub email: Email,
    /// Its password.
    pub password: Password,
    /// Everything else.
    pub profile: NewProfile,
    /// Code of the user that referred it.
    pub code: Option<ReferralCode>,
    /// An existing wallet that is to become its primary one.
    pub wallet_id: Option<WalletId>,
}

/// The part of a new user that is kept as it is given.
#[derive(Debug, Clone)]
pub struct NewProfile {
    /// What it is called.
    pub name: Option<String>,
    /// Language and region.
    pub locale: Option<String>,
    /// What it may do; never empty.
    pub roles: Vec<Role>,
    /// Created approved.
    pub approved: bool,
    /// Created blocked.
    pub blocked: bool,
    /// Created verified.
    pub verified: bool,
    /// JSON object as the client wrote it.
    pub custom_data: String,
}

/// What an admin does to a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Lets it in.
    Approve,
    /// Shuts it out.
    Block,
    /// Ends a block.
    Unblock,
}

impl User {
    /// Does the action. `false` if there was nothing to do: the user is exactly as before.
    pub fn act(&mut self, action: Action, now: DateTime<Utc>) -> bool {
        let (flag, value) = match action {
            Action::Approve => (&mut self.approved, true),
            Action::Block => (&mut self.blocked, true),
            Action::Unblock => (&mut self.blocked, false),
        };
        if *flag == value {
            return false;
        }
        *flag = value;
        self.version += 1;
        self.updated_at = now;
        true
    }
}

/// The name of a user's wallet, cut to what a wallet can be called.
pub fn wallet_name(name: Option<&str>, email: &str) -> String {
    const SUFFIX: &str = " wallet";
    let owner = name
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .unwrap_or(email);
    let room = WALLET_NAME_MAX - SUFFIX.len();
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
            primary_wallet_id: ids.next(),
            referral_code: "R000000000".to_owned(),
            referral_user_id: None,
            custom_data: "{}".to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn an_action_counts_once() {
        let mut user = user();
        let later = DateTime::from_timestamp_millis(5).unwrap();
        for (action, version) in [
            (Action::Approve, 2),
            (Action::Block, 3),
            (Action::Unblock, 4),
        ] {
            assert!(user.act(action, later));
            let after = user.clone();
            assert!(!user.act(action, DateTime::from_timestamp_millis(9).unwrap()));
            assert_eq!((user.version, user.updated_at), (version, later));
            assert_eq!(user, after);
        }
        assert!(user.approved && !user.blocked);
    }

    #[test]
    fn a_wallet_is_called_after_its_owner() {
        assert_eq!(wallet_name(Some("Ann"), "ann@x.com"), "Ann wallet");
        assert_eq!(wallet_name(None, "ann@x.com"), "ann@x.com wallet");
        assert_eq!(wallet_name(Some(" "), "ann@x.com"), "ann@x.com wallet");
        let long = wallet_name(Some(&"é".repeat(255)), "ann@x.com");
        assert_eq!(long.chars().count(), WALLET_NAME_MAX);
        assert!(long.ends_with("é wallet"));
    }
}
