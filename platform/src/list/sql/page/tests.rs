use proto::{
    common::v1::{ListRequest, Sort},
    lists::{Class, Field, ListTable, asc},
};
use sqlx::{
    ConnectOptions as _, Connection as _, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::*;
use crate::{
    error::Code,
    list::{Key, List},
    pg,
};

const TEXTS: ListTable =
    ListTable::new("texts", &[Field::new("n", Class::Number).sortable()]).sorted_by(&[asc("n")]);

/// A list of texts with these lengths.
async fn texts(pool: &PgPool, lengths: &[usize]) {
    let lengths: Vec<_> = lengths
        .iter()
        .map(|one| i32::try_from(*one).unwrap())
        .collect();
    sqlx::query(
        "create table texts as
         select n, repeat('x', length) as text
         from unnest($1::integer[]) with ordinality as texts (length, n)",
    )
    .bind(lengths)
    .execute(pool)
    .await
    .unwrap();
}

async fn page(pool: &PgPool, after: Option<String>) -> Page<(String,)> {
    let mut conn = pool.acquire().await.unwrap();
    let request = ListRequest {
        page_size: Some(100),
        page_after: after,
        ..ListRequest::default()
    };
    let list = List::new(&TEXTS, "texts", Key::Text("n")).select("text");
    list.fetch(&mut conn, &request).await.unwrap()
}

fn encode(page: Page<(String,)>) -> (Vec<usize>, PageInfo) {
    let (rows, info) = page.encode(|(field,)| Sort {
        field,
        descending: false,
    });
    (rows.iter().map(|row| row.field.len()).collect(), info)
}

#[sqlx::test(migrations = false)]
async fn a_page_ends_where_its_rows_would_pass_the_limit(pool: PgPool) {
    const MIB: usize = 1024 * 1024;
    let lengths = [
        vec![MIB; 19],
        vec![100; 60],
        vec![9 * MIB, 100, 20 * MIB, 7 * MIB],
    ]
    .concat();
    texts(&pool, &lengths).await;
    let mut pages = Vec::new();
    let mut after = None;
    loop {
        let (rows, info) = encode(page(&pool, after).await);
        assert_eq!(info.total, lengths.len() as u64);
        pages.push(rows);
        if info.next_cursor.is_empty() {
            break;
        }
        after = Some(info.next_cursor);
    }
    assert_eq!(pages.concat(), lengths);
    let counts: Vec<_> = pages.iter().map(Vec::len).collect();
    // 7 of 1 MiB and their overhead; 5 and the small ones; each of the large ones.
    assert_eq!(counts, [7, 7, 65, 1, 1, 1, 1]);
}

#[sqlx::test(migrations = false)]
async fn a_page_of_large_rows_can_end_after_any_of_them(pool: PgPool) {
    texts(&pool, &[500_000, 500_001, 500_002, 500_003]).await;
    let (rows, info) = encode(page(&pool, None).await);
    assert_eq!(rows, [500_000, 500_001, 500_002, 500_003]);
    assert_eq!((info.next_cursor.as_str(), info.row_cursors.len()), ("", 4));
    for (n, cursor) in (1..).zip(info.row_cursors) {
        assert_eq!(encode(page(&pool, Some(cursor)).await).0, rows[n..]);
    }

    let mut cut = page(&pool, None).await;
    cut.truncate(2);
    let (_, info) = encode(cut);
    let rest = encode(page(&pool, Some(info.next_cursor)).await);
    assert_eq!(rest.0, rows[2..]);
}

#[sqlx::test(migrations = false)]
async fn a_page_of_small_rows_says_one_cursor(pool: PgPool) {
    texts(&pool, &[1_000; 101]).await;
    let (rows, info) = encode(page(&pool, None).await);
    assert_eq!((rows.len(), info.row_cursors.len()), (100, 0));
    let rest = encode(page(&pool, Some(info.next_cursor)).await);
    assert_eq!((rest.0.len(), rest.1.next_cursor.as_str()), (1, ""));

    let mut whole = page(&pool, None).await;
    whole.truncate(0);
    assert_eq!(whole.rows.len(), 1);
}

#[sqlx::test(migrations = false)]
async fn a_list_is_planned_for_its_values(_: PgPoolOptions, options: PgConnectOptions) {
    let url = options.to_url_lossy();
    let pool = pg::connect(url.as_str(), &pg::Options::new("platform-tests")).unwrap();
    texts(&pool, &[1]).await;
    let settings = "concat_ws(' ', current_setting('plan_cache_mode'),
         current_setting('enable_seqscan'), current_setting('enable_hashjoin'),
         current_setting('enable_mergejoin')) as text";
    let list = List::new(&TEXTS, "texts", Key::Text("n")).select(settings);
    let mut conn = pool.acquire().await.unwrap();
    let page = list.fetch(&mut conn, &ListRequest::default()).await;
    let page: Page<(String,)> = page.unwrap();
    assert_eq!(page.rows[0].0, "force_custom_plan on on on");
}

/// A list whose statement runs for as long as the table's text says.
fn slow() -> List {
    let waits = "pg_sleep(length(text) / 1000.0) is not null";
    List::new(&TEXTS, "texts", Key::Text("n"))
        .select("text")
        .only(waits)
}

#[sqlx::test(migrations = false)]
async fn a_list_that_takes_longer_than_a_second_is_ended(pool: PgPool) {
    texts(&pool, &[30_000]).await;
    let mut conn = pool.acquire().await.unwrap();
    let started = std::time::Instant::now();
    let page: Result<Page<(String,)>, _> = slow().fetch(&mut conn, &ListRequest::default()).await;
    let failure = page.unwrap_err();
    assert_eq!(failure.code, Code::Timeout);
    assert!(failure.retry_after.is_some());
    let elapsed = started.elapsed();
    assert!((1..10).contains(&elapsed.as_secs()), "{elapsed:?}");
    // The connection is as it was.
    let limit: String = sqlx::query_scalar("show statement_timeout")
        .fetch_one(&mut *conn)
        .await
        .unwrap();
    assert_eq!(limit, "0");
    let write = sqlx::query("insert into texts values (2, 'x')");
    write.execute(&mut *conn).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_list_inside_a_transaction_is_ended_too_and_the_transaction_goes_on(pool: PgPool) {
    texts(&pool, &[30_000]).await;
    let mut conn = pool.acquire().await.unwrap();
    let mut tx = conn.begin().await.unwrap();
    let page: Result<Page<(String,)>, _> = slow().fetch(&mut tx, &ListRequest::default()).await;
    assert_eq!(page.unwrap_err().code, Code::Timeout);
    let write = sqlx::query("insert into texts values (2, 'x')");
    write.execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
}
