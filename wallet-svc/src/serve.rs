//! Puts the service together and runs it.

use std::{net::SocketAddr, sync::Arc};

use async_nats::jetstream::Context;
use platform::{
    grpc::{client, server::Server},
    ids::Ids,
    lifecycle::{Readiness, Supervisor},
    messaging::{
        inbox::{self, Consumer, Effect},
        jetstream, relay,
    },
    pg,
    service::{self, Application, Runtime},
};
use proto::wallet::v1::{
    address_service_server::AddressServiceServer, asset_service_server::AssetServiceServer,
    ledger_service_server::LedgerServiceServer, movement_service_server::MovementServiceServer,
    payment_method_service_server::PaymentMethodServiceServer,
    rate_service_server::RateServiceServer, settings_service_server::SettingsServiceServer,
    transaction_service_server::TransactionServiceServer,
    wallet_service_server::WalletServiceServer,
};
use secrecy::ExposeSecret as _;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::{
    MIGRATOR, SCHEMA,
    address::{grpc::AddressApi, hd::AccountKeys, service::Addresses},
    asset::{directory::AssetDirectory, grpc::AssetApi, service::Assets},
    clients::identity::Users,
    config::Config,
    consumers::{
        self, IDENTITY, ORDERS, order_canceled::RevokeBonus, order_paid::GrantBonus,
        task_completed::CreditReward,
    },
    movement::grpc::MovementApi,
    operation::{grpc::LedgerApi, service::Operations},
    payment_method::{self, grpc::PaymentMethodApi, model::PaymentMethods},
    posting::Poster,
    rate::{grpc::RateApi, service::Rates},
    settings::{Settings, first_start::first_start, grpc::SettingsApi},
    transaction::{activity::Activities, grpc::TransactionApi, service::Transactions},
    verify,
    wallet::{grpc::WalletApi, service::Wallets},
};

/// wallet-svc, bound and ready to run.
pub struct WalletService {
    server: Server,
    poster: Poster,
    consumers: consumers::Poster,
    pool: PgPool,
    nats_url: String,
}

impl WalletService {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }
}

impl Application for WalletService {
    const NAME: &'static str = "wallet-svc";
    const ABOUT: &'static str = "Wallets, assets and the double-entry ledger";
    const SCHEMA: Option<service::Schema> = Some(service::Schema {
        name: "wallet",
        migrator: &MIGRATOR,
        url_env: "WALLET_DATABASE_URL",
        owner_url_env: "WALLET_OWNER_DATABASE_URL",
    });
    const VERIFY: Option<service::Verify> = Some(|pool| Box::pin(verify::verify(pool)));
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        let auth = runtime.auth(Self::NAME, &config.common)?;
        let methods = payment_method::file::read(config.payment_methods_file.as_deref())?;
        let keys = AccountKeys::read(config.hd_public_keys.as_ref())?;
        let url = config.database_url.expose_secret();
        let pool = pg::connect(url, &pg::Options::new(Self::NAME))?;
        pg::wait_until_fit(&pool).await?;
        let identity = &config.common.peers.identity_grpc_url;
        let users = Users::new(&client::connect("identity", identity, Some(auth.token))?);
        let (clock, ids) = (runtime.clock, runtime.ids);
        let wallets = Wallets::new(pool.clone(), users.clone(), clock.clone(), ids.clone());
        let (default, bonus) = (
            &config.default_asset_code,
            config.bonus_asset_code.as_deref(),
        );
        let assets = Assets::new(pool.clone(), clock.clone(), ids.clone());
        let settings = first_start(&pool, &clock, &wallets, &assets, default, bonus).await?;
        let (postings, poster) = Poster::new(Poster::connect(url)?, ids.clone());
        let directory = AssetDirectory::new(pool.clone());
        require_postgres(&runtime.readiness, &pool);
        let server = Server::bind(config.listen, auth.verifier, runtime.readiness).await?;
        let rates = Rates::new(pool.clone(), directory.clone(), clock.clone(), ids.clone());
        let addresses = Addresses {
            pool: pool.clone(),
            assets: directory.clone(),
            keys,
            clock,
            ids: ids.clone(),
        };
        let consumers = consumers::Poster {
            postings,
            assets: directory,
        };
        let apis = Apis {
            pool: pool.clone(),
            wallets,
            assets,
            rates,
            users,
            settings: Arc::new(settings),
            methods,
            addresses,
            ids,
        };
        Ok(Self {
            server: apis.add_to(server, &consumers),
            poster,
            consumers,
            pool,
            nats_url: config.nats.nats_url,
        })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        // The poster outlives all who post.
        let posted = CancellationToken::new();
        let posting = self.poster.spawn(posted.clone())?;
        let tasks = Supervisor::new(stop.clone());
        let js = jetstream::connect(&self.nats_url, Self::NAME).await?;
        let (pool, relayed) = (self.pool.clone(), js.clone());
        tasks.spawn("relay", move |stop| {
            let (pool, js) = (pool.clone(), relayed.clone());
            async move {
                relay::run(pool, SCHEMA, js, stop).await;
                Ok(())
            }
        });
        let pool = self.pool.clone();
        tasks.spawn("verifier", move |stop| {
            let pool = pool.clone();
            async move {
                verify::task::run(pool, stop).await;
                Ok(())
            }
        });
        consume(&tasks, &self.consumers, &self.pool, &js);
        self.server.serve(stop).await?;
        tasks.finish().await;
        posted.cancel();
        posting.await?;
        Ok(())
    }
}

