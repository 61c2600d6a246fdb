//! `guerdon.identity.v1.EventService`.

use futures::{StreamExt as _, stream::BoxStream};
use platform::{clock::to_proto, error::Failure, grpc::Call, ids, list::refuse};
use proto::identity::v1::{
    self as wire, WatchEventsRequest, WatchEventsResponse, event_service_server::EventService,
};
use tonic::{Request, Response, Status};
use uuid::Uuid;

use super::{PublicEvent, event_types, feed::Feed};

#[derive(Debug)]
pub(crate) struct PublicEventGrpc(pub(crate) Feed);

#[tonic::async_trait]
impl EventService for PublicEventGrpc {
    type WatchEventsStream = BoxStream<'static, Result<WatchEventsResponse, Status>>;

    async fn watch_events(
        &self,
        request: Request<WatchEventsRequest>,
    ) -> Result<Response<Self::WatchEventsStream>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let (after, types) = decode(&body)?;
        let batches = self.0.watch(&caller.name(), after, types).await?;
        let messages = batches.map(|batch| {
            let batch = batch?;
            Ok(WatchEventsResponse {
                reset: batch.reset,
                events: batch.events.into_iter().map(encode).collect(),
            })
        });
        Ok(Response::new(messages.boxed()))
    }
}

/// Returns the event to continue after, and the types that the patterns select.
fn decode(request: &WatchEventsRequest) -> Result<(Option<Uuid>, Vec<String>), Failure> {
    let after = request.after_id.as_deref().map(ids::parse_uuid).transpose();
    let after = after.map_err(|it| refuse("lastEventId", it.code, &it.message))?;
    for pattern in &request.types {
        let checked = event_types::check_pattern(pattern);
        checked.map_err(|it| refuse("types", it.code, &it.message))?;
    }
    let selects = |event_type: &str| {
        let mut patterns = request.types.iter();
        request.types.is_empty() || patterns.any(|it| event_types::selects(it, event_type))
    };
    let types = event_types::ALL.into_iter().filter(|it| selects(it));
    Ok((after, types.map(str::to_owned).collect()))
}

fn encode(event: PublicEvent) -> wire::PublicEvent {
    wire::PublicEvent {
        id: event.id.to_string(),
        payload: event.payload(),
        occurred_at: Some(to_proto(event.occurred_at)),
        r#type: event.event_type,
    }
}
