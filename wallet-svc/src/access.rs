//! Who may see what: admins and services everything, a user what is on its own wallets.

use platform::{auth::Caller, error::Failure};

use crate::wallet::model::UserId;

/// The user whose rows alone the caller may see; none for one who sees all.
pub fn reader(caller: &Caller) -> Result<Option<UserId>, Failure> {
    if caller.is_admin() {
        return Ok(None);
    }
    let user = caller.user_id().and_then(|id| UserId::parse(id).ok());
    match user {
        Some(user) => Ok(Some(user)),
        // A key or token without a role that gives anything.
        None => caller.require_admin().map(|()| None),
    }
}

/// The caller as the history of transactions names it.
pub fn actor(caller: &Caller) -> String {
    format!("{}:{}", caller.kind.as_str(), caller.subject)
}
