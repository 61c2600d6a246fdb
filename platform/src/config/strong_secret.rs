//! The parser of secrets that processes share. It refuses what can be guessed.

use std::{collections::HashSet, ffi::OsStr};

use clap::{
    Arg, Command,
    builder::TypedValueParser,
    error::{Error, ErrorKind},
};
use secrecy::SecretString;

/// The shortest secret, in bytes.
const MIN_BYTES: usize = 32;

/// The fewest different bytes: 32 random hexadecimal digits have fewer once in a hundred million.
const MIN_DIFFERENT: usize = 7;

/// Parts of the values that examples and templates contain.
const PLACEHOLDERS: [&str; 5] = ["change", "example", "password", "placeholder", "replace"];

/// Parses a secret of at least 32 bytes: `#[arg(.., value_parser = StrongSecret)]`. Its errors name
/// the setting, and never show the value.
#[derive(Debug, Clone, Copy)]
pub struct StrongSecret;

impl TypedValueParser for StrongSecret {
    type Value = SecretString;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<SecretString, Error> {
        let text = value.to_str().unwrap_or_default();
        let Some(weakness) = weakness(text, MIN_BYTES) else {
            return Ok(SecretString::from(text));
        };
        let setting = arg
            .and_then(Arg::get_env)
            .unwrap_or_default()
            .to_string_lossy();
        let message = format!("{setting} {weakness}; `openssl rand -base64 32` makes a good one\n");
        Err(Error::raw(ErrorKind::ValueValidation, message).with_cmd(command))
    }
}

/// Says why a secret can be guessed.
pub fn weakness(secret: &str, min_bytes: usize) -> Option<String> {
    let lower = secret.to_ascii_lowercase();
    let different: HashSet<u8> = secret.bytes().collect();
    if secret.is_empty() {
        Some("is empty".to_owned())
    } else if secret.len() < min_bytes {
        Some(format!("is shorter than {min_bytes} bytes"))
    } else if different.len() < MIN_DIFFERENT {
        Some("repeats the same few characters".to_owned())
    } else if PLACEHOLDERS.iter().any(|part| lower.contains(part)) {
        Some("is a placeholder".to_owned())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use clap::Args;
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::config::from_args;

    #[derive(Debug, Args)]
    struct Config {
        #[arg(long, env = "STOCK_SECRET_OF_THIS_TEST", value_parser = StrongSecret)]
        secret: SecretString,
    }

    fn parse(secret: &str) -> Result<Config, String> {
        from_args(&["--secret", secret]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_random_secret_of_32_bytes_is_accepted() {
        for secret in [
            "k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha",
            "0f8e2c4b6a1d3957f0e8d2c4b6a19375",
        ] {
            assert_eq!(parse(secret).unwrap().secret.expose_secret(), secret);
        }
    }

    #[test]
    fn empty_short_uniform_and_placeholder_secrets_are_refused_by_the_name_of_the_setting() {
        for (secret, why) in [
            ("", "is empty"),
            (
                "k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6H",
                "is shorter than 32 bytes",
            ),
            (&*"a".repeat(40), "repeats the same few characters"),
            (&*"secret".repeat(8), "repeats the same few characters"),
            ("CHANGE-ME-CHANGE-ME-CHANGE-ME-0123", "is a placeholder"),
        ] {
            let error = parse(secret).unwrap_err();
            let expected = format!("error: STOCK_SECRET_OF_THIS_TEST {why}");
            assert!(error.starts_with(&expected), "{error}");
            assert!(secret.is_empty() || !error.contains(secret), "{error}");
        }
    }
}
