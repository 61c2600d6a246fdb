//! `ProductService`: users read visible products, admins read and write all.

use std::pin::Pin;

use futures::{Stream, StreamExt as _};
use platform::{
    error::{Failure, FieldCode},
    grpc::{Call, precondition::Versions, respond},
    ids::Id,
    pg,
};
use proto::catalog::v1::{
    CreateProductRequest, CreateProductResponse, DeleteProductRequest, DeleteProductResponse,
    ExportProductsRequest, ExportProductsResponse, GetProductRequest, GetProductResponse,
    ImportProductsRequest, ImportProductsResponse, ListProductsRequest, ListProductsResponse,
    ReorderProductRequest, ReorderProductResponse, UpdateProductRequest, UpdateProductResponse,
    product_service_server::ProductService,
};
use tonic::{Request, Response, Status};

use super::{Product, Products, View, convert, import::Mode, related::Include};
use crate::{error::Error, fields};

/// Lines of the largest import.
const MAX_LINES: usize = 10_000;

#[derive(Debug, Clone)]
pub(crate) struct ProductGrpc(pub(crate) Products);

#[tonic::async_trait]
impl ProductService for ProductGrpc {
    async fn create_product(
        &self,
        request: Request<CreateProductRequest>,
    ) -> Result<Response<CreateProductResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let new = convert::new_product(body)?;
        let reply = self.0.create(key.as_ref(), new).await?;
        Ok(respond(reply, |product| CreateProductResponse {
            product: Some(product),
        }))
    }

    async fn get_product(
        &self,
        request: Request<GetProductRequest>,
    ) -> Result<Response<GetProductResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let include = Include::parse(&body.include)?;
        let id = path_id(&body.id)?;
        let product = self.0.get(id, include, View::of(&caller)).await?;
        Ok(Response::new(GetProductResponse {
            product: Some(product),
        }))
    }

    async fn list_products(
        &self,
        request: Request<ListProductsRequest>,
    ) -> Result<Response<ListProductsResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let response = self.0.list(&list, View::of(&caller)).await?;
        Ok(Response::new(response))
    }

    async fn update_product(
        &self,
        request: Request<UpdateProductRequest>,
    ) -> Result<Response<UpdateProductResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let product = self
            .0
            .update(id, convert::patch(body)?, if_version.as_ref())
            .await?;
        Ok(Response::new(UpdateProductResponse {
            product: Some(product),
        }))
    }

    async fn delete_product(
        &self,
        request: Request<DeleteProductRequest>,
    ) -> Result<Response<DeleteProductResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        self.0.delete(id, if_version.as_ref()).await?;
        Ok(Response::new(DeleteProductResponse {}))
    }

    async fn import_products(
        &self,
        request: Request<ImportProductsRequest>,
    ) -> Result<Response<ImportProductsResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        if body.lines.len() > MAX_LINES {
            let message = format!("must have at most {MAX_LINES} lines");
            return Err(Failure::invalid("lines", FieldCode::Length, message).into());
        }
        let mode = match (body.partial, body.incomplete) {
            (true, _) => Mode::Partial,
            (false, true) => Mode::CheckOnly,
            (false, false) => Mode::AllOrNothing,
        };
        let lines = convert::import_lines(body.lines);
        let reply = self.0.import(key.as_ref(), lines, mode).await?;
        Ok(reply.into_response())
    }

    type ExportProductsStream =
        Pin<Box<dyn Stream<Item = Result<ExportProductsResponse, Status>> + Send>>;

    async fn export_products(
        &self,
        _request: Request<ExportProductsRequest>,
    ) -> Result<Response<Self::ExportProductsStream>, Status> {
        let pages = self.0.export().map(|page| {
            let products = page?;
            Ok(ExportProductsResponse { products })
        });
        Ok(Response::new(Box::pin(pages)))
    }

    async fn reorder_product(
        &self,
        request: Request<ReorderProductRequest>,
    ) -> Result<Response<ReorderProductResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let next = fields::subsequent(body.subsequent_id)?;
        let moved = pg::retry_serialization(|| self.0.reorder(key.as_ref(), id, next));
        Ok(respond(moved.await?, |()| ReorderProductResponse {}))
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<Id<Product>, Error> {
    Id::parse(text).map_err(|_| Error::ProductNotFound)
}
