//! Bodies of many items, as lines of JSON or as one array. They are parsed while they arrive, so that
//! the whole text is never in memory.

mod split;

use axum::{
    body::{Body, HttpBody as _},
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use futures::StreamExt as _;
use platform::error::{Code, Failure, FieldCode};
use serde::de::DeserializeOwned;

use self::split::Splitter;
use super::{Idempotency, json};
use crate::{
    App,
    error::Problem,
    idempotency::{self, BodyHash},
};

/// Most bytes of a body.
const MAX_BODY: usize = 32 * 1024 * 1024;
/// Most items of a body.
const MAX_ITEMS: usize = 10_000;
/// Most faults that are looked for in all items together; after them, one an item.
const MAX_FAULTS: usize = 1_000;
/// The media type of lines.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// The items of a body, in their order.
#[derive(Debug)]
pub(crate) struct Items<T> {
    /// Each item, or why it is rejected.
    pub(crate) items: Vec<Result<T, Failure>>,
    /// The idempotency key of the request. Its middleware would hold the whole body in memory.
    pub(crate) idempotency: Option<Idempotency>,
}

impl<T: DeserializeOwned + Send> FromRequest<App> for Items<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let mut splitter = splitter(&parts.headers)?;
        let key = idempotency::key(&parts.headers)?;
        let path = idempotency::path(&parts);
        let mut hash = BodyHash::new(app);
        let mut items = Vec::new();
        let mut faults = 0;
        for_each_chunk(body, |chunk| {
            hash.update(chunk);
            splitter.push(chunk, &mut |item| add(&mut items, &mut faults, item))
        })
        .await?;
        splitter.finish(&mut |item| add(&mut items, &mut faults, item))?;
        let idempotency = key.map(|key| Idempotency::new(key, &path, &hash.finish()));
        let idempotency = idempotency.transpose()?;
        Ok(Self { items, idempotency })
    }
}

fn add<T: DeserializeOwned>(
    items: &mut Vec<Result<T, Failure>>,
    faults: &mut usize,
    item: &[u8],
) -> Result<(), Failure> {
    if items.len() == MAX_ITEMS {
        let message = format!("must have at most {MAX_ITEMS} items");
        return Err(Failure::invalid("", FieldCode::Length, message));
    }
    let most = MAX_FAULTS.saturating_sub(*faults);
    let item = json::parse(item, most.clamp(1, json::MAX_FAULTS));
    *faults += item
        .as_ref()
        .err()
        .map_or(0, |failure: &Failure| failure.fields.len());
    items.push(item);
    Ok(())
}

/// Chooses lines or an array by the content type.
fn splitter(headers: &HeaderMap) -> Result<Splitter, Failure> {
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next());
    let lines = essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(NDJSON));
    json::check_content_type(headers, if lines { NDJSON } else { json::JSON })?;
    Ok(if lines {
        Splitter::lines()
    } else {
        Splitter::array()
    })
}

async fn for_each_chunk(
    body: Body,
    mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let too_large = || Failure::new(Code::PayloadTooLarge, format!("at most {MAX_BODY} bytes"));
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(too_large());
    }
    let mut read = 0;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Failure::new(Code::MalformedJson, "the body ended early"))?;
        read += chunk.len();
        if read > MAX_BODY {
            return Err(too_large());
        }
        each(&chunk)?;
    }
    Ok(())
}
