//! Conversion between invites and their messages.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use platform::{
    auth::Caller,
    clock::to_proto,
    error::{Failure, FieldCode, Violations},
};
use proto::identity::v1::{self as wire, InviteFault, InviteStatus};

use super::{
    model::{Fault, Invite, Status},
    validation::Validation,
};
use crate::{
    error::{Error, Result},
    links::Links,
    user::{Email, UserId},
};

/// The most addresses of one request.
const MAX_ADDRESSES: usize = 100;

/// An address to invite, with the field that names it.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) field: String,
    pub(crate) email: Email,
}

/// Decodes the address of an invite.
pub(super) fn address(text: Option<&str>) -> Result<Option<Address>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let email = Email::parse(text).map_err(|invalid| invalid.at("email"))?;
    let field = "email".to_owned();
    Ok(Some(Address { field, email }))
}

/// Decodes the addresses to send invites to, each once. The error names every invalid one.
pub(super) fn addresses(texts: &[String]) -> Result<Vec<Address>, Failure> {
    let mut violations = Violations::default();
    let fits = (1..=MAX_ADDRESSES).contains(&texts.len());
    let message = "must have 1 to 100 addresses";
    violations.check("email", fits, FieldCode::Length, message);
    let mut seen = HashSet::new();
    let mut addresses = Vec::new();
    for (index, text) in texts.iter().enumerate().take(MAX_ADDRESSES) {
        let field = match texts {
            [_] => "email".to_owned(),
            _ => format!("email[{index}]"),
        };
        if let Some(email) = violations.value(&field, Email::parse(text))
            && seen.insert(email.canonical())
        {
            addresses.push(Address { field, email });
        }
    }
    violations.finish()?;
    Ok(addresses)
}

/// Decodes the inviter: by default the calling user. A user invites only as itself.
pub(super) fn inviter(caller: &Caller, named: Option<&str>) -> Result<Option<UserId>> {
    let own = caller.user_id().map(UserId::parse).transpose();
    let own = own.map_err(Error::internal)?;
    let named = named
        .map(|text| UserId::parse(text).map_err(|invalid| invalid.at("inviterUserId")))
        .transpose()?;
    if caller.is_admin() {
        return Ok(named.or(own));
    }
    // An API key without the role admin is no user.
    let own = own.ok_or_else(unknown_inviter)?;
    match named {
        Some(named) if named != own => Err(unknown_inviter().into()),
        _ => Ok(Some(own)),
    }
}

pub(super) fn unknown_inviter() -> Failure {
    Failure::invalid(
        "inviterUserId",
        FieldCode::UnknownReference,
        "user not found",
    )
}

pub(super) fn invite(invite: Invite, links: &Links, now: DateTime<Utc>) -> wire::Invite {
    wire::Invite {
        status: status(invite.status(now)).into(),
        url: links.sign_up(&invite.code),
        code: invite.code,
        invited_email: invite.invited_email,
        invited_user_id: invite.invited_user_id.map(String::from),
        inviter_user_id: invite.inviter_user_id.map(String::from),
        expired_at: Some(to_proto(invite.expired_at)),
        metadata: "{}".to_owned(),
        created_at: Some(to_proto(invite.created_at)),
        updated_at: Some(to_proto(invite.updated_at)),
    }
}

const fn status(status: Status) -> InviteStatus {
    match status {
        Status::Pending => InviteStatus::Pending,
        Status::Accepted => InviteStatus::Accepted,
        Status::Canceled => InviteStatus::Canceled,
        Status::Expired => InviteStatus::Expired,
    }
}

pub(super) fn validation(validation: Validation) -> wire::ValidateInviteResponse {
    wire::ValidateInviteResponse {
        code: validation.code.as_str().to_owned(),
        fault: validation
            .fault
            .map_or(InviteFault::Unspecified, fault)
            .into(),
        referrer_name: validation.referrer_name,
        expired_at: validation.expired_at.map(to_proto),
    }
}

const fn fault(fault: Fault) -> InviteFault {
    match fault {
        Fault::Accepted => InviteFault::Accepted,
        Fault::Canceled => InviteFault::Canceled,
        Fault::Expired => InviteFault::Expired,
        Fault::ReferrerUnavailable => InviteFault::ReferrerUnavailable,
        Fault::InUse => InviteFault::InUse,
        // Faults of a sign-up; a code is validated without an email, and an unknown one is not found.
        Fault::Unknown | Fault::OtherEmail => InviteFault::Unspecified,
    }
}

#[cfg(test)]
mod tests {
    use platform::auth::{Kind, Role};

    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn fields(given: &[&str]) -> Vec<String> {
        let failure = addresses(&texts(given)).unwrap_err();
        failure
            .fields
            .into_iter()
            .map(|field| field.field)
            .collect()
    }

    #[test]
    fn an_address_is_taken_once_whatever_its_case() {
        let taken = addresses(&texts(&["a@x.com", " A@X.com", "b@x.com"])).unwrap();
        let taken: Vec<_> = taken
            .iter()
            .map(|address| (&*address.field, address.email.as_str()))
            .collect();
        assert_eq!(taken, [("email[0]", "a@x.com"), ("email[2]", "b@x.com")]);
    }

    #[test]
    fn every_invalid_address_is_named() {
        assert_eq!(fields(&["a"]), ["email"]);
        assert_eq!(fields(&["a", "b@x.com", "c"]), ["email[0]", "email[2]"]);
        assert_eq!(fields(&[]), ["email"]);
        assert_eq!(fields(&["a@x.com"; 101]), ["email"]);
        assert_eq!(addresses(&texts(&["a@x.com"; 100])).unwrap().len(), 1);
    }

    #[test]
    fn users_invite_as_themselves_and_admins_as_anybody() {
        const ANN: &str = "0192abcd-0000-7000-8000-0000000000aa";
        const BOB: &str = "0192abcd-0000-7000-8000-0000000000bb";
        let caller = |kind, role| Caller {
            kind,
            subject: ANN.to_owned(),
            roles: vec![role],
        };
        let id = |text| UserId::parse(text).ok();
        let ann = caller(Kind::User, Role::User);
        assert_eq!(inviter(&ann, None).unwrap(), id(ANN));
        assert_eq!(inviter(&ann, Some(ANN)).unwrap(), id(ANN));
        assert!(inviter(&ann, Some(BOB)).is_err());
        let admin = caller(Kind::User, Role::Admin);
        assert_eq!(inviter(&admin, None).unwrap(), id(ANN));
        assert_eq!(inviter(&admin, Some(BOB)).unwrap(), id(BOB));
        let back_end = caller(Kind::Key, Role::Admin);
        assert_eq!(inviter(&back_end, None).unwrap(), None);
        assert!(inviter(&caller(Kind::Key, Role::User), None).is_err());
        assert!(inviter(&admin, Some("x")).is_err());
    }
}
