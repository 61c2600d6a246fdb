//! Mails to admins about webhooks that were disabled.

use chrono::TimeDelta;
use platform::{clock::Clock, testing};
use prost_types::FieldMask;
use proto::identity::v1::{CreateWebhookRequest, UpdateWebhookRequest};
use sqlx::PgPool;

use super::{LOCAL, delivery, failures::disabled, id, new_webhook, publish};
use crate::{
    fake_receiver::{Behaviour, FakeReceiver},
    fake_smtp::{FakeSmtp, Received},
    harness::{TIMEOUT, TestApp, noon},
};

/// A service that sends mails, and a receiver that has a webhook.
struct Setup {
    app: TestApp,
    smtp: FakeSmtp,
    receiver: FakeReceiver,
    webhook: String,
    secret: String,
}

async fn start(pool: PgPool) -> Setup {
    let smtp = FakeSmtp::default();
    let url = format!("--smtp-url=smtp://{}", smtp.start().await);
    let flags = [&url, "--mail-from=Shop <shop@example.com>"];
    let flags = [&LOCAL[..], &flags].concat();
    let app = TestApp::start_with(pool, Clock::fixed(noon()), &flags).await;
    let receiver = FakeReceiver::default();
    let url = format!("http://{}/hook?token=t0ps3cret", receiver.start().await);
    let request = CreateWebhookRequest {
        description: Some("Shop <b>1</b>\nBcc: eve@x.com".to_owned()),
        ..new_webhook(&url, &["store.order.*"])
    };
    let created = app.webhooks().create_webhook(request).await.unwrap();
    let created = created.into_inner();
    Setup {
        app,
        smtp,
        receiver,
        webhook: id(&created),
        secret: created.secret,
    }
}

/// Adds users with these numbers, the lowest the oldest. `flags` are roles, approved, blocked and confirmed.
async fn add_users(app: &TestApp, numbers: [i32; 2], flags: (&str, bool, bool, bool)) {
    let (role, approved, blocked, confirmed) = flags;
    sqlx::query(
        "insert into identity.users
             (id, state, version, email, canonical_email, roles, approved, blocked, verified,
              email_confirmed_at, primary_wallet_id, referral_code, created_at, updated_at)
         select gen_random_uuid(), 'active', 1, email, email, array[$3], $4, $5, false,
             case when $6 then now() end, gen_random_uuid(), 'R' || n, now() + n * interval '1 s', now()
         from generate_series($1, $2) n, lateral (select 'u' || n || '@x.com' as email) e",
    )
    .bind(numbers[0])
    .bind(numbers[1])
    .bind(role)
    .bind(approved)
    .bind(blocked)
    .bind(confirmed)
    .execute(&app.pool)
    .await
    .unwrap();
}

const ACTIVE_ADMIN: (&str, bool, bool, bool) = ("admin", true, false, true);

/// Waits until as many mails have arrived, and returns them by recipient.
async fn received(smtp: &FakeSmtp, count: usize) -> Vec<Received> {
    testing::eventually("the mails arrive", TIMEOUT, async || {
        smtp.mails().len() >= count
    })
    .await;
    let mut mails = smtp.mails();
    mails.sort_by(|a, b| a.to.cmp(&b.to));
    mails
}

fn recipients(mails: &[Received]) -> Vec<&str> {
    mails.iter().map(|mail| &*mail.to).collect()
}

