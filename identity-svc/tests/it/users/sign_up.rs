//! Sign-up by anybody.

use platform::{clock::Clock, error::Code, idempotency};
use proto::identity::v1::SignUpRequest;
use sqlx::PgPool;

use super::get;
use crate::harness::{TestApp, admin, code, gateway, keyed, noon, user};

fn sign_up(email: &str) -> SignUpRequest {
    SignUpRequest {
        email: email.to_owned(),
        password: "Abcdefg1".to_owned(),
        name: Some("Ann".to_owned()),
        locale: Some("de".to_owned()),
        custom_data: Some("{\"a\":1}".to_owned()),
        code: None,
    }
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_open_sign_up_makes_an_unapproved_user(pool: PgPool) {
    let flags = ["--sign-up=open"];
    let app = TestApp::start_with(pool, Clock::fixed(noon()), &flags).await;
    let referrer = app.create_user("bob@x.com").await;
    let request = || {
        let message = SignUpRequest {
            code: Some(referrer.referral_code.clone()),
            ..sign_up("ann@x.com")
        };
        keyed(message, "k", "00")
    };
    let mut users = app.users_as(&gateway());
    let created = users.sign_up(request()).await.unwrap();
    let replayed = users.sign_up(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    let ann = created.into_inner().user.unwrap();
    assert!(!ann.approved && !ann.blocked && !ann.verified);
    assert_eq!(ann.roles, ["user"]);
    assert_eq!((ann.name(), ann.locale()), ("Ann", "de"));
    assert_eq!(ann.custom_data, "{\"a\":1}");
    assert_eq!(ann.referral_user_id.as_ref(), Some(&referrer.id));
    let read = app.users().get_user(get(&ann.id)).await.unwrap();
    assert_eq!(read.into_inner().user.as_ref(), Some(&ann));

    let mut as_ann = app.users_as(&user(&ann.id));
    let by_user = as_ann.sign_up(sign_up("eve@x.com")).await;
    assert!(by_user.is_ok());
    let taken = users.sign_up(sign_up("Ann@x.com")).await;
    assert_eq!(code(taken), Code::EmailTaken);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_closed_sign_up_is_for_admins(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    for (caller, expected) in [
        (gateway(), Code::Unauthenticated),
        (user(&ann.id), Code::Forbidden),
    ] {
        // The refusal comes before that of the fields.
        let refused = app
            .users_as(&caller)
            .sign_up(SignUpRequest::default())
            .await;
        assert_eq!(code(refused), expected);
    }
    let by_admin = app.users_as(&admin()).sign_up(sign_up("bob@x.com")).await;
    assert!(by_admin.is_ok());
    app.finish().await;
}
