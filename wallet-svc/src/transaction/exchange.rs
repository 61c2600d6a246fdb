//! An exchange as its creator writes it, and what it comes to at the current rate. Pure.

use platform::{
    error::{Code, Failure, FieldCode, Violations},
    money::{Conversion, DecimalPlaces},
};

use super::{
    metadata::Metadata,
    model::{Notes, Sides, Status, TransactionId, TransactionType},
    new::{check_notes, positive},
};
use crate::{
    asset::model::AssetCode,
    error::{FieldNames, ledger_failure},
    ledger::{Create, Exchange, LedgerError},
    wallet::model::{UserId, WalletId},
};

/// A new exchange as written.
#[derive(Debug, Clone)]
pub struct NewExchange {
    /// Whose money changes.
    pub wallet: String,
    /// The asset debited, in any case.
    pub base_asset_code: String,
    /// The asset credited, in any case.
    pub quote_asset_code: String,
    /// Decimal, in the base asset.
    pub base_amount: String,
    /// What its creator says of it.
    pub notes: Notes,
}

/// What it is decided on besides: as far as it exists.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The asset debited.
    pub base: Option<AssetCode>,
    /// The asset credited, and how fine it is.
    pub quote: Option<(AssetCode, DecimalPlaces)>,
    /// The way from one to the other.
    pub conversion: Option<Conversion>,
}

impl NewExchange {
    /// The command that makes it, or everything that is wrong with it.
    pub fn check(
        self,
        id: TransactionId,
        terms: Terms,
        owner: Option<UserId>,
    ) -> Result<Exchange, Failure> {
        let mut violations = Violations::default();
        let wallet = violations.value("walletId", WalletId::parse(&self.wallet));
        let amount = violations.value("baseAmount", positive(&self.base_amount));
        let unknown = "there is no such asset";
        for (field, exists) in [
            ("baseAssetCode", terms.base.is_some()),
            ("quoteAssetCode", terms.quote.is_some()),
        ] {
            violations.check(field, exists, FieldCode::UnknownReference, unknown);
        }
        let differ = terms.base.as_ref() != terms.quote.as_ref().map(|(code, _)| code);
        let both = terms.base.is_some() && terms.quote.is_some();
        let message = "must differ from baseAssetCode";
        violations.check(
            "quoteAssetCode",
            differ || !both,
            FieldCode::Duplicate,
            message,
        );
        check_notes(&mut violations, &self.notes);
        let (Some(wallet), Some(amount), Some(base), Some((quote, places)), true) = (
            wallet,
            amount,
            terms.base,
            terms.quote,
            violations.is_empty(),
        ) else {
            return Err(violations.into_failure());
        };
        let no_rate = || {
            Failure::new(
                Code::NoRate,
                format!("no rate leads from {base} to {quote}"),
            )
        };
        let conversion = terms.conversion.ok_or_else(no_rate)?;
        let credited = conversion.credited(amount, places);
        let credited = credited.map_err(|error| failure(error.into(), &quote))?;
        if !credited.is_positive() {
            let message = "comes to nothing at the current rate";
            return Err(Failure::invalid("baseAmount", FieldCode::Range, message));
        }
        let metadata = Metadata::default()
            .with_text("rate", &conversion.rate.to_string())
            .with_raw(
                "rateInverse",
                if conversion.inverse { "true" } else { "false" },
            )
            .with_text("quoteAmount", &credited.to_string())
            .with_text("quoteAssetCode", quote.as_str());
        Ok(Exchange {
            base: Create {
                id,
                kind: TransactionType::Exchange,
                code: "internal".to_owned(),
                asset: base,
                amount,
                sides: Sides {
                    debit: wallet,
                    credit: wallet,
                },
                status: Status::Confirmed,
                notes: self.notes,
                metadata,
                owner,
            },
            quote_asset: quote,
            quote_amount: credited,
        })
    }
}

/// Returns the public failure of a rejected exchange into `quote`.
pub fn failure(error: LedgerError, quote: &AssetCode) -> Failure {
    let asset = match &error {
        LedgerError::AssetNotFound(asset) | LedgerError::AssetDisabled(asset) if asset == quote => {
            "quoteAssetCode"
        }
        _ => "baseAssetCode",
    };
    let names = FieldNames {
        amount: "baseAmount",
        asset,
        origin: "walletId",
        destination: "walletId",
    };
    ledger_failure(error, names)
}
