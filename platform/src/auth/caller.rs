//! The authenticated caller of a request, and what it may do.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Failure};

/// Who is calling. The server's auth layer puts it into the extensions of each request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    /// What kind of principal it is.
    pub kind: Kind,
    /// The user's id, the API key's id or the service's name.
    pub subject: String,
    /// What it may do; a role this version does not know gives nothing.
    pub roles: Vec<Role>,
}

/// The kinds of principals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An end user.
    User,
    /// A back end with an API key.
    Key,
    /// One of our own processes; it counts as admin.
    Service,
}

/// The roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Everything.
    Admin,
    /// One's own things.
    User,
}

impl Kind {
    /// As in the token's `kind` claim.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Key => "key",
            Self::Service => "service",
        }
    }
}

impl Role {
    /// As in the token's `roles` claim and in the public contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
        }
    }

    /// The role with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Admin, Self::User]
            .into_iter()
            .find(|role| role.as_str() == name)
    }
}

impl Caller {
    /// The caller of this request; `unauthenticated` when the method is open and no token came.
    pub fn of<T>(request: &tonic::Request<T>) -> Result<&Self, Failure> {
        request.extensions().get().ok_or_else(Self::missing)
    }

    /// The refusal of a request without a caller.
    pub(crate) fn missing() -> Failure {
        Failure::new(Code::Unauthenticated, "a token is needed")
    }

    /// Whether it may do everything.
    pub fn is_admin(&self) -> bool {
        self.kind == Kind::Service || self.roles.contains(&Role::Admin)
    }

    /// The id of the end user who is calling; `None` for API keys and services.
    pub fn user_id(&self) -> Option<&str> {
        (self.kind == Kind::User).then_some(self.subject.as_str())
    }

    /// `forbidden` unless it may do everything.
    pub fn require_admin(&self) -> Result<(), Failure> {
        if self.is_admin() {
            Ok(())
        } else {
            Err(forbidden())
        }
    }

    /// `forbidden` unless it is this user or may do everything. Where even the existence of
    /// another's resource is private, answer `<resource>_not_found` instead.
    pub fn require_self_or_admin(&self, user_id: impl Display) -> Result<(), Failure> {
        let is_self = self.user_id().is_some_and(|own| own == user_id.to_string());
        if is_self || self.is_admin() {
            Ok(())
        } else {
            Err(forbidden())
        }
    }
}

fn forbidden() -> Failure {
    Failure::new(Code::Forbidden, "not allowed with these credentials")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(kind: Kind, roles: &[Role]) -> Caller {
        Caller {
            kind,
            subject: "abc".to_owned(),
            roles: roles.to_vec(),
        }
    }

    #[test]
    fn services_and_admins_may_do_everything() {
        for all in [
            caller(Kind::Service, &[]),
            caller(Kind::Key, &[Role::Admin]),
            caller(Kind::User, &[Role::User, Role::Admin]),
        ] {
            assert!(all.require_admin().is_ok() && all.require_self_or_admin("other").is_ok());
        }
    }

    #[test]
    fn a_user_is_itself_only() {
        let user = caller(Kind::User, &[Role::User]);
        assert_eq!(user.require_admin().unwrap_err().code, Code::Forbidden);
        assert!(user.require_self_or_admin("abc").is_ok());
        assert!(user.require_self_or_admin("abd").is_err());
        // A key whose id happens to be a user's id is not that user.
        assert!(
            caller(Kind::Key, &[Role::User])
                .require_self_or_admin("abc")
                .is_err()
        );
    }

    #[test]
    fn no_caller_is_unauthenticated() {
        let failure = Caller::of(&tonic::Request::new(())).unwrap_err();
        assert_eq!(failure.code, Code::Unauthenticated);
    }
}
