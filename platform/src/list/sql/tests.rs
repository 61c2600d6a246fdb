//! Against Postgres: `DATABASE_URL` names a server where the user may make databases.

mod any_of;
mod search;
mod statements;
mod text;
mod time_ordered;
mod totals;

use std::collections::HashSet;

use proto::lists::asc;
use sqlx::PgPool;
use uuid::Uuid;

use super::*;
use crate::{
    error::{Code, Failure},
    list::query,
};

const THINGS: ListTable = ListTable::new(
    "things",
    &[
        Field::new("id", Class::Id),
        Field::new("name", Class::ILike).sortable(),
        Field::new("nick", Class::Like).nullable().sortable(),
        Field::new("code", Class::CaselessCode),
        Field::new("status", Class::Enum(&["open", "shut"])).nullable(),
        Field::new("amount", Class::Money).sortable(),
        Field::new("quantity", Class::Number).sortable(),
        Field::new("active", Class::Bool).sortable(),
        Field::new("role", Class::Code),
        Field::new("walletId", Class::Id),
        Field::new("hideShut", Class::Flag),
        Field::new("paidAt", Class::Time).nullable().sortable(),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("search", Class::Search),
    ],
);

fn things() -> List {
    List::new(&THINGS, "things t", Key::Id("t.id"))
        .select("t.id")
        .only("t.deleted_at is null")
        .array("role", "t.roles")
        .any_of("walletId", &["t.origin_id", "t.target_id"])
        .flag("hideShut", "t.status is distinct from 'shut'")
}

/// 100 live things and one deleted, all made in the same moment.
async fn fill(pool: &PgPool) {
    let sql = "
        create table things (
            id uuid primary key, name text not null, nick text, code text not null, status text,
            amount numeric(28, 8) not null, quantity integer not null, active boolean not null,
            roles text[] not null, origin_id uuid, target_id uuid, paid_at timestamptz(3),
            created_at timestamptz(3) not null, deleted_at timestamptz(3)
        );
        insert into things
        select
            ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Thing ' || n % 7,
            case when n % 3 > 0 then 'nick ' || n % 5 end, 'Code' || n,
            case n % 3 when 0 then 'open' when 1 then 'shut' end,
            n % 9 - 4.5, n % 11, n % 2 = 0,
            case when n % 10 = 0 then array['user', 'admin'] else array['user'] end,
            case when n = 1 then '00000000-0000-7000-8000-0000000000aa'::uuid end,
            case when n = 2 then '00000000-0000-7000-8000-0000000000aa'::uuid end,
            case when n % 4 > 0 then timestamptz '2026-01-01T00:00:00.123Z' + n % 6 * interval '1 day' end,
            '2026-01-31T10:00:00.123Z', case when n = 101 then now() end
        from generate_series(1, 101) as n";
    sqlx::raw_sql(sql).execute(pool).await.unwrap();
}

async fn page(pool: &PgPool, raw: &str) -> Result<Page<(Uuid,)>, Failure> {
    let mut conn = pool.acquire().await.unwrap();
    things().fetch(&mut conn, &query::parse(raw)?).await
}

async fn total(pool: &PgPool, raw: &str) -> u64 {
    page(pool, raw)
        .await
        .unwrap_or_else(|failure| panic!("{raw}: {failure:?}"))
        .total
}

