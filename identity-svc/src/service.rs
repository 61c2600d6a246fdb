//! The composition root of identity-svc.

use std::{net::SocketAddr, sync::Arc};

use clap::{ArgMatches, Args as _, FromArgMatches as _};
use futures::{FutureExt as _, future::BoxFuture};
use platform::{
    audit::AuditLog,
    auth::{Revocations, ServiceToken, TokenVerifier},
    clock::Clock,
    grpc::{client, server::Server},
    ids::Ids,
    service::{Application, Backbone, Database, OwnCommand, Runtime},
};
use proto::{
    audit::v1::audit_service_server::AuditServiceServer,
    identity::v1::{
        account_service_server::AccountServiceServer, api_key_service_server::ApiKeyServiceServer,
        auth_service_server::AuthServiceServer, event_service_server::EventServiceServer,
        invite_service_server::InviteServiceServer,
        revocation_service_server::RevocationServiceServer, task_service_server::TaskServiceServer,
        user_service_server::UserServiceServer, webhook_service_server::WebhookServiceServer,
    },
};
use sqlx::PgPool;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    MIGRATOR, SCHEMA,
    account::{Accounts, grpc::AccountGrpc},
    api_key::{ApiKeys, grpc::ApiKeyGrpc},
    auth::{
        Auth, KnownServices, Sessions, Tokens, api_key,
        grpc::AuthGrpc,
        signing_keys::{self, SigningKeys},
    },
    clients::wallet::Wallets,
    config::{Config, KeyEncryption},
    consumers::{ORDERS, order_paid::EarnPurchaseReward},
    invite::{Invites, Validations, grpc::InviteGrpc},
    links::Links,
    mail::{self, Transport},
    public_event::{Feed as EventFeed, grpc::PublicEventGrpc},
    referral_reward::ReferralRewards,
    revocation::{self, Feed, grpc::RevocationGrpc},
    task::{Completions, Tasks, grpc::TaskGrpc},
    user::{Credentials, Deletion, Hasher, Provisioning, Users, grpc::UserGrpc},
    webhook::{self, grpc::WebhookGrpc},
};

/// The process, connected and bound.
#[derive(Debug)]
pub struct Service {
    server: Server,
    backbone: Backbone,
    rewards: ReferralRewards,
    hasher: Hasher,
}

impl Service {
    /// Returns the address of the gRPC server.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Returns what the consumer of paid orders records by.
    pub fn referral_rewards(&self) -> ReferralRewards {
        self.rewards.clone()
    }

    /// Returns the permits of hashes: while somebody else holds all of them, no password is hashed.
    pub fn hash_permits(&self) -> Arc<Semaphore> {
        self.hasher.permits()
    }
}

