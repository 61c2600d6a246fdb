//! Confirmed and changed emails.

use platform::error::{Code, FieldCode};
use sqlx::PgPool;

use super::{Mailing, NEW_PASSWORD, is_invalid_token};
use crate::harness::{admin, user};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_confirmed_email_is_not_asked_for_again(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    let ann = mailing.app.create_user("ann@x.com").await;
    assert_eq!(ann.metadata, "{}");
    mailing.resend("Ann@x.com").await;
    let token = mailing.token_to("ann@x.com").await;
    mailing.confirm(&token).await.unwrap();
    let confirmed = mailing.get(&ann.id).await;
    assert!(confirmed.metadata.contains("emailConfirmedAt"));
    assert_ne!(confirmed.updated_at, ann.updated_at);
    assert!(!confirmed.verified, "that is about the person");
    let names: Vec<_> = mailing.app.events(&ann.id).await;
    assert_eq!(names.last().unwrap().name, "UserUpdated");
    let owner = format!("user:{}", ann.id);
    assert_eq!(mailing.actors("user.email_confirmed").await, [owner]);

    mailing.resend("ann@x.com").await;
    assert_eq!(mailing.mails_to("ann@x.com").await.len(), 1);
    mailing.app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_email_changes_when_the_new_one_is_confirmed(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    let ann = mailing.app.create_user("ann@x.com").await;
    mailing.forgot("ann@x.com").await;
    let reset = mailing.token_to("ann@x.com").await;
    mailing
        .change(&user(&ann.id), &ann.id, "Anna@Y.com")
        .await
        .unwrap();
    let subjects = mailing.subjects_to("ann@x.com").await;
    assert_eq!(
        subjects.last().unwrap(),
        "Your email address is about to change"
    );
    let token = mailing.token_to("Anna@y.com").await;
    assert_eq!(mailing.get(&ann.id).await.email, "ann@x.com");

    mailing.confirm(&token).await.unwrap();
    let changed = mailing.get(&ann.id).await;
    assert_eq!(changed.email, "Anna@y.com");
    assert!(changed.metadata.contains("emailConfirmedAt"));
    // What was sent to the old address is worth nothing now, and the address is free.
    assert!(is_invalid_token(mailing.reset(&reset, NEW_PASSWORD).await));
    mailing.app.create_user("ann@x.com").await;
    mailing.app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_email_that_is_taken_is_refused_also_in_the_end(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    let ann = mailing.app.create_user("ann@x.com").await;
    mailing.app.create_user("bob@x.com").await;
    let ask = async |email| mailing.change(&user(&ann.id), &ann.id, email).await;
    assert_eq!(ask("BOB@x.com").await.unwrap_err().code, Code::EmailTaken);
    let same = ask("Ann@x.com").await.unwrap_err();
    assert_eq!(same.fields[0].code, FieldCode::Duplicate);
    assert_eq!(ask("no email").await.unwrap_err().fields[0].field, "email");

    ask("new@x.com").await.unwrap();
    let token = mailing.token_to("new@x.com").await;
    mailing.app.create_user("new@x.com").await;
    let taken = mailing.confirm(&token).await.unwrap_err();
    assert_eq!(taken.code, Code::EmailTaken);
    assert_eq!(mailing.get(&ann.id).await.email, "ann@x.com");
    mailing.app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_changes_its_own_email_a_few_times_an_hour(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    let ann = mailing.app.create_user("ann@x.com").await;
    let bob = mailing.app.create_user("bob@x.com").await;
    let foreign = mailing.change(&user(&bob.id), &ann.id, "new@x.com").await;
    assert_eq!(foreign.unwrap_err().code, Code::UserNotFound);
    for number in 0..5 {
        let email = format!("new{number}@x.com");
        mailing.change(&admin(), &ann.id, &email).await.unwrap();
    }
    let refused = mailing.change(&user(&ann.id), &ann.id, "new5@x.com").await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code, Code::RateLimited);
    assert!(refused.retry_after.is_some());
    mailing.mails_to("ann@x.com").await;
    mailing.app.finish().await;
}