/// The ids of all rows and their total, page by page, by number and by cursor alike.
async fn visited(pool: &PgPool, list: &List, query: &str, size: usize) -> (Vec<Uuid>, u64) {
    let mut conn = pool.acquire().await.unwrap();
    let mut seen = Vec::new();
    let mut cursor = String::new();
    for number in 1.. {
        let page = format!("{query}&page[size]={size}");
        let request = query::parse(&format!("{page}&page[number]={number}")).unwrap();
        let numbered: Page<(Uuid,)> = list.fetch(&mut conn, &request).await.unwrap();
        let request = query::parse(&format!("{page}{cursor}")).unwrap();
        let continued: Page<(Uuid,)> = list.fetch(&mut conn, &request).await.unwrap();
        assert_eq!(numbered.rows, continued.rows, "{query} page {number}");
        assert_eq!(numbered.total, continued.total, "{query} page {number}");
        assert_eq!(
            numbered.next_cursor, continued.next_cursor,
            "{query} page {number}"
        );
        seen.extend(continued.rows.into_iter().map(|(id,)| id));
        let Some(next) = continued.next_cursor else {
            assert_eq!(seen.len() as u64, continued.total, "{query}");
            return (seen, continued.total);
        };
        assert_eq!(seen.len(), number * size, "{query} page {number}");
        assert!(
            (seen.len() as u64) < continued.total,
            "{query} page {number}"
        );
        cursor = format!("&page[after]={next}");
    }
    unreachable!("a list ends")
}

async fn refused(pool: &PgPool, raw: &str) {
    let failure = page(pool, raw).await.map(|page| page.total).expect_err(raw);
    assert_eq!(failure.code, Code::InvalidQuery, "{raw}");
}

#[sqlx::test(migrations = false)]
async fn every_sort_pages_through_each_row_once(pool: PgPool) {
    fill(&pool).await;
    for sort in [
        "createdAt",
        "-createdAt",
        "active",
        "-active",
        "amount",
        "-quantity",
        "name",
        "nick",
        "-nick",
        "paidAt",
        "-paidAt",
        "active,-paidAt",
        "-nick,paidAt,-amount",
        "-nick,-paidAt",
    ] {
        let (seen, total) = visited(&pool, &things(), &format!("sort={sort}"), 7).await;
        assert_eq!((seen.len(), total), (100, 100), "{sort}");
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 100, "{sort}");
    }
}

#[sqlx::test(migrations = false)]
async fn the_last_page_has_no_cursor_and_a_later_one_no_rows(pool: PgPool) {
    fill(&pool).await;
    for raw in ["page[number]=5", "page[number]=100&page[size]=1000"] {
        let past = page(&pool, raw).await.unwrap();
        assert_eq!(
            (past.rows.len(), past.total, past.next_cursor),
            (0, 100, None),
            "{raw}"
        );
    }
    let exact = page(&pool, "page[size]=100").await.unwrap();
    assert_eq!((exact.rows.len(), exact.next_cursor), (100, None));
    let none = page(&pool, "filter[id]=in:").await.unwrap();
    assert_eq!((none.rows.len(), none.total), (0, 0));
}

#[sqlx::test(migrations = false)]
async fn filters_keep_the_rows_they_name(pool: PgPool) {
    fill(&pool).await;
    let wallet = "00000000-0000-7000-8000-0000000000AA";
    for (raw, count) in [
        (
            "filter[id]=00000000-0000-7000-8000-000000000001".to_owned(),
            1,
        ),
        (
            "filter[id]=nin:00000000-0000-7000-8000-000000000001".to_owned(),
            99,
        ),
        ("filter[id]=nin:".to_owned(), 100),
        ("filter[code]=cODE7".to_owned(), 1),
        ("filter[code]=in:code1,CODE2,x".to_owned(), 2),
        ("filter[code]=in:".to_owned(), 0),
        ("filter[code]=nin:".to_owned(), 100),
        ("filter[status]=open".to_owned(), 33),
        ("filter[status]=nin:open".to_owned(), 67),
        ("filter[active]=true".to_owned(), 50),
        ("filter[quantity]=gte:5&lte:6.5".to_owned(), 18),
        ("filter[quantity]=5.00".to_owned(), 9),
        ("filter[amount]=lt:-3.5".to_owned(), 11),
        ("filter[amount]=-3.5".to_owned(), 12),
        ("filter[role]=admin".to_owned(), 10),
        ("filter[role]=in:admin,nobody".to_owned(), 10),
        ("filter[role]=nin:admin".to_owned(), 90),
        ("filter[role]=nin:".to_owned(), 100),
        (format!("filter[walletId]={wallet}"), 2),
        (format!("filter[walletId]=nin:{wallet}"), 98),
        ("filter[hideShut]=true".to_owned(), 66),
        ("filter[hideShut]=false".to_owned(), 100),
        ("filter[createdAt]=2026-01-31T10:00:00.123Z".to_owned(), 100),
        (
            "filter[createdAt]=gte:2026-01-31T12:00:00.123+02:00".to_owned(),
            100,
        ),
        (
            "filter[createdAt]=gt:2026-01-31T10:00:00.123Z".to_owned(),
            0,
        ),
        ("filter[paidAt]=gte:2026-01-02&lt:2026-01-03".to_owned(), 17),
    ] {
        assert_eq!(total(&pool, &raw).await, count, "{raw}");
    }
}

