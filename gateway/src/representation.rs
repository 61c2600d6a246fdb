//! Which form of a resource a response has (RFC 9110, 12 and 13): its media type, its coding, and
//! whether the client has it already.

pub(crate) mod coding;
pub(crate) mod conditional;
pub(crate) mod media_type;
mod preferences;
mod tag;

pub(crate) use tag::Version;
