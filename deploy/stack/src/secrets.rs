//! Secrets of a local stack, in a file that only its owner may read.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Result;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::Rng as _;

use crate::{
    envfile,
    nats::users::Passwords,
    service::{self, Service},
    wiring::Variable,
};

/// Keys and passwords.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// The secret of each process but identity-svc, by its program.
    pub(crate) of_services: BTreeMap<&'static str, String>,
    /// The key that seals the stored signing keys of tokens, base64url.
    pub key_encryption_key: String,
    /// The first admin's API key.
    pub api_key: String,
    /// The passwords of the users of NATS.
    pub(crate) nats: Passwords,
    /// The superuser's password of the stack's own Postgres. Those of the roles are derived from it.
    pub(crate) database_password: String,
}

impl Secrets {
    /// Makes new ones.
    pub fn generate() -> Self {
        Self::complete(&[])
    }

    /// Reads them from `file`, and generates and saves those that are missing.
    pub fn load_or_generate(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).unwrap_or_default();
        let secrets = Self::complete(&envfile::parse(&text));
        let complete = envfile::render(&secrets.variables());
        if complete != text {
            envfile::write_private(file, &complete)?;
        }
        Ok(secrets)
    }

    fn complete(known: &[Variable]) -> Self {
        let value_of = |name: &str, prefix: &str| {
            known.iter().find(|(known, _)| known == name).map_or_else(
                || format!("{prefix}{}", random()),
                |(_, value)| value.clone(),
            )
        };
        Self {
            of_services: service::programs()
                .filter(|program| *program != Service::Identity.program())
                .map(|program| (program, value_of(&service_secret(program), "")))
                .collect(),
            key_encryption_key: value_of(KEY_ENCRYPTION_KEY, ""),
            api_key: value_of("BOOTSTRAP_API_KEY", "gk_"),
            nats: Passwords::complete(|variable| value_of(variable, "")),
            database_password: value_of("DATABASE_PASSWORD", ""),
        }
    }

    fn variables(&self) -> Vec<Variable> {
        let mut variables = self.service_secret_variables();
        variables.extend(
            [
                (KEY_ENCRYPTION_KEY, &self.key_encryption_key),
                ("BOOTSTRAP_API_KEY", &self.api_key),
                ("DATABASE_PASSWORD", &self.database_password),
            ]
            .map(|(name, value)| (name.to_owned(), value.clone())),
        );
        variables.extend(self.nats.variables());
        variables
    }

    /// Returns the settings by which identity-svc knows the other processes.
    pub(crate) fn service_secret_variables(&self) -> Vec<Variable> {
        self.of_services
            .iter()
            .map(|(program, secret)| (service_secret(program), secret.clone()))
            .collect()
    }
}

/// The setting of identity-svc that holds its key.
pub(crate) const KEY_ENCRYPTION_KEY: &str = "IDENTITY_KEY_ENCRYPTION_KEY";

/// Returns the name of the secret of a program: `ORDERS_SERVICE_SECRET`.
fn service_secret(program: &str) -> String {
    let context = program.trim_end_matches("-svc").to_uppercase();
    format!("{context}_SERVICE_SECRET")
}

/// Returns 32 random bytes, base64url: safe in URLs, headers and shells.
fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 32]>())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn secrets_are_generated_once_and_readable_by_their_owner_only() {
        let file = std::env::temp_dir().join(format!("stack-secrets-{}", std::process::id()));
        let first = Secrets::load_or_generate(&file).unwrap();
        let again = Secrets::load_or_generate(&file).unwrap();
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        fs::remove_file(file).unwrap();
        assert_eq!(first.variables(), again.variables());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn secrets_have_the_formats_that_the_services_expect() {
        let secrets = Secrets::generate();
        assert!(secrets.api_key.starts_with("gk_"));
        let key = URL_SAFE_NO_PAD.decode(&secrets.key_encryption_key).unwrap();
        assert_eq!(key.len(), 32);
    }
}