fn require_postgres(readiness: &Readiness, pool: &PgPool) {
    let pool = pool.clone();
    readiness.require("postgres", move || {
        let pool = pool.clone();
        async move {
            anyhow::ensure!(pg::is_reachable(&pool).await, "no answer");
            Ok(())
        }
    });
}

/// What the gRPC services are made of.
struct Apis {
    pool: PgPool,
    wallets: Wallets,
    assets: Assets,
    rates: Rates,
    users: Users,
    settings: Arc<Settings>,
    methods: PaymentMethods,
    addresses: Addresses,
    ids: Ids,
}

impl Apis {
    fn add_to(self, server: Server, posting: &consumers::Poster) -> Server {
        let consumers::Poster { postings, assets } = posting.clone();
        let operations = Operations::new(
            self.pool.clone(),
            postings.clone(),
            assets.clone(),
            self.ids.clone(),
        );
        let transactions = TransactionApi {
            transactions: Transactions::new(
                self.pool.clone(),
                postings,
                assets,
                self.settings.clone(),
                self.methods.clone(),
                self.ids,
            ),
            wallets: self.wallets.clone(),
            activities: Activities {
                pool: self.pool.clone(),
                users: self.users,
            },
        };
        let movements = MovementApi {
            pool: self.pool.clone(),
            wallets: self.wallets.clone(),
        };
        let ledger = LedgerServiceServer::new(LedgerApi(operations));
        server
            .add_service(WalletServiceServer::new(WalletApi(self.wallets)))
            .add_service(AssetServiceServer::new(AssetApi(self.assets)))
            .add_service(RateServiceServer::new(RateApi(self.rates)))
            .add_service(TransactionServiceServer::new(transactions))
            .add_service(MovementServiceServer::new(movements))
            .add_service(ledger)
            .add_service(AddressServiceServer::new(AddressApi(self.addresses)))
            .add_service(PaymentMethodServiceServer::new(PaymentMethodApi(
                self.methods,
            )))
            .add_service(SettingsServiceServer::new(SettingsApi(self.settings)))
    }
}

/// Starts a consumer for each event that moves money.
fn consume(tasks: &Supervisor, poster: &consumers::Poster, pool: &PgPool, js: &Context) {
    let granted = poster.clone();
    spawn_consumer(tasks, "OrderPaid", ORDERS, pool, js, move || {
        GrantBonus(granted.clone())
    });
    let revoked = poster.clone();
    spawn_consumer(tasks, "OrderCanceled", ORDERS, pool, js, move || {
        RevokeBonus(revoked.clone())
    });
    let credited = poster.clone();
    spawn_consumer(tasks, "TaskCompleted", IDENTITY, pool, js, move || {
        CreditReward(credited.clone())
    });
}

fn spawn_consumer<E: Effect>(
    tasks: &Supervisor,
    event: &'static str,
    source: pg::Schema,
    pool: &PgPool,
    js: &Context,
    effect: impl Fn() -> E + Send + 'static,
) {
    let (pool, js) = (pool.clone(), js.clone());
    tasks.spawn(event, move |stop| {
        let consumer = Consumer::new(WalletService::NAME, SCHEMA, source, event);
        let run = inbox::run_effect(consumer, js.clone(), pool.clone(), effect(), stop);
        async move {
            run.await;
            Ok(())
        }
    });
}
