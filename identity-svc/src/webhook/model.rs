//! A webhook, and its changes.

use chrono::{DateTime, Utc};
use platform::{
    clock,
    error::{FieldCode, InvalidValue},
    ids::Id,
};

use crate::public_event::event_types;

pub(crate) type WebhookId = Id<Webhook>;

/// Webhooks that there may be: each event is sent to all of them.
pub(super) const MAX_WEBHOOKS: i64 = 50;

/// Patterns of one webhook.
const MAX_PATTERNS: usize = 100;

/// A webhook without its secret.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Webhook {
    pub(super) id: WebhookId,
    pub(super) url: String,
    pub(super) events: Vec<String>,
    pub(super) description: String,
    pub(super) enabled: bool,
    pub(super) disabled_at: Option<DateTime<Utc>>,
    pub(super) disabled_reason: Option<DisabledReason>,
    /// The first failure since the last success.
    pub(super) failing_since: Option<DateTime<Utc>>,
    pub(super) created_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
}

/// Why a webhook is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub(crate) enum DisabledReason {
    /// An admin disabled it.
    Admin,
    /// It responded 410.
    Gone,
    /// Nothing reached it for as long as a delivery is tried.
    Failing,
}

/// A creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewWebhook {
    pub(super) url: String,
    pub(super) events: Vec<String>,
    pub(super) description: String,
    pub(super) enabled: bool,
}

/// Changes; `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WebhookPatch {
    pub(super) url: Option<String>,
    pub(super) events: Option<Vec<String>>,
    pub(super) description: Option<String>,
    pub(super) enabled: Option<bool>,
}

impl NewWebhook {
    pub(super) fn create(self, id: WebhookId, now: DateTime<Utc>) -> Webhook {
        let mut webhook = Webhook {
            id,
            url: self.url,
            events: self.events,
            description: self.description,
            enabled: true,
            disabled_at: None,
            disabled_reason: None,
            failing_since: None,
            created_at: now,
            updated_at: now,
        };
        webhook.set_enabled(self.enabled, now);
        webhook
    }
}

impl Webhook {
    /// Applies a patch.
    pub(super) fn update(&mut self, patch: WebhookPatch, now: DateTime<Utc>) {
        if let Some(url) = patch.url {
            // What failed was another address.
            self.failing_since = self.failing_since.filter(|_| url == self.url);
            self.url = url;
        }
        self.events = patch
            .events
            .unwrap_or_else(|| std::mem::take(&mut self.events));
        if let Some(description) = patch.description {
            self.description = description;
        }
        if let Some(enabled) = patch.enabled {
            self.set_enabled(enabled, now);
        }
        self.updated_at = clock::after(self.updated_at, now);
    }

    /// Enables or disables it, as an admin asks for.
    fn set_enabled(&mut self, enabled: bool, now: DateTime<Utc>) {
        if enabled == self.enabled {
            return;
        }
        self.enabled = enabled;
        self.disabled_at = (!enabled).then_some(now);
        self.disabled_reason = (!enabled).then_some(DisabledReason::Admin);
        self.failing_since = None;
    }
}

/// Checks the patterns of a webhook and drops repeats.
pub(super) fn check_events(patterns: Vec<String>) -> Result<Vec<String>, InvalidValue> {
    if patterns.is_empty() {
        return Err(InvalidValue::new(FieldCode::Required, "is required"));
    }
    if patterns.len() > MAX_PATTERNS {
        let message = format!("at most {MAX_PATTERNS} of them");
        return Err(InvalidValue::new(FieldCode::Length, message));
    }
    let mut events = Vec::new();
    for pattern in patterns {
        event_types::check_pattern(&pattern)?;
        if !events.contains(&pattern) {
            events.push(pattern);
        }
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use platform::ids::Ids;

    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 0).unwrap()
    }

    fn webhook(enabled: bool) -> Webhook {
        let new = NewWebhook {
            url: "https://shop.example/hook".to_owned(),
            events: vec!["*".to_owned()],
            description: String::new(),
            enabled,
        };
        new.create(Ids::seeded(1).next(), at(1))
    }

    #[test]
    fn a_disabled_webhook_says_since_when_and_why() {
        let mut webhook = webhook(false);
        assert_eq!(webhook.disabled_at, Some(at(1)));
        assert_eq!(webhook.disabled_reason, Some(DisabledReason::Admin));
        let enable = WebhookPatch {
            enabled: Some(true),
            ..WebhookPatch::default()
        };
        webhook.update(enable, at(2));
        assert!(webhook.enabled);
        assert_eq!((webhook.disabled_at, webhook.disabled_reason), (None, None));
    }

    #[test]
    fn another_address_has_not_failed_yet() {
        let mut webhook = webhook(true);
        for (url, failing_since) in [
            ("https://shop.example/hook", Some(at(1))),
            ("https://shop.example/other", None),
        ] {
            webhook.failing_since = Some(at(1));
            let patch = WebhookPatch {
                url: Some(url.to_owned()),
                ..WebhookPatch::default()
            };
            webhook.update(patch, at(2));
            assert_eq!(webhook.failing_since, failing_since, "{url}");
        }
    }

    #[test]
    fn patterns_are_known_and_named_once() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let checked = check_events(texts(&["*", "user.*", "*"]));
        assert_eq!(checked, Ok(texts(&["*", "user.*"])));
        for (bad, code) in [
            (texts(&[]), FieldCode::Required),
            (texts(&["order.paid"]), FieldCode::Enum),
            (texts(&["*"; 101]), FieldCode::Length),
        ] {
            assert_eq!(check_events(bad).unwrap_err().code, code);
        }
    }
}
