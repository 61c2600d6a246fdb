//! The secrets of webhooks, `whsec_` and base64 as Standard Webhooks has them, stored sealed.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use platform::{ids::Ids, sealing::SealingKey};
use secrecy::SecretSlice;

use super::WebhookId;
use crate::error::{Error, Result};

/// The prefix of every secret, by which libraries and scanners recognise one.
const PREFIX: &str = "whsec_";

/// Makes a secret. Returns it as its owner gets it, and sealed.
pub(super) fn create(sealing: &SealingKey, ids: &Ids, id: WebhookId) -> (String, Vec<u8>) {
    let key = ids.secret();
    let text = format!("{PREFIX}{}", BASE64.encode(key));
    (text, sealing.seal(&label(id), &key))
}

/// Opens the secrets that sign: the current one, and for a while the one before.
pub(super) fn open(
    sealing: &SealingKey,
    id: WebhookId,
    current: &[u8],
    old: Option<&[u8]>,
) -> Result<Vec<SecretSlice<u8>>> {
    let opened = [Some(current), old].into_iter().flatten().map(|sealed| {
        let opened = sealing.open(&label(id), sealed);
        opened.map_err(|error| Error::internal(error.into_boxed_dyn_error()))
    });
    opened.collect()
}

/// Returns the label of a sealed secret.
fn label(id: WebhookId) -> String {
    format!("webhook secret {id}")
}
