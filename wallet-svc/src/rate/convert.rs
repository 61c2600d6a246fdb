//! Rates on the wire.

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode, Violations},
    money::{Conversion, Rate},
    patch::Patch,
};
use proto::wallet::v1 as wire;

use super::model::{ExchangeRate, NewRate, Pair, RatePatch};
use crate::{asset::model::AssetCode, text};

/// As the wire has it.
pub fn rate(rate: &ExchangeRate) -> wire::Rate {
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

/// As the wire has it.
pub fn conversion(conversion: Conversion) -> wire::FindConversionResponse {
    wire::FindConversionResponse {
        rate: conversion.rate.to_string(),
        inverse: conversion.inverse,
    }
}

/// Reads what a new rate starts with; the assets are those that its codes name.
pub fn new_rate(
    request: wire::CreateRateRequest,
    base: Option<AssetCode>,
    quote: Option<AssetCode>,
) -> Result<NewRate, Failure> {
    let mut violations = Violations::default();
    check_asset(
        &mut violations,
        "baseAssetCode",
        &request.base_asset_code,
        base.as_ref(),
    );
    check_asset(
        &mut violations,
        "quoteAssetCode",
        &request.quote_asset_code,
        quote.as_ref(),
    );
    violations.check(
        "quoteAssetCode",
        base.is_none() || base != quote,
        FieldCode::Duplicate,
        "must differ from baseAssetCode",
    );
    let rate = violations.value("rate", Rate::parse(&request.rate));
    let custom_data = request.custom_data.unwrap_or_else(text::empty_object);
    let custom_data = violations.value("customData", text::object(custom_data));
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

fn check_asset(violations: &mut Violations, field: &str, written: &str, found: Option<&AssetCode>) {
    if written.is_empty() {
        violations.add(field, FieldCode::Required, "is required");
    } else if found.is_none() {
        violations.add(field, FieldCode::UnknownReference, "there is no such asset");
    }
}

/// Reads a change of a rate.
pub fn rate_patch(request: wire::UpdateRateRequest) -> Result<RatePatch, Failure> {
    let mask = request.update_mask.unwrap_or_default().paths;
    let mut violations = Violations::default();
    let rate = Patch::from_wire("rate", request.rate, &mask);
    let custom_data = Patch::from_wire("custom_data", request.custom_data, &mask);
    let patch = RatePatch {
        rate: not_null(&mut violations, "rate", rate)
            .and_then(|text| violations.value("rate", Rate::parse(&text))),
        custom_data: not_null(&mut violations, "customData", custom_data)
            .and_then(|json| violations.value("customData", text::object(json))),
    };
    violations.finish()?;
    Ok(patch)
}

fn not_null<T>(violations: &mut Violations, field: &str, patch: Patch<T>) -> Option<T> {
    let is_null = matches!(patch, Patch::Null);
    violations.check(field, !is_null, FieldCode::Type, "must not be null");
    patch.or(None)
}
