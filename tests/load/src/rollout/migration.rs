//! A migration that no release has: it expands a schema, as the next one would.

use std::borrow::Cow;

use platform::pg;
use sqlx::{
    AssertSqlSafe, SqlSafeStr as _,
    migrate::{Migration, MigrationType, Migrator},
};
use stack::{Service, Stack, Workspace};

/// Later than those of the tree.
const VERSION: i64 = 99_991_231_000_000;

/// Does what the service's command `migrate` does, with one more migration: a nullable column, and one with
/// a default, in the table of its most frequent statements.
pub async fn add_column(stack: &Stack, service: Service) -> anyhow::Result<()> {
    let context = service.context();
    let table = match service {
        Service::Catalog => "catalog.products",
        Service::Orders => "orders.orders",
        Service::Wallet => "wallet.balances",
        Service::Identity => "identity.users",
    };
    let sql = format!(
        "alter table {table} add column next_note text,
             add column next_count bigint not null default 0"
    );
    let root = Workspace::current()?.root;
    let migrations = root.join(service.program()).join("migrations");
    let mut migrations = Migrator::new(migrations).await?.migrations.into_owned();
    migrations.push(Migration::new(
        VERSION,
        Cow::Borrowed("expand for the next release"),
        MigrationType::Simple,
        AssertSqlSafe(sql).into_sql_str(),
        false,
    ));
    let mut migrator = Migrator::with_migrations(migrations);
    migrator.dangerous_set_table_name(format!("{context}._sqlx_migrations"));
    pg::migrate(&stack.wiring().owner_url(service)?, &migrator).await?;
    println!("migrated {table} while both processes run");
    Ok(())
}
