//! The keys that sign tokens: made by the first process, stored sealed, and replaced one after the
//! other. A new key is published before it signs, so that every process can verify its first token;
//! an old one is published until its last token has expired.

mod repo;

use std::{
    sync::{Arc, RwLock},
    time::Duration,
};

use anyhow::Context as _;
use platform::{auth::TokenIssuer, ids::Ids, pg, sealing::SealingKey};
use secrecy::ExposeSecret as _;
use sqlx::PgPool;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use self::repo::Row;

/// How often a process looks for keys that another has stored.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The time from storing a key to its first token: every replica has found it by then, and a verifier
/// that has fetched the keys just before fetches them again.
const ACTIVATION_DELAY: Duration = Duration::from_secs(6);

/// The keys of this process. Cloning is cheap and shares them.
#[derive(Debug, Clone)]
pub(crate) struct SigningKeys {
    pool: PgPool,
    sealing: SealingKey,
    current: Arc<RwLock<Arc<Keyring>>>,
}

/// The keys as last read.
#[derive(Debug)]
struct Keyring {
    /// The newest whose time to sign has come.
    signing: TokenIssuer,
    jwks_json: String,
}

impl SigningKeys {
    /// Reads the keys, and makes the first if there is none. Fails if they are sealed with another
    /// key.
    pub(crate) async fn load(pool: PgPool, sealing: SealingKey, ids: &Ids) -> anyhow::Result<Self> {
        let mut tx = pg::tx(&pool).await?;
        if !repo::exists_locked_in_tx(&mut tx).await? {
            let (key_id, sealed) = generate(&sealing, ids);
            repo::insert(&mut *tx, &key_id, &sealed, 0.0).await?;
            tracing::info!(key_id, "signing keys: first one made");
        }
        tx.commit().await?;
        let keyring = Keyring::read(&pool, &sealing).await?;
        Ok(Self {
            pool,
            sealing,
            current: Arc::new(RwLock::new(Arc::new(keyring))),
        })
    }

    /// Signs with the current key.
    pub(super) fn sign<T>(&self, sign: impl FnOnce(&TokenIssuer) -> T) -> T {
        sign(&self.keyring().signing)
    }

    /// Returns the public keys that may verify tokens as a JSON Web Key Set.
    pub(crate) fn jwks_json(&self) -> String {
        self.keyring().jwks_json.clone()
    }

    fn keyring(&self) -> Arc<Keyring> {
        Arc::clone(&self.current.read().expect("no holder panics"))
    }

    /// Follows the stored keys until `stop`, and deletes those that verify nothing any more.
    pub(crate) async fn follow(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut ticks = interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Some(Err(error)) = stop.run_until_cancelled(self.refresh()).await {
                let error = format!("{error:#}");
                tracing::warn!(error, "signing keys: refresh failed, using the known ones");
            }
        }
        Ok(())
    }

    async fn refresh(&self) -> anyhow::Result<()> {
        repo::delete_old(&self.pool).await?;
        let keyring = Keyring::read(&self.pool, &self.sealing).await?;
        let before = self.keyring();
        if keyring.signing.key_id() != before.signing.key_id() {
            let key_id = keyring.signing.key_id();
            tracing::info!(key_id, "signing keys: a new one signs from now on");
        }
        *self.current.write().expect("no holder panics") = Arc::new(keyring);
        Ok(())
    }
}

/// Stores a new key, which replaces the current one within seconds. Nobody is logged out.
pub(crate) async fn rotate(pool: &PgPool, sealing: &SealingKey) -> anyhow::Result<()> {
    let (key_id, sealed) = generate(sealing, &Ids::system());
    let delay = ACTIVATION_DELAY.as_secs_f64();
    repo::insert(pool, &key_id, &sealed, delay).await?;
    tracing::info!(
        key_id,
        delay,
        "signing keys: new one stored, signing after the delay"
    );
    Ok(())
}

fn generate(sealing: &SealingKey, ids: &Ids) -> (String, Vec<u8>) {
    let seed = ids.secret();
    let key_id = TokenIssuer::new(&seed).key_id().to_owned();
    let sealed = sealing.seal(&label(&key_id), &seed);
    (key_id, sealed)
}

/// Returns the label of a sealed seed.
fn label(key_id: &str) -> String {
    format!("signing key {key_id}")
}

impl Keyring {
    async fn read(pool: &PgPool, sealing: &SealingKey) -> anyhow::Result<Self> {
        let rows = repo::list(pool).await?;
        let open = |row: &Row| open(row, sealing);
        let mut keys = rows.iter().map(open).collect::<anyhow::Result<Vec<_>>>()?;
        let jwks_json = TokenIssuer::key_set(&keys);
        let signing = rows.iter().position(|row| row.may_sign);
        let signing = signing.context("no signing key may sign yet")?;
        Ok(Self {
            signing: keys.swap_remove(signing),
            jwks_json,
        })
    }
}

fn open(row: &Row, sealing: &SealingKey) -> anyhow::Result<TokenIssuer> {
    let seed = sealing
        .open(&label(&row.key_id), &row.sealed_seed)
        .context("IDENTITY_KEY_ENCRYPTION_KEY is not the one of this database")?;
    let seed: [u8; 32] = seed.expose_secret().try_into()?;
    Ok(TokenIssuer::new(&seed))
}
