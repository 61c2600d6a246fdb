//! The error table: every public error code with its gRPC and HTTP status, and [`Failure`], the one
//! form in which a refusal or a fault crosses a process boundary.
