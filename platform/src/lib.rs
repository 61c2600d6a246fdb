//! The shared kernel of Guerdon's processes: everything technical that two of them need,
//! and no business word.

#![warn(missing_docs)]

/// A request allocates and frees hundreds of times, on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub mod audit;
pub mod auth;
pub mod backoff;
pub mod clock;
pub mod config;
pub mod error;
pub mod failpoint;
pub mod fields;
pub mod grpc;
pub mod http;
pub mod idempotency;
pub mod ids;
pub mod lifecycle;
pub mod list;
pub mod messaging;
pub mod money;
pub mod patch;
pub mod pg;
pub mod rank;
pub mod saga;
pub mod sealing;
pub mod service;
pub mod telemetry;
pub mod testing;
pub mod text;
