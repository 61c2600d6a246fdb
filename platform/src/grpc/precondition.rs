//! A change of only that version of a resource which the client has seen. The gateway takes the versions
//! from `If-Match`; the owning service compares them under the lock of the change.

use tonic::{
    Request,
    metadata::{Ascii, MetadataValue},
};

use crate::error::{Code, Failure};

/// The metadata of a request that names versions: `7` or `7,9`.
pub const IF_VERSION: &str = "guerdon-if-version";

/// Versions of a resource, of which one must be the current one. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions(Vec<i64>);

impl Versions {
    /// Collects versions, unless there are none.
    pub fn new(versions: Vec<i64>) -> Option<Self> {
        (!versions.is_empty()).then_some(Self(versions))
    }

    /// Reads the versions in the metadata of a request, if it has any.
    pub fn of<T>(request: &Request<T>) -> Result<Option<Self>, Failure> {
        let Some(value) = request.metadata().get(IF_VERSION) else {
            return Ok(None);
        };
        let malformed = || Failure::new(Code::MalformedRequest, "malformed guerdon-if-version");
        let text = value.to_str().map_err(|_| malformed())?;
        let versions: Result<Vec<_>, _> = text.split(',').map(str::parse).collect();
        Ok(Self::new(versions.map_err(|_| malformed())?))
    }

    /// Returns the value of the metadata.
    pub fn metadata(&self) -> MetadataValue<Ascii> {
        let versions: Vec<_> = self.0.iter().map(i64::to_string).collect();
        let value = versions.join(",").try_into();
        value.expect("digits and commas are ASCII")
    }
}

/// Returns `precondition_failed` unless the version that is locked is one of those expected, if any are.
pub fn check(expected: Option<&Versions>, current: i64) -> Result<(), Failure> {
    match expected {
        Some(Versions(versions)) if !versions.contains(&current) => {
            let detail = "the resource has changed since it was read; read it again";
            Err(Failure::new(Code::PreconditionFailed, detail))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_travel_as_metadata() {
        for versions in [vec![7], vec![7, -1, i64::MAX]] {
            let versions = Versions::new(versions).unwrap();
            let mut request = Request::new(());
            request
                .metadata_mut()
                .insert(IF_VERSION, versions.metadata());
            assert_eq!(Versions::of(&request).unwrap(), Some(versions));
        }
        assert_eq!(Versions::of(&Request::new(())).unwrap(), None);
        assert_eq!(Versions::new(Vec::new()), None);
        for malformed in ["", "x", "7,x", "7,,8", "7.0", "9223372036854775808"] {
            let mut request = Request::new(());
            let value = malformed.parse().unwrap();
            request.metadata_mut().insert(IF_VERSION, value);
            let refusal = tonic::Status::from(Versions::of(&request).unwrap_err());
            assert_eq!(refusal.code(), tonic::Code::InvalidArgument, "{malformed}");
        }
    }

    #[test]
    fn one_of_the_versions_must_be_the_current_one() {
        let expected = Versions::new(vec![3, 7]);
        assert!(check(expected.as_ref(), 7).is_ok());
        assert!(check(None, 8).is_ok());
        let refusal = check(expected.as_ref(), 8).unwrap_err();
        assert_eq!(refusal.code, Code::PreconditionFailed);
    }
}
