//! Indexes that are dropped while rows are written in sets: to make one of all rows takes a fraction of the time.

use sqlx::{AssertSqlSafe, PgConnection};

/// The statements for the indexes of some tables, and for the constraints that have one.
const STATEMENTS: &str = "
    select format('alter table %s drop constraint %I', conrelid::regclass, conname),
        format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    from pg_constraint
    where conrelid = any($1::text[]::regclass[]) and contype in ('p', 'u')
    union all
    select format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
    from pg_index
    where indrelid = any($1::text[]::regclass[])
        and not exists (select from pg_constraint where conindid = indexrelid)";

/// Dropped indexes.
#[derive(Debug)]
pub struct DroppedIndexes {
    create: Vec<String>,
}

impl DroppedIndexes {
    /// Drops the indexes of these tables.
    pub async fn of(conn: &mut PgConnection, tables: &[&str]) -> anyhow::Result<Self> {
        let statements = sqlx::query_as(STATEMENTS).bind(tables);
        let statements: Vec<(String, String)> = statements.fetch_all(&mut *conn).await?;
        let (drop, create): (Vec<_>, Vec<_>) = statements.into_iter().unzip();
        execute(conn, drop).await?;
        Ok(Self { create })
    }

    /// Creates them as they were.
    pub async fn create(self, conn: &mut PgConnection) -> anyhow::Result<()> {
        execute(conn, self.create).await
    }
}

async fn execute(conn: &mut PgConnection, statements: Vec<String>) -> anyhow::Result<()> {
    for statement in statements {
        sqlx::raw_sql(AssertSqlSafe(statement))
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}
