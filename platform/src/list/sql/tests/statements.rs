//! The statements that lists become.

use super::{search::ByNameOrCode, *};

/// The statement of a page, broken before its clauses.
fn page_sql(list: &List, raw: &str) -> String {
    let request = query::parse(raw).unwrap();
    broken(list.page_statement(&request).unwrap())
}

/// The text of a statement, broken before its clauses.
pub(super) fn broken(statement: Sql) -> String {
    let starts = ["from", "where", "and", "order by", "limit", "union all"];
    let clauses =
        |sql: String, start: &&str| sql.replace(&format!(" {start} "), &format!("\n{start} "));
    starts.iter().fold(statement.into_string(), clauses)
}

#[test]
fn a_page_counts_and_orders_what_its_conditions_leave() {
    insta::assert_snapshot!(page_sql(&things(), ""), @r#"
    select t.id, (select count(*)
    from things t
    where true
    and (t.deleted_at is null)) as list_total, array[to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (t.id)::text] as list_keys
    from things t
    where true
    and (t.deleted_at is null)
    order by t.created_at desc, t.id desc
    limit $1 offset $2
    "#);
    let query = "filter[code]=in:a,B&filter[status]=nin:open&filter[name]=x&filter[amount]=gte:1&lt:2&\
                 filter[hideShut]=true&filter[role]=admin&sort=-paidAt,name&page[number]=3&page[size]=10";
    insta::assert_snapshot!(page_sql(&things(), query), @r#"
    select t.id, (select count(*)
    from things t
    where true
    and (t.deleted_at is null)
    and lower(t.code) = any(select lower(v)
    from unnest($1::text[]) as v)
    and (t.status = any($2)) is not true
    and t.name ilike $3
    and t.amount >= $4
    and t.amount < $5
    and (t.status is distinct
    from 'shut')
    and (t.roles && $6)) as list_total, array[to_char(t.paid_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (t.name)::text, (t.id)::text] as list_keys
    from things t
    where true
    and (t.deleted_at is null)
    and lower(t.code) = any(select lower(v)
    from unnest($7::text[]) as v)
    and (t.status = any($8)) is not true
    and t.name ilike $9
    and t.amount >= $10
    and t.amount < $11
    and (t.status is distinct
    from 'shut')
    and (t.roles && $12)
    order by t.paid_at desc, t.name, t.id
    limit $13 offset $14
    "#);
}

#[test]
fn a_cursor_continues_after_its_row() {
    let id = Some("00000000-0000-7000-8000-000000000001".to_owned());
    let keys = [Some("2026-01-31T10:00:00.123000Z".to_owned()), id.clone()];
    let after = cursor::encode("-createdAt", &keys);
    insta::assert_snapshot!(page_sql(&things(), &format!("page[after]={after}")), @r#"
    select t.id, (select count(*)
    from things t
    where true
    and (t.deleted_at is null)) as list_total, array[to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (t.id)::text] as list_keys
    from things t
    where true
    and (t.deleted_at is null)
    and (t.created_at, t.id) < ($1, $2)
    order by t.created_at desc, t.id desc
    limit $3 offset $4
    "#);
    let after = cursor::encode("-nick,quantity", &[None, Some("7".to_owned()), id]);
    let query = format!("sort=-nick,quantity&page[after]={after}");
    insta::assert_snapshot!(page_sql(&things(), &query), @"
    select t.id, (select count(*)
    from things t
    where true
    and (t.deleted_at is null)) as list_total, array[(t.nick)::text, (t.quantity)::text, (t.id)::text] as list_keys
    from things t
    where true
    and (t.deleted_at is null)
    and (t.nick is not null or (t.nick is null
    and ((t.quantity is null or t.quantity > $1::numeric) or (t.quantity = $2::numeric
    and ((t.id is null or t.id > $3) or (t.id = $4
    and false))))))
    order by t.nick desc, t.quantity, t.id
    limit $5 offset $6
    ");
}

#[test]
fn rows_of_any_column_are_read_branch_by_branch() {
    let (a, b) = (
        "00000000-0000-7000-8000-0000000000aa",
        "00000000-0000-7000-8000-0000000000bb",
    );
    let query = format!("filter[walletId]={a}");
    insta::assert_snapshot!(page_sql(&things(), &query), @r#"
    select t.id, (select count(*)
    from (select
    from things t
    where true
    and (t.deleted_at is null)
    and t.origin_id = $1
    union all select
    from things t
    where true
    and (t.deleted_at is null)
    and t.target_id = $2
    and (t.origin_id = any($3)) is not true) t) as list_total, array[to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (t.id)::text] as list_keys
    from ((select *
    from things t
    where true
    and (t.deleted_at is null)
    and t.origin_id = $4
    order by t.created_at desc, t.id desc
    limit $5)
    union all (select *
    from things t
    where true
    and (t.deleted_at is null)
    and t.target_id = $6
    and (t.origin_id = any($7)) is not true
    order by t.created_at desc, t.id desc
    limit $8)) t
    order by t.created_at desc, t.id desc
    limit $9 offset $10
    "#);
    let query = format!("filter[walletId]=nin:{a}&filter[active]=true");
    insta::assert_snapshot!(page_sql(&things(), &query), @r#"
    select t.id, (select count(*)
    from things t
    where true
    and (t.deleted_at is null)
    and (true
    and (t.origin_id = any($1)) is not true
    and (t.target_id = any($2)) is not true)
    and t.active = $3) as list_total, array[to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (t.id)::text] as list_keys
    from things t
    where true
    and (t.deleted_at is null)
    and (true
    and (t.origin_id = any($4)) is not true
    and (t.target_id = any($5)) is not true)
    and t.active = $6
    order by t.created_at desc, t.id desc
    limit $7 offset $8
    "#);
    let own = things().only_any_of(&["t.origin_id"], Some([Uuid::nil()]));
    let query = format!("filter[walletId]=in:{a},{b}");
    insta::assert_snapshot!(page_sql(&own, &query), @r#"
    select t.id, (select count(*)
    from things t
    where true
    and (t.deleted_at is null)
    and (false or t.origin_id = any($1) or t.target_id = any($2))
    and t.origin_id = $3) as list_total, array[to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (t.id)::text] as list_keys
    from things t
    where true
    and (t.deleted_at is null)
    and (false or t.origin_id = any($4) or t.target_id = any($5))
    and t.origin_id = $6
    order by t.created_at desc, t.id desc
    limit $7 offset $8
    "#);
}

#[test]
fn a_search_finds_its_rows_tier_by_tier_unless_sorted() {
    let list = || things().search(Some(ByNameOrCode("x".into())));
    insta::assert_snapshot!(page_sql(&list(), "filter[search]=x&filter[active]=true"), @r#"
    with tier_0 as (select t.id as id, t.created_at as key_0, t.id as key_1
    from things t
    where true
    and (t.deleted_at is null)
    and t.active = $1
    and t.name like $2
    order by t.created_at desc, t.id desc
    limit $3) , tier_1 as (select t.id as id, t.created_at as key_0, t.id as key_1
    from things t
    where true
    and (t.deleted_at is null)
    and t.active = $4
    and t.code like $5
    and not t.name like $6
    order by t.created_at desc, t.id desc
    limit $7) select t.id, (select count(*)
    from things t
    where true
    and (t.deleted_at is null)
    and t.active = $8
    and (t.name like $9 or t.code like $10)) as list_total, array[(found.tier)::text, to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (t.id)::text] as list_keys
    from things t join (select 0::numeric as tier, id
    from tier_0
    union all select 1::numeric, id
    from tier_1) as found on found.id = t.id
    order by found.tier, t.created_at desc, t.id desc
    limit $11 offset $12
    "#);
    insta::assert_snapshot!(page_sql(&list(), "filter[search]=x&sort=-amount"), @"
    select t.id, (select count(*)
    from things t
    where true
    and (t.deleted_at is null)
    and (t.name like $1 or t.code like $2)) as list_total, array[(t.amount)::text, (t.id)::text] as list_keys
    from things t
    where true
    and (t.deleted_at is null)
    and (t.name like $3 or t.code like $4)
    order by t.amount desc, t.id desc
    limit $5 offset $6
    ");
}

#[test]
fn ids_that_hold_the_time_stand_in_for_it() {
    let list = List::new(&THINGS, "things t", Key::TimeOrderedId("t.id")).select("t.id");
    let query =
        "filter[createdAt]=gte:2026-01-31T10:00:00Z&lt:2026-02-01T10:00:00Z&sort=createdAt,name";
    insta::assert_snapshot!(page_sql(&list, query), @"
    select t.id, (select count(*)
    from things t
    where true
    and t.created_at >= $1
    and t.id >= $2
    and t.created_at < $3
    and t.id < $4) as list_total, array[(t.id)::text, (t.name)::text] as list_keys
    from things t
    where true
    and t.created_at >= $5
    and t.id >= $6
    and t.created_at < $7
    and t.id < $8
    order by t.id, t.name
    limit $9 offset $10
    ");
    let after = cursor::encode(
        "-createdAt",
        &[Some("00000000-0000-7000-8000-000000000001".to_owned())],
    );
    let query = format!("filter[createdAt]=2026-01-31T10:00:00Z&page[after]={after}");
    insta::assert_snapshot!(page_sql(&list, &query), @"
    select t.id, (select count(*)
    from things t
    where true
    and t.created_at = $1
    and t.id >= $2
    and t.id < $3) as list_total, array[(t.id)::text] as list_keys
    from things t
    where true
    and t.created_at = $4
    and t.id >= $5
    and t.id < $6
    and (t.id) < ($7)
    order by t.id desc
    limit $8 offset $9
    ");
}
