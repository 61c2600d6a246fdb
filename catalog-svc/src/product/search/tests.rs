use platform::list::{Key, List};
use proto::common::v1::{Filter, Operator, Sort};

use super::*;

/// The statement of a search for `red sho`, where a category has `red` in its title, broken before its
/// clauses.
fn page_sql(sort: Vec<Sort>) -> String {
    let word = |query: &str, category_ids| Word {
        query: query.into(),
        category_ids,
    };
    let search = Search {
        words: vec![word("'red'", vec![Uuid::nil()]), word("'sho':*", vec![])],
    };
    let request = ListRequest {
        filters: vec![Filter {
            field: "search".into(),
            operator: Operator::Eq.into(),
            values: vec!["red sho".into()],
        }],
        sort,
        ..ListRequest::default()
    };
    let list = List::new(&PRODUCTS, "catalog.products p", Key::Id("p.id"))
        .select("p.id")
        .only("p.deleted_at is null")
        .column("order", "p.rank")
        .search(Some(search));
    let sql = list.page_statement(&request).unwrap().into_string();
    let starts = ["from", "where", "and", "order by", "limit", "union all"];
    starts.iter().fold(sql, |sql, start| {
        sql.replace(&format!(" {start} "), &format!("\n{start} "))
    })
}

#[test]
fn a_page_finds_its_rows_tier_by_tier() {
    insta::assert_snapshot!(page_sql(Vec::new()), @"
    with prefix_0 as materialized (select p.id as id, p.rank as key_0, p.id as key_1, ((true
    and (p.search @@ $1::tsquery or p.category_id = any($2))
    and (p.search @@ $3::tsquery))
    and (p.name_search @@ $4::tsquery)) as matches
    from catalog.products p
    where true
    and (p.deleted_at is null)
    order by p.rank, p.id
    limit 2000), scan_0 as materialized (select id
    from prefix_0
    where matches
    order by key_0, key_1
    limit $5), tier_0 as materialized ((select id
    from scan_0
    where (select count(*)
    from scan_0) = $6)
    union all (select id
    from (select p.id as id, p.rank as key_0, p.id as key_1
    from catalog.products p
    where true
    and (p.deleted_at is null)
    and (true
    and (p.search @@ $7::tsquery or p.category_id = any($8))
    and (p.search @@ $9::tsquery))
    and (p.name_search @@ $10::tsquery)
    and (select count(*)
    from scan_0) < $11 offset 0) as matching
    order by key_0, key_1
    limit $12)) , prefix_1 as materialized (select p.id as id, p.rank as key_0, p.id as key_1, ((true
    and (p.search @@ $13::tsquery or p.category_id = any($14))
    and (p.search @@ $15::tsquery))
    and not (p.name_search @@ $16::tsquery)) as matches
    from catalog.products p
    where true
    and (p.deleted_at is null)
    and (select count(*)
    from tier_0) < $17
    order by p.rank, p.id
    limit 2000), scan_1 as materialized (select id
    from prefix_1
    where matches
    order by key_0, key_1
    limit $18), tier_1 as materialized ((select id
    from scan_1
    where (select count(*)
    from scan_1) = $19)
    union all (select id
    from (select p.id as id, p.rank as key_0, p.id as key_1
    from catalog.products p
    where true
    and (p.deleted_at is null)
    and (select count(*)
    from tier_0) < $20
    and (true
    and (p.search @@ $21::tsquery or p.category_id = any($22))
    and (p.search @@ $23::tsquery))
    and not (p.name_search @@ $24::tsquery)
    and (select count(*)
    from scan_1) < $25 offset 0) as matching
    order by key_0, key_1
    limit $26)) select p.id, (select count(*)
    from catalog.products p
    where true
    and (p.deleted_at is null)
    and (true
    and (p.search @@ $27::tsquery or p.category_id = any($28))
    and (p.search @@ $29::tsquery))) as list_total, array[(found.tier)::text, (p.rank)::text, (p.id)::text] as list_keys
    from catalog.products p join (select 0::numeric as tier, id
    from tier_0
    union all select 1::numeric as tier, id
    from tier_1) as found on found.id = p.id
    order by found.tier, p.rank, p.id
    limit $30 offset $31
    ");
}

#[test]
fn a_sorted_page_only_filters() {
    let sort = Sort {
        field: "createdAt".into(),
        descending: true,
    };
    insta::assert_snapshot!(page_sql(vec![sort]), @r#"
    select p.id, (select count(*)
    from catalog.products p
    where true
    and (p.deleted_at is null)
    and (true
    and (p.search @@ $1::tsquery or p.category_id = any($2))
    and (p.search @@ $3::tsquery))) as list_total, array[to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (p.id)::text] as list_keys
    from catalog.products p
    where true
    and (p.deleted_at is null)
    and (true
    and (p.search @@ $4::tsquery or p.category_id = any($5))
    and (p.search @@ $6::tsquery))
    order by p.created_at desc, p.id desc
    limit $7 offset $8
    "#);
}
