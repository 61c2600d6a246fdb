//! Migrations: after a rollback, and the services' copies of the messaging tables.

use std::{borrow::Cow, fs, path::Path};

use platform::pg;
use sqlx::{
    ConnectOptions as _, SqlSafeStr as _,
    migrate::{Migration, MigrationType, Migrator},
    postgres::PgConnectOptions,
};

/// Returns a release with the migrations of these versions.
fn release<const N: usize>(versions: [(i64, &'static str); N]) -> Migrator {
    let migrations = versions.map(|(version, sql)| {
        let name = Cow::Borrowed("a migration");
        Migration::new(
            version,
            name,
            MigrationType::Simple,
            sql.into_sql_str(),
            false,
        )
    });
    Migrator::with_migrations(migrations.into())
}

#[sqlx::test(migrations = false)]
async fn a_schema_that_a_newer_release_has_migrated_suits_the_one_before(
    _: sqlx::postgres::PgPoolOptions,
    options: PgConnectOptions,
) {
    let url = options.to_url_lossy().to_string();
    let (first, second) = ((1, "create table a ()"), (2, "create table b ()"));
    pg::migrate(&url, &release([first, second])).await.unwrap();
    pg::migrate(&url, &release([first])).await.unwrap();

    let changed = release([(1, "create table c ()")]);
    let error = pg::migrate(&url, &changed).await.unwrap_err();
    assert!(error.to_string().contains("modified"), "{error}");
    let gap = release([second]);
    let error = pg::migrate(&url, &gap).await.unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
}

#[test]
fn messaging_migrations_of_all_services_equal_the_template() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let template = fs::read_to_string(root.join("platform/sql/messaging.sql")).unwrap();
    let mut contexts = Vec::new();
    for folder in fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let Some(context) = name.strip_suffix("-svc") else {
            continue;
        };
        let path = folder.join("migrations/20261129000100_create_messaging.sql");
        let migration = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            migration,
            template.replace(":schema", context),
            "{}",
            path.display()
        );
        contexts.push(context.to_owned());
    }
    contexts.sort();
    assert_eq!(contexts, ["catalog", "identity", "orders", "wallet"]);
}
