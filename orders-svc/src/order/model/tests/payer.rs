//! Who may pay an order.

use platform::auth::{Caller, Kind, Role};

use super::*;
use crate::order::model::{Payer, UserId, Wallet, WalletId};

struct Fixture {
    ids: Ids,
    order: OrderWithLines,
    default_wallet_id: WalletId,
}

impl Fixture {
    fn new() -> Self {
        let ids = Ids::seeded(3);
        Self {
            order: order_of("10"),
            default_wallet_id: ids.next(),
            ids,
        }
    }

    fn check(&self, caller: &Caller, payer: Payer) -> Result<(), Error> {
        payer.check(caller, &self.order.order, self.default_wallet_id)
    }

    fn owned_by(&self, owner_id: Option<UserId>) -> Payer {
        Payer {
            wallet_id: self.ids.next(),
            wallet: Some(Wallet { owner_id }),
        }
    }

    fn missing(&self) -> Payer {
        Payer {
            wallet_id: self.ids.next(),
            wallet: None,
        }
    }
}

fn user(id: UserId) -> Caller {
    Caller {
        kind: Kind::User,
        subject: id.to_string(),
        roles: vec![Role::User],
    }
}

fn admin() -> Caller {
    Caller {
        kind: Kind::Key,
        subject: "key".into(),
        roles: vec![Role::Admin],
    }
}

#[test]
fn the_orders_own_wallet_pays_while_it_belongs_to_the_user() {
    let fixture = Fixture::new();
    let order = &fixture.order.order;
    let own = |owner_id| Payer {
        wallet_id: order.wallet_id,
        ..fixture.owned_by(owner_id)
    };
    let buyer = user(order.user_id);
    assert!(fixture.check(&buyer, own(Some(order.user_id))).is_ok());
    let unknown = Payer {
        wallet: None,
        ..own(None)
    };
    for payer in [own(Some(fixture.ids.next())), own(None), unknown] {
        let refused = fixture.check(&buyer, payer);
        assert_refused(refused, Code::ValidationFailed, &["walletId"]);
        assert!(fixture.check(&admin(), payer).is_ok());
    }
}

#[test]
fn a_user_pays_from_its_own_wallets_only() {
    let fixture = Fixture::new();
    let user_id = fixture.order.order.user_id;
    let caller = user(user_id);
    assert!(
        fixture
            .check(&caller, fixture.owned_by(Some(user_id)))
            .is_ok()
    );
    for other in [
        fixture.owned_by(Some(fixture.ids.next())),
        fixture.owned_by(None),
        fixture.missing(),
    ] {
        let refused = fixture.check(&caller, other);
        assert_refused(refused, Code::ValidationFailed, &["walletId"]);
    }
}

#[test]
fn an_admin_pays_from_every_wallet_that_exists() {
    let fixture = Fixture::new();
    let owner = fixture.ids.next();
    for payer in [fixture.owned_by(Some(owner)), fixture.owned_by(None)] {
        assert!(fixture.check(&admin(), payer).is_ok());
    }
    let missing = fixture.check(&admin(), fixture.missing());
    assert_refused(missing, Code::ValidationFailed, &["walletId"]);
}

#[test]
fn the_default_wallet_cannot_pay_itself() {
    let mut fixture = Fixture::new();
    // Even where it is the buyer's primary wallet.
    fixture.order.order.wallet_id = fixture.default_wallet_id;
    let itself = Payer {
        wallet_id: fixture.default_wallet_id,
        wallet: None,
    };
    let failure = Failure::from(fixture.check(&admin(), itself).unwrap_err());
    assert_eq!(failure.fields[0].field, "walletId");
    assert_eq!(failure.fields[0].code.as_str(), "duplicate");
    assert_eq!(failure.fields[0].message, "a wallet cannot pay itself");
}
