//! Puts wallet-svc together.

use std::{future::ready, net::SocketAddr, sync::Arc};

use platform::{
    audit::AuditLog,
    grpc::{client, server::Server},
    ids::Ids,
    list::Totals,
    service::{Application, Backbone, Database, Runtime, Verify},
};
use proto::{
    audit::v1::audit_service_server::AuditServiceServer,
    wallet::v1::{
        address_service_server::AddressServiceServer, asset_service_server::AssetServiceServer,
        ledger_service_server::LedgerServiceServer, movement_service_server::MovementServiceServer,
        payment_method_service_server::PaymentMethodServiceServer,
        rate_service_server::RateServiceServer, settings_service_server::SettingsServiceServer,
        transaction_service_server::TransactionServiceServer,
        wallet_service_server::WalletServiceServer,
    },
};
use secrecy::ExposeSecret as _;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::{
    MIGRATOR, SCHEMA,
    address::{grpc::AddressGrpc, hd::AccountKeys, service::Addresses},
    asset::{directory::AssetDirectory, grpc::AssetGrpc, service::Assets},
    audit,
    clients::identity::Users,
    config::Config,
    consumers::{
        IDENTITY, Ledger, ORDERS, order_canceled::RevokeBonuses, order_paid::GrantBonus,
        order_refunded::ReduceBonuses, referral_earned::PayReferrer, task_completed::CreditReward,
    },
    movement::grpc::MovementGrpc,
    operation::{grpc::OperationGrpc, service::Operations},
    payment_method::{self, grpc::PaymentMethodGrpc, model::PaymentMethods},
    posting::{self, PostingWorker},
    rate::{grpc::RateGrpc, service::Rates},
    referral::service::Referrals,
    settings::{Settings, first_start::first_start, grpc::SettingsGrpc},
    transaction::{activity::Activities, grpc::TransactionGrpc, service::Transactions},
    verify,
    wallet::{grpc::WalletGrpc, service::Wallets},
};

/// wallet-svc, connected and bound.
#[derive(Debug)]
pub struct Service {
    server: Server,
    backbone: Backbone,
    referrals: Referrals,
}

impl Service {
    /// Returns the address of the gRPC server.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Returns the ledger that the consumers of events post to.
    pub fn ledger(&self) -> Ledger {
        self.referrals.ledger.clone()
    }

    /// Returns what the consumers of referrals and refunds post by.
    pub fn referrals(&self) -> Referrals {
        self.referrals.clone()
    }
}

impl Application for Service {
    const NAME: &'static str = "wallet-svc";
    const ABOUT: &'static str = "Wallets, assets and the double-entry ledger";
    const DATABASE: Option<Database> = Some(Database {
        schema: SCHEMA,
        migrator: &MIGRATOR,
        url_env: "WALLET_DATABASE_URL",
        owner_url_env: "WALLET_OWNER_DATABASE_URL",
    });
    const VERIFY: Option<Verify> = Some(|pool| Box::pin(verify::verify(pool)));
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        let auth = runtime.auth(Self::NAME, &config.common, &config.service_secret)?;
        let methods = payment_method::file::read(config.payment_methods_file.as_deref())?;
        let keys = AccountKeys::read(config.hd_public_keys.as_ref())?;
        let mut backbone =
            Backbone::connect::<Self>(&config.database_url, &config.nats, &runtime).await?;
        let identity = &config.common.peers.identity_grpc_url;
        let token = Some(auth.token);
        let identity = client::connect_with("identity", identity, &config.common.tls, token)?;
        let users = Users::new(&identity);
        let posting = posting::connect(config.database_url.expose_secret())?;
        let (postings, worker) =
            PostingWorker::new(posting, runtime.clock.clone(), runtime.ids.clone());
        let ledger = Ledger {
            postings,
            assets: AssetDirectory::new(backbone.pool()),
        };
        let queue = ledger.postings.clone();
        let readiness = &runtime.readiness;
        readiness.require("posting-worker", move || ready(queue.check_worker()));
        let pool = backbone.pool();
        let services =
            Services::new(&config, &runtime, pool, users, &ledger, methods, keys).await?;
        let referrals = Referrals {
            pool: backbone.pool(),
            ledger: ledger.clone(),
            bonus_asset: services.settings.bonus_asset.clone(),
        };
        add_tasks(&mut backbone, worker, &referrals);
        let server = Server::bind(
            config.listen,
            &config.grpc,
            &config.common.tls,
            auth.verifier,
            runtime.readiness,
        )
        .await?;
        let server = services.add_to(server, ledger);
        Ok(Self {
            server,
            backbone,
            referrals,
        })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        self.backbone.run(self.server, stop).await
    }
}

