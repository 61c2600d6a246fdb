//! Access to rows: admins and services see all rows, a user those of its own wallets.

use platform::{auth::Caller, error::Failure};

use crate::wallet::model::UserId;

/// Returns the user whose rows alone the caller may see; `None` for admins and services.
pub(crate) fn reader(caller: &Caller) -> Result<Option<UserId>, Failure> {
    if caller.is_admin() {
        return Ok(None);
    }
    let user = caller.user_id().and_then(|id| UserId::parse(id).ok());
    match user {
        Some(user) => Ok(Some(user)),
        // An API key or token without a role that allows anything.
        None => caller.require_admin().map(|()| None),
    }
}

#[cfg(test)]
mod tests {
    use platform::{
        auth::{Kind, Role},
        error::Code,
    };

    use super::*;

    fn caller(kind: Kind, subject: &str, roles: &[Role]) -> Caller {
        Caller {
            kind,
            subject: subject.to_owned(),
            roles: roles.to_vec(),
        }
    }

    #[test]
    fn users_are_limited_to_their_own_rows() {
        let ann = "0192abcd-0000-7000-8000-0000000000aa";
        let user = caller(Kind::User, ann, &[Role::User]);
        assert_eq!(reader(&user).unwrap(), UserId::parse(ann).ok());
        let admin = caller(Kind::User, ann, &[Role::Admin]);
        assert_eq!(reader(&admin).unwrap(), None);
        let service = caller(Kind::Service, "gateway", &[Role::Admin]);
        assert_eq!(reader(&service).unwrap(), None);
    }

    #[test]
    fn callers_without_a_role_see_nothing() {
        let key = caller(Kind::Key, "k", &[]);
        assert_eq!(reader(&key).unwrap_err().code, Code::Forbidden);
    }
}
