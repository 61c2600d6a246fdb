//! When an item is due again after an attempt.

use chrono::TimeDelta;
use platform::{clock::Clock, saga::Outcome};
use sqlx::PgPool;
use uuid::Uuid;

use super::{TABLE, attempt_once, create_items, create_tables, execute, item};

#[sqlx::test(migrations = false)]
async fn failures_are_retried_with_growing_delays(pool: PgPool) {
    create_items(&pool, 1).await;
    for (attempts, delay) in [(3, 4.0), (4, 8.0), (5, 16.0), (6, 30.0), (100, 30.0)] {
        let before = attempts - 1;
        let due = format!("update things.items set due_at = now(), attempts = {before}");
        execute(&pool, due).await;
        attempt_once(&pool, || Outcome::Failed("no route".into())).await;
        let item = item(&pool).await;
        assert_eq!(item.attempts, attempts);
        assert_eq!(item.last_error.as_deref(), Some("no route"));
        // Less what has passed since.
        assert!(
            item.due_in > delay / 2.0 && item.due_in <= delay,
            "{item:?}"
        );
    }
}

#[sqlx::test(migrations = false)]
async fn an_unknown_outcome_is_due_again_immediately(pool: PgPool) {
    create_items(&pool, 1).await;
    attempt_once(&pool, || Outcome::Unknown("response lost".into())).await;
    let unknown = item(&pool).await;
    assert!(unknown.due_in <= 0.0, "{unknown:?}");
    assert_eq!(unknown.attempts, 1);
    assert_eq!(unknown.last_error.as_deref(), Some("response lost"));

    attempt_once(&pool, || Outcome::Unknown("response lost".into())).await;
    let again = item(&pool).await;
    assert!(again.due_in > 0.0, "then with backoff: {again:?}");
}

#[sqlx::test(migrations = false)]
async fn an_undecided_item_is_due_when_it_is_decided(pool: PgPool) {
    fn undecided(seconds: i64) -> Outcome {
        Outcome::Undecided {
            error: "refused".into(),
            until: Clock::system().now() + TimeDelta::seconds(seconds),
        }
    }
    create_items(&pool, 1).await;
    attempt_once(&pool, || undecided(60)).await;
    let later = item(&pool).await;
    assert!(later.due_in > 30.0 && later.due_in <= 60.0, "{later:?}");
    assert_eq!(later.last_error.as_deref(), Some("refused"));

    execute(&pool, "update things.items set due_at = now()").await;
    attempt_once(&pool, || undecided(-60)).await;
    let soon = item(&pool).await;
    assert!(soon.due_in > 0.0 && soon.due_in <= 1.0, "{soon:?}");
}

#[sqlx::test(migrations = false)]
async fn a_request_gives_back_only_an_item_that_no_worker_has(pool: PgPool) {
    create_tables(&pool).await;
    let id = Uuid::nil();
    let held = format!(
        "insert into things.items (item_id, due_at) values ('{id}', now() + interval '10 seconds')"
    );
    execute(&pool, held).await;
    let lost = std::io::Error::other("response lost");
    TABLE.retry_now(&pool, id, &lost).await.unwrap();
    let given_back = item(&pool).await;
    assert!(given_back.due_in <= 0.0, "{given_back:?}");
    assert_eq!(given_back.last_error.as_deref(), Some("response lost"));

    attempt_once(&pool, || Outcome::Failed("no route".into())).await;
    TABLE.retry_now(&pool, id, &lost).await.unwrap();
    let item = item(&pool).await;
    assert_eq!(item.last_error.as_deref(), Some("no route"));
}
