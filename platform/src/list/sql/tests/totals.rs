//! Totals of lists whose old rows are counted once.

mod cut_off;

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{time_ordered::fill_in_order_of_time, *};
use crate::{
    list::{
        check::check,
        sql::{
            counting::{Counted, Counting},
            totals::Limits,
        },
    },
    testing::eventually,
};

/// How long a test waits for a condition before it fails.
const DEADLINE: Duration = Duration::from_mins(1);

/// A few rows are worth a count.
const FEW: Limits = Limits {
    rows: 10,
    pause: Duration::ZERO,
    ..Limits::DEFAULT
};

fn kept(totals: &Totals) -> List {
    things().append_only(totals, &["status", "hideShut"])
}

/// The total of a page, when no count runs any more.
async fn settled_total(pool: &PgPool, list: &List, totals: &Totals, raw: &str) -> u64 {
    let mut conn = pool.acquire().await.unwrap();
    let request = query::parse(raw).unwrap();
    let page: Page<(Uuid,)> = list.fetch(&mut conn, &request).await.unwrap();
    totals.idle().await;
    page.total
}

/// What is known of the list with these filters.
fn known(list: &List, raw: &str) -> Option<Counted> {
    let request = query::parse(raw).unwrap();
    let checked = check(list.table, &request).unwrap();
    let statement = list.statement(&request, &checked).unwrap();
    list.count_of(&statement)?.known()
}

/// Adds copies of the things with these numbers.
async fn add(pool: &PgPool, created_at: &str, numbers: &[i64]) {
    let sql = format!(
        "insert into things
         select gen_random_uuid(), name, nick, code, status, amount, quantity, active, roles, origin_id,
             target_id, paid_at, {created_at}, deleted_at
         from things where right(id::text, 12)::bigint = any($1) and id::text like '00000000-0000-7%'"
    );
    let inserted = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(numbers);
    let inserted = inserted.execute(pool).await.unwrap();
    assert_eq!(inserted.rows_affected(), numbers.len() as u64);
}

/// The statement of a page that knows some rows, and that of the count that goes on, broken before their clauses.
fn statements(list: &List, raw: &str) -> [String; 2] {
    let request = query::parse(raw).unwrap();
    let checked = check(list.table, &request).unwrap();
    let statement = list.statement(&request, &checked).unwrap();
    let now = tokio::time::Instant::now();
    let known = Some(Counted {
        rows: 7,
        before: DateTime::UNIX_EPOCH,
        began: now,
        ended: now,
    });
    let page = statement.page(&statement.keys(), known.into()).unwrap();
    let count = statement.count(Counting {
        known,
        before: Some(DateTime::<Utc>::MAX_UTC),
    });
    [page, count].map(statements::broken)
}

