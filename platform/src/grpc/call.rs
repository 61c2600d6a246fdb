//! Takes a request apart for its handler, and puts its response together.

use tonic::{Request, Response};

use crate::{
    auth::Caller,
    error::Failure,
    idempotency::{Key, Reply},
};

/// An authenticated request.
#[derive(Debug)]
pub struct Call<T> {
    /// Who is calling.
    pub caller: Caller,
    /// The idempotency key, if the request carries one.
    pub key: Option<Key>,
    /// The request's message.
    pub body: T,
}

impl<T> Call<T> {
    /// Reads a request whose caller the server has admitted by the table of RPCs.
    pub fn of(request: Request<T>) -> Result<Self, Failure> {
        let (metadata, mut extensions, body) = request.into_parts();
        let caller: Caller = extensions.remove().ok_or_else(Caller::missing)?;
        let key = Key::read(&metadata, &caller)?;
        Ok(Self { caller, key, body })
    }
}

/// Wraps the resource of a reply in its response message, and marks a replay.
pub fn respond<M, R>(reply: Reply<M>, wrap: impl FnOnce(M) -> R) -> Response<R> {
    let Reply { message, replayed } = reply;
    let message = wrap(message);
    Reply { message, replayed }.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        auth::{Kind, Role},
        error::Code,
        idempotency::{self, HASH, KEY, PATH},
    };

    fn request(roles: &[Role], key: &str) -> Request<&'static str> {
        let mut request = Request::new("body");
        request.extensions_mut().insert(Caller {
            kind: Kind::User,
            subject: "ann".to_owned(),
            roles: roles.to_vec(),
        });
        for (name, value) in [(KEY, key), (PATH, "POST /things"), (HASH, "00")] {
            let value = value.parse().unwrap();
            request.metadata_mut().insert(name, value);
        }
        request
    }

    #[test]
    fn caller_key_and_body_are_taken_from_the_request() {
        let call = Call::of(request(&[Role::User], "k")).unwrap();
        assert_eq!(call.caller.subject, "ann");
        assert!(call.key.is_some());
        assert_eq!(call.body, "body");

        let mut unkeyed = request(&[Role::User], "k");
        unkeyed.metadata_mut().remove(KEY);
        assert_eq!(Call::of(unkeyed).unwrap().key, None);
    }

    #[test]
    fn a_request_needs_a_caller_and_a_valid_key_if_any() {
        let code = |result: Result<Call<_>, Failure>| result.unwrap_err().code;
        let anonymous = code(Call::of(Request::new("body")));
        assert_eq!(anonymous, Code::Unauthenticated);
        let malformed = code(Call::of(request(&[Role::User], "")));
        assert_eq!(malformed, Code::InvalidIdempotencyKey);
    }

    #[test]
    fn a_response_wraps_the_resource_and_marks_a_replay() {
        for replayed in [false, true] {
            let message = 1;
            let response = respond(Reply { message, replayed }, |number| [number]);
            assert_eq!(idempotency::is_replay(response.metadata()), replayed);
            assert_eq!(response.into_inner(), [1]);
        }
    }
}
