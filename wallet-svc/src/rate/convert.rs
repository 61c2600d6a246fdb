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
        version: rate.version,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn request(base: &str, quote: &str, rate: &str) -> wire::CreateRateRequest {
        wire::CreateRateRequest {
            base_asset_code: base.to_owned(),
            quote_asset_code: quote.to_owned(),
            rate: rate.to_owned(),
            custom_data: None,
        }
    }

    fn checked(
        base: &str,
        quote: &str,
        rate: &str,
        [found_base, found_quote]: [Option<&str>; 2],
    ) -> Result<NewRate, Failure> {
        let found = |code: Option<&str>| code.map(AssetCode::stored);
        let request = request(base, quote, rate);
        new_rate(request, found(found_base), found(found_quote))
    }

    fn fields(result: Result<NewRate, Failure>) -> Vec<(String, FieldCode)> {
        let fields = result.unwrap_err().fields.into_iter();
        fields.map(|field| (field.field, field.code)).collect()
    }

    #[test]
    fn a_new_rate_has_the_codes_as_stored() {
        let new = checked("USD", "EUR", "0.9", [Some("usd"), Some("eur")]).unwrap();
        assert_eq!(new.pair.base.as_str(), "usd");
        assert_eq!(new.pair.quote.as_str(), "eur");
        assert_eq!(new.rate.to_string(), "0.90000000");
        assert_eq!(new.custom_data, "{}");
    }

    #[test]
    fn missing_unknown_and_equal_assets_are_told_apart() {
        let missing = checked("", "x", "1", [None, None]);
        let expected = [
            ("baseAssetCode".to_owned(), FieldCode::Required),
            ("quoteAssetCode".to_owned(), FieldCode::UnknownReference),
        ];
        assert_eq!(fields(missing), expected);
        let equal = checked("usd", "USD", "0", [Some("usd"), Some("usd")]);
        let expected = [
            ("quoteAssetCode".to_owned(), FieldCode::Duplicate),
            ("rate".to_owned(), FieldCode::Range),
        ];
        assert_eq!(fields(equal), expected);
    }
}
