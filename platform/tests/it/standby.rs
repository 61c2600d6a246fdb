//! The warning of a standby that commits do not wait for.

use platform::{pg, testing::Log};
use sqlx::{
    ConnectOptions as _,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tracing::instrument::WithSubscriber as _;

const WARNING: &str = "synchronous_standby_names is empty, a failover to the standby may lose";

/// The test's own table stands before the server's view of its standbys in the search path.
#[sqlx::test(migrations = false)]
async fn a_service_warns_of_a_standby_that_commits_do_not_wait_for(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let mut url = options.to_url_lossy();
    url.query_pairs_mut()
        .append_pair("options", "-c search_path=public,pg_catalog");
    let pool = pg::connect(url.as_str(), &pg::Options::new("platform-tests")).unwrap();
    let standbys = "create table public.pg_stat_replication (pid integer)";
    sqlx::raw_sql(standbys).execute(&pool).await.unwrap();
    let log = Log::default();
    let starts = async || {
        let ready = pg::wait_until_ready(&pool).with_subscriber(log.subscriber());
        ready.await.unwrap();
    };

    starts().await;
    assert!(!log.contains(WARNING), "without a standby");
    let attach = "insert into public.pg_stat_replication values (1)";
    sqlx::raw_sql(attach).execute(&pool).await.unwrap();
    starts().await;
    assert!(log.contains(WARNING));
    assert!(log.contains("WARN"));
}
