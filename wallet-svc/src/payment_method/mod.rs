//! Payment methods: ways to bring money in, from the configuration. They live in memory, and are as
//! they were when the process started.

pub mod convert;
pub mod file;
pub mod grpc;
pub mod model;
pub mod select;
