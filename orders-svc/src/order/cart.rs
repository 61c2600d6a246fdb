//! From a cart to an order: what is refused, and every amount. The same for a dry run and for real.

use chrono::{DateTime, Utc};
use platform::{
    error::Code,
    ids::Ids,
    money::{Amount, OutOfRange},
};
use sqlx::types::Json;

use super::{
    answers,
    bonus::BonusAsset,
    model::{
        DeliveryMethod, Line, LineStatus, Order, OrderId, OrderStatus, OrderWithLines,
        PaymentStatus, ProductId, UserId, WalletId,
    },
    quote::Quote,
};
use crate::{
    config::ShippingAmounts,
    error::{Error, Refusal},
};

/// What the buyer asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrder {
    /// The buyer.
    pub user_id: UserId,
    /// Products and quantities.
    pub lines: Vec<NewLine>,
    /// How it is delivered.
    pub delivery_method: Option<DeliveryMethod>,
    /// Where to.
    pub shipping_address_id: Option<String>,
    /// Indicative.
    pub chosen_payment_method: Option<String>,
    /// What the buyer wants to say.
    pub user_notes: Option<String>,
    /// JSON text as the client wrote it.
    pub custom_data: String,
    /// Pays first with the bonus balance.
    pub use_bonus: bool,
    /// Pays at once from here.
    pub wallet_id: Option<WalletId>,
}

/// A line of the cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLine {
    /// What.
    pub product_id: ProductId,
    /// How many.
    pub quantity: i32,
    /// What the buyer answered: JSON text as the client wrote it.
    pub answers: Option<String>,
}

/// What identity says of the buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buyer {
    /// May buy at all.
    pub approved: bool,
    /// May not.
    pub blocked: bool,
    /// Has shown who it is.
    pub verified: bool,
    /// Where bonuses go.
    pub wallet_id: WalletId,
}

/// Everything that making an order takes.
#[derive(Debug)]
pub struct Cart<'a> {
    /// What was asked for.
    pub new: &'a NewOrder,
    /// What the catalogue says of each line; `None` where there is no such product.
    pub quotes: Vec<Option<Quote>>,
    /// Who buys.
    pub buyer: &'a Buyer,
    /// What bonuses are paid in, where that is not the asset of the cart.
    pub bonus: Option<&'a BonusAsset>,
    /// What shipping costs.
    pub shipping: &'a ShippingAmounts,
}

impl Cart<'_> {
    /// The order, unpaid; one of amount 0 still has to be covered.
    pub fn order(self, ids: &Ids, now: DateTime<Utc>) -> Result<OrderWithLines, Error> {
        self.check_buyer()?;
        let quotes = self.known()?;
        self.check_lines(&quotes)?;
        let first = *quotes
            .first()
            .ok_or_else(|| Error::fault("a cart is never empty"))?;
        let id = ids.next();
        let lines = self.lines(&quotes, id, ids, now)?;
        let order = self.head(first, &lines, id, ids.code(8), now)?;
        Ok(OrderWithLines { order, lines })
    }

    fn check_buyer(&self) -> Result<(), Error> {
        let refused = match self.buyer {
            Buyer { blocked: true, .. } => "the user is blocked",
            Buyer {
                approved: false, ..
            } => "the user is not approved",
            _ => return Ok(()),
        };
        Err(Error::Field {
            field: "userId".into(),
            code: Code::InvalidState.into(),
            message: refused.into(),
        })
    }

    fn known(&self) -> Result<Vec<&Quote>, Error> {
        let unknown = positions(&self.quotes, Option::is_none);
        if unknown.is_empty() {
            return Ok(self.quotes.iter().flatten().collect());
        }
        Err(Error::Lines(Refusal::Unknown, unknown))
    }

    fn check_lines(&self, quotes: &[&Quote]) -> Result<(), Error> {
        let asset = quotes.first().map(|quote| &quote.asset_code);
        let pairs: Vec<_> = quotes.iter().zip(&self.new.lines).collect();
        let verified = self.buyer.verified;
        let several = |(quote, line): &(&&Quote, &NewLine)| {
            line.quantity != 1 && !quote.allow_choosing_quantity
        };
        for (refusal, lines) in [
            (
                Refusal::Unavailable,
                positions(quotes, |quote| !quote.available || !quote.visible),
            ),
            (
                Refusal::MixedAssets,
                positions(quotes, |quote| Some(&quote.asset_code) != asset),
            ),
            (Refusal::QuantityNotAllowed, positions(&pairs, several)),
            (
                Refusal::IdentityRequired,
                positions(quotes, |quote| quote.requires_identity && !verified),
            ),
        ] {
            if !lines.is_empty() {
                return Err(Error::Lines(refusal, lines));
            }
        }
        answers::check(quotes)
    }

    /// What the bonus is paid in.
    fn bonus_asset_code(&self, quote: &Quote) -> String {
        let code = self.bonus.map_or(&quote.asset_code, |bonus| &bonus.code);
        code.clone()
    }

    fn unit_bonus(&self, quote: &Quote) -> Result<Amount, OutOfRange> {
        let promised = quote.unit_bonus;
        self.bonus
            .map_or(Ok(promised), |bonus| bonus.unit(promised))
    }

    /// Why a promised bonus is left out.
    fn bonus_skipped(&self) -> Option<String> {
        let quotes = || self.quotes.iter().flatten();
        let promised = quotes().any(|quote| quote.unit_bonus.is_positive());
        let converts = self.bonus.is_none_or(|bonus| bonus.earned_at.is_some());
        (promised && !converts).then(|| "rate_not_found".to_owned())
    }

    fn lines(
        &self,
        quotes: &[&Quote],
        order_id: OrderId,
        ids: &Ids,
        now: DateTime<Utc>,
    ) -> Result<Vec<Line>, OutOfRange> {
        let line = |(position, (line, quote)): (i32, (&NewLine, &&Quote))| {
            Ok(Line {
                id: ids.next(),
                order_id,
                position,
                product_id: line.product_id,
                product: Json(quote.product.clone()),
                quantity: line.quantity,
                fulfilled_quantity: 0,
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
        };
        let pairs = self.new.lines.iter().zip(quotes);
        (0..).zip(pairs).map(line).collect()
    }

    fn head(
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
            bonus: sum(lines, Line::bonus)?,
            bonus_asset_code: self.bonus_asset_code(first),
            bonus_decimal_places: self.bonus.map(|bonus| bonus.decimal_places),
            bonus_skipped: self.bonus_skipped(),
            bonus_revoked: Amount::ZERO,
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
        let amount = self.shipping.of(&first.asset_code);
        if amount.fits(first.asset_decimal_places) {
            return Ok(amount);
        }
        Err(Error::fault(
            "the configured shipping amount is finer than its asset",
        ))
    }
}

fn positions<T>(items: &[T], refused: impl Fn(&T) -> bool) -> Vec<usize> {
    (0..)
        .zip(items)
        .filter(|(_, item)| refused(item))
        .map(|(position, _)| position)
        .collect()
}

fn sum(
    lines: &[Line],
    of: impl Fn(&Line) -> Result<Amount, OutOfRange>,
) -> Result<Amount, OutOfRange> {
    lines
        .iter()
        .try_fold(Amount::ZERO, |sum, line| sum.add(of(line)?))
}
