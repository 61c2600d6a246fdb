//! The receivers of webhooks: what each got, and when.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::sleep,
};

/// What a receiver does with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Responds at once.
    Well,
    /// Responds after this time.
    Slow(Duration),
    /// Never responds.
    Dead,
}

/// A running receiver.
#[derive(Debug, Clone)]
pub struct Receiver {
    pub behaviour: Behaviour,
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    /// The requests of each event.
    events: HashMap<String, Event>,
    last_new: Instant,
}

#[derive(Debug)]
struct Event {
    requests: usize,
    payload: Vec<u8>,
    has_changed: bool,
}

/// What a receiver got so far.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    /// Events with an id of their own.
    pub distinct: usize,
    /// Further requests with an id that was there already.
    pub duplicates: usize,
    /// Events of which two requests had different bodies.
    pub changed: usize,
    /// The first request of the last event.
    pub last_new: Instant,
}

impl Receiver {
    /// Starts a receiver.
    pub async fn start(behaviour: Behaviour) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let receiver = Self {
            behaviour,
            address: listener.local_addr()?,
            state: Arc::new(Mutex::new(State {
                events: HashMap::new(),
                last_new: Instant::now(),
            })),
        };
        let server = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = server.clone();
                tokio::spawn(async move { server.respond(stream).await });
            }
        });
        Ok(receiver)
    }

    /// Counts what has arrived.
    pub fn count(&self) -> Count {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let requests: usize = state.events.values().map(|event| event.requests).sum();
        let changed = state.events.values().filter(|event| event.has_changed);
        Count {
            distinct: state.events.len(),
            duplicates: requests - state.events.len(),
            changed: changed.count(),
            last_new: state.last_new,
        }
    }

    async fn respond(self, mut stream: TcpStream) -> Option<()> {
        let (id, payload) = read(&mut stream).await?;
        match self.behaviour {
            Behaviour::Dead => std::future::pending().await,
            Behaviour::Slow(delay) => sleep(delay).await,
            Behaviour::Well => {}
        }
        self.note(id, payload);
        let response = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
        stream.write_all(response).await.ok()
    }

    fn note(&self, id: String, payload: Vec<u8>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(event) = state.events.get_mut(&id) {
            event.requests += 1;
            event.has_changed |= event.payload != payload;
            return;
        }
        state.last_new = Instant::now();
        let event = Event {
            requests: 1,
            payload,
            has_changed: false,
        };
        state.events.insert(id, event);
    }
}

/// Reads a request; returns its `webhook-id` and its body.
async fn read(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break end;
        }
        stream.read_buf(&mut bytes).await.ok().filter(|n| *n > 0)?;
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let header = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    let (_, id) = header("webhook-id")?;
    let (_, length) = header("content-length")?;
    let length: usize = length.parse().ok()?;
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        stream.read_buf(&mut body).await.ok().filter(|n| *n > 0)?;
    }
    Some((id.to_owned(), body))
}
