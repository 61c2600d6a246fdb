//! Encodes orders and lines.

use platform::clock::to_proto;
use proto::orders::v1 as wire;

use super::metadata;
use crate::order::model::{
    DeliveryMethod, Line, LineStatus, OrderStatus, OrderWithLines, PaymentStatus, Product,
    ProductId,
};

/// Encodes a stored order with its lines.
pub(in crate::order) fn order(order: &OrderWithLines) -> wire::Order {
    encode(order, Identity::Stored)
}

/// Encodes a dry run. Nothing was stored, so it has neither ids nor a reference.
pub(in crate::order) fn dry_run(order: &OrderWithLines) -> wire::Order {
    encode(order, Identity::Hidden)
}

/// Encodes a stored line, with all of its product if it was read.
pub(in crate::order) fn line_with_product(line: &Line) -> wire::OrderLine {
    let mut encoded = encode_line(line, Identity::Stored);
    if let Some(snapshot) = &line.product {
        encoded.product = Some(product(line.product_id, snapshot));
    }
    encoded
}

/// Whether ids lead to something that can be read later.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Identity {
    Stored,
    Hidden,
}

impl Identity {
    fn show(self, id: impl Into<String>) -> String {
        match self {
            Self::Stored => id.into(),
            Self::Hidden => String::new(),
        }
    }
}

fn encode(order: &OrderWithLines, identity: Identity) -> wire::Order {
    let OrderWithLines { order, lines } = order;
    wire::Order {
        id: identity.show(order.id),
        user_id: order.user_id.into(),
        asset_code: order.asset_code.clone(),
        amount: order.amount.into(),
        amount_without_shipment: order.amount_without_shipment().into(),
        amount_without_taxes: order.amount_without_taxes().into(),
        shipping_amount: order.shipping_amount.into(),
        taxes_amount: order.taxes_amount.into(),
        bonus: order.bonus.into(),
        bonus_asset_code: order.bonus_asset_code.clone(),
        paid_amount: order.paid_amount.into(),
        unpaid_amount: order.unpaid_amount().into(),
        order_status: order_status(order.order_status).into(),
        payment_status: payment_status(order.payment_status).into(),
        delivery_method: delivery_method(order.delivery_method).into(),
        tracking_id: order.tracking_id.map(|id| id.to_string()),
        reference: identity.show(order.reference.as_str()),
        paid_at: order.paid_at.map(to_proto),
        fulfilled_at: order.fulfilled_at.map(to_proto),
        canceled_at: order.canceled_at.map(to_proto),
        lines: lines
            .iter()
            .map(|line| encode_line(line, identity))
            .collect(),
        metadata: metadata::of_order(order),
        custom_data: order.custom_data.clone(),
        created_at: Some(to_proto(order.created_at)),
        updated_at: Some(to_proto(order.updated_at)),
        user: None,
    }
}

const fn delivery_method(method: Option<DeliveryMethod>) -> wire::DeliveryMethod {
    match method {
        None => wire::DeliveryMethod::Unspecified,
        Some(DeliveryMethod::Shipping) => wire::DeliveryMethod::Shipping,
        Some(DeliveryMethod::Pickup) => wire::DeliveryMethod::Pickup,
    }
}

pub(super) const fn order_status(status: OrderStatus) -> wire::OrderStatus {
    match status {
        OrderStatus::Draft => wire::OrderStatus::Draft,
        OrderStatus::Unfulfilled => wire::OrderStatus::Unfulfilled,
        OrderStatus::Fulfilled => wire::OrderStatus::Fulfilled,
        OrderStatus::Canceled => wire::OrderStatus::Canceled,
    }
}

pub(super) const fn payment_status(status: PaymentStatus) -> wire::PaymentStatus {
    match status {
        PaymentStatus::Unpaid => wire::PaymentStatus::Unpaid,
        PaymentStatus::Paid => wire::PaymentStatus::Paid,
        PaymentStatus::FullyPaid => wire::PaymentStatus::FullyPaid,
        PaymentStatus::PartiallyRefunded => wire::PaymentStatus::PartiallyRefunded,
        PaymentStatus::FullyRefunded => wire::PaymentStatus::FullyRefunded,
    }
}

const fn line_status(status: LineStatus) -> wire::OrderLineStatus {
    match status {
        LineStatus::Unfulfilled => wire::OrderLineStatus::Unfulfilled,
        LineStatus::PartiallyFulfilled => wire::OrderLineStatus::PartiallyFulfilled,
        LineStatus::Fulfilled => wire::OrderLineStatus::Fulfilled,
        LineStatus::Canceled => wire::OrderLineStatus::Canceled,
    }
}

fn encode_line(line: &Line, identity: Identity) -> wire::OrderLine {
    wire::OrderLine {
        id: identity.show(line.id),
        order_id: identity.show(line.order_id),
        product_id: line.product_id.into(),
        product: Some(wire::OrderedProduct {
            id: line.product_id.into(),
            name: line.product_name.clone(),
            ..wire::OrderedProduct::default()
        }),
        quantity: line.quantity.unsigned_abs(),
        fulfilled_quantity: line.fulfilled_quantity.unsigned_abs(),
        status: line_status(line.status).into(),
        unit_price: line.unit_price.into(),
        unit_tax: line.unit_tax.into(),
        tax_rate: line.tax_rate.map(|rate| rate.to_string()),
        unit_bonus: line.unit_bonus.into(),
        asset_code: line.asset_code.clone(),
        bonus_asset_code: line.bonus_asset_code.clone(),
        fulfilled_at: line.fulfilled_at.map(to_proto),
        metadata: metadata::of_line(line),
        created_at: Some(to_proto(line.created_at)),
        updated_at: Some(to_proto(line.updated_at)),
    }
}

fn product(id: ProductId, product: &Product) -> wire::OrderedProduct {
    wire::OrderedProduct {
        id: id.into(),
        name: product.name.clone(),
        description: product.description.clone(),
        type_code: product.type_code.clone(),
        image: product.image.clone(),
        thumbnail: product.thumbnail.clone(),
        custom_data: product.custom_data.clone(),
        metadata: product.metadata.clone(),
        category: product
            .category
            .as_ref()
            .map(|category| wire::OrderedCategory {
                id: category.id.clone(),
                title: category.title.clone(),
                description: category.description.clone(),
                image_url: category.image_url.clone(),
                custom_data: category.custom_data.clone(),
                created_at: category.created_at.map(to_proto),
                updated_at: category.updated_at.map(to_proto),
            }),
    }
}
