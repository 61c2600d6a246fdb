//! What all generated clients and servers have in common: they are limited in the size of messages
//! they receive.

use tonic::{
    body::Body,
    client::GrpcService,
    codegen::{Body as HttpBody, Bytes, StdError},
};

/// A generated client, over a channel of type `C`.
pub trait Client<C> {
    /// Creates the client; a response larger than `max_bytes` is an error.
    fn limited(channel: C, max_bytes: usize) -> Self;
}

/// A generated server.
pub trait Server {
    /// Sets the limit: a request larger than `max_bytes` is refused.
    #[must_use]
    fn limited(self, max_bytes: usize) -> Self;
}

/// Implements the traits for a service; the build script lists all of them.
macro_rules! service {
    ($context:ident, $client:ident::$Client:ident, $server:ident::$Server:ident) => {
        impl<C> Client<C> for crate::$context::v1::$client::$Client<C>
        where
            C: GrpcService<Body>,
            C::Error: Into<StdError>,
            C::ResponseBody: HttpBody<Data = Bytes> + Send + 'static,
            <C::ResponseBody as HttpBody>::Error: Into<StdError> + Send,
        {
            fn limited(channel: C, max_bytes: usize) -> Self {
                Self::new(channel).max_decoding_message_size(max_bytes)
            }
        }

        impl<S> Server for crate::$context::v1::$server::$Server<S> {
            fn limited(self, max_bytes: usize) -> Self {
                self.max_decoding_message_size(max_bytes)
            }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/services.rs"));
