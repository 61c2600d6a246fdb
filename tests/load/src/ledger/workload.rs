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

    const fn wallets(self) -> u32 {
        match self {
            Self::Hot => 1_000,
            Self::Random => 100_000,
        }
    }

    /// Returns all but the last group of its wallets' ids.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Hot => "0000000a-0000-7000-8000-",
            Self::Random => "0000000b-0000-7000-8000-",
        }
    }

    fn wallet(self, number: u32) -> String {
        format!("{}{number:012x}", self.prefix())
    }

    /// Creates and funds its wallets.
    pub async fn seed(self, environment: &Environment) -> anyhow::Result<()> {
        eprintln!("seeding {} wallets …", self.wallets());
        let sql = include_str!("../../sql/wallets.sql")
            .replace(":count", &self.wallets().to_string())
            .replace(":prefix", &format!("'{}'", self.prefix()))
            .replace(":kind", &format!("'{}'", self.name()));
        let mut conn = environment.connect(None).await?;
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
            .execute(&mut conn)
            .await?;
        sqlx::raw_sql("vacuum analyze").execute(&mut conn).await?;
        environment.stack.verify_ledger()
    }

    /// Returns a new payment of 0.01.
    pub fn payment(self, operation_id: String, default_wallet: &str) -> PostRequest {
        let mut random = rand::rng();
        let origin = random.random_range(1..=self.wallets());
        let destination = match self {
            Self::Hot => default_wallet.to_owned(),
            Self::Random => {
                let other = random.random_range(1..self.wallets());
                self.wallet(other + u32::from(other >= origin))
            }
        };
        let posting = Posting {
            asset_code: "usd".to_owned(),
            amount: "0.01".to_owned(),
            origin_wallet_id: self.wallet(origin),
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

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
