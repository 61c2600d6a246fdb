//! The authenticated caller of a request, and its permissions.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use super::{GUERDON, INTERNAL};
use crate::error::{Code, Failure};

/// The caller of a request. The server's layer stores it in the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    /// Its kind.
    pub kind: Kind,
    /// The user's id, the API key's id or the service's name.
    pub subject: String,
    /// The roles that this version knows; an unknown role gives no permission.
    pub roles: Vec<Role>,
}

/// The kind of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An end user.
    User,
    /// A back end with an API key.
    Key,
    /// One of Guerdon's processes; it counts as an admin in the RPCs that it may call.
    Service,
    /// Anybody who sends no credentials, in open mode.
    Anonymous,
}

/// A role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Access to everything.
    Admin,
    /// Access to the user's own resources.
    User,
}

impl Kind {
    /// Returns the value of the token's `kind` claim.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Key => "key",
            Self::Service => "service",
            Self::Anonymous => "anonymous",
        }
    }

    /// Returns the token's `aud` claim.
    pub(super) const fn audience(self) -> &'static str {
        match self {
            Self::User | Self::Key | Self::Anonymous => GUERDON,
            Self::Service => INTERNAL,
        }
    }
}

impl Role {
    /// Returns the name in the token's `roles` claim and in the public contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
        }
    }

    /// Parses the name of a role.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Admin, Self::User]
            .into_iter()
            .find(|role| role.as_str() == name)
    }

    /// Parses stored names. Those of other versions are left out: they give no permission.
    pub fn parse_known(names: &[String]) -> Vec<Self> {
        names.iter().filter_map(|name| Self::parse(name)).collect()
    }
}

impl Caller {
    /// Returns the caller of a request; `unauthenticated` if the method requires no token and got none.
    pub fn of<T>(request: &tonic::Request<T>) -> Result<&Self, Failure> {
        request.extensions().get().ok_or_else(Self::missing)
    }

    /// Creates the error of a request without a caller.
    pub(crate) fn missing() -> Failure {
        Failure::new(Code::Unauthenticated, "a token is required")
    }

    /// Returns the name in histories and the audit log: `user:<id>`, `key:<id>`, `service:<name>`.
    pub fn name(&self) -> String {
        format!("{}:{}", self.kind.as_str(), self.subject)
    }

    /// Tells whether the caller has access to everything.
    pub fn is_admin(&self) -> bool {
        self.is_service() || self.roles.contains(&Role::Admin)
    }

    /// Tells whether the caller is one of Guerdon's processes.
    pub fn is_service(&self) -> bool {
        self.kind == Kind::Service
    }

    /// Returns the id of the calling user; `None` for other callers.
    pub fn user_id(&self) -> Option<&str> {
        (self.kind == Kind::User).then_some(self.subject.as_str())
    }

    /// Returns `forbidden` unless the caller is an admin.
    pub fn require_admin(&self) -> Result<(), Failure> {
        if self.is_admin() {
            Ok(())
        } else {
            Err(forbidden())
        }
    }

    /// Returns `forbidden` unless the caller is this user or an admin. Where the existence of another
    /// user's resource is private, respond `<resource>_not_found` instead.
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
    fn services_and_admins_have_access_to_everything() {
        for admin in [
            caller(Kind::Service, &[]),
            caller(Kind::Key, &[Role::Admin]),
            caller(Kind::User, &[Role::User, Role::Admin]),
        ] {
            assert!(admin.require_admin().is_ok());
            assert!(admin.require_self_or_admin("other").is_ok());
        }
    }

    #[test]
    fn a_user_has_access_to_itself_only() {
        let user = caller(Kind::User, &[Role::User]);
        assert_eq!(user.require_admin().unwrap_err().code, Code::Forbidden);
        assert!(user.require_self_or_admin("abc").is_ok());
        assert!(user.require_self_or_admin("abd").is_err());
        // An API key is not the user whose id equals its own.
        assert!(
            caller(Kind::Key, &[Role::User])
                .require_self_or_admin("abc")
                .is_err()
        );
    }

    #[test]
    fn a_request_without_caller_is_unauthenticated() {
        let failure = Caller::of(&tonic::Request::new(())).unwrap_err();
        assert_eq!(failure.code, Code::Unauthenticated);
    }
}
