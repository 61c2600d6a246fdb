//! Bodies that keep their request in progress.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::activity::InProgress;

/// A body, and the request that is in progress until the body is dropped.
pub(super) struct TrackedBody {
    body: Body,
    _request: Arc<InProgress>,
}

impl TrackedBody {
    pub(super) fn wrap(body: Body, request: Arc<InProgress>) -> Body {
        Body::new(Self {
            body,
            _request: request,
        })
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
