//! Lists whose ids hold the time of their rows.

use super::*;

/// 60 rows at six times, with ids that hold them.
pub(super) async fn fill_in_order_of_time(pool: &PgPool) {
    let sql = "
        create table things (id uuid primary key, name text, created_at timestamptz(3) not null);
        insert into things
        select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
            || '7' || substr(md5(n::text), 1, 19))::uuid, 'Thing ' || n % 7, at
        from (select n, timestamptz '2026-01-31T10:00:00Z' + n % 6 * interval '1 millisecond' as at
              from generate_series(1, 60) n) made";
    sqlx::raw_sql(sql).execute(pool).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_list_in_the_order_of_ids_is_that_by_time(pool: PgPool) {
    fill_in_order_of_time(&pool).await;
    let list = |key| List::new(&THINGS, "things t", key).select("t.id");
    for filter in [
        "",
        "filter[createdAt]=2026-01-31T10:00:00.002Z&",
        "filter[createdAt]=gte:2026-01-31T10:00:00.002Z&",
        "filter[createdAt]=gt:2026-01-31T10:00:00.002Z&",
        "filter[createdAt]=lte:2026-01-31T10:00:00.002Z&",
        "filter[createdAt]=lt:2026-01-31T10:00:00.002Z&",
        "filter[createdAt]=gt:2026-01-31T10:00:00.001Z&lte:2026-01-31T10:00:00.004Z&",
        "filter[createdAt]=gte:2026-01-31T10:00:00.0015Z&",
        "filter[createdAt]=lt:1970-01-01T00:00:00Z&",
        "filter[createdAt]=lte:9999-12-31T23:59:59Z&",
    ] {
        for sort in ["createdAt", "-createdAt", "name,-createdAt"] {
            let query = format!("{filter}sort={sort}");
            let (by_time, total) = visited(&pool, &list(Key::Id("t.id")), &query, 7).await;
            let by_id = visited(&pool, &list(Key::TimeOrderedId("t.id")), &query, 7).await;
            assert_eq!(by_id, (by_time, total), "{query}");
        }
    }
}
