use std::collections::HashMap;

use chrono::DateTime;
use platform::ids::Ids;
use sqlx::PgPool;

use super::*;
use crate::posting::plan::decide;

fn empty() -> Parameters {
    let book = Book::new(DateTime::UNIX_EPOCH, Ids::seeded(1));
    parameters(&decide(book, HashMap::new(), &[]), &[])
}

#[test]
fn ranges_of_events_are_inserted_as_by_the_outbox() {
    let normalized = |sql: &str| sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = normalized(&outbox::INSERT_RANGES.replace(":schema", "wallet"));
    assert!(normalized(include_str!("../write.sql")).contains(&expected));
}

#[test]
fn the_parameters_are_listed() {
    insta::assert_snapshot!(empty().listing().join("\n"), @"
    $1 transactions.id uuid[]
    $2 transactions.type text[]
    $3 transactions.code text[]
    $4 transactions.status text[]
    $5 transactions.asset_code text[]
    $6 transactions.amount numeric[]
    $7 transactions.origin_wallet_id uuid[]
    $8 transactions.destination_wallet_id uuid[]
    $9 transactions.system_wallet_id uuid[]
    $10 transactions.reference text[]
    $11 transactions.metadata text[]
    $12 transactions.operation_id text[]
    $13 transactions.operation_index int4[]
    $14 transactions.version int8[]
    $15 transactions.processed_at timestamptz[]
    $16 transactions.description text[]
    $17 transactions.origin_address text[]
    $18 transactions.destination_address text[]
    $19 transactions.external_reference text[]
    $20 transactions.custom_data text[]
    $21 transactions.created_at timestamptz[]
    $22 transactions.refunds_id uuid[]
    $23 movements.id uuid[]
    $24 movements.wallet_id uuid[]
    $25 movements.asset_code text[]
    $26 movements.sequence int8[]
    $27 movements.transaction_id uuid[]
    $28 movements.amount numeric[]
    $29 movements.balance_after numeric[]
    $30 movements.code text[]
    $31 changes.transaction_id uuid[]
    $32 changes.version int8[]
    $33 changes.from_status text[]
    $34 changes.to_status text[]
    $35 changes.actor text[]
    $36 balances.wallet_id uuid[]
    $37 balances.asset_code text[]
    $38 balances.amount numeric[]
    $39 balances.held numeric[]
    $40 balances.incoming numeric[]
    $41 balances.sequence int8[]
    $42 balances.moved_at timestamptz[]
    $43 balances.version int8[]
    $44 keys.scope bytea[]
    $45 keys.request_hash bytea[]
    $46 keys.response bytea[]
    $47 events.id uuid[]
    $48 events.event_type text[]
    $49 events.aggregate_kind text[]
    $50 events.aggregate_id uuid[]
    $51 events.aggregate_version int8[]
    $52 events.body bytea[]
    $53 events.traceparent text[]
    $54 assets.code text[]
    $55 assets.version int8[]
    $56 batch uuid
    $57 version int8
    $58 now timestamptz
    $59 expected int8
    $60 not_after timestamptz
    ");
}

#[test]
fn the_statement_uses_each_parameter() {
    let (parameters, statement) = (empty(), statement(&empty()));
    let listing = parameters.listing();
    for number in 1..=listing.len() {
        let parameter = format!("${number}::");
        let uses = statement.matches(&parameter).count();
        let is_now = listing[number - 1].contains(" now ");
        assert_eq!(uses, if is_now { 2 } else { 1 }, "{parameter}");
    }
    let uses = statement.matches('$').count();
    assert_eq!(uses, listing.len() + 1, "{statement}");
    let placeholders = statement.replace("::", "").matches(':').count();
    assert_eq!(placeholders, 0, "{statement}");
}

/// Compares each column's type with the table that it is written to.
#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn each_array_has_the_type_of_its_column(pool: PgPool) {
    let tables = HashMap::from([
        ("transactions", "transactions"),
        ("movements", "movements"),
        ("changes", "transaction_changes"),
        ("balances", "balances"),
        ("keys", "idempotency_keys"),
        ("events", "outbox"),
        ("assets", "assets"),
    ]);
    for line in empty().listing() {
        let [_, name, data_type] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let Some((table, column)) = name.split_once('.') else {
            continue;
        };
        let declared: String = sqlx::query_scalar(
            "select udt_name::text || '[]' from information_schema.columns
             where table_schema = 'wallet' and table_name = $1 and column_name = $2",
        )
        .bind(tables[table])
        .bind(column)
        .fetch_one(&pool)
        .await
        .unwrap();
        assert_eq!(data_type, declared, "{line}");
    }
}
