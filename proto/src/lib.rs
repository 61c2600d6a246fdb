//! The wire contract between Guerdon's processes: every `.proto`, generated once.
//!
//! [`lists`] holds what the list RPCs can filter, sort and include; no business rule lives here.
#![expect(missing_docs, reason = "generated items carry the comments of the .proto files")]
#![expect(clippy::all, clippy::pedantic, reason = "generated code")]

/// Shared by all contexts.
pub mod common {
    pub mod v1 {
        tonic::include_proto!("guerdon.common.v1");
    }
}

/// The encoded `FileDescriptorSet` of every package, for gRPC reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
