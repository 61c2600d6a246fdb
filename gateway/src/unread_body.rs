//! Requests that are answered before their body was read. Left to itself, hyper ends an HTTP/1
//! connection then without saying so, and the client's next request on it is lost (RFC 9112, 9.6).

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::{HeaderValue, StatusCode, Version, header},
    response::Response,
};
use futures::StreamExt as _;
use http_body::{Frame, SizeHint};
use tokio::sync::oneshot;

use crate::extract::body::MAX_BODY;

/// Time in which the rest of a body must arrive, after which its connection ends.
const REST: Duration = Duration::from_secs(30);
/// Time for which a connection that ends goes on reading, so that the client, which may still be
/// sending, reads the response before it notices the end.
const LINGER: Duration = Duration::from_secs(2);

/// Keeps the connection usable after a response that left the body unread, or says that it ends.
///
/// The rest of a body whose announced length is within the limit is read after the response.
/// Another one may have no end, so its connection is closed.
pub(crate) async fn finish(
    request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    // HTTP/2 resets the one stream.
    if request.body().is_end_stream() || request.version() >= Version::HTTP_2 {
        return next(request).await;
    }
    // Such a client sends its body only when it is asked to, and reading asks.
    let waits_to_send = request.headers().contains_key(header::EXPECT);
    let (lender, mut returned) = oneshot::channel();
    let request = request.map(|body| Body::new(LentBody::new(body, lender)));
    let mut response = next(request).await;
    let Ok(rest) = returned.try_recv() else {
        return response;
    };
    let is_short = |length| length <= MAX_BODY as u64;
    // One that did not come in the time of its request is not waited for again.
    let is_late = response.status() == StatusCode::GATEWAY_TIMEOUT;
    let keep = !waits_to_send && !is_late && rest.size_hint().exact().is_some_and(is_short);
    if !keep {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    if !waits_to_send {
        tokio::spawn(discard(rest, if keep { REST } else { LINGER }));
    }
    response
}

/// Reads a body to its end, up to the limits. hyper sends the response meanwhile.
async fn discard(body: Body, within: Duration) {
    let mut read = 0;
    let mut chunks = body.into_data_stream();
    let rest = async {
        while let Some(Ok(chunk)) = chunks.next().await {
            read += chunk.len();
            if read > MAX_BODY {
                break;
            }
        }
    };
    // Whether the end was reached or not: hyper sees it when the body is dropped.
    let _ = tokio::time::timeout(within, rest).await;
}

/// The body of a request, which returns to the lender when its reader drops it before its end.
struct LentBody {
    body: Body,
    lender: Option<oneshot::Sender<Body>>,
}

impl LentBody {
    fn new(body: Body, lender: oneshot::Sender<Body>) -> Self {
        Self {
            body,
            lender: Some(lender),
        }
    }
}

impl HttpBody for LentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) {
            // Nothing is left to read.
            self.lender = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for LentBody {
    fn drop(&mut self) {
        if self.body.is_end_stream() {
            return;
        }
        if let Some(lender) = self.lender.take() {
            // Without a receiver the request was dropped with its connection.
            let _ = lender.send(std::mem::take(&mut self.body));
        }
    }
}
