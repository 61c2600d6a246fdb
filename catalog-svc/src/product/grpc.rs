//! `ProductService`: users read what is visible, admins write.

use std::pin::Pin;

use futures::{Stream, StreamExt as _};
use platform::{
    auth::Caller,
    error::{Failure, FieldCode},
    idempotency::Key,
    ids::Id,
    pg,
};
use proto::catalog::v1 as wire;
use tonic::{Request, Response, Status};

use super::{
    Product, Products, View, convert,
    import::Mode,
    related::{Embedded, Include},
};
use crate::{error::Error, fields, media::Media};

/// The pages of an export.
type Export =
    Pin<Box<dyn Stream<Item = Result<wire::ExportProductsResponse, Status>> + Send + 'static>>;

/// Serves the products.
#[derive(Debug, Clone)]
pub struct ProductGrpc {
    /// The use cases.
    pub products: Products,
    /// Where images are.
    pub media: Media,
}

impl ProductGrpc {
    fn answer(&self, product: impl Into<Embedded>) -> wire::Product {
        convert::to_proto(product.into(), &self.media)
    }
}

/// Lines of the largest import.
const MAX_LINES: usize = 10_000;

#[tonic::async_trait]
impl wire::product_service_server::ProductService for ProductGrpc {
    async fn create_product(
        &self,
        request: Request<wire::CreateProductRequest>,
    ) -> Result<Response<wire::CreateProductResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let new = convert::new_product(request.into_inner())?;
        let answer = |product: Product| wire::CreateProductResponse {
            product: Some(self.answer(product)),
        };
        let created = self.products.create(key.as_ref(), new, answer).await?;
        Ok(created.into_response())
    }

    async fn get_product(
        &self,
        request: Request<wire::GetProductRequest>,
    ) -> Result<Response<wire::GetProductResponse>, Status> {
        let view = View::of(Caller::of(&request)?);
        let request = request.into_inner();
        let include = Include::parse(&request.include)?;
        let product = self.products.get(id(&request.id)?, include, view).await?;
        Ok(Response::new(wire::GetProductResponse {
            product: Some(self.answer(product)),
        }))
    }

    async fn list_products(
        &self,
        request: Request<wire::ListProductsRequest>,
    ) -> Result<Response<wire::ListProductsResponse>, Status> {
        let view = View::of(Caller::of(&request)?);
        let list = request.into_inner().list.unwrap_or_default();
        let page = self.products.list(&list, view).await?;
        Ok(Response::new(wire::ListProductsResponse {
            page: Some(page.info()),
            products: page
                .rows
                .into_iter()
                .map(|product| convert::to_proto(product, &self.media))
                .collect(),
        }))
    }

    async fn update_product(
        &self,
        request: Request<wire::UpdateProductRequest>,
    ) -> Result<Response<wire::UpdateProductResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let id = id(&request.get_ref().id)?;
        let patch = convert::patch(request.into_inner())?;
        let product = self.products.update(id, patch).await?;
        Ok(Response::new(wire::UpdateProductResponse {
            product: Some(self.answer(product)),
        }))
    }

    async fn delete_product(
        &self,
        request: Request<wire::DeleteProductRequest>,
    ) -> Result<Response<wire::DeleteProductResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        self.products.delete(id(&request.get_ref().id)?).await?;
        Ok(Response::new(wire::DeleteProductResponse {}))
    }

    async fn import_products(
        &self,
        request: Request<wire::ImportProductsRequest>,
    ) -> Result<Response<wire::ImportProductsResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let request = request.into_inner();
        if request.lines.len() > MAX_LINES {
            let message = format!("must have at most {MAX_LINES} lines");
            return Err(Failure::invalid("lines", FieldCode::Length, message).into());
        }
        let mode = match (request.partial, request.incomplete) {
            (true, _) => Mode::Partial,
            (false, true) => Mode::CheckOnly,
            (false, false) => Mode::AllOrNothing,
        };
        let lines = convert::import_lines(request.lines);
        let answer = convert::imported_to_proto;
        let imported = self.products.import(key.as_ref(), lines, mode, answer);
        Ok(imported.await?.into_response())
    }

    type ExportProductsStream = Export;

    async fn export_products(
        &self,
        request: Request<wire::ExportProductsRequest>,
    ) -> Result<Response<Export>, Status> {
        Caller::of(&request)?.require_admin()?;
        let grpc = self.clone();
        let pages = self.products.export().map(move |page| {
            let products = page?.into_iter().map(|product| grpc.answer(product));
            Ok(wire::ExportProductsResponse {
                products: products.collect(),
            })
        });
        Ok(Response::new(Box::pin(pages)))
    }

    async fn reorder_product(
        &self,
        request: Request<wire::ReorderProductRequest>,
    ) -> Result<Response<wire::ReorderProductResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let request = request.into_inner();
        let (id, next) = (id(&request.id)?, fields::subsequent(request.subsequent_id)?);
        let answer = wire::ReorderProductResponse {};
        let moved =
            pg::retry_serialization(|| self.products.reorder(key.as_ref(), id, next, answer));
        Ok(moved.await?.into_response())
    }
}

/// What is no id is nobody's.
fn id(text: &str) -> Result<Id<Product>, Failure> {
    Id::parse(text).map_err(|_| Error::ProductNotFound.into())
}
