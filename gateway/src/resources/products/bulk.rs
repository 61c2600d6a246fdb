//! Many products at once: `/products/import` and `/products/export`.

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
    extract::{Answer, Call, Items, NDJSON},
    resources::reply::One,
    respond::Data,
};

/// How long the service may take; the request's own deadline is a little longer.
const PATIENCE: Duration = Duration::from_secs(28);
/// Faults that a refusal lists.
const MAX_FAULTS: usize = 1_000;

/// What became of an import.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Import {
    /// Products made.
    created: usize,
    /// Lines refused; only with `mode=partial`.
    refused: usize,
    /// The products made, in the order of the lines.
    products: Vec<ImportedProduct>,
    /// What is wrong with the lines refused.
    errors: Vec<ImportError>,
}

/// A product that was made.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ImportedProduct {
    /// Its place among the items of the body, from 0.
    line: u32,
    id: String,
}

/// What is wrong with a line.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ImportError {
    /// Its place among the items of the body, from 0.
    line: u32,
    /// Empty where it is the line as a whole.
    field: String,
    code: String,
    message: String,
}

/// POST /products/import
pub async fn import(
    call: Call,
    RawQuery(query): RawQuery,
    Items { items, idempotency }: Items<NewProduct>,
) -> One<Import> {
    let partial = is_partial(query.as_deref().unwrap_or_default())?;
    let (lines, mut errors) = sort_out(items);
    let call = call.under(idempotency);
    let mut request = call.request(ImportProductsRequest {
        lines,
        partial,
        incomplete: !errors.is_empty(),
    });
    request.set_timeout(PATIENCE);
    let answer = call.app.clients.products().import_products(request).await?;
    let Answer { message, replayed } = Answer::from(answer);
    errors.extend(message.errors.into_iter().map(ImportError::from));
    errors.sort_by_key(|error| error.line);
    if !partial && !errors.is_empty() {
        return Err(refusal(&errors).into());
    }
    Ok(Data::new(Import::of(message.products, errors)).replayed(replayed))
}

/// GET /products/export
pub async fn export(call: Call) -> Result<Response, Problem> {
    let mut products = call.app.clients.products();
    let request = call.request(ExportProductsRequest {});
    let pages = products.export_products(request).await?.into_inner();
    // A page that cannot be read ends the body early, which clients see.
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

/// `mode=partial`; other parameters are nobody's business.
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

/// What the service has to look at, and what has been refused by its form.
fn sort_out(items: Vec<Result<NewProduct, Failure>>) -> (Vec<wire::ImportLine>, Vec<ImportError>) {
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

fn refusal(errors: &[ImportError]) -> Failure {
    let detail = format!("{} fields are not valid; nothing was made", errors.len());
    let failure = Failure::new(Code::ValidationFailed, detail);
    errors
        .iter()
        .take(MAX_FAULTS)
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
    /// A line that is no JSON has no fields to name.
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
