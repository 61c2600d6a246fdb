//! Secrets of a local stack: made once, kept in a file that only its owner may read.

use std::fs;
use std::path::Path;

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::Rng;

use crate::envfile;

/// All of them.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// Buys the processes their service tokens.
    pub service_secret: String,
    /// Seed of the Ed25519 key that signs tokens, base64url.
    pub signing_key: String,
    /// The first admin's API key.
    pub api_key: String,
    /// Password of every database role of the stack's own Postgres.
    pub database_password: String,
}

impl Secrets {
    /// New ones.
    pub fn generate() -> Self {
        Self::from_known(&[])
    }

    /// Those in `file`, which is made or completed where need be.
    pub fn kept_in(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).unwrap_or_default();
        let secrets = Self::from_known(&envfile::parse(&text));
        let complete = envfile::render(&secrets.variables());
        if complete != text {
            envfile::write_private(file, &complete)?;
        }
        Ok(secrets)
    }

    fn from_known(known: &[(String, String)]) -> Self {
        let or_new = |name: &str, new: fn() -> String| {
            known
                .iter()
                .find(|(known, _)| known == name)
                .map_or_else(new, |(_, value)| value.clone())
        };
        Self {
            service_secret: or_new("SERVICE_SECRET", random),
            signing_key: or_new("IDENTITY_SIGNING_KEY", random),
            api_key: or_new("BOOTSTRAP_API_KEY", || format!("gk_{}", random())),
            database_password: or_new("DATABASE_PASSWORD", random),
        }
    }

    fn variables(&self) -> Vec<(String, String)> {
        [
            ("SERVICE_SECRET", &self.service_secret),
            ("IDENTITY_SIGNING_KEY", &self.signing_key),
            ("BOOTSTRAP_API_KEY", &self.api_key),
            ("DATABASE_PASSWORD", &self.database_password),
        ]
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .into()
    }
}

/// 32 random bytes, base64url: safe in URLs, headers and shells.
fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 32]>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_made_once_and_only_for_their_owner() {
        use std::os::unix::fs::PermissionsExt;
        let file = std::env::temp_dir().join(format!("stack-secrets-{}", std::process::id()));
        let first = Secrets::kept_in(&file).unwrap();
        let again = Secrets::kept_in(&file).unwrap();
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        fs::remove_file(file).unwrap();
        assert_eq!(first.variables(), again.variables());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn forms_are_what_the_services_expect() {
        let secrets = Secrets::generate();
        assert!(secrets.api_key.starts_with("gk_"));
        assert_eq!(
            URL_SAFE_NO_PAD.decode(&secrets.signing_key).unwrap().len(),
            32
        );
    }
}
