//! The gateway over HTTP, with fake services behind it.

mod fake_services;
mod harness;
mod headers;
mod operations;
mod samples;

mod access;
mod bodies;
mod bulk;
mod bulk_bodies;
mod coding;
mod conditional;
mod connections;
mod cors;
mod credentials;
mod edge;
mod fields;
mod idempotency;
mod json_bodies;
mod limits;
mod lists;
mod media_types;
mod methods;
mod openapi;
mod openapi_complete;
mod patches;
mod problems;
mod rate_limits;
mod raw;
mod resources;
mod revocations;
mod routes;
