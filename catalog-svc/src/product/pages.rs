//! Cache of pages of products. A page is read again once a transaction has changed the version of all that
//! pages show, so that no caller sees an old one.

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use prost::Message as _;
use proto::{catalog::v1::ListProductsResponse, common::v1::ListRequest};
use uuid::Uuid;

use super::View;

/// Encoded size of the pages kept. In memory they take a few times as much.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// How long a page is kept that nobody asks for.
const MAX_IDLE: Duration = Duration::from_mins(1);

/// The pages that were read last. Cloning is cheap and shares them.
#[derive(Debug, Clone)]
pub(super) struct Pages(Cache<Key, Arc<Page>>);

/// What a page answers: the encoded request, for callers with a view.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    view: View,
    request: Vec<u8>,
}

#[derive(Debug)]
struct Page {
    /// The version before the page was read; the page may be newer.
    version: Uuid,
    response: ListProductsResponse,
}

impl Key {
    pub(super) fn new(request: &ListRequest, view: View) -> Self {
        let request = request.encode_to_vec();
        Self { view, request }
    }
}

impl Pages {
    pub(super) fn new() -> Self {
        let weigh = |key: &Key, page: &Arc<Page>| {
            let bytes = key.request.len() + page.response.encoded_len();
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder()
            .max_capacity(MAX_BYTES)
            .weigher(weigh)
            .time_to_idle(MAX_IDLE);
        Self(cache.build())
    }

    /// Finds the page that was read at this version.
    pub(super) fn get(&self, key: &Key, version: Uuid) -> Option<ListProductsResponse> {
        let page = self.0.get(key)?;
        (page.version == version).then(|| page.response.clone())
    }

    /// Keeps a page that was read after this version.
    pub(super) fn insert(&self, key: Key, version: Uuid, response: ListProductsResponse) {
        let page = Page { version, response };
        self.0.insert(key, Arc::new(page));
    }
}