#[test]
fn a_page_counts_from_a_time_on() {
    let [page, count] = statements(&things(), "filter[active]=true");
    insta::assert_snapshot!(page, @r#"
    select t.id, (select $1 + count(*)
    from things t
    where true
    and (t.deleted_at is null)
    and t.active = $2
    and t.created_at >= $3) as list_total, array[to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (t.id)::text] as list_keys
    from things t
    where true
    and (t.deleted_at is null)
    and t.active = $4
    order by t.created_at desc, t.id desc
    limit $5 offset $6
    "#);
    insta::assert_snapshot!(count, @"
    select $1 + count(*)
    from things t
    where true
    and (t.deleted_at is null)
    and t.active = $2
    and t.created_at >= $3
    and t.created_at < $4
    ");
    let wallet = "filter[walletId]=00000000-0000-7000-8000-0000000000aa";
    let [_, count] = statements(&things(), wallet);
    insta::assert_snapshot!(count, @"
    select $1 + count(*)
    from (select
    from things t
    where true
    and (t.deleted_at is null)
    and t.origin_id = $2
    and t.created_at >= $3
    and t.created_at < $4
    union all select
    from things t
    where true
    and (t.deleted_at is null)
    and t.target_id = $5
    and (t.origin_id = any($6)) is not true
    and t.created_at >= $7
    and t.created_at < $8) t
    ");
    let list = List::new(&THINGS, "things t", Key::TimeOrderedId("t.id"));
    let [_, count] = statements(&list, "");
    insta::assert_snapshot!(count, @"
    select $1 + count(*)
    from things t
    where true
    and t.id >= $2
    and t.id < $3
    ");
}

#[sqlx::test(migrations = false)]
async fn rows_that_were_counted_are_not_counted_again(pool: PgPool) {
    fill(&pool).await;
    let totals = Totals::with_limits(pool.clone(), FEW);
    let list = kept(&totals);
    let total = async |raw: &str| settled_total(&pool, &list, &totals, raw).await;
    assert_eq!(total("").await, 100);
    assert_eq!(known(&list, "").map(|known| known.rows), Some(100));
    // Nothing adds rows like the first two: a total without them shows what is not counted again.
    add(&pool, "'2026-01-01T00:00:00Z'", &[1, 4]).await;
    add(&pool, "clock_timestamp()", &[1, 2, 3]).await;
    assert_eq!(total("").await, 103);
    assert_eq!(total("page[number]=100").await, 103);
    assert_eq!(total("sort=-amount&page[size]=1").await, 103);
    // A field that changes, and others that nobody has asked for before.
    for (raw, rows) in [
        ("filter[status]=shut", 34 + 3),
        ("filter[hideShut]=true", 66 + 2),
        ("filter[active]=true", 50 + 2),
        ("filter[quantity]=1&filter[status]=shut", 4 + 2),
    ] {
        assert_eq!(total(raw).await, rows, "{raw}");
        assert_eq!(total(raw).await, rows, "{raw}");
    }
    assert_eq!(known(&list, "filter[status]=shut"), None);
    assert!(known(&list, "filter[active]=true").is_some());
}

#[sqlx::test(migrations = false)]
async fn few_rows_are_not_worth_a_count(pool: PgPool) {
    fill(&pool).await;
    let totals = Totals::with_limits(pool.clone(), FEW);
    let list = kept(&totals);
    let ten = "filter[role]=admin";
    assert_eq!(settled_total(&pool, &list, &totals, ten).await, 10);
    assert_eq!(known(&list, ten), None);
}

#[sqlx::test(migrations = false)]
async fn totals_are_exact_while_rows_are_added(pool: PgPool) {
    fill(&pool).await;
    // Whatever the filter, and if it leaves nothing.
    let limits = Limits { rows: -1, ..FEW };
    let totals = Totals::with_limits(pool.clone(), limits);
    let wallet = "00000000-0000-7000-8000-0000000000aa";
    let own = |list: List| list.only_any_of(&["t.origin_id", "t.target_id"], Some([wallet_id()]));
    let filters = [
        String::new(),
        "filter[quantity]=gte:5".to_owned(),
        "filter[quantity]=gte:6".to_owned(),
        "filter[quantity]=gt:5".to_owned(),
        "filter[code]=in:code1,CODE2".to_owned(),
        "filter[code]=in:code1,code3".to_owned(),
        "filter[code]=nin:code1,code3".to_owned(),
        "filter[code]=in:code1&filter[role]=in:admin,user".to_owned(),
        "filter[code]=in:code1,admin&filter[role]=in:user".to_owned(),
        "filter[name]=ilike:%251&filter[active]=true".to_owned(),
        "filter[createdAt]=gte:2026-02-01".to_owned(),
        "filter[createdAt]=lt:2026-02-01".to_owned(),
        format!("filter[walletId]={wallet}"),
        format!("filter[walletId]=in:{wallet},{}", Uuid::nil()),
        format!("filter[walletId]=nin:{wallet}"),
    ];
    for round in 0..3 {
        for raw in &filters {
            for (plain, list) in [
                (things(), kept(&totals)),
                (own(things()), own(kept(&totals))),
            ] {
                let expected = settled_total(&pool, &plain, &totals, raw).await;
                let total = settled_total(&pool, &list, &totals, raw).await;
                assert_eq!(total, expected, "{raw} in round {round}");
                assert!(known(&list, raw).is_some(), "{raw} in round {round}");
            }
        }
        add(&pool, "clock_timestamp()", &[1, 2, 3, 5, 8, 13, 21]).await;
    }
}

fn wallet_id() -> Uuid {
    Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_00aa)
}

#[sqlx::test(migrations = false)]
async fn rows_are_counted_by_ids_that_hold_their_time(pool: PgPool) {
    fill_in_order_of_time(&pool).await;
    let totals = Totals::with_limits(pool.clone(), FEW);
    let list = List::new(&THINGS, "things t", Key::TimeOrderedId("t.id")).select("t.id");
    let list = list.append_only(&totals, &[]);
    let since = "filter[createdAt]=gte:2026-01-31T10:00:00.003Z";
    for (raw, rows) in [("", 60), (since, 30), ("", 60), (since, 30)] {
        assert_eq!(settled_total(&pool, &list, &totals, raw).await, rows);
        let known = known(&list, raw).map(|known| known.rows);
        assert_eq!(known, i64::try_from(rows).ok());
    }
}

#[sqlx::test(migrations = false)]
async fn a_count_goes_on_where_it_ended(pool: PgPool) {
    fill(&pool).await;
    let limits = Limits {
        age: chrono::TimeDelta::zero(),
        ..FEW
    };
    let totals = Totals::with_limits(pool.clone(), limits);
    let list = kept(&totals);
    settled_total(&pool, &list, &totals, "").await;
    let first = known(&list, "").unwrap();
    let numbers: Vec<_> = (1..=20).collect();
    add(&pool, &format!("'{}'", first.before.to_rfc3339()), &numbers).await;
    eventually("all rows are known", DEADLINE, async || {
        assert_eq!(settled_total(&pool, &list, &totals, "").await, 120);
        known(&list, "").is_some_and(|known| known.rows == 120)
    })
    .await;
    let second = known(&list, "").unwrap();
    assert_eq!(second.began, first.began);
    assert!(second.before > first.before);
}

#[sqlx::test(migrations = false)]
async fn a_count_begins_again_after_a_while(pool: PgPool) {
    fill(&pool).await;
    let limits = Limits {
        restart: Duration::ZERO,
        ..FEW
    };
    let totals = Totals::with_limits(pool.clone(), limits);
    let list = kept(&totals);
    let total = async || settled_total(&pool, &list, &totals, "").await;
    assert_eq!(total().await, 100);
    let delete = sqlx::query("delete from things where active");
    delete.execute(&pool).await.unwrap();
    assert_eq!((total().await, total().await), (100, 50));
}

#[sqlx::test(migrations = false)]
async fn a_count_expires(pool: PgPool) {
    fill(&pool).await;
    let limits = Limits {
        expiry: Duration::from_nanos(1),
        ..FEW
    };
    let totals = Totals::with_limits(pool.clone(), limits);
    let list = kept(&totals);
    settled_total(&pool, &list, &totals, "").await;
    assert_eq!(known(&list, ""), None);
}

#[sqlx::test(migrations = false)]
async fn rows_of_open_transactions_are_not_old(pool: PgPool) {
    fill(&pool).await;
    let limits = Limits {
        age: chrono::TimeDelta::zero(),
        ..FEW
    };
    let totals = Totals::with_limits(pool.clone(), limits);
    let list = kept(&totals);
    let mut open = crate::pg::tx(&pool).await.unwrap();
    let begun = "insert into things
        select gen_random_uuid(), name, nick, code, status, amount, quantity, active, roles, origin_id,
            target_id, paid_at, now() + interval '1 millisecond', deleted_at
        from things where code = 'Code1'";
    sqlx::query(begun).execute(&mut *open).await.unwrap();
    assert_eq!(settled_total(&pool, &list, &totals, "").await, 100);
    let counted = known(&list, "").unwrap();
    open.commit().await.unwrap();
    assert_eq!(settled_total(&pool, &list, &totals, "").await, 101);
    assert_eq!(counted.rows, 100);
}
