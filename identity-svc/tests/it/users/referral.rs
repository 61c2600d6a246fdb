//! Referral codes at the creation of a user.

use platform::error::Code;
use proto::{
    common::v1::{ListRequest, Operator, Sort},
    identity::v1::{ListReferralsRequest, Referral, User},
};
use sqlx::PgPool;

use super::{UNKNOWN, create, emails, filter, with_code};
use crate::harness::{TestApp, code, user};

fn referrals(id: &str) -> ListReferralsRequest {
    ListReferralsRequest {
        user_id: id.to_owned(),
        list: None,
    }
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_referral_code_in_any_case_sets_the_referrer(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let code_of_ann = ann.referral_code.to_lowercase();
    let bob = create(&app, with_code("bob@x.com", &code_of_ann)).await;
    assert_eq!(bob.referral_user_id.as_ref(), Some(&ann.id));
    let referred = emails(&app, filter("referralUserId", Operator::Eq, &ann.id)).await;
    assert_eq!(referred, ["bob@x.com"]);

    let unknown = with_code("eve@x.com", "R000000000");
    let refused = app.users().create_user(unknown).await;
    assert_eq!(code(refused), Code::InviteInvalid);
    app.create_user("eve@x.com").await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_referrer_sees_who_was_referred_and_an_admin_sees_all_of_them(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let bob = create(&app, with_code("bob@x.com", &ann.referral_code)).await;
    let eve = create(&app, with_code("eve@x.com", &ann.referral_code)).await;
    create(&app, with_code("dan@x.com", &bob.referral_code)).await;
    let reduced = |user: &User| Referral {
        id: user.id.clone(),
        name: user.name.clone(),
        created_at: user.created_at,
        updated_at: user.updated_at,
        user: None,
    };

    let mut as_ann = app.users_as(&user(&ann.id));
    let own = as_ann.list_referrals(referrals(&ann.id)).await.unwrap();
    let own = own.into_inner();
    assert_eq!(own.page.unwrap().total, 2);
    assert_eq!(own.referrals, [reduced(&eve), reduced(&bob)]);

    let first = ListReferralsRequest {
        list: Some(ListRequest {
            page_size: Some(1),
            sort: vec![Sort {
                field: "createdAt".to_owned(),
                descending: false,
            }],
            ..ListRequest::default()
        }),
        ..referrals(&ann.id)
    };
    let page = app
        .users()
        .list_referrals(first)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(page.page.unwrap().total, 2);
    let whole = Referral {
        user: Some(bob.clone()),
        ..reduced(&bob)
    };
    assert_eq!(page.referrals, [whole]);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_referrals_of_others_are_not_found(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let bob = app.create_user("bob@x.com").await;
    let of_ann = app
        .users_as(&user(&bob.id))
        .list_referrals(referrals(&ann.id))
        .await;
    assert_eq!(code(of_ann), Code::UserNotFound);
    for id in [UNKNOWN, "1"] {
        let unknown = app.users().list_referrals(referrals(id)).await;
        assert_eq!(code(unknown), Code::UserNotFound, "{id}");
    }
    app.finish().await;
}
