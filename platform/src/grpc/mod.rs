//! gRPC between the processes: one way to serve ([`server`]), one way to call ([`client`]).
//!
//! A service adds its generated servers to a [`server::Server`]. Its layer does for every method:
//! authentication, access by the table of RPCs ([`proto::access`]), a limit of a caller's lists, trace,
//! deadline, panics, metrics, logging, drain. A handler takes
//! its request apart with [`Call`], calls the use case, and encodes the result:
//!
//! ```no_run
//! # use platform::{auth::Caller, error::Failure, grpc::{Call, respond}, idempotency::{Key, Reply}};
//! # use proto::orders::v1::{
//! #     GetOrderRequest, GetOrderResponse, Order, PayOrderRequest, PayOrderResponse};
//! # use tonic::{Request, Response, Status};
//! # struct Orders;
//! # impl Orders {
//! #     async fn get(&self, _: &Caller, _: &str) -> Result<Order, Failure> { Ok(Order::default()) }
//! #     async fn pay(&self, _: Option<&Key>, _: &str) -> Result<Reply<Order>, Failure> {
//! #         Ok(Reply::fresh(Order::default()))
//! #     }
//! # }
//! # struct OrderGrpc(Orders);
//! # impl OrderGrpc {
//! async fn get_order(
//!     &self,
//!     request: Request<GetOrderRequest>,
//! ) -> Result<Response<GetOrderResponse>, Status> {
//!     let Call { caller, body, .. } = Call::of(request)?;
//!     let order = Some(self.0.get(&caller, &body.id).await?);     // its error: Into<Status>
//!     Ok(Response::new(GetOrderResponse { order }))
//! }
//!
//! async fn pay_order(
//!     &self,
//!     request: Request<PayOrderRequest>,
//! ) -> Result<Response<PayOrderResponse>, Status> {
//!     let Call { key, body, .. } = Call::of(request)?;
//!     let reply = self.0.pay(key.as_ref(), &body.id).await?;      // a `Reply<Order>`
//!     Ok(respond(reply, |order| PayOrderResponse { order: Some(order) }))
//! }
//! # }
//! ```
//!
//! A call to another service goes through a [`client::Client`]. Connect once; every generated client
//! is made by [`client::Client::service`]:
//!
//! ```no_run
//! # use platform::{auth::Auth, config::Peers, error::Failure, grpc::client::{self, Client}};
//! # use proto::wallet::v1::{GetWalletRequest, wallet_service_client::WalletServiceClient};
//! # async fn call(peers: &Peers, auth: Auth, request: GetWalletRequest) -> anyhow::Result<()> {
//! let connection = client::connect("wallet", &peers.wallet_grpc_url, Some(auth.token.clone()))?;
//! let mut wallets: WalletServiceClient<Client> = connection.service();
//! let response = wallets.get_wallet(request).await.map_err(|s| Failure::from_status(&s))?;
//! # Ok(()) }
//! ```
//!
//! The connection sends the process's own token unless the request's metadata has an `authorization`
//! already (the gateway passes on the user's), and passes on trace and deadline. A dependency that
//! is down, hangs or is overloaded is `unavailable` within [`client::TIMEOUT`].

mod access;
mod call;
pub mod client;
pub mod deadline;
mod method;
pub mod precondition;
pub mod server;
#[cfg(test)]
mod tests;

pub use call::{Call, respond};

/// The largest response that clients accept, and the largest request of an import, in bytes.
const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// The largest request of all other RPCs, in bytes: bodies of the REST API have up to 1 MiB.
const MAX_REQUEST: usize = 4 * 1024 * 1024;

/// Returns the code in a response's headers. A response without one has it in the trailers and counts
/// as OK.
fn code_of<B>(response: &http::Response<B>) -> tonic::Code {
    let status = response.headers().get(tonic::Status::GRPC_STATUS);
    status.map_or(tonic::Code::Ok, |code| {
        tonic::Code::from_bytes(code.as_bytes())
    })
}
