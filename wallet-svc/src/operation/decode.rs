//! Operations from the wire.

use platform::{
    error::{FieldCode, InvalidValue, Violations},
    ids::Ids,
};
use proto::wallet::v1 as wire;

use crate::{
    asset::{directory::AssetDirectory, model::AssetCode},
    error::Error,
    ledger::{Leg, Operation},
    transaction::{metadata::Metadata, model::Sides, new::positive},
    wallet::model::WalletId,
};

const MOST_POSTINGS: usize = 1_000;
const LONGEST_ID: usize = 255;

/// Reads an operation, or says everything that is wrong with it.
pub async fn operation(
    request: wire::PostRequest,
    assets: &AssetDirectory,
    ids: &Ids,
) -> Result<Operation, Error> {
    let mut violations = Violations::default();
    violations.check(
        "operationId",
        (1..=LONGEST_ID).contains(&request.operation_id.len()),
        FieldCode::Length,
        "must have 1 to 255 characters",
    );
    violations.check(
        "postings",
        (1..=MOST_POSTINGS).contains(&request.postings.len()),
        FieldCode::Length,
        "must be 1 to 1000",
    );
    let mut legs = Vec::with_capacity(request.postings.len());
    for (index, posting) in request.postings.into_iter().take(MOST_POSTINGS).enumerate() {
        let asset = assets.find(&posting.asset_code).await?;
        let asset = asset.map(|asset| asset.code);
        legs.extend(leg(&mut violations, index, posting, asset, ids));
    }
    violations.finish()?;
    Ok(Operation {
        id: request.operation_id,
        legs,
    })
}

fn leg(
    violations: &mut Violations,
    index: usize,
    posting: wire::Posting,
    asset: Option<AssetCode>,
    ids: &Ids,
) -> Option<Leg> {
    let field = |name: &str| format!("postings[{index}].{name}");
    let invalid = |code, message: &str| InvalidValue::new(code, message);
    let asset = asset.ok_or_else(|| invalid(FieldCode::UnknownReference, "there is no such asset"));
    let code = match posting.code.as_str() {
        code @ ("pay" | "refund") => Ok(code.to_owned()),
        _ => Err(invalid(FieldCode::Enum, "must be one of pay, refund")),
    };
    let metadata = match posting.metadata.as_str() {
        "" => Ok(Metadata::default()),
        text => Metadata::parse(text).ok_or_else(|| invalid(FieldCode::Type, "must be an object")),
    };
    let debit = WalletId::parse(&posting.origin_wallet_id);
    let credit = WalletId::parse(&posting.destination_wallet_id);
    let amount = violations.value(&field("amount"), positive(&posting.amount));
    let asset = violations.value(&field("assetCode"), asset);
    let code = violations.value(&field("code"), code);
    let metadata = violations.value(&field("metadata"), metadata);
    let debit = violations.value(&field("originWalletId"), debit);
    let credit = violations.value(&field("destinationWalletId"), credit);
    Some(Leg {
        id: ids.next(),
        code: code?,
        asset: asset?,
        amount: amount?,
        sides: Sides {
            debit: debit?,
            credit: credit?,
        },
        description: posting.description,
        metadata: metadata?,
        returns_money: posting.returns_money,
    })
}
