//! The gateway over HTTP, with keys of its own and no service behind it.

mod access;
mod assets;
mod bulk;
mod edge;
mod openapi;
mod support;
