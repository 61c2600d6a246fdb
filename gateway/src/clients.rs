//! The gRPC clients of the services, one constructor each.

use platform::{config::Common, grpc::client};
use proto::{
    catalog::v1::{
        category_service_client::CategoryServiceClient,
        product_question_service_client::ProductQuestionServiceClient,
        product_service_client::ProductServiceClient,
        question_service_client::QuestionServiceClient,
        tax_rate_service_client::TaxRateServiceClient,
    },
    identity::v1::{
        task_service_client::TaskServiceClient, user_service_client::UserServiceClient,
    },
    orders::v1::{
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
pub type Channel = client::Client;

/// Connections to the four services, made when first used.
#[derive(Debug, Clone)]
pub struct Clients {
    catalog: Channel,
    orders: Channel,
    wallet: Channel,
    identity: Channel,
}

/// Declares a constructor for each generated client.
macro_rules! clients {
    ($($(#[doc = $about:literal])+ $name:ident: $client:ident on $channel:ident;)+) => {
        impl Clients {
            $(
                $(#[doc = $about])+
                pub fn $name(&self) -> $client<Channel> {
                    self.$channel.service()
                }
            )+
        }
    };
}

clients! {
    /// Categories.
    categories: CategoryServiceClient on catalog;
    /// Products.
    products: ProductServiceClient on catalog;
    /// Questions.
    questions: QuestionServiceClient on catalog;
    /// Questions of products.
    product_questions: ProductQuestionServiceClient on catalog;
    /// Tax rates.
    tax_rates: TaxRateServiceClient on catalog;
    /// Orders.
    orders: OrderServiceClient on orders;
    /// Order lines.
    order_lines: OrderLineServiceClient on orders;
    /// Fulfilment of order lines.
    fulfilment: OrderLineFulfilmentServiceClient on orders;
    /// Assets.
    assets: AssetServiceClient on wallet;
    /// Rates between assets.
    rates: RateServiceClient on wallet;
    /// Wallets.
    wallets: WalletServiceClient on wallet;
    /// Transactions.
    transactions: TransactionServiceClient on wallet;
    /// Movements.
    movements: MovementServiceClient on wallet;
    /// Addresses.
    addresses: AddressServiceClient on wallet;
    /// Payment methods.
    payment_methods: PaymentMethodServiceClient on wallet;
    /// Users.
    users: UserServiceClient on identity;
    /// Tasks.
    tasks: TaskServiceClient on identity;
}

impl Clients {
    /// Clients of the services at these addresses; fails on a malformed address.
    pub fn connect(common: &Common) -> anyhow::Result<Self> {
        let peers = &common.peers;
        Ok(Self {
            catalog: client::connect("catalog", &peers.catalog_grpc_url, None)?,
            orders: client::connect("orders", &peers.orders_grpc_url, None)?,
            wallet: client::connect("wallet", &peers.wallet_grpc_url, None)?,
            identity: client::connect("identity", &peers.identity_grpc_url, None)?,
        })
    }

    /// Each service's name and connection, for the readiness check.
    pub fn channels(&self) -> [(&'static str, &Channel); 4] {
        [
            ("catalog", &self.catalog),
            ("orders", &self.orders),
            ("wallet", &self.wallet),
            ("identity", &self.identity),
        ]
    }
}
