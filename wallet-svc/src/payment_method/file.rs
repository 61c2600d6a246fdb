//! Reads payment methods from their TOML file. Of a secret only its mask is kept, and no message
//! quotes the file.

use std::{fs, path::Path};

use anyhow::{Context as _, bail, ensure};
use chrono::{DateTime, SubsecRound as _, Utc};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use toml::{Table, Value};

use super::model::{Capability, Feature, PaymentMethod, PaymentMethods};

const ENTRIES: &str = "paymentMethods";
const MAX_SLUG: usize = 64;
const MAX_NAME: usize = 255;

/// Shorter secrets are masked whole.
const MIN_PARTLY_MASKED: usize = 10;
/// The characters that the mask of a longer secret shows.
const UNMASKED: usize = 5;

/// An entry of the file. Not `Debug`, because it holds the secrets.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    slug: String,
    name: String,
    #[serde(default = "enabled")]
    enabled: bool,
    #[serde(default)]
    assets: Vec<String>,
    #[serde(default = "capabilities")]
    capabilities: Vec<Capability>,
    #[serde(default)]
    features: Vec<Feature>,
    #[serde(default)]
    metadata: Table,
    /// Of any type, because serde quotes a value of the wrong type.
    secrets: Option<Value>,
    created_at: Option<Value>,
}

const fn enabled() -> bool {
    true
}

fn capabilities() -> Vec<Capability> {
    vec![Capability::Deposit]
}

/// Reads the methods of a file; without a file there are none.
pub(crate) fn read(path: Option<&Path>) -> anyhow::Result<PaymentMethods> {
    let Some(path) = path else {
        return Ok(PaymentMethods::default());
    };
    read_file(path).with_context(|| format!("PAYMENT_METHODS_FILE {}", path.display()))
}

fn read_file(path: &Path) -> anyhow::Result<PaymentMethods> {
    let text = SecretString::from(fs::read_to_string(path)?);
    let modified = fs::metadata(path)?.modified()?;
    parse(text.expose_secret(), modified.into())
}

/// Parses the methods of a text; `modified` is the `createdAt` of those without one.
fn parse(text: &str, modified: DateTime<Utc>) -> anyhow::Result<PaymentMethods> {
    let mut file: Table = text.parse().map_err(|error| syntax(text, &error))?;
    let entries = file.remove(ENTRIES).unwrap_or(Value::Array(Vec::new()));
    if let Some(unknown) = file.keys().next() {
        bail!("`{unknown}` is not known; entries start with [[{ENTRIES}]]");
    }
    let Value::Array(entries) = entries else {
        bail!("`{ENTRIES}` is not a list; entries start with [[{ENTRIES}]]");
    };
    let mut methods: Vec<PaymentMethod> = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let slug = entry.get("slug").and_then(Value::as_str);
        let label = format!("entry {} (`{}`)", index + 1, slug.unwrap_or("no slug"));
        let method = method(entry, modified).with_context(|| label.clone())?;
        let taken = methods.iter().any(|other| other.slug == method.slug);
        ensure!(!taken, "{label}: another entry has this slug");
        methods.push(method);
    }
    Ok(PaymentMethods::new(methods))
}

/// Describes a syntax error by its line number, without quoting the line, which may hold a secret.
fn syntax(text: &str, error: &toml::de::Error) -> anyhow::Error {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.as_bytes().iter().take(start);
    let line = 1 + before.filter(|byte| **byte == b'\n').count();
    anyhow::anyhow!("line {line}: {}", error.message())
}

fn method(entry: Value, modified: DateTime<Utc>) -> anyhow::Result<PaymentMethod> {
    ensure!(entry.is_table(), "is not a table");
    let entry: Entry = serde_path_to_error::deserialize(entry)
        .map_err(|error| anyhow::anyhow!("{}: {}", error.path(), error.inner().message()))?;
    check_slug(&entry.slug)?;
    let name = entry.name.chars().count();
    ensure!(
        (1..=MAX_NAME).contains(&name),
        "name: has 1 to {MAX_NAME} characters"
    );
    for (n, asset) in entry.assets.iter().enumerate() {
        check_asset(asset).with_context(|| format!("assets[{n}]"))?;
    }
    let metadata = metadata(entry.metadata, entry.secrets)?;
    let created_at = entry.created_at.map_or(Ok(modified), |at| time(&at));
    Ok(PaymentMethod {
        slug: entry.slug,
        name: entry.name,
        enabled: entry.enabled,
        assets: entry.assets,
        capabilities: entry.capabilities,
        features: entry.features,
        metadata: Json::Object(metadata).to_string(),
        created_at: created_at?.trunc_subsecs(3),
    })
}

/// Checks a slug, which is part of paths and transaction codes.
fn check_slug(slug: &str) -> anyhow::Result<()> {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    let valid = (1..=MAX_SLUG).contains(&slug.len()) && slug.bytes().all(allowed);
    ensure!(valid, "slug: has 1 to {MAX_SLUG} of a-z 0-9 - _");
    Ok(())
}

/// Checks the form of an asset code. The asset may be created later.
fn check_asset(code: &str) -> anyhow::Result<()> {
    let alphanumeric = code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let valid = (1..=16).contains(&code.len()) && alphanumeric;
    ensure!(valid, "is not the code of an asset");
    Ok(())
}

/// Reads a time in RFC 3339, as a TOML string or date-time.
fn time(value: &Value) -> anyhow::Result<DateTime<Utc>> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Datetime(time) => time.to_string(),
        _ => String::new(),
    };
    let time = DateTime::parse_from_rfc3339(&text);
    let time = time.context("createdAt: is not a time like 2026-01-31T10:00:00Z")?;
    Ok(time.into())
}

/// Returns the public metadata together with the masked secrets.
fn metadata(public: Table, secrets: Option<Value>) -> anyhow::Result<Map<String, Json>> {
    let Json::Object(mut metadata) = json(Value::Table(public)).context("metadata")? else {
        bail!("metadata: is not a table");
    };
    let secrets = match secrets {
        None => Table::new(),
        Some(Value::Table(secrets)) => secrets,
        Some(_) => bail!("secrets: is not a table"),
    };
    for (name, secret) in secrets {
        let Value::String(secret) = secret else {
            bail!("secrets.{name}: is not a text");
        };
        let mask = mask(&SecretString::from(secret));
        let previous = metadata.insert(name.clone(), Json::String(mask));
        ensure!(previous.is_none(), "secrets.{name}: is in metadata too");
    }
    Ok(metadata)
}

/// Returns the start of a secret and `*****`, which hides its length.
fn mask(secret: &SecretString) -> String {
    let secret = secret.expose_secret();
    let unmasked = if secret.chars().count() < MIN_PARTLY_MASKED {
        0
    } else {
        UNMASKED
    };
    let start: String = secret.chars().take(unmasked).collect();
    format!("{start}*****")
}

fn json(value: Value) -> anyhow::Result<Json> {
    Ok(match value {
        Value::String(text) => Json::String(text),
        Value::Integer(number) => Json::from(number),
        Value::Float(number) => {
            ensure!(number.is_finite(), "JSON has no {number}");
            Json::from(number)
        }
        Value::Boolean(on) => Json::Bool(on),
        Value::Datetime(time) => Json::String(time.to_string()),
        Value::Array(items) => {
            let items = items.into_iter().map(json);
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Table(entries) => {
            let entries = entries
                .into_iter()
                .map(|(name, value)| Ok((name, json(value)?)));
            Json::Object(entries.collect::<anyhow::Result<_>>()?)
        }
    })
}

#[cfg(test)]
mod tests;
