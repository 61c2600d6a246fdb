//! Converts rates to and from messages.

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode, Violations},
    money::{Conversion, Rate},
};
use proto::wallet::v1 as wire;

use super::model::{ExchangeRate, NewRate, Pair, RatePatch};
use crate::{
    asset::model::AssetCode,
    fields::{self, Fields},
};

pub(crate) fn rate(rate: &ExchangeRate) -> wire::Rate {
    wire::Rate {
        base_asset_code: rate.pair.base.to_string(),
        quote_asset_code: rate.pair.quote.to_string(),
        rate: rate.rate.to_string(),
        custom_data: rate.custom_data.clone(),
        metadata: rate.metadata.clone(),
        created_at: Some(to_proto(rate.created_at)),
        updated_at: Some(to_proto(rate.updated_at)),
    }
}

pub(crate) fn conversion(conversion: Conversion) -> wire::FindConversionResponse {
    wire::FindConversionResponse {
        rate: conversion.rate.to_string(),
        inverse: conversion.inverse,
    }
}

/// Reads a new rate; `base` and `quote` are the assets that the request's codes name.
pub(crate) fn new_rate(
    request: wire::CreateRateRequest,
    base: Option<AssetCode>,
    quote: Option<AssetCode>,
) -> Result<NewRate, Failure> {
    let mut violations = Violations::default();
    for (field, code, asset) in [
        ("baseAssetCode", &request.base_asset_code, &base),
        ("quoteAssetCode", &request.quote_asset_code, &quote),
    ] {
        let asset = match &**code {
            "" => fields::required(),
            _ => fields::existing_asset(asset.as_ref()),
        };
        violations.value(field, asset);
    }
    violations.check(
        "quoteAssetCode",
        base.is_none() || base != quote,
        FieldCode::Duplicate,
        "must differ from baseAssetCode",
    );
    let rate = violations.value("rate", Rate::parse(&request.rate));
    let custom_data = request.custom_data.unwrap_or_else(fields::empty_object);
    let custom_data = violations.value("customData", fields::object(custom_data));
    match (base, quote, rate, custom_data) {
        (Some(base), Some(quote), Some(rate), Some(custom_data)) if violations.is_empty() => {
            let pair = Pair { base, quote };
            Ok(NewRate {
                pair,
                rate,
                custom_data,
            })
        }
        _ => Err(violations.into_failure()),
    }
}

/// Reads an update of a rate.
pub(crate) fn rate_patch(request: wire::UpdateRateRequest) -> Result<RatePatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask);
    let patch = RatePatch {
        rate: fields.changed("rate", request.rate, |text| Rate::parse(&text)),
        custom_data: fields.changed("custom_data", request.custom_data, fields::object),
    };
    fields.finish()?;
    Ok(patch)
}
