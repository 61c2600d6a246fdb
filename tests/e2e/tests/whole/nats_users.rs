//! What each user of NATS may do: `deploy/k8s/components/nats/nats-users.conf`, against the server of a stack.

use std::{fs, path::Path, time::Duration};

use async_nats::{
    ConnectOptions,
    jetstream::{self, stream},
};
use futures::StreamExt as _;
use stack::{Environment, StackOptions};
use tokio::{sync::mpsc, time::timeout};

const TIMEOUT: Duration = Duration::from_secs(20);

/// A connection of a user, and the errors that the server sends it.
struct User {
    client: async_nats::Client,
    errors: mpsc::UnboundedReceiver<String>,
}

impl User {
    async fn connect(environment: &Environment, name: &str) -> Self {
        let url = environment.nats_url(name);
        let (credentials, address) = url
            .strip_prefix("nats://")
            .and_then(|rest| rest.split_once('@'))
            .expect("a URL with a user");
        let (user, password) = credentials.split_once(':').expect("a password");
        let (sender, errors) = mpsc::unbounded_channel();
        let client = ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned())
            .custom_inbox_prefix(format!("_INBOX.{name}"))
            .request_timeout(Some(Duration::from_secs(1)))
            .event_callback(move |event| {
                let _ = sender.send(event.to_string());
                async {}
            })
            .connect(address)
            .await
            .expect("the password is right");
        Self { client, errors }
    }

    fn jetstream(&self) -> jetstream::Context {
        jetstream::new(self.client.clone())
    }

    /// Waits until the server refuses something about this subject.
    async fn expect_refusal(&mut self, subject: &str) {
        let refused = async {
            while let Some(error) = self.errors.recv().await {
                let error = error.to_lowercase();
                if error.contains("permissions violation") && error.contains(subject) {
                    return;
                }
            }
        };
        let refused = timeout(TIMEOUT, refused).await;
        assert!(refused.is_ok(), "{subject} was not refused");
    }

    async fn publish(&self, subject: &str) {
        let published = self.client.publish(subject.to_owned(), "forged".into());
        published.await.expect("connected");
        self.client.flush().await.expect("connected");
    }
}

fn environment(name: &str) -> Environment {
    StackOptions::for_test(name).expect("options").environment
}

async fn create_stream(operator: &User, context: &str) -> stream::Stream {
    let config = stream::Config {
        name: format!("GUERDON_{}", context.to_uppercase()),
        subjects: vec![format!("guerdon.{context}.>")],
        ..stream::Config::default()
    };
    let created = operator.jetstream().create_stream(config).await;
    created.expect("the operator may create streams")
}

async fn messages(stream: &stream::Stream) -> u64 {
    stream.get_info().await.expect("the stream").state.messages
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_without_the_password_of_a_user_are_refused() {
    let environment = environment("nats-users");
    let url = environment.nats_url("orders-svc");
    let address = url.rsplit('@').next().expect("an address");
    assert!(async_nats::connect(address).await.is_err());
    for user in ["orders-svc", "operator", "root"] {
        let options = ConnectOptions::with_user_and_password(user.to_owned(), user.to_owned());
        assert!(options.connect(address).await.is_err(), "{user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_publishes_its_own_events_only() {
    let environment = environment("nats-publish");
    let operator = User::connect(&environment, "operator").await;
    for (service, own) in [
        ("catalog-svc", "catalog"),
        ("orders-svc", "orders"),
        ("wallet-svc", "wallet"),
        ("identity-svc", "identity"),
    ] {
        let mut user = User::connect(&environment, service).await;
        for context in ["catalog", "orders", "wallet", "identity"] {
            let stream = create_stream(&operator, context).await;
            let before = messages(&stream).await;
            let subject = format!("guerdon.{context}.v1.tested");
            if context == own {
                let published = user
                    .jetstream()
                    .publish(subject.clone(), "own".into())
                    .await;
                let ack = published.expect("connected").await;
                ack.expect("the event is stored");
                assert_eq!(messages(&stream).await, before + 1, "{service} {subject}");
            } else {
                user.publish(&subject).await;
                user.expect_refusal(&subject).await;
                assert_eq!(messages(&stream).await, before, "{service} {subject}");
            }
        }
        for subject in ["$js.api.stream.list", "_inbox.operator.x", "anything"] {
            let upper = subject.replace("$js.api.stream.list", "$JS.API.STREAM.LIST");
            user.publish(&upper.replace("_inbox", "_INBOX")).await;
            user.expect_refusal(subject).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_neither_deletes_nor_changes_streams() {
    let environment = environment("nats-streams");
    let operator = User::connect(&environment, "operator").await;
    let mut orders = User::connect(&environment, "orders-svc").await;
    for context in ["orders", "wallet"] {
        let stream = create_stream(&operator, context).await;
        let config = stream.cached_info().config.clone();
        let jetstream = orders.jetstream();
        assert!(jetstream.delete_stream(&config.name).await.is_err());
        orders.expect_refusal("$js.api.stream.delete").await;
        assert!(jetstream.update_stream(&config).await.is_err());
        orders.expect_refusal("$js.api.stream.update").await;
        assert!(stream.get_info().await.is_ok(), "{context}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_receives_nothing_but_its_responses() {
    let environment = environment("nats-subscribe");
    let mut orders = User::connect(&environment, "orders-svc").await;
    for subject in ["guerdon.>", "_INBOX.>", "_INBOX.wallet-svc.>", ">"] {
        let subscribed = orders.client.subscribe(subject).await;
        let mut messages = subscribed.expect("connected");
        orders.expect_refusal(&subject.to_lowercase()).await;
        messages.unsubscribe().await.expect("connected");
        assert!(messages.next().await.is_none());
    }
}

#[test]
fn the_users_may_read_what_the_services_consume() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rules = fs::read_to_string(workspace.join("deploy/k8s/components/nats/nats-users.conf"))
        .expect("the rules");
    let mut consumers = 0;
    for context in ["catalog", "orders", "wallet", "identity"] {
        let source = workspace.join(format!("{context}-svc/src/service.rs"));
        let source = fs::read_to_string(source).expect("the composition root");
        let calls = [".consume(", ".consume_effect("];
        for call in calls.iter().flat_map(|call| source.split(call).skip(1)) {
            let mut arguments = call.splitn(3, ',').map(str::trim);
            let from = arguments.next().expect("the context");
            let event = arguments.next().expect("the event").trim_matches('"');
            let consumer = format!("GUERDON_{from}.{context}-svc-{event}");
            let subject = format!("guerdon.{}.v1.{event}", from.to_lowercase());
            expect_rules(&rules, &consumer, &format!("{consumer}.{subject}"));
            consumers += 1;
        }
    }
    for context in ["ORDERS", "WALLET", "IDENTITY"] {
        let consumer = format!("GUERDON_{context}.identity-svc-public");
        expect_rules(&rules, &consumer, &consumer);
        consumers += 1;
    }
    assert_eq!(rules.matches("CONSUMER.CREATE").count(), consumers);
    assert!(consumers > 3);
}

/// Expects what a consumer needs.
fn expect_rules(rules: &str, consumer: &str, created: &str) {
    for rule in [
        format!("\"$JS.API.CONSUMER.CREATE.{created}\""),
        format!("\"$JS.API.CONSUMER.MSG.NEXT.{consumer}\""),
        format!("\"$JS.ACK.{consumer}.>\""),
    ] {
        assert!(rules.contains(&rule), "{rule}");
    }
}