#[sqlx::test(migrations = false)]
async fn forged_cursors_are_refused(pool: PgPool) {
    fill(&pool).await;
    let cursor = page(&pool, "page[size]=1")
        .await
        .unwrap()
        .next_cursor
        .unwrap();
    refused(&pool, &format!("sort=name&page[after]={cursor}")).await;
    let id = Some("00000000-0000-7000-8000-000000000001".to_owned());
    let time = Some("2026-01-31T10:00:00.123000Z".to_owned());
    for (sort, keys) in [
        ("-createdAt", vec![time.clone(), Some("x".to_owned())]),
        ("-createdAt", vec![Some("infinity".to_owned()), id.clone()]),
        ("-createdAt", vec![time.clone()]),
        ("-createdAt", vec![time.clone(), id.clone(), id.clone()]),
        ("-createdAt' or true", vec![time.clone(), id.clone()]),
    ] {
        refused(
            &pool,
            &format!("page[after]={}", cursor::encode(sort, &keys)),
        )
        .await;
    }
    for junk in ["", "x", "e30", "%F0%9F%98%80"] {
        refused(&pool, &format!("page[after]={junk}")).await;
    }
    // A null where none can be is no fault: nothing equals it.
    let nulls = cursor::encode("-createdAt", &[None, None]);
    assert_eq!(total(&pool, &format!("page[after]={nulls}")).await, 100);
}

#[sqlx::test(migrations = false)]
async fn base_filters_hold_for_rows_and_total(pool: PgPool) {
    fill(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    let wallet = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_00aa);
    let request = query::parse("page[size]=1").unwrap();
    let own = things().only_with(
        "? in (t.origin_id, t.target_id) and ? is not null",
        Some(wallet),
    );
    let page: Page<(Uuid,)> = own.fetch(&mut conn, &request).await.unwrap();
    assert_eq!((page.rows.len(), page.total), (1, 2));
    let all: Page<(Uuid,)> = things()
        .only_with("t.id = ?", None::<Uuid>)
        .fetch(&mut conn, &request)
        .await
        .unwrap();
    assert_eq!(all.total, 100);
}

#[sqlx::test(migrations = false)]
async fn whole_lists_have_no_pages(pool: PgPool) {
    const WHOLE: ListTable = ListTable::new("things", &[Field::new("code", Class::Code)])
        .sorted_by(&[asc("code")])
        .whole();
    fill(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    let list = List::new(&WHOLE, "things", Key::Text("code"));
    let request = query::parse("page[size]=5&page[number]=2").unwrap();
    let page: Page<CodeRow> = list.fetch(&mut conn, &request).await.unwrap();
    assert_eq!(
        (page.rows.len(), page.total, page.next_cursor),
        (101, 101, None)
    );
    let request = query::parse("page[after]=x").unwrap();
    let failure = list
        .fetch::<CodeRow>(&mut conn, &request)
        .await
        .unwrap_err();
    assert_eq!(failure.code, Code::InvalidQuery);
}

#[derive(Debug, sqlx::FromRow)]
struct CodeRow {
    #[sqlx(rename = "code")]
    _code: String,
}
