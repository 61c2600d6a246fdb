//! `/products/import` and `/products/export`

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    extract::RawQuery,
    http::header,
    response::{IntoResponse, Response},
};
use futures::StreamExt as _;
use platform::error::{Code, Failure, FieldCode};
use proto::catalog::v1::{
    self as wire, ExportProductsRequest, ExportProductsResponse, ImportProductsRequest,
};
use serde::Serialize;

use super::{NewProduct, Product};
use crate::{
    error::Problem,
    extract::{Call, Items, NDJSON, ServiceResponse},
    resources::result::DataResult,
    respond::Data,
};

/// Time limit of the service, a little below the deadline of HTTP requests.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(28);
/// Most errors that a response lists.
const MAX_ERRORS: usize = 1_000;

/// The outcome of an import.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Import {
    /// Number of products created.
    created: usize,
    /// Number of items refused; 0 without `mode=partial`.
    refused: usize,
    /// The products created, in the order of the items.
    products: Vec<ImportedProduct>,
    /// The errors of the items refused.
    errors: Vec<ImportError>,
}

/// A product that was created.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ImportedProduct {
    /// Index of the item in the body, from 0.
    line: u32,
    id: String,
}

/// An error of an item.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ImportError {
    /// Index of the item in the body, from 0.
    line: u32,
    /// Path of the field; empty if the item is not JSON.
    field: String,
    code: String,
    message: String,
}

/// Import many products.
///
/// Creates all products of the body or none; with `mode=partial` all valid ones.
pub(crate) async fn import(
    call: Call,
    RawQuery(query): RawQuery,
    Items { items, idempotency }: Items<NewProduct>,
) -> DataResult<Import> {
    let partial = is_partial(query.as_deref().unwrap_or_default())?;
    let (lines, mut errors) = partition(items);
    let call = call.with_idempotency(idempotency);
    let mut request = call.request(ImportProductsRequest {
        lines,
        partial,
        incomplete: !errors.is_empty(),
    });
    request.set_timeout(IMPORT_TIMEOUT);
    let response = call.clients.products().import_products(request).await?;
    let ServiceResponse { message, replayed } = ServiceResponse::from(response);
    errors.extend(message.errors.into_iter().map(ImportError::from));
    errors.sort_by_key(|error| error.line);
    if !partial && !errors.is_empty() {
        return Err(rejection(&errors).into());
    }
    Ok(Data::new(Import::of(message.products, errors)).replayed(replayed))
}

/// Export all products.
pub(crate) async fn export(call: Call) -> Result<Response, Problem> {
    let mut products = call.clients.products();
    let request = call.request(ExportProductsRequest {});
    let pages = products.export_products(request).await?.into_inner();
    // A page that fails ends the body early, which clients notice.
    let lines = pages.map(|page| page.map(lines));
    let content_type = [(header::CONTENT_TYPE, NDJSON)];
    Ok((content_type, Body::from_stream(lines)).into_response())
}

fn lines(page: ExportProductsResponse) -> Bytes {
    let mut lines = Vec::new();
    for product in page.products {
        serde_json::to_writer(&mut lines, &Product::from(product))
            .expect("DTOs hold nothing that cannot be JSON");
        lines.push(b'\n');
    }
    lines.into()
}

/// Reads `mode=partial`. Other parameters are ignored.
fn is_partial(query: &str) -> Result<bool, Failure> {
    let modes: Vec<_> = query
        .split('&')
        .filter_map(|parameter| parameter.strip_prefix("mode="))
        .collect();
    match modes.as_slice() {
        [] => Ok(false),
        ["partial"] => Ok(true),
        _ => {
            let message = "must be `partial`, or left out";
            let failure = Failure::new(Code::InvalidQuery, format!("mode: {message}"));
            Err(failure.field("mode", FieldCode::Enum, message))
        }
    }
}

/// Separates the items that parse from those that do not.
fn partition(items: Vec<Result<NewProduct, Failure>>) -> (Vec<wire::ImportLine>, Vec<ImportError>) {
    let (mut lines, mut errors) = (Vec::new(), Vec::new());
    for (line, item) in (0..).zip(items) {
        match item {
            Ok(product) => lines.push(wire::ImportLine {
                line,
                product: Some(product.into()),
            }),
            Err(failure) => errors.extend(ImportError::all(line, &failure)),
        }
    }
    (lines, errors)
}

fn rejection(errors: &[ImportError]) -> Failure {
    let detail = format!("{} fields are invalid; nothing was created", errors.len());
    let failure = Failure::new(Code::ValidationFailed, detail);
    errors
        .iter()
        .take(MAX_ERRORS)
        .fold(failure, |failure, error| {
            let field = match error.field.as_str() {
                "" => format!("lines[{}]", error.line),
                field => format!("lines[{}].{field}", error.line),
            };
            let code = FieldCode::find(&error.code).unwrap_or(FieldCode::Format);
            failure.field(field, code, &error.message)
        })
}

impl Import {
    fn of(products: Vec<wire::ImportedProduct>, errors: Vec<ImportError>) -> Self {
        let mut refused: Vec<_> = errors.iter().map(|error| error.line).collect();
        refused.dedup();
        let products: Vec<_> = products
            .into_iter()
            .map(|product| ImportedProduct {
                line: product.line,
                id: product.id,
            })
            .collect();
        Self {
            created: products.len(),
            refused: refused.len(),
            products,
            errors,
        }
    }
}

impl ImportError {
    /// Converts a rejection of a line. A line that is not JSON has no fields.
    fn all(line: u32, failure: &Failure) -> Vec<Self> {
        if failure.fields.is_empty() {
            return vec![Self {
                line,
                field: String::new(),
                code: FieldCode::Format.as_str().to_owned(),
                message: failure.detail.clone(),
            }];
        }
        let fields = failure.fields.iter();
        fields
            .map(|field| Self {
                line,
                field: field.field.clone(),
                code: field.code.as_str().to_owned(),
                message: field.message.clone(),
            })
            .collect()
    }
}

impl From<wire::ImportError> for ImportError {
    fn from(error: wire::ImportError) -> Self {
        Self {
            line: error.line,
            field: error.field,
            code: error.code,
            message: error.message,
        }
    }
}
