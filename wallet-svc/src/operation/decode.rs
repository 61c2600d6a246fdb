//! Decodes operations.

use platform::{
    error::{Failure, FieldCode, InvalidValue, Violations},
    ids::Ids,
    money::Amount,
};
use prost_types::Timestamp;
use proto::wallet::v1 as wire;

use crate::{
    asset::{directory::AssetDirectory, model::AssetCode},
    error::Error,
    fields,
    ledger::{Leg, Mode, Operation, Refund, RefundPart},
    transaction::{metadata::Metadata, model::Sides},
    wallet::model::WalletId,
};

const MAX_OPERATIONS: usize = 1_000;
const MAX_POSTINGS: usize = 1_000;
/// Fewer than there is room for in the queue.
const MAX_POSTINGS_IN_ALL: usize = 4_000;
const MAX_ID_LENGTH: usize = 255;

/// A request to post or hold an operation.
#[derive(Debug)]
pub(crate) struct OperationRequest {
    id: String,
    postings: Vec<wire::Posting>,
    mode: Mode,
    not_after: Option<Timestamp>,
    /// Whether it asks for a dry run where there is none.
    is_unexpected_dry_run: bool,
}

impl From<wire::PostRequest> for OperationRequest {
    fn from(request: wire::PostRequest) -> Self {
        Self {
            id: request.operation_id,
            postings: request.postings,
            mode: Mode::Post,
            not_after: request.not_after,
            is_unexpected_dry_run: false,
        }
    }
}

impl From<wire::HoldRequest> for OperationRequest {
    fn from(request: wire::HoldRequest) -> Self {
        Self {
            id: request.operation_id,
            postings: request.postings,
            mode: Mode::Hold,
            not_after: None,
            is_unexpected_dry_run: false,
        }
    }
}

/// Returns the requests of several operations, if they are not too many.
pub(crate) fn operations(request: wire::PostManyRequest) -> Result<Vec<OperationRequest>, Failure> {
    let operations = request.operations;
    let postings: usize = operations.iter().map(|it| it.postings.len()).sum();
    let mut violations = Violations::default();
    violations.check(
        "operations",
        (1..=MAX_OPERATIONS).contains(&operations.len()),
        FieldCode::Length,
        "must be 1 to 1000",
    );
    violations.check(
        "operations",
        postings <= MAX_POSTINGS_IN_ALL,
        FieldCode::Length,
        "must have at most 4000 postings in all",
    );
    violations.finish()?;
    let requests = operations.into_iter().map(|request| OperationRequest {
        is_unexpected_dry_run: request.dry_run,
        ..request.into()
    });
    Ok(requests.collect())
}

/// Decodes an operation, or returns all violations.
pub(crate) async fn operation(
    request: OperationRequest,
    assets: &AssetDirectory,
    ids: &Ids,
) -> Result<Operation, Error> {
    let OperationRequest {
        id,
        postings,
        mode,
        not_after,
        is_unexpected_dry_run,
    } = request;
    let mut violations = Violations::default();
    check_id(&mut violations, "operationId", &id);
    let message = "is not possible with several operations";
    violations.check("dryRun", !is_unexpected_dry_run, FieldCode::Enum, message);
    violations.check(
        "postings",
        (1..=MAX_POSTINGS).contains(&postings.len()),
        FieldCode::Length,
        "must be 1 to 1000",
    );
    let mut legs = Vec::with_capacity(postings.len());
    for (index, posting) in postings.into_iter().take(MAX_POSTINGS).enumerate() {
        let asset = assets.find(&posting.asset_code).await?;
        let asset = asset.map(|asset| asset.code);
        legs.extend(leg(&mut violations, index, posting, asset, ids));
    }
    let not_after = not_after.as_ref().map(fields::time).transpose();
    let not_after = violations.value("notAfter", not_after).flatten();
    violations.finish()?;
    Ok(Operation {
        id,
        legs,
        mode,
        not_after,
    })
}

/// Decodes a refund, or returns all violations.
pub(crate) fn refund(request: wire::RefundRequest) -> Result<Refund, Failure> {
    let mut violations = Violations::default();
    check_id(&mut violations, "operationId", &request.operation_id);
    check_id(
        &mut violations,
        "refundedOperationId",
        &request.refunded_operation_id,
    );
    violations.check(
        "parts",
        request.parts.len() <= MAX_POSTINGS,
        FieldCode::Length,
        "must be at most 1000",
    );
    let mut parts = Vec::with_capacity(request.parts.len());
    for (index, part) in request.parts.iter().take(MAX_POSTINGS).enumerate() {
        let amount = violations.value(
            &format!("parts[{index}].amount"),
            Amount::parse_positive(&part.amount),
        );
        // An index past the largest is past the end of any operation.
        let index = i32::try_from(part.index).unwrap_or(i32::MAX);
        parts.extend(amount.map(|amount| RefundPart { index, amount }));
    }
    let metadata = violations.value("metadata", metadata(&request.metadata));
    violations.finish()?;
    Ok(Refund {
        id: request.operation_id,
        of: request.refunded_operation_id,
        parts,
        description: request.description,
        metadata: metadata.unwrap_or_default(),
    })
}

fn check_id(violations: &mut Violations, field: &str, id: &str) {
    violations.check(
        field,
        (1..=MAX_ID_LENGTH).contains(&id.len()),
        FieldCode::Length,
        "must have 1 to 255 characters",
    );
}

fn metadata(text: &str) -> Result<Metadata, InvalidValue> {
    match text {
        "" => Ok(Metadata::default()),
        text => Metadata::parse(text)
            .ok_or_else(|| InvalidValue::new(FieldCode::Type, "must be an object")),
    }
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
    let asset = asset.ok_or_else(|| invalid(FieldCode::UnknownReference, "asset not found"));
    let code = match posting.code.as_str() {
        code @ ("pay" | "refund") => Ok(code.to_owned()),
        _ => Err(invalid(FieldCode::Enum, "must be one of pay, refund")),
    };
    let debit = WalletId::parse(&posting.origin_wallet_id);
    let credit = WalletId::parse(&posting.destination_wallet_id);
    let amount = violations.value(&field("amount"), Amount::parse_positive(&posting.amount));
    let asset = violations.value(&field("assetCode"), asset);
    let code = violations.value(&field("code"), code);
    let metadata = violations.value(&field("metadata"), metadata(&posting.metadata));
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