impl Application for Service {
    const NAME: &'static str = "identity-svc";
    const ABOUT: &'static str = "Users, credentials and tasks";
    const DATABASE: Option<Database> = Some(Database {
        schema: SCHEMA,
        migrator: &MIGRATOR,
        url_env: "IDENTITY_DATABASE_URL",
        owner_url_env: "IDENTITY_OWNER_DATABASE_URL",
    });
    const COMMANDS: &'static [OwnCommand] = &[OwnCommand {
        name: "rotate-keys",
        about: "Make a new key sign tokens within seconds; nobody is logged out",
        settings: KeyEncryption::augment_args,
        run: rotate_keys,
    }];
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        if let Some(key) = &config.bootstrap_api_key {
            api_key::check_configured(key)?;
        }
        let services = KnownServices::new(&config.service_secrets.by_service())?;
        let sealing = config.key_encryption.sealing_key()?;
        let revocations = Revocations::own();
        let feed = Feed::new(config.database_url.clone(), revocations.clone());
        let mut backbone =
            Backbone::connect::<Self>(&config.database_url, &config.nats, &runtime).await?;
        let (pool, clock, ids) = (backbone.pool(), runtime.clock, runtime.ids);
        let mode = config.common.auth;
        let hasher = Hasher::new(config.password_hashing.cost())?;
        let keys = SigningKeys::load(pool.clone(), sealing.clone(), &ids).await?;
        let verifier = own_verifier(keys.clone()).with_revocations(revocations);
        let tokens = Tokens::new(keys.clone(), clock.clone(), ids.clone());
        let users = Users::new(pool.clone(), clock.clone(), ids.clone());
        let sessions = Sessions::new(
            pool.clone(),
            tokens.clone(),
            verifier.clone(),
            users.clone(),
            hasher.clone(),
            ids.clone(),
        );
        let api_keys = ApiKeys::new(pool.clone(), clock.clone(), ids.clone());
        let auth = Auth::new(pool.clone(), tokens, services, mode, clock.clone());
        auth.set_bootstrap_key(config.bootstrap_api_key.as_ref())
            .await?;

        let mails = mail_worker(&config, &pool, &clock)?;
        backbone.worker("mail", move |stop| mails.clone().run(stop).map(Ok));

        let wallets = wallets(&config, auth.clone())?;
        let rules = config.webhooks.rules();
        let webhooks = webhook::start(&mut backbone, rules, sealing, &clock, &ids)?;
        let events = EventFeed::start(&mut backbone);
        let credentials =
            Credentials::new(pool.clone(), hasher.clone(), clock.clone(), ids.clone());
        let accounts = Accounts::new(
            pool.clone(),
            credentials.clone(),
            clock.clone(),
            ids.clone(),
        );
        let provisioning = Provisioning::new(
            pool.clone(),
            wallets.clone(),
            hasher.clone(),
            clock.clone(),
            ids.clone(),
        );
        let deletion = Deletion::new(pool.clone(), wallets.clone(), clock.clone(), ids.clone());
        let invites = invites(&config, &pool, &clock, &ids);
        let percentages = config.referral_percentages();
        let rewards = ReferralRewards::new(percentages, clock.clone(), ids.clone());
        let completions =
            Completions::new(pool.clone(), rewards.clone(), clock.clone(), ids.clone());
        let tasks = Tasks::new(pool, wallets, config.media_base_url, clock, ids);
        backbone.saga(provisioning.clone());
        backbone.saga(deletion.clone());
        backbone.consume(ORDERS, "OrderPaid", EarnPurchaseReward(rewards.clone()));
        let purged = sessions.clone();
        backbone.worker("signing-keys", move |stop| keys.clone().follow(stop));
        backbone.worker("refresh-token-purge", move |stop| {
            purged.clone().purge(stop)
        });
        revocation::start(&mut backbone, &feed);

        let audit_log = AuditLog::new(backbone.pool(), "identity.audit_log a");
        let users = UserGrpc {
            users,
            credentials,
            provisioning,
            deletion,
            sign_up: config.sign_up,
        };
        let tasks = TaskGrpc { tasks, completions };
        let server = Server::bind(
            config.listen,
            &config.grpc,
            &config.common.tls,
            verifier,
            runtime.readiness,
        )
        .await?
        .add_service(AuditServiceServer::new(audit_log))
        .add_service(AuthServiceServer::new(AuthGrpc { auth, sessions }))
        .add_service(RevocationServiceServer::new(RevocationGrpc(feed)))
        .add_service(ApiKeyServiceServer::new(ApiKeyGrpc(api_keys)))
        .add_service(WebhookServiceServer::new(WebhookGrpc(webhooks)))
        .add_service(EventServiceServer::new(PublicEventGrpc(events)))
        .add_service(UserServiceServer::new(users))
        .add_service(AccountServiceServer::new(AccountGrpc(accounts)))
        .add_service(InviteServiceServer::new(invites))
        .add_service(TaskServiceServer::new(tasks));
        Ok(Self {
            server,
            backbone,
            rewards,
            hasher,
        })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        self.backbone.run(self.server, stop).await
    }
}

/// Creates the client of wallet-svc.
fn wallets(config: &Config, auth: Auth) -> anyhow::Result<Wallets> {
    let url = &config.common.peers.wallet_grpc_url;
    let token = Some(own_token(auth));
    let wallet = client::connect_with("wallet", url, &config.common.tls, token)?;
    Ok(Wallets::new(&wallet))
}

/// Creates the use cases of invites, and their adapter.
fn invites(config: &Config, pool: &PgPool, clock: &Clock, ids: &Ids) -> InviteGrpc {
    let links = Links::new(&config.mail.app_url);
    InviteGrpc {
        invites: Invites::new(pool.clone(), links, clock.clone(), ids.clone()),
        validations: Validations::new(pool.clone(), clock.clone()),
    }
}

/// Creates the worker that sends mails.
fn mail_worker(config: &Config, pool: &PgPool, clock: &Clock) -> anyhow::Result<mail::Worker> {
    let settings = &config.mail;
    let worker = mail::Worker::new(
        pool.clone(),
        clock.clone(),
        Links::new(&settings.app_url),
        settings.sender()?,
        Transport::new(settings, config.common.tls.insecure_peers)?,
    );
    Ok(worker?)
}

/// Verifies tokens with the keys that this process publishes.
fn own_verifier(keys: SigningKeys) -> TokenVerifier {
    TokenVerifier::fetched_by(move || {
        let jwks_json = keys.jwks_json();
        Box::pin(async move { Ok(jwks_json) })
    })
}

/// Makes a new key sign tokens, for the command `rotate-keys`.
fn rotate_keys(pool: PgPool, settings: ArgMatches) -> BoxFuture<'static, anyhow::Result<()>> {
    Box::pin(async move {
        let sealing = KeyEncryption::from_arg_matches(&settings)?.sealing_key()?;
        signing_keys::rotate(&pool, &sealing).await
    })
}

/// Makes the service's own tokens by signing them: identity-svc needs no call to itself.
fn own_token(auth: Auth) -> ServiceToken {
    ServiceToken::new(move || {
        let issued = auth.own_token(Service::NAME);
        Box::pin(async move { Ok(issued.token) })
    })
}