fn add_tasks(backbone: &mut Backbone, worker: PostingWorker, referrals: &Referrals) {
    let ledger = &referrals.ledger;
    backbone.essential("posting-worker", move |stop| async move {
        worker.spawn(stop)?.await?;
        Ok(())
    });
    backbone.consume_effect(ORDERS, "OrderPaid", GrantBonus(ledger.clone()));
    backbone.consume_effect(ORDERS, "OrderCanceled", RevokeBonuses(referrals.clone()));
    backbone.consume_effect(ORDERS, "OrderRefunded", ReduceBonuses(referrals.clone()));
    backbone.consume_effect(IDENTITY, "TaskCompleted", CreditReward(ledger.clone()));
    backbone.consume_effect(IDENTITY, "ReferralEarned", PayReferrer(referrals.clone()));
    let pool = backbone.pool();
    backbone.worker("posted-batches", move |stop| {
        let purge = posting::purge_until_stopped(pool.clone(), stop);
        async move {
            purge.await;
            Ok(())
        }
    });
    let pool = backbone.pool();
    backbone.worker("verifier", move |stop| {
        let verifier = verify::task::run(pool.clone(), stop);
        async move {
            verifier.await;
            Ok(())
        }
    });
}

/// The use cases behind the gRPC services.
struct Services {
    pool: PgPool,
    totals: Totals,
    wallets: Wallets,
    assets: Assets,
    rates: Rates,
    users: Users,
    settings: Arc<Settings>,
    methods: PaymentMethods,
    addresses: Addresses,
    ids: Ids,
}

impl Services {
    async fn new(
        config: &Config,
        runtime: &Runtime,
        pool: PgPool,
        users: Users,
        ledger: &Ledger,
        methods: PaymentMethods,
        keys: AccountKeys,
    ) -> anyhow::Result<Self> {
        let (clock, ids) = (runtime.clock.clone(), runtime.ids.clone());
        let wallets = Wallets::new(pool.clone(), users.clone(), clock.clone(), ids.clone());
        let assets = Assets::new(pool.clone(), clock.clone(), ids.clone());
        let bonus = config.bonus_asset_code.as_deref();
        let default = &config.default_asset_code;
        let settings = first_start(&pool, &clock, &wallets, &assets, default, bonus).await?;
        let directory = ledger.assets.clone();
        Ok(Self {
            rates: Rates::new(pool.clone(), directory.clone(), clock.clone(), ids.clone()),
            addresses: Addresses {
                pool: pool.clone(),
                assets: directory,
                keys,
                clock,
                ids: ids.clone(),
            },
            totals: Totals::new(pool.clone()),
            pool,
            wallets,
            assets,
            users,
            settings: Arc::new(settings),
            methods,
            ids,
        })
    }

    fn add_to(self, server: Server, ledger: Ledger) -> Server {
        let Ledger { postings, assets } = ledger;
        let operations = Operations::new(
            self.pool.clone(),
            postings.clone(),
            assets.clone(),
            self.ids.clone(),
        );
        let transactions = TransactionGrpc {
            transactions: Transactions {
                pool: self.pool.clone(),
                totals: self.totals.clone(),
                postings,
                assets,
                settings: self.settings.clone(),
                methods: self.methods.clone(),
                users: self.users.clone(),
                ids: self.ids,
            },
            wallets: self.wallets.clone(),
            activities: Activities {
                pool: self.pool.clone(),
                totals: self.totals.clone(),
                users: self.users,
            },
        };
        let movements = MovementGrpc {
            pool: self.pool.clone(),
            totals: self.totals,
            wallets: self.wallets.clone(),
        };
        let audit_log = AuditLog::new(self.pool, audit::ENTRIES);
        server
            .add_service(AuditServiceServer::new(audit_log))
            .add_service(WalletServiceServer::new(WalletGrpc(self.wallets)))
            .add_service(AssetServiceServer::new(AssetGrpc(self.assets)))
            .add_service(RateServiceServer::new(RateGrpc(self.rates)))
            .add_service(TransactionServiceServer::new(transactions))
            .add_service(MovementServiceServer::new(movements))
            .add_service(LedgerServiceServer::new(OperationGrpc(operations)))
            .add_service(AddressServiceServer::new(AddressGrpc(self.addresses)))
            .add_service(PaymentMethodServiceServer::new(PaymentMethodGrpc(
                self.methods,
            )))
            .add_service(SettingsServiceServer::new(SettingsGrpc(self.settings)))
    }
}
