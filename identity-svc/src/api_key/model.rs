//! An API key without its secret, and the rules of deleting one.

use chrono::{DateTime, Utc};
use platform::auth::{Caller, Kind, Role};

use crate::{
    auth::api_key::{ApiKeyId, BOOTSTRAP_ID},
    error::{Error, Result},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiKey {
    pub(super) id: ApiKeyId,
    pub(super) name: String,
    /// Never empty.
    pub(super) roles: Vec<Role>,
    pub(super) expires_at: Option<DateTime<Utc>>,
    /// To the minute.
    pub(super) last_used_at: Option<DateTime<Utc>>,
    pub(super) created_at: DateTime<Utc>,
}

/// A creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewApiKey {
    pub(super) name: String,
    pub(super) roles: Vec<Role>,
    pub(super) expires_at: Option<DateTime<Utc>>,
}

/// Refuses to delete a key by mistake: that of the configuration, which the next start would store
/// again, and the caller's own, without which nobody might be left to create another.
pub(super) fn check_deletable(id: ApiKeyId, caller: &Caller) -> Result<()> {
    if id == BOOTSTRAP_ID {
        return Err(Error::InvalidState(
            "BOOTSTRAP_API_KEY configures this API key",
        ));
    }
    if caller.kind == Kind::Key && caller.subject == id.to_string() {
        return Err(Error::InvalidState("an API key cannot delete itself"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use platform::ids::Ids;

    use super::*;

    fn caller(kind: Kind, subject: ApiKeyId) -> Caller {
        Caller {
            kind,
            subject: subject.to_string(),
            roles: vec![Role::Admin],
        }
    }

    #[test]
    fn the_configured_key_and_the_callers_own_cannot_be_deleted() {
        let ids = Ids::seeded(1);
        let (own, other) = (ids.next(), ids.next());
        let by_key = caller(Kind::Key, own);
        assert!(check_deletable(own, &by_key).is_err());
        assert!(check_deletable(BOOTSTRAP_ID, &by_key).is_err());
        assert!(check_deletable(other, &by_key).is_ok());
        // A user whose id is the same is another.
        assert!(check_deletable(own, &caller(Kind::User, own)).is_ok());
    }
}
