//! Carts: which lines are refused, and how every amount of an order is computed. A dry run uses the
//! same code.

use chrono::{DateTime, Utc};
use platform::{
    error::Code,
    ids::Ids,
    money::{Amount, OutOfRange},
};
use sqlx::types::Json;

use super::{
    BonusAsset, DeliveryMethod, Line, LineStatus, NewOrder, Order, OrderId, OrderStatus,
    OrderWithLines, PaymentStatus, Quote, WalletId, quote::check_answers, tax,
};
use crate::{
    config::ShippingAmounts,
    error::{Error, LineRejection},
};

/// Characters of an order's reference.
pub(crate) const REFERENCE_LENGTH: usize = 8;

/// A user as identity-svc shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Buyer {
    pub(crate) approved: bool,
    pub(crate) blocked: bool,
    /// Whether the identity was verified.
    pub(crate) verified: bool,
    /// The primary wallet.
    pub(crate) wallet_id: WalletId,
}

/// A request with everything that was looked up for it.
#[derive(Debug)]
pub(crate) struct Cart<'a> {
    pub(crate) new: &'a NewOrder,
    /// One per line; `None` for an unknown product.
    pub(crate) quotes: Vec<Option<Quote>>,
    pub(crate) buyer: &'a Buyer,
    /// Whether an admin orders, who may order products that the shop does not show.
    pub(crate) by_admin: bool,
    /// The asset of bonuses, if it is not the asset of the cart.
    pub(crate) bonus: Option<&'a BonusAsset>,
    pub(crate) shipping: &'a ShippingAmounts,
}

