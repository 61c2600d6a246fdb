//! A fake of all four services: one gRPC server that records every request and responds with a
//! sample of the response message, unless a test sets another reply.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Response, header},
};
use futures::StreamExt as _;
use http_body_util::{BodyExt as _, Full};
use platform::error::Failure;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor, SerializeOptions};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{
    Status,
    service::Routes,
    transport::{Server, server::TcpIncoming},
};

use crate::samples;

/// A request that the fake received.
#[derive(Debug, Serialize)]
pub struct ReceivedCall {
    /// Such as `ProductService/GetProduct`.
    pub rpc: String,
    /// The message as JSON, without default values.
    pub message: Value,
    #[serde(skip)]
    pub metadata: HeaderMap,
}

/// The RPCs by which the gateway gets tokens: no part of what a request asks of the services.
const TOKEN_RPCS: [&str; 3] = [
    "AuthService/ExchangeApiKey",
    "AuthService/IssueAnonymousToken",
    "AuthService/IssueServiceToken",
];

/// The running server.
pub struct FakeServices {
    url: String,
    shared: Arc<Shared>,
    _stop: DropGuard,
}

struct Shared {
    descriptors: DescriptorPool,
    calls: Mutex<Vec<ReceivedCall>>,
    replies: Mutex<HashMap<String, Reply>>,
}

#[derive(Clone)]
enum Reply {
    /// These messages, encoded.
    Messages(Vec<Vec<u8>>),
    /// A sample, marked as the recorded response to an earlier request.
    Replay,
    Status(Box<Status>),
    /// This message, and then silence.
    Open(Vec<u8>),
    /// No response at all.
    Hang,
}

impl FakeServices {
    pub fn start() -> Self {
        let shared = Arc::new(Shared {
            descriptors: samples::descriptors(),
            calls: Mutex::default(),
            replies: Mutex::default(),
        });
        let router = Router::new()
            .fallback(serve)
            .with_state(Arc::clone(&shared));
        let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).expect("a free port");
        let url = format!("http://{}", incoming.local_addr().expect("bound"));
        let stop = CancellationToken::new();
        let server = Server::builder()
            .add_routes(Routes::from(router))
            .serve_with_incoming_shutdown(incoming, stop.clone().cancelled_owned());
        tokio::spawn(server);
        Self {
            url,
            shared,
            _stop: stop.drop_guard(),
        }
    }

    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Responds to an RPC with this message from now on.
    pub fn reply(&self, rpc: &str, message: &impl Message) {
        self.set(rpc, Reply::Messages(vec![message.encode_to_vec()]));
    }

    /// Responds to a streaming RPC with these messages.
    pub fn reply_stream(&self, rpc: &str, messages: &[impl Message]) {
        let messages = messages.iter().map(Message::encode_to_vec).collect();
        self.set(rpc, Reply::Messages(messages));
    }

    /// Responds with a sample that is marked as a replay.
    pub fn replay(&self, rpc: &str) {
        self.set(rpc, Reply::Replay);
    }

    /// Refuses an RPC as a service of ours does.
    pub fn fail(&self, rpc: &str, failure: Failure) {
        self.set(rpc, Reply::Status(Box::new(failure.into())));
    }

    /// Refuses an RPC as a proxy or a foreign server does.
    pub fn fail_with_status(&self, rpc: &str, status: Status) {
        self.set(rpc, Reply::Status(Box::new(status)));
    }

    /// Responds to a streaming RPC with this message, and does not end the stream.
    pub fn reply_open(&self, rpc: &str, message: &impl Message) {
        self.set(rpc, Reply::Open(message.encode_to_vec()));
    }

    /// Never responds to an RPC.
    pub fn hang(&self, rpc: &str) {
        self.set(rpc, Reply::Hang);
    }

    /// Returns the requests received since the last time.
    pub fn take_calls(&self) -> Vec<ReceivedCall> {
        std::mem::take(&mut *lock(&self.shared.calls))
    }

    fn set(&self, rpc: &str, reply: Reply) {
        let known = self.shared.descriptors.services().any(|service| {
            let mut methods = service.methods();
            methods.any(|method| name(&method) == rpc)
        });
        assert!(known, "no such RPC: {rpc}");
        lock(&self.shared.replies).insert(rpc.to_owned(), reply);
    }
}

async fn serve(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    if parts.uri.path() == "/grpc.health.v1.Health/Check" {
        // `status: SERVING`
        return respond(&[vec![8, 1]], false);
    }
    let Some(method) = shared.method(parts.uri.path()) else {
        return Status::unimplemented("no such RPC").into_http();
    };
    let body = body.collect().await.expect("a whole request").to_bytes();
    let rpc = name(&method);
    if !TOKEN_RPCS.contains(&&*rpc) {
        lock(&shared.calls).push(ReceivedCall {
            rpc: rpc.clone(),
            message: json(&method, &body[5..]),
            metadata: parts.headers,
        });
    }
    let reply = lock(&shared.replies).get(&rpc).cloned();
    let sample = || vec![samples::message(&method.output()).encode_to_vec()];
    match reply {
        None => respond(&sample(), false),
        Some(Reply::Replay) => respond(&sample(), true),
        Some(Reply::Messages(messages)) => respond(&messages, false),
        Some(Reply::Status(status)) => (*status).into_http(),
        Some(Reply::Open(message)) => respond_open(&message),
        Some(Reply::Hang) => std::future::pending().await,
    }
}

impl Shared {
    fn method(&self, path: &str) -> Option<MethodDescriptor> {
        let (service, method) = path.strip_prefix('/')?.split_once('/')?;
        let service = self.descriptors.get_service_by_name(service)?;
        service.methods().find(|known| known.name() == method)
    }
}

fn name(method: &MethodDescriptor) -> String {
    format!("{}/{}", method.parent_service().name(), method.name())
}

fn json(method: &MethodDescriptor, message: &[u8]) -> Value {
    let message = DynamicMessage::decode(method.input(), message).expect("a message of the RPC");
    let options = SerializeOptions::new().use_proto_field_name(true);
    let json = message.serialize_with_options(serde_json::value::Serializer, &options);
    json.expect("messages have a JSON form")
}

fn respond_open(message: &[u8]) -> Response<Body> {
    let first = std::iter::once(frame(message));
    let first = futures::stream::iter(first.map(Ok::<_, std::convert::Infallible>));
    let body = Body::from_stream(first.chain(futures::stream::pending()));
    let mut response = Response::new(body);
    let content_type = HeaderValue::from_static("application/grpc");
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}

fn frame(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).expect("a small message");
    let mut frame = vec![0];
    frame.extend(length.to_be_bytes());
    frame.extend(message);
    frame.into()
}

fn respond(messages: &[Vec<u8>], replayed: bool) -> Response<Body> {
    let mut frames = Vec::new();
    for message in messages {
        frames.extend(frame(message));
    }
    let trailers = HeaderMap::from_iter([(Status::GRPC_STATUS, HeaderValue::from_static("0"))]);
    let body = Full::new(Bytes::from(frames)).with_trailers(async { Some(Ok(trailers)) });
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    let content_type = HeaderValue::from_static("application/grpc");
    headers.insert(header::CONTENT_TYPE, content_type);
    if replayed {
        let replayed = HeaderValue::from_static("true");
        headers.insert("guerdon-idempotency-replayed", replayed);
    }
    response
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
