//! The gRPC clients of the services.

use platform::{config::Common, grpc::client};
use proto::{
    audit::v1::audit_service_client::AuditServiceClient,
    catalog::v1::{
        category_service_client::CategoryServiceClient,
        product_question_service_client::ProductQuestionServiceClient,
        product_service_client::ProductServiceClient,
        question_service_client::QuestionServiceClient,
        tax_rate_service_client::TaxRateServiceClient,
    },
    identity::v1::{
        account_service_client::AccountServiceClient, api_key_service_client::ApiKeyServiceClient,
        auth_service_client::AuthServiceClient, event_service_client::EventServiceClient,
        invite_service_client::InviteServiceClient, task_service_client::TaskServiceClient,
        user_service_client::UserServiceClient, webhook_service_client::WebhookServiceClient,
    },
    orders::v1::{
        order_history_service_client::OrderHistoryServiceClient,
        order_line_fulfilment_service_client::OrderLineFulfilmentServiceClient,
        order_line_service_client::OrderLineServiceClient,
        order_service_client::OrderServiceClient,
    },
    wallet::v1::{
        address_service_client::AddressServiceClient, asset_service_client::AssetServiceClient,
        movement_service_client::MovementServiceClient,
        payment_method_service_client::PaymentMethodServiceClient,
        rate_service_client::RateServiceClient,
        transaction_service_client::TransactionServiceClient,
        wallet_service_client::WalletServiceClient,
    },
};

/// A connection to one service.
pub(crate) type Channel = client::Client;

/// Connections to the four services, opened on first use.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    catalog: Channel,
    orders: Channel,
    wallet: Channel,
    identity: Channel,
}

/// Declares a constructor for each generated client.
macro_rules! clients {
    ($($name:ident: $client:ident on $channel:ident;)+) => {
        impl Clients {
            $(
                pub(crate) fn $name(&self) -> $client<Channel> {
                    self.$channel.service()
                }
            )+
        }
    };
}

clients! {
    categories: CategoryServiceClient on catalog;
    products: ProductServiceClient on catalog;
    questions: QuestionServiceClient on catalog;
    product_questions: ProductQuestionServiceClient on catalog;
    tax_rates: TaxRateServiceClient on catalog;
    orders: OrderServiceClient on orders;
    order_history: OrderHistoryServiceClient on orders;
    order_lines: OrderLineServiceClient on orders;
    fulfilment: OrderLineFulfilmentServiceClient on orders;
    assets: AssetServiceClient on wallet;
    rates: RateServiceClient on wallet;
    wallets: WalletServiceClient on wallet;
    transactions: TransactionServiceClient on wallet;
    movements: MovementServiceClient on wallet;
    addresses: AddressServiceClient on wallet;
    payment_methods: PaymentMethodServiceClient on wallet;
    auth: AuthServiceClient on identity;
    accounts: AccountServiceClient on identity;
    api_keys: ApiKeyServiceClient on identity;
    users: UserServiceClient on identity;
    invites: InviteServiceClient on identity;
    tasks: TaskServiceClient on identity;
    webhooks: WebhookServiceClient on identity;
    events: EventServiceClient on identity;
}

impl Clients {
    /// Configures the connections. Fails on a malformed address.
    pub(crate) fn connect(common: &Common) -> anyhow::Result<Self> {
        let (peers, tls) = (&common.peers, &common.tls);
        Ok(Self {
            catalog: client::connect_with("catalog", &peers.catalog_grpc_url, tls, None)?,
            orders: client::connect_with("orders", &peers.orders_grpc_url, tls, None)?,
            wallet: client::connect_with("wallet", &peers.wallet_grpc_url, tls, None)?,
            identity: client::connect_with("identity", &peers.identity_grpc_url, tls, None)?,
        })
    }

    /// Returns a client of each service's part of the audit log.
    pub(crate) fn audit_logs(&self) -> [AuditServiceClient<Channel>; 4] {
        self.channels().map(|(_, channel)| channel.service())
    }

    /// Returns the name and connection of each service, for the readiness check.
    pub(crate) fn channels(&self) -> [(&'static str, &Channel); 4] {
        [
            ("catalog", &self.catalog),
            ("orders", &self.orders),
            ("wallet", &self.wallet),
            ("identity", &self.identity),
        ]
    }
}
