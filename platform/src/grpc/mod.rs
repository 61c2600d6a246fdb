//! gRPC between the processes: one way to serve ([`server`]), one way to call ([`client`]).
//!
//! A service adds its generated servers to a [`server::Server`]; what every method needs (token
//! check, trace, deadline, panics, metrics, logging, drain) is done around it. Handlers only
//! decode, call the use case and encode:
//!
//! ```no_run
//! # use platform::{auth::Caller, error::Failure};
//! # use proto::orders::v1::{GetOrderRequest, GetOrderResponse, Order};
//! # use tonic::{Request, Response, Status};
//! # mod convert {
//! #     use proto::orders::v1::Order;
//! #     pub(super) fn order(order: Order) -> Order { order }
//! # }
//! # struct Orders;
//! # impl Orders {
//! #     async fn get(&self, _: &Caller, _: &str) -> Result<Order, Failure> { Ok(Order::default()) }
//! # }
//! # struct OrderApi(Orders);
//! # impl OrderApi {
//! async fn get_order(
//!     &self,
//!     request: Request<GetOrderRequest>,
//! ) -> Result<Response<GetOrderResponse>, Status> {
//!     let caller = Caller::of(&request)?;
//!     let order = self.0.get(caller, &request.get_ref().id).await?;   // its error: Into<Status>
//!     let order = Some(convert::order(order));
//!     Ok(Response::new(GetOrderResponse { order }))
//! }
//! # }
//! ```
//!
//! A call to another service goes through a [`client::Client`], which every generated client takes
//! as its transport. Build it once, clone it freely:
//!
//! ```no_run
//! # use platform::{auth::Auth, config::Peers, error::Failure, grpc::{MAX_MESSAGE, client}};
//! # use proto::wallet::v1::{GetWalletRequest, wallet_service_client::WalletServiceClient};
//! # async fn call(peers: &Peers, auth: Auth, request: GetWalletRequest) -> anyhow::Result<()> {
//! let wallet = client::connect("wallet", &peers.wallet_grpc_url, Some(auth.token.clone()))?;
//! let wallets = WalletServiceClient::new(wallet).max_decoding_message_size(MAX_MESSAGE);
//! let answer = wallets.clone().get_wallet(request).await.map_err(|s| Failure::from_status(&s))?;
//! # Ok(()) }
//! ```
//!
//! It sends the process's own token unless the request's metadata has an `authorization` already
//! (the gateway passes on the user's), and passes on trace and deadline by itself. A dependency
//! that is down, hangs or is overloaded gives `unavailable` within [`client::TIMEOUT`].

pub mod client;
pub mod deadline;
mod method;
pub mod server;
#[cfg(test)]
mod tests;

/// The most bytes a message may have. Generated servers and clients default to 4 MiB and take this
/// by `.max_decoding_message_size(MAX_MESSAGE)`.
pub const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// The gRPC code of an answer whose headers are here. An answer that is good so far has its code in
/// the trailers: it counts as OK.
fn code_of<B>(response: &http::Response<B>) -> tonic::Code {
    let status = response.headers().get(tonic::Status::GRPC_STATUS);
    status.map_or(tonic::Code::Ok, |code| {
        tonic::Code::from_bytes(code.as_bytes())
    })
}
