//! Idempotency keys: one effect, one answer.

use platform::{
    error::Failure,
    idempotency::{HASH, KEY, PATH, is_replay},
};
use proto::orders::v1::{CreateOrderRequest, Order, PayOrderRequest};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tonic::Request;

use crate::bed::{Bed, refused};

fn keyed<T>(mut request: Request<T>, key: &str, path: &str, hash: &str) -> Request<T> {
    for (name, value) in [(KEY, key), (PATH, path), (HASH, hash)] {
        request.metadata_mut().insert(name, value.parse().unwrap());
    }
    request
}

impl Bed {
    async fn create_keyed(
        &self,
        cart: CreateOrderRequest,
        key: &str,
        hash: &str,
    ) -> Result<(Order, bool), Failure> {
        let request = keyed(self.admin(cart), key, "POST /orders", hash);
        let answer = self.orders().create_order(request).await;
        let answer = answer.map_err(|status| Failure::from_status(&status))?;
        let replayed = is_replay(answer.metadata());
        Ok((answer.into_inner().order.unwrap(), replayed))
    }

    async fn pay_keyed(&self, id: &str, key: &str) -> Result<(Order, bool), Failure> {
        let request = PayOrderRequest {
            id: id.to_owned(),
            ..PayOrderRequest::default()
        };
        let path = format!("POST /orders/{id}/pay");
        let request = keyed(self.admin(request), key, &path, "00");
        let answer = self.orders().pay_order(request).await;
        let answer = answer.map_err(|status| Failure::from_status(&status))?;
        let replayed = is_replay(answer.metadata());
        Ok((answer.into_inner().order.unwrap(), replayed))
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_repeat_gets_the_first_answer(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let product = bed.add_product("50.00", "0", "0");
    let mut cart = bed.cart(&[(&product, 1)]);
    let (unpaid, _) = bed.create_keyed(cart.clone(), "a", "00").await.unwrap();
    cart.wallet_id = Some(bed.user.primary_wallet_id.clone());
    let (paid, replayed) = bed.create_keyed(cart.clone(), "b", "01").await.unwrap();
    assert!(!replayed);
    // The answer does not depend on what the others say by now.
    bed.world.state().products.clear();
    let again = bed.create_keyed(cart.clone(), "b", "01").await.unwrap();
    assert_eq!(again, (paid, true));
    assert_eq!(bed.money(), "50.00000000");
    let other_body = bed.create_keyed(cart, "b", "02").await;
    assert_eq!(refused(other_body).0, "idempotency_key_reused");

    let first = bed.pay_keyed(&unpaid.id, "c").await.unwrap();
    let again = bed.pay_keyed(&unpaid.id, "c").await.unwrap();
    assert_eq!((first.0, true), again);
    assert_eq!(
        refused(bed.pay_keyed(&unpaid.id, "d").await).0,
        "invalid_state"
    );
    assert_eq!(
        (&*bed.money(), bed.count("orders").await),
        ("0.00000000", 2)
    );
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refusal_is_judged_afresh(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let product = bed.add_product("150.00", "0", "0");
    let mut cart = bed.cart(&[(&product, 1)]);
    cart.wallet_id = Some(bed.user.primary_wallet_id.clone());
    for _ in 0..2 {
        let answer = bed.create_keyed(cart.clone(), "a", "00").await;
        assert_eq!(refused(answer).0, "insufficient_funds");
    }
    bed.world.fund(&bed.user.primary_wallet_id, "usd", "150.00");
    let (_, replayed) = bed.create_keyed(cart, "a", "00").await.unwrap();
    assert!(!replayed);
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn parallel_repeats_have_one_effect(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let product = bed.add_product("10.00", "0", "0");
    let mut cart = bed.cart(&[(&product, 1)]);
    cart.wallet_id = Some(bed.user.primary_wallet_id.clone());
    let creates = (0..10).map(|_| bed.create_keyed(cart.clone(), "a", "00"));
    for answer in futures::future::join_all(creates).await {
        match answer {
            Ok((order, _)) => assert_eq!(&*order.paid_amount, "10.00000000"),
            Err(failure) => assert_eq!(failure.code.as_str(), "idempotency_key_in_use"),
        }
    }
    assert_eq!(
        (&*bed.money(), bed.count("orders").await),
        ("90.00000000", 1)
    );
}
