//! `guerdon.identity.v1.RevocationService`.

use futures::{StreamExt as _, stream::BoxStream};
use platform::auth::Revocation;
use proto::identity::v1::{
    WatchRequest, WatchResponse, revocation_service_server::RevocationService,
};
use tonic::{Request, Response, Status};

use super::Feed;

#[derive(Debug)]
pub(crate) struct RevocationGrpc(pub(crate) Feed);

#[tonic::async_trait]
impl RevocationService for RevocationGrpc {
    type WatchStream = BoxStream<'static, Result<WatchResponse, Status>>;

    async fn watch(
        &self,
        _request: Request<WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let messages = self.0.watch().map(|read| {
            let revocations = read?.into_iter().map(Revocation::encode).collect();
            Ok(WatchResponse { revocations })
        });
        Ok(Response::new(messages.boxed()))
    }
}
