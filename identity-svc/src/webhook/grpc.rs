//! `guerdon.identity.v1.WebhookService`.

use platform::grpc::{Call, precondition::Versions, respond};
use proto::identity::v1::{
    CreateWebhookRequest, CreateWebhookResponse, DeleteWebhookRequest, DeleteWebhookResponse,
    GetWebhookRequest, GetWebhookResponse, ListWebhookDeliveriesRequest,
    ListWebhookDeliveriesResponse, ListWebhooksRequest, ListWebhooksResponse, PingWebhookRequest,
    PingWebhookResponse, RedeliverWebhookRequest, RedeliverWebhookResponse,
    RotateWebhookSecretRequest, RotateWebhookSecretResponse, UpdateWebhookRequest,
    UpdateWebhookResponse, webhook_service_server::WebhookService,
};
use tonic::{Request, Response, Status};

use super::{WebhookId, Webhooks, convert, delivery::DeliveryId, service::WithSecret};
use crate::error::Error;

#[derive(Debug)]
pub(crate) struct WebhookGrpc(pub(crate) Webhooks);

#[tonic::async_trait]
impl WebhookService for WebhookGrpc {
    async fn create_webhook(
        &self,
        request: Request<CreateWebhookRequest>,
    ) -> Result<Response<CreateWebhookResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let WithSecret { reply, secret } = self.0.create(key.as_ref(), body).await?;
        Ok(respond(reply, |webhook| CreateWebhookResponse {
            webhook: Some(webhook),
            secret: secret.unwrap_or_default(),
        }))
    }

    async fn get_webhook(
        &self,
        request: Request<GetWebhookRequest>,
    ) -> Result<Response<GetWebhookResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let webhook = self.0.get(path_id(&body.id)?).await?;
        let webhook = Some(convert::webhook(webhook));
        Ok(Response::new(GetWebhookResponse { webhook }))
    }

    async fn list_webhooks(
        &self,
        request: Request<ListWebhooksRequest>,
    ) -> Result<Response<ListWebhooksResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let page = self.0.list(&body.list.unwrap_or_default()).await?;
        let (webhooks, page) = page.encode(convert::webhook);
        let page = Some(page);
        Ok(Response::new(ListWebhooksResponse { webhooks, page }))
    }

    async fn update_webhook(
        &self,
        request: Request<UpdateWebhookRequest>,
    ) -> Result<Response<UpdateWebhookResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let webhook = self.0.update(id, body, if_version.as_ref()).await?;
        let webhook = Some(convert::webhook(webhook));
        Ok(Response::new(UpdateWebhookResponse { webhook }))
    }

    async fn delete_webhook(
        &self,
        request: Request<DeleteWebhookRequest>,
    ) -> Result<Response<DeleteWebhookResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        self.0.delete(id, if_version.as_ref()).await?;
        Ok(Response::new(DeleteWebhookResponse {}))
    }

    async fn rotate_webhook_secret(
        &self,
        request: Request<RotateWebhookSecretRequest>,
    ) -> Result<Response<RotateWebhookSecretResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let WithSecret { reply, secret } = self.0.rotate_secret(key.as_ref(), id).await?;
        Ok(respond(reply, |webhook| RotateWebhookSecretResponse {
            webhook: Some(webhook),
            secret: secret.unwrap_or_default(),
        }))
    }

    async fn ping_webhook(
        &self,
        request: Request<PingWebhookRequest>,
    ) -> Result<Response<PingWebhookResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let reply = self.0.ping(key.as_ref(), path_id(&body.id)?).await?;
        Ok(respond(reply, |result| result))
    }

    async fn list_webhook_deliveries(
        &self,
        request: Request<ListWebhookDeliveriesRequest>,
    ) -> Result<Response<ListWebhookDeliveriesResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.webhook_id)?;
        let page = self
            .0
            .deliveries(id, &body.list.unwrap_or_default())
            .await?;
        let (deliveries, page) = page.encode(convert::delivery);
        let page = Some(page);
        Ok(Response::new(ListWebhookDeliveriesResponse {
            deliveries,
            page,
        }))
    }

    async fn redeliver_webhook(
        &self,
        request: Request<RedeliverWebhookRequest>,
    ) -> Result<Response<RedeliverWebhookResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let id = path_id(&body.webhook_id)?;
        let delivery = DeliveryId::parse(&body.delivery_id);
        let delivery = delivery.map_err(|_| Error::WebhookDeliveryNotFound)?;
        let reply = self.0.redeliver(key.as_ref(), id, delivery).await?;
        Ok(respond(reply, |delivery| RedeliverWebhookResponse {
            delivery: Some(delivery),
        }))
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<WebhookId, Error> {
    WebhookId::parse(text).map_err(|_| Error::WebhookNotFound)
}
