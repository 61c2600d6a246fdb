//! Calls of `OrderHistoryService`.

use proto::{
    common::v1::ListRequest,
    orders::v1::{
        CreateOrderNoteRequest, GetOrderReceiptRequest, ListOrderHistoryRequest,
        ListOrderHistoryResponse, ListOrderPaymentsRequest, ListOrderPaymentsResponse,
        OrderHistoryEntry, OrderReceipt, order_history_service_client::OrderHistoryServiceClient,
    },
};
use tonic::transport::Channel;

use super::{Client, Result};

impl Client<'_> {
    fn history(&self) -> OrderHistoryServiceClient<Channel> {
        OrderHistoryServiceClient::new(self.channel())
    }

    pub(crate) async fn list_payments(
        &self,
        order_id: &str,
        list: ListRequest,
    ) -> Result<ListOrderPaymentsResponse> {
        let request = self.request(ListOrderPaymentsRequest {
            order_id: order_id.to_owned(),
            list: Some(list),
        });
        let response = self.history().list_order_payments(request).await;
        self.message(response)
    }

    pub(crate) async fn list_history(
        &self,
        order_id: &str,
        list: ListRequest,
    ) -> Result<ListOrderHistoryResponse> {
        let request = self.request(ListOrderHistoryRequest {
            order_id: order_id.to_owned(),
            list: Some(list),
        });
        let response = self.history().list_order_history(request).await;
        self.message(response)
    }

    pub(crate) async fn receipt(&self, order_id: &str) -> Result<OrderReceipt> {
        let request = self.request(GetOrderReceiptRequest {
            order_id: order_id.to_owned(),
        });
        let response = self.history().get_order_receipt(request).await;
        Ok(self.message(response)?.receipt.unwrap())
    }

    pub(crate) async fn create_note(
        &self,
        order_id: &str,
        text: &str,
    ) -> Result<OrderHistoryEntry> {
        let request = self.request(CreateOrderNoteRequest {
            order_id: order_id.to_owned(),
            text: text.to_owned(),
        });
        let response = self.history().create_order_note(request).await;
        Ok(self.message(response)?.entry.unwrap())
    }
}
