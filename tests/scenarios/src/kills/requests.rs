//! The requests that are interrupted and repeated, and how often they took effect.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};

use super::points::Saga;
use crate::{
    client::{Client, Reply},
    shop::{Buyer, cart, create_buyer, create_order, create_product},
};

/// What a request is about.
#[derive(Debug, Clone)]
enum Subject {
    /// Orders with this text in their custom data.
    Orders(String),
    /// The order with this path.
    Order(String),
    /// Users with this email.
    Users(String),
}

/// A request that can be sent any number of times.
#[derive(Debug, Clone)]
pub(super) struct Repeatable {
    method: Method,
    path: String,
    body: Option<Value>,
    key: String,
    subject: Subject,
}

/// How often a request took effect.
#[derive(Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Effects {
    /// Orders or users that it is about.
    pub(super) subjects: i64,
    /// Payments in the ledger.
    pub(super) payments: i64,
    /// Refunds in the ledger.
    pub(super) refunds: i64,
}

/// What the requests need.
pub(super) struct Fixture {
    pub(super) client: Client,
    buyer: Buyer,
    product: String,
}

/// Enough for every order, in usd.
const FUNDS: u32 = 1_000_000;

impl Fixture {
    pub(super) async fn prepare(client: Client) -> anyhow::Result<Self> {
        Ok(Self {
            buyer: create_buyer(&client, "victim", FUNDS).await?,
            product: create_product(&client).await?,
            client,
        })
    }

    /// Prepares a request; the name is unique.
    pub(super) async fn request(&self, saga: Saga, name: &str) -> anyhow::Result<Repeatable> {
        let email = format!("{name}@example.com");
        let (method, path, body, subject) = match saga {
            Saga::Create => {
                let mut cart = cart(&self.buyer, &self.product);
                cart["walletId"] = json!(self.buyer.wallet);
                cart["customData"] = json!({ "kill": name });
                let subject = Subject::Orders(name.to_owned());
                (Method::POST, "/orders".to_owned(), Some(cart), subject)
            }
            Saga::Pay => {
                let order = self.order(false).await?;
                let path = format!("{order}/pay");
                (Method::POST, path, Some(json!({})), Subject::Order(order))
            }
            Saga::Cancel => {
                let order = self.order(true).await?;
                let path = format!("{order}/cancel");
                (Method::POST, path, Some(json!({})), Subject::Order(order))
            }
            Saga::Refund => {
                let order = self.order(true).await?;
                let path = format!("{order}/refund");
                let body = json!({ "amount": "6", "reason": "late" });
                (Method::POST, path, Some(body), Subject::Order(order))
            }
            Saga::CreateUser => {
                let user = json!({ "email": email, "password": "Correct1Horse" });
                let subject = Subject::Users(email);
                (Method::POST, "/users".to_owned(), Some(user), subject)
            }
            Saga::DeleteUser => {
                let user = create_buyer(&self.client, name, 0).await?;
                let path = format!("/users/{}", user.id);
                (Method::DELETE, path, None, Subject::Users(email))
            }
        };
        Ok(Repeatable {
            method,
            path,
            body,
            key: name.to_owned(),
            subject,
        })
    }

    async fn order(&self, paid: bool) -> anyhow::Result<String> {
        create_order(&self.client, &self.buyer, &self.product, paid).await
    }
}

impl Repeatable {
    pub(super) async fn send(&self, client: &Client) -> anyhow::Result<Reply> {
        let key = (self.method == Method::POST).then_some(self.key.as_str());
        let method = self.method.clone();
        client
            .send(method, &self.path, self.body.as_ref(), key)
            .await
    }

    /// Returns whether this is the last answer: a success, or that what was to be deleted is gone.
    pub(super) fn has_ended(&self, answer: &Reply) -> bool {
        answer.is_success() || (self.method == Method::DELETE && answer.status == 404)
    }

    pub(super) async fn effects(&self, database: &str) -> anyhow::Result<Effects> {
        let (sql, argument) = match &self.subject {
            Subject::Orders(name) => (ORDERS, format!(r#"%"{name}"%"#)),
            Subject::Order(path) => (ORDER, path.trim_start_matches("/orders/").to_owned()),
            Subject::Users(email) => (USERS, email.clone()),
        };
        let mut conn = PgConnection::connect(database).await?;
        let effects = sqlx::query_as(sql).bind(argument);
        Ok(effects.fetch_one(&mut conn).await?)
    }
}

const ORDERS: &str = "
with chosen as (select id::text from orders.orders where custom_data like $1)
select (select count(*) from chosen) as subjects,
    count(*) filter (where code = 'pay') as payments,
    count(*) filter (where code = 'refund') as refunds
from wallet.transactions
where metadata::jsonb ->> 'orderId' in (select id from chosen)";

const ORDER: &str = "
select (select count(*) from orders.orders where id::text = $1) as subjects,
    count(*) filter (where code = 'pay') as payments,
    count(*) filter (where code = 'refund') as refunds
from wallet.transactions
where metadata::jsonb ->> 'orderId' = $1";

/// Of a user there is also one wallet.
const USERS: &str = "
select count(*) as subjects, 0::bigint as payments, 0::bigint as refunds
from identity.users u join wallet.wallets w on w.owner_id = u.id
where u.email = $1";
