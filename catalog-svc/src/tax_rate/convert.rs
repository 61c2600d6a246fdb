//! Tax rates between the wire and the model.

use platform::{clock::to_proto as time, error::Failure, money::Percent};
use proto::catalog::v1 as wire;

use super::{NewTaxRate, TaxRate, TaxRatePatch};
use crate::fields::{self, CHECKED, Fields};

/// Converts a tax rate to its message.
pub(crate) fn to_proto(tax_rate: TaxRate) -> wire::TaxRate {
    wire::TaxRate {
        id: tax_rate.id.into(),
        name: tax_rate.name,
        rate: tax_rate.rate.to_string(),
        created_at: Some(time(tax_rate.created_at)),
        updated_at: Some(time(tax_rate.updated_at)),
        version: tax_rate.version,
    }
}

/// Parses the fields of a create.
pub(crate) fn new_tax_rate(request: wire::CreateTaxRateRequest) -> Result<NewTaxRate, Failure> {
    let mut fields = Fields::of_create();
    let name = fields.required("name", request.name, fields::title);
    let rate = fields.required("rate", request.rate, |rate| Percent::parse(&rate));
    fields.finish()?;
    Ok(NewTaxRate {
        name: name.expect(CHECKED),
        rate: rate.expect(CHECKED),
    })
}

/// Parses the fields of an update.
pub(crate) fn patch(request: wire::UpdateTaxRateRequest) -> Result<TaxRatePatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask);
    let patch = TaxRatePatch {
        name: fields.changed("name", request.name, fields::title),
        rate: fields.changed("rate", request.rate, |rate| Percent::parse(&rate)),
    };
    fields.finish()?;
    Ok(patch)
}
