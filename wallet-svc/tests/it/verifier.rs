//! The verifier finds what the database itself would let pass.

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use wallet_svc::verify::{self, find_violations};

use crate::bed::Bed;

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_was_tampered_with_is_named(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("10").await, bed.wallet().await);
    bed.transfer(&a, &b, "4", true).await.unwrap();
    bed.withdraw(&b, "1").await.unwrap();
    assert_eq!(find_violations(&bed.pool).await.unwrap(), []);
    verify::verify(bed.pool.clone()).await.unwrap();
    for (tamper, repair, rule) in [
        (
            "update wallet.balances set amount = amount + 1 where sequence = 1 and not system",
            "update wallet.balances set amount = amount - 1 where sequence = 1 and not system",
            "a balance is the sum of its movements",
        ),
        (
            "update wallet.balances set held = held + 1 where held > 0",
            "update wallet.balances set held = held - 1 where held > 0",
            "held is what open debits take",
        ),
        (
            "update wallet.movements set amount = -3 where amount = -4",
            "update wallet.movements set amount = -4 where amount = -3",
            "movements sum to zero per transaction and asset",
        ),
        (
            "update wallet.movements set balance_after = 7 where balance_after = 6",
            "update wallet.movements set balance_after = 6 where balance_after = 7",
            "each balance_after is the sum of the movements up to it",
        ),
        (
            "update wallet.movements set sequence = 3 where sequence = 2",
            "update wallet.movements set sequence = 2 where sequence = 3",
            "movements are counted without a gap",
        ),
    ] {
        bed.execute(tamper).await;
        let found = find_violations(&bed.pool).await.unwrap();
        assert!(
            found.iter().any(|violation| violation.rule == rule),
            "{rule}: {found:?}"
        );
        assert!(verify::verify(bed.pool.clone()).await.is_err());
        bed.execute(repair).await;
    }
    bed.end().await;
}
