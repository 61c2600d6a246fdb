//! Forgotten passwords.

use platform::{error::Code, idempotency};
use proto::identity::v1::{ForgotPasswordRequest, ResetPasswordRequest};
use sqlx::PgPool;

use super::{Mailing, NEW_PASSWORD, is_invalid_token};
use crate::harness::{code, error, gateway, keyed};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_forgotten_password_is_reset_once_with_a_mailed_token(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    let ann = mailing.app.create_user("ann@x.com").await;
    let old = mailing.password_hash(&ann.id).await;
    mailing.forgot("ann@x.com").await;
    let other = mailing.token_to("ann@x.com").await;
    mailing.forgot(" ANN@x.com").await;
    let token = mailing.token_to("ann@x.com").await;
    assert!(token.len() == 43 && token != other, "{token}");

    let weak = mailing.reset(&token, "weak").await.unwrap_err();
    assert_eq!(weak.fields[0].field, "password");
    mailing.reset(&token, NEW_PASSWORD).await.unwrap();
    assert_ne!(mailing.password_hash(&ann.id).await, old);
    let events = mailing.app.events(&ann.id).await;
    assert_eq!(events.last().unwrap().name, "UserPasswordChanged");
    let subjects = mailing.subjects_to("ann@x.com").await;
    assert_eq!(subjects.last().unwrap(), "Your password was changed");

    let owner = format!("user:{}", ann.id);
    assert_eq!(mailing.actors("user.password_reset").await, [owner]);

    for used in [&token, &other] {
        assert!(is_invalid_token(mailing.reset(used, NEW_PASSWORD).await));
    }
    mailing.app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_email_without_user_gets_no_mail_and_the_same_response(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    let blocked = mailing.app.create_user("blocked@x.com").await;
    mailing
        .app
        .execute("update identity.users set blocked = true")
        .await;
    for email in ["nobody@x.com", "blocked@x.com"] {
        mailing.forgot(email).await;
    }
    mailing.resend("nobody@x.com").await;
    assert_eq!(mailing.mails_to("blocked@x.com").await.len(), 0);
    assert_eq!(mailing.smtp.mails().len(), 0);
    assert_eq!(mailing.tokens().await, 0);
    assert_eq!(
        mailing
            .app
            .count("select count(*) from identity.mails")
            .await,
        0
    );
    let email = "not an email".to_owned();
    let malformed = mailing.app.accounts_as(&gateway());
    let malformed = error(
        { malformed }
            .forgot_password(ForgotPasswordRequest { email })
            .await,
    );
    assert_eq!(malformed.fields[0].field, "email");
    assert!(!mailing.get(&blocked.id).await.approved);
    mailing.app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_repeated_request_has_one_effect(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    let ann = mailing.app.create_user("ann@x.com").await;
    let forgot = || ForgotPasswordRequest {
        email: "ann@x.com".to_owned(),
    };
    let mut accounts = mailing.app.accounts_as(&gateway());
    for _ in 0..2 {
        accounts
            .forgot_password(keyed(forgot(), "k1", "00"))
            .await
            .unwrap();
    }
    assert_eq!(mailing.mails_to("ann@x.com").await.len(), 1);

    let reset = || ResetPasswordRequest {
        token: String::new(),
        password: NEW_PASSWORD.to_owned(),
    };
    let token = mailing.token_to("ann@x.com").await;
    let with_token = || ResetPasswordRequest {
        token: token.clone(),
        ..reset()
    };
    accounts
        .reset_password(keyed(with_token(), "k2", "00"))
        .await
        .unwrap();
    let hash = mailing.password_hash(&ann.id).await;
    let repeated = accounts
        .reset_password(keyed(with_token(), "k2", "00"))
        .await
        .unwrap();
    assert!(idempotency::is_replay(repeated.metadata()));
    assert_eq!(mailing.password_hash(&ann.id).await, hash);
    let missing = accounts.reset_password(reset()).await;
    assert_eq!(code(missing), Code::ValidationFailed);
    mailing.app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_address_gets_five_mails_of_a_kind_in_an_hour(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    mailing.app.create_user("ann@x.com").await;
    for email in ["ann@x.com", "Ann@x.com", "ann@X.com"].repeat(3) {
        mailing.forgot(email).await;
    }
    assert_eq!(mailing.mails_to("ann@x.com").await.len(), 5);
    assert_eq!(mailing.tokens().await, 5);
    mailing.app.finish().await;
}
