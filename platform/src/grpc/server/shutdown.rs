//! Graceful shutdown of response streams. Without it a health subscription would keep the process
//! from stopping; its client reconnects to another replica.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::{Status, body::Body};

use crate::error::Failure;

/// A response stream that ends with `unavailable` when the process stops.
pub(super) struct ShutdownStream {
    stream: Body,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    ended: bool,
}

impl ShutdownStream {
    pub(super) fn new(stream: Body, stop: CancellationToken) -> Self {
        Self {
            stream,
            stop: Box::pin(stop.cancelled_owned()),
            ended: false,
        }
    }
}

impl HttpBody for ShutdownStream {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        // Frames that are ready are sent first.
        if let Poll::Ready(frame) = Pin::new(&mut self.stream).poll_frame(cx) {
            return Poll::Ready(frame);
        }
        std::task::ready!(self.stop.as_mut().poll(cx));
        self.ended = true;
        let mut trailers = HeaderMap::new();
        let status = Status::from(Failure::unavailable("the stopping process"));
        status.add_header(&mut trailers)?;
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.stream.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.stream.size_hint()
    }
}