impl Cart<'_> {
    /// Builds the unpaid order. An order of amount 0 is not marked fully paid yet.
    pub(crate) fn into_order(self, ids: &Ids, now: DateTime<Utc>) -> Result<OrderWithLines, Error> {
        self.check_buyer()?;
        let quotes = self.resolved_quotes()?;
        self.check_lines(&quotes)?;
        let first = *quotes
            .first()
            .ok_or_else(|| Error::internal("the cart is empty"))?;
        let id = ids.next();
        let lines = self.lines(&quotes, id, ids, now)?;
        let order = self.order_row(first, &lines, id, ids.code(REFERENCE_LENGTH), now)?;
        Ok(OrderWithLines { order, lines })
    }

    fn check_buyer(&self) -> Result<(), Error> {
        let message = if self.buyer.blocked {
            "the user is blocked"
        } else if !self.buyer.approved {
            "the user is not approved"
        } else {
            return Ok(());
        };
        Err(Error::Field {
            field: "userId".into(),
            code: Code::InvalidState.into(),
            message: message.into(),
        })
    }

    /// Returns the quotes, or an error that names the lines without a product.
    fn resolved_quotes(&self) -> Result<Vec<&Quote>, Error> {
        reject_lines(LineRejection::UnknownProduct, &self.quotes, Option::is_none)?;
        Ok(self.quotes.iter().flatten().collect())
    }

    fn check_lines(&self, quotes: &[&Quote]) -> Result<(), Error> {
        let first_asset = quotes.first().map(|quote| &quote.asset_code);
        reject_lines(LineRejection::Unavailable, quotes, |quote| {
            !quote.available || !(quote.visible || self.by_admin)
        })?;
        reject_lines(LineRejection::MixedAssets, quotes, |quote| {
            Some(&quote.asset_code) != first_asset
        })?;
        reject_lines(LineRejection::Precision, quotes, |quote| {
            !quote.is_payable()
        })?;
        let lines: Vec<_> = quotes.iter().zip(&self.new.lines).collect();
        reject_lines(
            LineRejection::QuantityNotAllowed,
            &lines,
            |(quote, line)| line.quantity != 1 && !quote.allow_choosing_quantity,
        )?;
        reject_lines(LineRejection::IdentityRequired, quotes, |quote| {
            quote.requires_identity && !self.buyer.verified
        })?;
        check_answers(quotes)
    }

    fn bonus_asset_code(&self, quote: &Quote) -> String {
        let code = self.bonus.map_or(&quote.asset_code, |bonus| &bonus.code);
        code.clone()
    }

    fn unit_bonus(&self, quote: &Quote) -> Result<Amount, OutOfRange> {
        match self.bonus {
            Some(bonus) => bonus.convert_unit(quote.unit_bonus),
            None => Ok(quote.unit_bonus),
        }
    }

    /// Returns why the bonus that products promise is left out.
    fn bonus_skipped(&self) -> Option<String> {
        let quotes = || self.quotes.iter().flatten();
        let promised = quotes().any(|quote| quote.unit_bonus.is_positive());
        let converts = self.bonus.is_none_or(|bonus| bonus.conversion.is_some());
        (promised && !converts).then(|| "rate_not_found".to_owned())
    }

    fn lines(
        &self,
        quotes: &[&Quote],
        order_id: OrderId,
        ids: &Ids,
        now: DateTime<Utc>,
    ) -> Result<Vec<Line>, OutOfRange> {
        (0..)
            .zip(self.new.lines.iter().zip(quotes))
            .map(|(position, (line, quote))| {
                Ok(Line {
                    id: ids.next(),
                    order_id,
                    position,
                    product_id: line.product_id,
                    product_name: quote.product.name.clone(),
                    product: Some(Json(quote.product.clone())),
                    quantity: line.quantity,
                    fulfilled_quantity: 0,
                    refunded_quantity: 0,
                    status: LineStatus::Unfulfilled,
                    unit_price: quote.unit_price,
                    unit_tax: quote.unit_tax,
                    tax_rate: quote.tax_rate,
                    unit_bonus: self.unit_bonus(quote)?,
                    asset_code: quote.asset_code.clone(),
                    bonus_asset_code: self.bonus_asset_code(quote),
                    answers: line.answers.clone(),
                    fulfilled_at: None,
                    created_at: now,
                    updated_at: now,
                })
            })
            .collect()
    }

    fn order_row(
        &self,
        first: &Quote,
        lines: &[Line],
        id: OrderId,
        reference: String,
        now: DateTime<Utc>,
    ) -> Result<Order, Error> {
        let new = self.new;
        let shipping_amount = self.shipping_amount(first)?;
        Ok(Order {
            id,
            reference,
            user_id: new.user_id,
            wallet_id: self.buyer.wallet_id,
            asset_code: first.asset_code.clone(),
            asset_decimal_places: first.asset_decimal_places,
            amount: sum(lines, Line::total)?.add(shipping_amount)?,
            taxes_amount: sum(lines, Line::taxes)?,
            shipping_amount,
            taxes: Json(tax::by_rate(lines)?),
            bonus: sum(lines, Line::bonus)?,
            bonus_asset_code: self.bonus_asset_code(first),
            bonus_decimal_places: self.bonus.map(|bonus| bonus.decimal_places),
            bonus_skipped: self.bonus_skipped(),
            bonus_revoked: Amount::ZERO,
            bonus_owed: None,
            bonus_owed_version: 0,
            paid_amount: Amount::ZERO,
            order_status: OrderStatus::Unfulfilled,
            payment_status: PaymentStatus::Unpaid,
            delivery_method: new.delivery_method,
            shipping_address_id: new.shipping_address_id.clone(),
            tracking_id: None,
            chosen_payment_method: new.chosen_payment_method.clone(),
            user_notes: new.user_notes.clone(),
            cancel_reason: None,
            custom_data: new.custom_data.clone(),
            claims: 0,
            version: 0,
            paid_at: None,
            fulfilled_at: None,
            canceled_at: None,
            created_at: now,
            updated_at: now,
        })
    }

    fn shipping_amount(&self, first: &Quote) -> Result<Amount, Error> {
        if self.new.delivery_method != Some(DeliveryMethod::Shipping) {
            return Ok(Amount::ZERO);
        }
        let (code, places) = (&first.asset_code, first.asset_decimal_places);
        Ok(self.shipping.of(code, places)?)
    }
}

/// Refuses the cart if any of its lines is rejected, and names all of those.
fn reject_lines<T>(
    rejection: LineRejection,
    lines: &[T],
    rejected: impl Fn(&T) -> bool,
) -> Result<(), Error> {
    let positions: Vec<usize> = (0..)
        .zip(lines)
        .filter(|(_, line)| rejected(line))
        .map(|(position, _)| position)
        .collect();
    if positions.is_empty() {
        return Ok(());
    }
    Err(Error::Lines {
        rejection,
        positions,
    })
}

fn sum(
    lines: &[Line],
    amount: impl Fn(&Line) -> Result<Amount, OutOfRange>,
) -> Result<Amount, OutOfRange> {
    let amounts: Vec<_> = lines.iter().map(amount).collect::<Result<_, _>>()?;
    Amount::sum(amounts)
}
