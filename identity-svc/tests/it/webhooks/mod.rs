//! Webhooks: managed by admins, and sent events.

mod changes;
mod delivery;
mod failures;
mod isolation;
mod notices;

use platform::{clock::Clock, testing};
use proto::{
    common::v1::ListRequest,
    identity::v1::{
        CreateWebhookRequest, CreateWebhookResponse, GetWebhookRequest,
        ListWebhookDeliveriesRequest, Webhook, WebhookDelivery,
    },
};
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    fake_receiver::{FakeReceiver, Received},
    harness::{TIMEOUT, TestApp, noon},
};

/// Lets webhooks have the addresses of fakes.
const LOCAL: [&str; 2] = ["--webhook-allow-http", "--webhook-allow-private"];

/// Starts a service whose clock only the test moves.
async fn start(pool: PgPool) -> TestApp {
    TestApp::start_with(pool, Clock::fixed(noon()), &LOCAL).await
}

/// Starts a receiver and creates a webhook for the events of orders. No test publishes any to the
/// broker that all tests share.
async fn subscribe(app: &TestApp) -> (FakeReceiver, CreateWebhookResponse) {
    let receiver = FakeReceiver::default();
    let url = format!("http://{}/hook?a=1", receiver.start().await);
    let created = create(app, &url, &["store.order.*"]).await;
    (receiver, created)
}

async fn create(app: &TestApp, url: &str, events: &[&str]) -> CreateWebhookResponse {
    let request = new_webhook(url, events);
    let created = app.webhooks().create_webhook(request).await;
    created.unwrap().into_inner()
}

fn new_webhook(url: &str, events: &[&str]) -> CreateWebhookRequest {
    CreateWebhookRequest {
        url: url.to_owned(),
        events: events.iter().map(|event| (*event).to_owned()).collect(),
        ..CreateWebhookRequest::default()
    }
}

fn id(created: &CreateWebhookResponse) -> String {
    created.webhook.as_ref().unwrap().id.clone()
}

/// Records a public event, as a consumer does, and returns its id.
async fn publish(app: &TestApp, number: u128) -> String {
    let id = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + number);
    let data = format!(r#"{{"orderId":"{number}"}}"#);
    app.record([(id, "store.order.paid", data)]).await;
    id.to_string()
}

async fn get(app: &TestApp, id: &str) -> Webhook {
    let id = id.to_owned();
    let read = app.webhooks().get_webhook(GetWebhookRequest { id }).await;
    read.unwrap().into_inner().webhook.unwrap()
}

/// Returns the deliveries of a webhook.
async fn deliveries(app: &TestApp, webhook: &str) -> Vec<WebhookDelivery> {
    let request = ListWebhookDeliveriesRequest {
        webhook_id: webhook.to_owned(),
        list: Some(ListRequest::default()),
    };
    let listed = app.webhooks().list_webhook_deliveries(request).await;
    listed.unwrap().into_inner().deliveries
}

/// Waits until the only delivery of a webhook is as asked for, and returns it.
async fn delivery(
    app: &TestApp,
    webhook: &str,
    what: &str,
    condition: impl Fn(&WebhookDelivery) -> bool,
) -> WebhookDelivery {
    testing::eventually(what, TIMEOUT, async || {
        deliveries(app, webhook)
            .await
            .first()
            .is_some_and(&condition)
    })
    .await;
    let [delivery] = &deliveries(app, webhook).await[..] else {
        panic!("one delivery expected")
    };
    delivery.clone()
}

/// Waits until as many requests have arrived.
async fn received(receiver: &FakeReceiver, count: usize) -> Vec<Received> {
    testing::eventually("the requests arrive", TIMEOUT, async || {
        receiver.received().len() >= count
    })
    .await;
    receiver.received()
}
