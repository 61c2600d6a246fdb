//! `guerdon.identity.v1.InviteService`.

use platform::grpc::{Call, respond};
use proto::identity::v1::{
    CancelInviteRequest, CancelInviteResponse, CreateInviteRequest, CreateInviteResponse,
    GetInviteRequest, GetInviteResponse, ListInvitesRequest, ListInvitesResponse,
    SendInvitesRequest, SendInvitesResponse, ValidateInviteRequest, ValidateInviteResponse,
    invite_service_server::InviteService,
};
use tonic::{Request, Response, Status};

use super::{Invites, Validations, convert};
use crate::sign_up_code::SignUpCode;

#[derive(Debug)]
pub(crate) struct InviteGrpc {
    pub(crate) invites: Invites,
    pub(crate) validations: Validations,
}

#[tonic::async_trait]
impl InviteService for InviteGrpc {
    async fn create_invite(
        &self,
        request: Request<CreateInviteRequest>,
    ) -> Result<Response<CreateInviteResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let inviter = convert::inviter(&caller, body.inviter_user_id.as_deref())?;
        let email = convert::address(body.email.as_deref())?;
        let reply = self.invites.create(key.as_ref(), inviter, email).await?;
        Ok(respond(reply, |invite| CreateInviteResponse {
            invite: Some(invite),
        }))
    }

    async fn send_invites(
        &self,
        request: Request<SendInvitesRequest>,
    ) -> Result<Response<SendInvitesResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let inviter = convert::inviter(&caller, body.inviter_user_id.as_deref())?;
        let addresses = convert::addresses(&body.emails)?;
        let reply = self
            .invites
            .send(&caller, key.as_ref(), inviter, addresses)
            .await?;
        Ok(respond(reply, |()| SendInvitesResponse {}))
    }

    async fn get_invite(
        &self,
        request: Request<GetInviteRequest>,
    ) -> Result<Response<GetInviteResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let code = SignUpCode::parse(&body.code);
        let invite = Some(self.invites.get(&caller, &code).await?);
        Ok(Response::new(GetInviteResponse { invite }))
    }

    async fn list_invites(
        &self,
        request: Request<ListInvitesRequest>,
    ) -> Result<Response<ListInvitesResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let (invites, page) = self.invites.list(&caller, &list).await?;
        let page = Some(page);
        Ok(Response::new(ListInvitesResponse { invites, page }))
    }

    async fn cancel_invite(
        &self,
        request: Request<CancelInviteRequest>,
    ) -> Result<Response<CancelInviteResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let code = SignUpCode::parse(&body.code);
        let reply = self.invites.cancel(&caller, key.as_ref(), &code).await?;
        Ok(respond(reply, |invite| CancelInviteResponse {
            invite: Some(invite),
        }))
    }

    async fn validate_invite(
        &self,
        request: Request<ValidateInviteRequest>,
    ) -> Result<Response<ValidateInviteResponse>, Status> {
        let code = SignUpCode::parse(&request.get_ref().code);
        let validation = self.validations.validate(code).await?;
        Ok(Response::new(convert::validation(validation)))
    }
}
