//! Patterns of payments: many wallets into one, or between any two.

use std::fmt;

use proto::wallet::v1::{PostRequest, Posting};
use rand::Rng as _;

use crate::environment::Environment;

/// A pattern of payments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Workload {
    /// 1 000 wallets pay into the default wallet.
    Hot,
    /// Between two of 100 000 wallets at random.
    Random,
}

impl Workload {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Random => "random",
        }
    }

    /// Returns the wallets that pay in `bench ledger`.
    pub const fn wallets(self) -> Wallets {
        match self {
            Self::Hot => Wallets {
                kind: self.name(),
                prefix: "0000000a-0000-7000-8000-",
                count: 1_000,
            },
            Self::Random => Wallets {
                kind: self.name(),
                prefix: "0000000b-0000-7000-8000-",
                count: 100_000,
            },
        }
    }

    /// Returns a new payment of 0.01.
    pub fn payment(
        self,
        wallets: Wallets,
        operation_id: String,
        default_wallet: &str,
    ) -> PostRequest {
        let mut random = rand::rng();
        let origin = random.random_range(1..=wallets.count);
        let destination = match self {
            Self::Hot => default_wallet.to_owned(),
            Self::Random => {
                let other = random.random_range(1..wallets.count);
                wallets.id(other + u32::from(other >= origin))
            }
        };
        let posting = Posting {
            asset_code: "usd".to_owned(),
            amount: "0.01".to_owned(),
            origin_wallet_id: wallets.id(origin),
            destination_wallet_id: destination,
            code: "pay".to_owned(),
            ..Posting::default()
        };
        PostRequest {
            operation_id,
            postings: vec![posting],
            ..PostRequest::default()
        }
    }
}

/// Wallets that pay, numbered from 1.
#[derive(Debug, Clone, Copy)]
pub struct Wallets {
    /// Their name in references.
    pub kind: &'static str,
    /// All but the last group of their ids.
    pub prefix: &'static str,
    /// How many there are.
    pub count: u32,
}

impl Wallets {
    /// Returns the id of a wallet.
    pub fn id(self, number: u32) -> String {
        format!("{}{number:012x}", self.prefix)
    }

    /// Creates and funds the wallets, at a time that is an expression in SQL.
    pub async fn seed(self, environment: &Environment, created_at: &str) -> anyhow::Result<()> {
        eprintln!("seeding {} wallets …", self.count);
        let sql = include_str!("../../sql/wallets.sql")
            .replace(":created_at", created_at)
            .replace(":count", &self.count.to_string())
            .replace(":prefix", &format!("'{}'", self.prefix))
            .replace(":kind", &format!("'{}'", self.kind));
        let mut conn = environment.connect(None).await?;
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
            .execute(&mut conn)
            .await?;
        sqlx::raw_sql("vacuum analyze").execute(&mut conn).await?;
        environment.stack.verify_ledger()
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
