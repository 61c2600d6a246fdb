//! Events of a running stack.

use async_nats::jetstream::stream::Stream;
use futures::StreamExt as _;

use crate::TestApp;

impl TestApp {
    /// Publishes the last event of a subject once more, as a new message, and waits until every consumer
    /// of its stream has acknowledged it.
    ///
    /// # Panics
    /// If there is no such event, or a consumer does not acknowledge it.
    pub async fn publish_again(&self, subject: &str) {
        let nats = platform::config::Nats::at(&self.stack.wiring().operator_nats_url());
        let jetstream = platform::messaging::jetstream::connect(&nats, "e2e")
            .await
            .expect("the URL of NATS");
        let context = subject.split('.').nth(1).expect("a context");
        let stream = format!("GUERDON_{}", context.to_uppercase());
        let stream = jetstream.get_stream(stream).await.expect("the stream");
        let message = stream
            .get_last_raw_message_by_subject(subject)
            .await
            .expect("an event");
        // JetStream's own headers describe the batch of the first publish.
        let mut headers = async_nats::HeaderMap::new();
        for (name, values) in message.headers.iter() {
            if let (false, Some(value)) = (name.to_string().starts_with("Nats-"), values.first()) {
                headers.insert(name.clone(), value.clone());
            }
        }
        let id = format!("published-again-{}", message.sequence);
        headers.insert("Nats-Msg-Id", id.as_str());
        let publish = jetstream.publish_with_headers(subject.to_owned(), headers, message.payload);
        let published = publish.await.expect("sent").await.expect("stored").sequence;
        self.eventually(|| async {
            let consumers = waiting_consumers(&stream).await;
            let message = || format!("{published} is not acknowledged by {consumers:?}");
            consumers.is_empty().then_some(()).ok_or_else(message)
        })
        .await;
    }
}

/// Returns the consumers that have not acknowledged every message.
async fn waiting_consumers(stream: &Stream) -> Vec<String> {
    let mut names = stream.consumer_names();
    let mut waiting = Vec::new();
    while let Some(name) = names.next().await {
        let name = name.expect("a name");
        let consumer = stream.consumer_info(&name).await.expect("a consumer");
        if consumer.num_pending > 0 || consumer.num_ack_pending > 0 {
            waiting.push(name);
        }
    }
    waiting
}