async fn enable(app: &TestApp, id: &str) {
    let request = UpdateWebhookRequest {
        id: id.to_owned(),
        enabled: Some(true),
        update_mask: Some(FieldMask {
            paths: vec!["enabled".to_owned()],
        }),
        ..UpdateWebhookRequest::default()
    };
    app.webhooks().update_webhook(request).await.unwrap();
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_admin_learns_which_webhook_fails_since_when_and_how_to_enable_it(pool: PgPool) {
    let Setup {
        app,
        smtp,
        receiver,
        webhook,
        secret,
    } = start(pool).await;
    add_users(&app, [1, 1], ACTIVE_ADMIN).await;
    receiver.always(Behaviour::Status(500));
    publish(&app, 1).await;
    delivery(&app, &webhook, "failed", |it| it.last_error.is_some()).await;
    app.clock.advance(TimeDelta::days(3));
    disabled(&app, &webhook).await;

    let mails = received(&smtp, 1).await;
    let mail = mails[0].parse();
    assert_eq!(mails[0].to, "u1@x.com");
    assert_eq!(mail.subject(), Some("Webhook disabled: 127.0.0.1"));
    assert!(mail.bcc().is_none());
    let (text, html) = (mail.body_text(0).unwrap(), mail.body_html(0).unwrap());
    let command = format!("PATCH /webhooks/{webhook}");
    for shown in [
        "nothing has reached it for three days",
        "Host: 127.0.0.1",
        "Failing since: 2026-01-31T12:00:00Z",
        "Last result: status 500",
        &command,
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
        assert!(html.contains(shown), "{shown}: {html}");
    }
    let description = "Description: Shop <b>1</b> Bcc: eve@x.com";
    assert!(text.contains(description), "{text}");
    assert!(
        html.contains("Shop &lt;b&gt;1") && !html.contains("<b>"),
        "{html}"
    );
    for hidden in ["t0ps3cret", "/hook", &*secret] {
        assert!(!text.contains(hidden) && !html.contains(hidden), "{hidden}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn each_active_admin_gets_one_mail_each_time_a_webhook_is_disabled(pool: PgPool) {
    let Setup {
        app,
        smtp,
        receiver,
        webhook,
        ..
    } = start(pool).await;
    add_users(&app, [1, 2], ACTIVE_ADMIN).await;
    add_users(&app, [3, 3], ("admin", true, true, true)).await;
    add_users(&app, [4, 4], ("admin", false, false, true)).await;
    add_users(&app, [5, 5], ("admin", true, false, false)).await;
    add_users(&app, [6, 6], ("user", true, false, true)).await;
    receiver.always(Behaviour::Status(410));
    for number in [1, 2] {
        publish(&app, number).await;
    }
    disabled(&app, &webhook).await;
    let mails = received(&smtp, 2).await;
    assert_eq!(recipients(&mails), ["u1@x.com", "u2@x.com"]);
    assert!(
        mails[0]
            .parse()
            .body_text(0)
            .unwrap()
            .contains("410 (Gone)")
    );

    enable(&app, &webhook).await;
    publish(&app, 3).await;
    disabled(&app, &webhook).await;
    let mails = received(&smtp, 4).await;
    let twice = ["u1@x.com", "u1@x.com", "u2@x.com", "u2@x.com"];
    assert_eq!(recipients(&mails), twice);
    let queued = "select count(*) from identity.mails";
    assert_eq!(app.count(queued).await, 4);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_twenty_oldest_admins_get_a_mail_unless_they_are_blocked_by_then(pool: PgPool) {
    let Setup {
        app,
        smtp,
        receiver,
        webhook,
        ..
    } = start(pool).await;
    add_users(&app, [1, 21], ACTIVE_ADMIN).await;
    // Blocks an admin after the mail is queued, before it is sent.
    app.execute(
        "create function block() returns trigger language plpgsql security definer as $$ begin
             update identity.users set blocked = true where email = 'u20@x.com';
             return null;
         end $$",
    )
    .await;
    app.execute("create trigger block after insert on identity.mails execute function block()")
        .await;
    receiver.always(Behaviour::Status(410));
    publish(&app, 1).await;
    disabled(&app, &webhook).await;
    testing::eventually("all mails are sent or dropped", TIMEOUT, async || {
        let waiting = "select count(*) from identity.mails where sent_at is null";
        app.count(waiting).await == 0
    })
    .await;
    let mails = received(&smtp, 19).await;
    let recipients = recipients(&mails);
    assert_eq!(recipients.len(), 19, "{recipients:?}");
    assert!(!recipients.contains(&"u20@x.com") && !recipients.contains(&"u21@x.com"));
    app.finish().await;
}
