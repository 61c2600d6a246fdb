//! How far a pass has got, in memory and in `wallet.verification`, from where another process continues
//! it.

use chrono::{DateTime, Utc};
use platform::pg;
use sqlx::PgPool;
use uuid::Uuid;

/// The tables of a pass, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub(super) enum Table {
    Movements,
    Balances,
    Transactions,
    Bonuses,
}

impl Table {
    pub(super) const fn next(self) -> Option<Self> {
        match self {
            Self::Movements => Some(Self::Balances),
            Self::Balances => Some(Self::Transactions),
            Self::Transactions => Some(Self::Bonuses),
            Self::Bonuses => None,
        }
    }

    /// Returns the statement that checks a slice.
    pub(super) const fn checks(self) -> &'static str {
        match self {
            Self::Movements => include_str!("checks/movements.sql"),
            Self::Balances => include_str!("checks/balances.sql"),
            Self::Transactions => include_str!("checks/transactions.sql"),
            Self::Bonuses => include_str!("checks/bonuses.sql"),
        }
    }
}

/// The key of a row; tables with shorter keys leave the name empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Key {
    pub id: Uuid,
    /// The asset, or the beneficiary of a bonus.
    pub name: String,
}

/// The last row that was checked.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Position {
    #[sqlx(rename = "table_name")]
    pub table: Table,
    #[sqlx(flatten)]
    pub after: Key,
}

impl Position {
    pub(super) fn start() -> Self {
        Self::start_of(Table::Movements)
    }

    pub(super) fn start_of(table: Table) -> Self {
        let after = Key::default();
        Self { table, after }
    }
}

/// The progress of a pass.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Progress {
    #[sqlx(flatten)]
    pub position: Position,
    /// Number of violations found so far.
    pub violations: i64,
    pub started_at: DateTime<Utc>,
}

impl Progress {
    /// Returns the progress of the current pass, or begins one.
    pub(super) async fn open(pool: &PgPool) -> Result<Self, sqlx::Error> {
        let start = Position::start();
        let open = sqlx::query_as(
            "insert into wallet.verification as pass
                 (table_name, id, name, violations, started_at)
             values ($1, $2, $3, 0, now())
             on conflict (is_only) do update set violations = pass.violations
             returning table_name, id, name, violations, started_at",
        )
        .bind(start.table)
        .bind(start.after.id)
        .bind(start.after.name)
        .fetch_one(pool);
        pg::bounded(open).await
    }

    /// Stores how far the pass has got.
    pub(super) async fn store(&self, pool: &PgPool) -> Result<(), sqlx::Error> {
        let Position { table, after } = &self.position;
        let store = sqlx::query(
            "update wallet.verification
             set table_name = $1, id = $2, name = $3, violations = $4",
        )
        .bind(table)
        .bind(after.id)
        .bind(&after.name)
        .bind(self.violations)
        .execute(pool);
        pg::bounded(store).await.map(drop)
    }

    /// Ends the pass. Returns the seconds since it began.
    pub(super) async fn end(pool: &PgPool) -> Result<Option<f64>, sqlx::Error> {
        let end = sqlx::query_scalar(
            "delete from wallet.verification
             returning extract(epoch from now() - started_at)::float8",
        )
        .fetch_optional(pool);
        pg::bounded(end).await
    }
}
