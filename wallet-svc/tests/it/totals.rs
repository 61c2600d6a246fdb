//! Totals of the journal, whose old rows are counted once.

use platform::testing::eventually;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{DEADLINE, TestApp, equals, list, result};

/// More rows than are counted with each page.
const MANY: i64 = 10_001;

/// Deposits of a day ago, with a movement each, which nobody has posted: they follow on those that are there.
const OLD_ROWS: &str = "
    with old as (
        select n, now() - interval '1 day' as at, gen_random_uuid() as id
        from generate_series($2::bigint, $3) n),
    deposits as (
        insert into wallet.transactions
            (id, type, code, status, asset_code, amount, destination_wallet_id, system_wallet_id, reference,
             version, processed_at, created_at, updated_at)
        select id, 'deposit', 'bank:wire', 'confirmed', 'usd', 1, $1::uuid,
            '00000000-0000-7000-8000-000000000001', 'old-' || n, 2, at, at, at
        from old)
    insert into wallet.movements
        (id, wallet_id, asset_code, sequence, transaction_id, amount, balance_after, code, created_at)
    select wallet.movement_id(id, at, 0), $1::uuid, 'usd', 1000000 + n, id, 1, n, 'deposit', at from old";

/// A wallet with old rows.
struct Journal<'a> {
    app: &'a TestApp,
    wallet: String,
    rows: i64,
}

impl Journal<'_> {
    async fn add(&mut self, rows: i64) {
        let (first, last) = (self.rows + 1, self.rows + rows);
        let old = sqlx::query(OLD_ROWS).bind(self.wallet.parse::<uuid::Uuid>().unwrap());
        let old = old.bind(first).bind(last);
        old.execute(&self.app.pool).await.unwrap();
        self.rows = last;
    }

    /// Waits until rows that are added as of a day ago are not counted any more, which nobody but a test adds.
    async fn is_counted_once(&mut self, what: &str, total: impl AsyncFn() -> u64) {
        assert_eq!(total().await, rows(self.rows), "{what}");
        eventually(what, DEADLINE, async || {
            self.add(1).await;
            total().await < rows(self.rows)
        })
        .await;
    }

    /// Deletes the old rows, which the ledger is not made of.
    async fn delete(self) {
        for sql in [
            "delete from wallet.movements where sequence > 1000000",
            "delete from wallet.transactions where reference like 'old-%'",
        ] {
            sqlx::query(sql).execute(&self.app.pool).await.unwrap();
        }
    }
}

fn rows(rows: i64) -> u64 {
    u64::try_from(rows).unwrap()
}

async fn transactions(app: &TestApp, wallet_id: Option<&str>, status: Option<&str>) -> u64 {
    let filters = status.map(|status| equals("status", status));
    let request = wire::ListTransactionsRequest {
        list: Some(list(filters.into_iter().collect())),
        wallet_id: wallet_id.map(str::to_owned),
    };
    let page = result(app.admin.transactions().list_transactions(request).await);
    page.unwrap().page.unwrap().total
}

async fn activity(app: &TestApp, wallet_id: &str) -> u64 {
    let request = wire::ListActivityRequest {
        list: Some(list(vec![equals("type", "deposit")])),
        wallet_id: Some(wallet_id.to_owned()),
    };
    let page = result(app.admin.transactions().list_activity(request).await);
    page.unwrap().page.unwrap().total
}

async fn movements(app: &TestApp, wallet_id: Option<&str>) -> u64 {
    let request = wire::ListMovementsRequest {
        list: Some(list(vec![])),
        wallet_id: wallet_id.map(str::to_owned),
    };
    let page = result(app.admin.movements().list_movements(request).await);
    page.unwrap().page.unwrap().total
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn old_rows_of_the_journal_are_counted_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    let mut journal = Journal {
        app: &app,
        wallet: wallet.clone(),
        rows: 0,
    };
    journal.add(MANY).await;
    let of_wallet = Some(wallet.as_str());
    let all = async || transactions(&app, None, None).await;
    journal.is_counted_once("transactions", all).await;
    let own = async || transactions(&app, of_wallet, None).await;
    journal
        .is_counted_once("a wallet's transactions", own)
        .await;
    let acts = async || activity(&app, &wallet).await;
    journal.is_counted_once("activity", acts).await;
    let moved = async || movements(&app, None).await;
    journal.is_counted_once("movements", moved).await;
    let moved = async || movements(&app, of_wallet).await;
    journal.is_counted_once("a wallet's movements", moved).await;

    // Statuses change: all rows are counted each time.
    let confirmed = async || transactions(&app, None, Some("confirmed")).await;
    assert_eq!(confirmed().await, rows(journal.rows));
    journal.add(1).await;
    assert_eq!(confirmed().await, rows(journal.rows));

    // What is posted is counted.
    let before = (all().await, own().await, acts().await, moved().await);
    app.fund(&wallet, "1", "usd").await;
    let after = (all().await, own().await, acts().await, moved().await);
    let (transactions, own, activity, movements) = before;
    assert_eq!(
        after,
        (transactions + 1, own + 1, activity + 1, movements + 1)
    );
    journal.delete().await;
    app.finish().await;
}
