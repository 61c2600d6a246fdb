//! Payment methods: the providers of deposits. They are read from a file at the start and stay in
//! memory.

pub(crate) mod convert;
pub(crate) mod file;
pub(crate) mod grpc;
pub(crate) mod model;
pub(crate) mod select;
