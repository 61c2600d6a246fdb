//! The other side of a webhook: records requests, and responds as it is told to.

use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// A running receiver. It responds 204 unless it is told otherwise.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakeReceiver {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    next: VecDeque<Behaviour>,
    always: Option<Behaviour>,
    received: Vec<Received>,
}

/// What the receiver does with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Behaviour {
    Status(u16),
    /// Responds 302 with a location at the receiver.
    Redirect,
    /// Never responds.
    Hang,
    /// Closes the connection.
    Close,
}

/// A request that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) line: String,
    /// With names in lower case.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn event_id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn signatures(&self) -> Vec<&str> {
        self.headers["webhook-signature"].split(' ').collect()
    }

    /// Returns whether one of the signatures is by this secret.
    pub(crate) fn is_signed_by(&self, secret: &str) -> bool {
        let key = BASE64
            .decode(secret.strip_prefix("whsec_").unwrap())
            .unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        let (id, timestamp) = (self.event_id(), &self.headers["webhook-timestamp"]);
        mac.update(format!("{id}.{timestamp}.{}", self.body).as_bytes());
        let expected = format!("v1,{}", BASE64.encode(mac.finalize().into_bytes()));
        self.signatures().contains(&&*expected)
    }
}

impl FakeReceiver {
    /// Starts a receiver and returns its address.
    pub(crate) async fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let receiver = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(receiver.clone().converse(stream));
            }
        });
        address
    }

    /// Does this with the next requests.
    pub(crate) fn next(&self, behaviours: &[Behaviour]) {
        self.state.lock().unwrap().next.extend(behaviours);
    }

    /// Does this with all other requests.
    pub(crate) fn always(&self, behaviour: Behaviour) {
        self.state.lock().unwrap().always = Some(behaviour);
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.lock().unwrap().received.clone()
    }

    async fn converse(self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        let Some(request) = read(&mut stream).await else {
            return;
        };
        let behaviour = {
            let mut state = self.state.lock().unwrap();
            state.received.push(request);
            let next = state.next.pop_front();
            next.or(state.always).unwrap_or(Behaviour::Status(204))
        };
        let head = match behaviour {
            Behaviour::Status(status) => format!("HTTP/1.1 {status} Status\r\n"),
            Behaviour::Redirect => "HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\n".to_owned(),
            Behaviour::Hang => std::future::pending().await,
            Behaviour::Close => return,
        };
        let response = format!("{head}content-length: 0\r\nconnection: close\r\n\r\n");
        _ = stream.write_all(response.as_bytes()).await;
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut line = String::new();
    stream
        .read_line(&mut line)
        .await
        .ok()
        .filter(|read| *read > 0)?;
    let mut headers = HashMap::new();
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await.ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    Some(Received {
        line: line.trim_end().to_owned(),
        headers,
        body: String::from_utf8(body).ok()?,
    })
}
