//! `GET /orders/:id/receipt`: as JSON, as a page to print, and as a PDF. The gateway renders it, because it
//! chooses among the forms of all resources, and knows the buyer; orders-svc has the amounts.

use axum::{
    extract::RawQuery,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use platform::{
    error::{Failure, FieldCode},
    list::{query, refuse},
};
use proto::orders::v1::{self as wire, GetOrderReceiptRequest};
use serde::Serialize;

use super::{Order, OrderPayment, buyer, id};
use crate::{
    error::Problem,
    extract::{Call, PathParams},
    representation::media_type,
    resources::{dto::Time, result},
    respond::Data,
};

mod page;
mod pdf;
mod prepare;
mod view;

use view::View;

const JSON: &str = "application/json";
const HTML: &str = "text/html";
const PDF: &str = "application/pdf";
/// The forms of a receipt. Programs that accept anything get JSON.
pub(crate) const FORMS: &[&str] = &[JSON, HTML, PDF];

/// What was ordered, paid and refunded. Money is in `assetCode` unless noted.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderReceipt {
    order_id: String,
    /// Eight characters, unique.
    reference: Option<String>,
    /// Empty unless the shop has set it.
    seller_name: String,
    /// `null` if the buyer has no name, was deleted, or could not be looked up.
    buyer_name: Option<String>,
    order_status: String,
    payment_status: String,
    asset_code: String,
    lines: Vec<ReceiptLine>,
    taxes: Vec<ReceiptTax>,
    shipping_amount: String,
    taxes_amount: String,
    /// Lines with tax, and shipping.
    amount: String,
    /// Payments and refunds, oldest first.
    payments: Vec<OrderPayment>,
    received_amount: String,
    refunded_amount: String,
    /// Received, and not refunded.
    paid_amount: String,
    unpaid_amount: String,
    /// In `bonusAssetCode`.
    bonus: String,
    /// What refunds took back of it.
    bonus_revoked: String,
    bonus_asset_code: String,
    created_at: Option<Time>,
    paid_at: Option<Time>,
    canceled_at: Option<Time>,
    updated_at: Option<Time>,
    /// For the page and the PDF only.
    #[serde(skip)]
    decimal_places: usize,
}

/// A line of a receipt.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReceiptLine {
    /// The product's, when it was ordered.
    name: String,
    quantity: u32,
    /// Units that were refunded as such.
    refunded_quantity: u32,
    /// Net.
    unit_price: String,
    unit_tax: String,
    /// Percent; `null` without tax.
    tax_rate: Option<String>,
    /// Price and tax of all units.
    amount: String,
}

/// The lines with one tax rate.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReceiptTax {
    /// Percent; `null` without tax.
    rate: Option<String>,
    /// Net.
    taxable_amount: String,
    tax_amount: String,
}

/// Get the receipt of an order.
///
/// As JSON, as a page to print, or as a PDF: by `Accept`, or by `format`, which is `json`, `html` or `pdf`.
pub(crate) async fn receipt(
    call: Call,
    path: PathParams,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let form = form(&headers, &raw.unwrap_or_default())?;
    let receipt = find(&call, id(&path)?).await?;
    let mut response = match form {
        HTML => page::respond(&View::from(&receipt)),
        PDF => pdf::respond(View::from(&receipt)).await?,
        _ => Data::new(receipt).into_response(),
    };
    let vary = header::HeaderValue::from_static("accept, accept-encoding");
    response.headers_mut().insert(header::VARY, vary);
    Ok(response)
}

async fn find(call: &Call, order_id: String) -> Result<OrderReceipt, Problem> {
    let request = call.request(GetOrderReceiptRequest { order_id });
    let mut history = call.clients.order_history();
    let receipt = result::resource(history.get_order_receipt(request), |response| {
        response.receipt
    })
    .await?;
    let order = receipt.order.clone().unwrap_or_default();
    let mut order = Order::from(order);
    buyer::embed(call, std::slice::from_mut(&mut order)).await;
    Ok(OrderReceipt::new(order, receipt))
}

/// Chooses the form by the query, else by `Accept`.
fn form(headers: &HeaderMap, raw: &str) -> Result<&'static str, Failure> {
    match query::text(raw, "format")?.as_deref() {
        None => Ok(media_type::preferred(headers, FORMS).unwrap_or(JSON)),
        Some("json") => Ok(JSON),
        Some("html") => Ok(HTML),
        Some("pdf") => Ok(PDF),
        Some(_) => {
            let detail = "must be json, html or pdf";
            Err(refuse("format", FieldCode::Enum, detail))
        }
    }
}

impl OrderReceipt {
    fn new(order: Order, receipt: wire::OrderReceipt) -> Self {
        Self {
            order_id: order.id.unwrap_or_default(),
            reference: order.reference,
            seller_name: receipt.seller_name,
            buyer_name: order.user.and_then(buyer::Buyer::into_name),
            order_status: order.order_status,
            payment_status: order.payment_status,
            asset_code: order.asset_code,
            lines: receipt.lines.into_iter().map(Into::into).collect(),
            taxes: receipt.taxes.into_iter().map(Into::into).collect(),
            shipping_amount: order.shipping_amount,
            taxes_amount: order.taxes_amount,
            amount: order.amount,
            payments: receipt.payments.into_iter().map(Into::into).collect(),
            received_amount: receipt.received_amount,
            refunded_amount: receipt.refunded_amount,
            paid_amount: order.paid_amount,
            unpaid_amount: order.unpaid_amount,
            bonus: order.bonus,
            bonus_revoked: receipt.bonus_revoked,
            bonus_asset_code: order.bonus_asset_code,
            created_at: order.created_at,
            paid_at: order.paid_at,
            canceled_at: order.canceled_at,
            updated_at: order.updated_at,
            decimal_places: receipt.decimal_places.try_into().unwrap_or_default(),
        }
    }
}

impl From<wire::ReceiptLine> for ReceiptLine {
    fn from(line: wire::ReceiptLine) -> Self {
        Self {
            name: line.name,
            quantity: line.quantity,
            refunded_quantity: line.refunded_quantity,
            unit_price: line.unit_price,
            unit_tax: line.unit_tax,
            tax_rate: line.tax_rate,
            amount: line.amount,
        }
    }
}

impl From<wire::ReceiptTax> for ReceiptTax {
    fn from(tax: wire::ReceiptTax) -> Self {
        Self {
            rate: tax.rate,
            taxable_amount: tax.taxable_amount,
            tax_amount: tax.tax_amount,
        }
    }
}
