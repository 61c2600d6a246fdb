//! Authentication of Guerdon's processes, each by a secret of its own.

use std::{net::IpAddr, sync::Arc};

use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::FailureLimit;
use crate::error::{Error, Result};

/// The processes that identity-svc issues tokens to.
#[derive(Debug, Clone)]
pub(crate) struct KnownServices {
    services: Arc<[Known]>,
    failures: FailureLimit,
}

#[derive(Debug)]
struct Known {
    name: &'static str,
    secret_hash: [u8; 32],
}

impl KnownServices {
    /// Fails if two processes have the same secret: each could act as the other.
    pub(crate) fn new(secrets: &[(&'static str, &SecretString)]) -> anyhow::Result<Self> {
        let services: Arc<[Known]> = secrets
            .iter()
            .map(|(name, secret)| Known {
                name,
                secret_hash: hash(secret.expose_secret()),
            })
            .collect();
        for (index, one) in services.iter().enumerate() {
            let mut others = services[..index].iter();
            if let Some(other) = others.find(|other| other.secret_hash == one.secret_hash) {
                let (one, other) = (one.name, other.name);
                anyhow::bail!("{other} and {one} have the same SERVICE_SECRET; give each its own");
            }
        }
        let failures = FailureLimit::new();
        Ok(Self { services, failures })
    }

    /// Returns the name of the process if the secret is its own. An unknown name and a wrong secret
    /// get the same error.
    pub(crate) async fn authenticate(
        &self,
        name: &str,
        secret: &str,
        from: IpAddr,
    ) -> Result<&'static str> {
        self.failures.check(from).await?;
        let known = self.services.iter().find(|known| known.name == name);
        // Hashes have the same length: the comparison takes the same time for every secret.
        let matches = |known: &&Known| bool::from(known.secret_hash.ct_eq(&hash(secret)));
        if let Some(known) = known.filter(matches) {
            return Ok(known.name);
        }
        let failures = self.failures.count(from).await;
        let service = known.map_or("unknown", |known| known.name);
        tracing::warn!(
            service, address = %from, failures,
            "service tokens: wrong secret, refusing it"
        );
        Err(Error::BadCredentials)
    }
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use platform::error::{Code, Failure};

    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn services() -> KnownServices {
        let (gateway, orders) = ("of the gateway".into(), "of orders".into());
        KnownServices::new(&[("gateway", &gateway), ("orders-svc", &orders)]).unwrap()
    }

    async fn code(
        services: &KnownServices,
        name: &str,
        secret: &str,
        from: IpAddr,
    ) -> Option<Code> {
        let result = services.authenticate(name, secret, from).await;
        result.err().map(|error| Failure::from(error).code)
    }

    #[tokio::test]
    async fn each_service_has_its_own_secret() {
        let services = services();
        let name = services.authenticate("orders-svc", "of orders", HERE).await;
        assert_eq!(name.unwrap(), "orders-svc");
        for (name, secret) in [
            ("orders-svc", "of the gateway"),
            ("gateway", "of orders"),
            ("wallet-svc", "of orders"),
            ("orders-svc", ""),
            ("", ""),
        ] {
            let refused = code(&services, name, secret, HERE).await;
            assert_eq!(refused, Some(Code::Unauthenticated), "{name} {secret}");
        }
    }

    #[tokio::test]
    async fn an_address_that_tries_secrets_is_refused_also_with_the_right_one() {
        let services = services();
        for number in 0..20 {
            let refused = code(&services, "orders-svc", &format!("guess {number}"), HERE).await;
            let expected = match number {
                0..10 => Code::Unauthenticated,
                _ => Code::RateLimited,
            };
            assert_eq!(refused, Some(expected), "{number}");
        }
        let right = code(&services, "orders-svc", "of orders", HERE).await;
        assert_eq!(right, Some(Code::RateLimited));
        assert_eq!(
            code(&services, "orders-svc", "of orders", THERE).await,
            None
        );
    }

    #[test]
    fn two_services_never_share_a_secret() {
        let secret = SecretString::from("the same");
        let error = KnownServices::new(&[("gateway", &secret), ("orders-svc", &secret)]);
        let message = error.unwrap_err().to_string();
        assert!(
            message.starts_with("gateway and orders-svc have the same"),
            "{message}"
        );
    }
}
