//! Tokens that don't work.

use sqlx::PgPool;

use super::{Action, Mailing, NEW_PASSWORD, is_invalid_token, token_of};
use crate::harness::user;

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn unknown_expired_and_foreign_tokens_get_the_same_error(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    mailing.app.create_user("ann@x.com").await;
    mailing.forgot("ann@x.com").await;
    let reset = mailing.token_to("ann@x.com").await;
    mailing.resend("ann@x.com").await;
    let confirm = mailing.token_to("ann@x.com").await;
    assert_eq!(mailing.tokens().await, 2);

    // Only the hash is stored.
    let stored =
        "select count(*) from identity.account_tokens t where t::text like '%' || $1 || '%'";
    let stored = sqlx::query_scalar::<_, i64>(stored).bind(&reset);
    assert_eq!(stored.fetch_one(&mailing.app.pool).await.unwrap(), 0);

    assert!(is_invalid_token(mailing.confirm(&reset).await));
    assert!(is_invalid_token(
        mailing.reset(&confirm, NEW_PASSWORD).await
    ));
    for unknown in ["x", &reset[1..], &"A".repeat(43), &reset.to_uppercase()] {
        assert!(is_invalid_token(mailing.reset(unknown, NEW_PASSWORD).await));
        assert!(is_invalid_token(mailing.confirm(unknown).await));
    }
    mailing
        .app
        .execute("update identity.account_tokens set expires_at = now()")
        .await;
    assert!(is_invalid_token(mailing.reset(&reset, NEW_PASSWORD).await));
    assert!(is_invalid_token(mailing.confirm(&confirm).await));
    mailing.app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_parallel_uses_of_a_token_one_succeeds(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    let ann = mailing.app.create_user("ann@x.com").await;
    mailing.resend("ann@x.com").await;
    mailing.resend("ann@x.com").await;
    let mails = mailing.mails_to("ann@x.com").await;
    let tokens: Vec<_> = mails.iter().filter_map(token_of).collect();
    assert_eq!(tokens.len(), 2);
    let uses = tokens
        .iter()
        .cycle()
        .take(20)
        .map(|token| mailing.confirm(token));
    let results = futures::future::join_all(uses).await;
    let (used, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((used.len(), refused.len()), (1, 19));
    assert!(refused.into_iter().all(is_invalid_token));
    assert!(
        mailing
            .get(&ann.id)
            .await
            .metadata
            .contains("emailConfirmedAt")
    );
    mailing.app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn tokens_of_blocked_and_deleted_users_do_not_work(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    for actions in [&[Action::Block, Action::Unblock][..], &[Action::Delete]] {
        let ann = mailing.app.create_user("ann@x.com").await;
        mailing.forgot("ann@x.com").await;
        let reset = mailing.token_to("ann@x.com").await;
        mailing.resend("ann@x.com").await;
        let confirm = mailing.token_to("ann@x.com").await;
        let own = user(&ann.id);
        mailing.change(&own, &ann.id, "new@x.com").await.unwrap();
        let change = mailing.token_to("new@x.com").await;
        for action in actions {
            mailing.act(&ann.id, *action).await;
            let refused = mailing.reset(&reset, NEW_PASSWORD).await;
            assert!(is_invalid_token(refused), "{action:?}");
            for token in [&confirm, &change] {
                assert!(is_invalid_token(mailing.confirm(token).await), "{action:?}");
            }
        }
        assert_eq!(mailing.tokens().await, 0);
        if let Some(Action::Unblock) = actions.last() {
            mailing.act(&ann.id, Action::Delete).await;
        }
    }
    mailing.app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_token_that_is_mailed_while_its_user_is_blocked_does_not_work(pool: PgPool) {
    let mailing = Mailing::start(pool).await;
    let ann = mailing.app.create_user("ann@x.com").await;
    mailing.forgot("ann@x.com").await;
    let token = mailing.token_to("ann@x.com").await;
    // As if the worker had read the user before the block.
    mailing
        .app
        .execute("update identity.users set blocked = true")
        .await;
    assert!(is_invalid_token(mailing.reset(&token, NEW_PASSWORD).await));
    mailing.act(&ann.id, Action::Unblock).await;
    mailing.reset(&token, NEW_PASSWORD).await.unwrap();
    mailing.app.finish().await;
}
