//! Mails: the queue, the worker, and the conversation with an SMTP server.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt as _};

use mail_parser::MessageParser;
use platform::{clock::Clock, testing};
use proto::identity::v1::CreateUserRequest;
use sqlx::PgPool;

use crate::{
    fake_smtp::{FakeSmtp, Received},
    harness::{TIMEOUT, TestApp, new_user},
};

/// Starts a service that sends to this address.
async fn start(pool: PgPool, smtp: impl std::fmt::Display) -> TestApp {
    let url = format!("--smtp-url=smtp://{smtp}");
    let flags = [&url, "--mail-from=Bücher & mehr <shop@example.com>"];
    TestApp::start_with(pool, Clock::system(), &flags).await
}

/// Queues a mail of a kind.
async fn queue(app: &TestApp, kind: &str, recipient: &str) {
    sqlx::query("insert into identity.mails (kind, recipient) values ($1, $2)")
        .bind(kind)
        .bind(recipient)
        .execute(&app.pool)
        .await
        .unwrap();
}

/// Waits until as many mails have arrived.
async fn received(smtp: &FakeSmtp, count: usize) -> Vec<Received> {
    testing::eventually("the mails arrive", TIMEOUT, async || {
        smtp.mails().len() >= count
    })
    .await;
    smtp.mails()
}

/// Waits until no row of the queue fails the condition.
async fn wait_for(app: &TestApp, condition: &str) {
    let sql = format!("select count(*) from identity.mails where not ({condition})");
    testing::eventually(condition, TIMEOUT, async || {
        let left = sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(sql.clone()));
        left.fetch_one(&app.pool).await.unwrap() == 0
    })
    .await;
}

async fn last_error(app: &TestApp) -> String {
    sqlx::query_scalar("select last_error from identity.mails")
        .fetch_one(&app.pool)
        .await
        .unwrap()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn two_processes_send_each_mail_once(pool: PgPool) {
    let smtp = FakeSmtp::default();
    let address = smtp.start().await;
    let (one, two) = (
        start(pool.clone(), address).await,
        start(pool, address).await,
    );
    for number in 0..40 {
        queue(&one, "password_changed", &format!("u{number}@x.com")).await;
    }
    wait_for(&one, "sent_at is not null and attempts = 1").await;
    let mails = smtp.mails();
    let recipients: BTreeSet<_> = mails.iter().map(|mail| &mail.to).collect();
    assert_eq!((mails.len(), recipients.len()), (40, 40));
    one.finish().await;
    two.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_temporary_refusal_is_retried_later(pool: PgPool) {
    let smtp = FakeSmtp::default();
    smtp.refuse(&["451 4.7.1 come back later, ann@x.com"]);
    let app = start(pool, smtp.start().await).await;
    queue(&app, "password_changed", "ann@x.com").await;
    let waits = "sent_at is null and failed_at is null and due_at > now() + interval '5 seconds'
                 and last_error is not null";
    wait_for(&app, waits).await;
    assert_eq!(last_error(&app).await, "SMTP: 451");

    app.execute("update identity.mails set due_at = now()")
        .await;
    wait_for(&app, "sent_at is not null and attempts = 2").await;
    assert_eq!(smtp.mails().len(), 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_server_that_is_down_is_tried_again(pool: PgPool) {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let app = start(pool, address).await;
    queue(&app, "password_changed", "ann@x.com").await;
    wait_for(&app, "last_error is not null and failed_at is null").await;
    let error = last_error(&app).await;
    assert!(error.contains("refused"), "{error}");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_permanent_refusal_and_the_last_attempt_are_final(pool: PgPool) {
    let smtp = FakeSmtp::default();
    smtp.refuse(&["550 5.1.1 no ann@x.com here", "451 later"]);
    let app = start(pool, smtp.start().await).await;
    queue(&app, "password_changed", "ann@x.com").await;
    wait_for(&app, "failed_at is not null and attempts = 1").await;
    assert_eq!(last_error(&app).await, "SMTP: 550");

    app.execute("update identity.mails set failed_at = null, attempts = 14, due_at = now()")
        .await;
    wait_for(&app, "failed_at is not null and attempts = 15").await;
    assert_eq!(last_error(&app).await, "SMTP: 451");
    assert_eq!(smtp.mails().len(), 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn names_of_any_script_arrive_and_add_neither_headers_nor_markup(pool: PgPool) {
    let smtp = FakeSmtp::default();
    let app = start(pool, smtp.start().await).await;
    let name = "Zoë 日本 O'Neil\r\nBcc: eve@x.com\r\n\r\n<b>http://evil.example</b>";
    let zoe = CreateUserRequest {
        name: Some(name.to_owned()),
        ..new_user("zoe@x.com")
    };
    app.users().create_user(zoe).await.unwrap();
    queue(&app, "reset_password", "ZOE@x.com").await;
    let mails = received(&smtp, 1).await;
    let mail = mails[0].parse();
    assert_eq!(mails[0].to, "zoe@x.com");

    let shown = "Zoë 日本 O'Neil Bcc eve x com b http evil example b";
    let to = mail.to().unwrap().first().unwrap();
    assert_eq!(to.name(), Some(shown));
    assert_eq!(to.address(), Some("zoe@x.com"));
    assert!(mail.bcc().is_none());
    assert_eq!(
        mail.from().unwrap().first().unwrap().name(),
        Some("Bücher & mehr")
    );
    assert_eq!(mail.subject(), Some("Choose a new password"));
    let text = mail.body_text(0).unwrap();
    assert!(text.starts_with(&format!("Hello {shown},")), "{text}");
    assert!(
        text.contains("http://127.0.0.1:8080/reset-password?token="),
        "{text}"
    );
    let html = mail.body_html(0).unwrap();
    assert!(
        html.contains("Bücher &amp; mehr") && !html.contains("<b>"),
        "{html}"
    );
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_address_gets_five_mails_of_a_kind_in_an_hour(pool: PgPool) {
    let smtp = FakeSmtp::default();
    let app = start(pool, smtp.start().await).await;
    app.create_user("ann@x.com").await;
    for recipient in ["ann@x.com", "Ann@x.com", "nobody@x.com"] {
        for _ in 0..4 {
            queue(&app, "reset_password", recipient).await;
        }
    }
    queue(&app, "confirm_email", "ann@x.com").await;
    wait_for(&app, "sent_at is not null").await;
    let mails = smtp.mails();
    assert_eq!(mails.len(), 6, "{mails:?}");
    assert!(mails.iter().all(|mail| mail.to == "ann@x.com"));

    app.execute("update identity.mails set created_at = now() - interval '61 minutes'")
        .await;
    queue(&app, "reset_password", "ann@x.com").await;
    received(&smtp, 7).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_directory_gets_files_that_only_their_owner_reads(pool: PgPool) {
    let directory = std::env::temp_dir().join(format!("mails-{}", std::process::id()));
    let flag = format!("--mail-dir={}", directory.display());
    let app = TestApp::start_with(pool, Clock::system(), &[&flag]).await;
    queue(&app, "password_changed", "ann@x.com").await;
    wait_for(&app, "sent_at is not null").await;
    let files: Vec<_> = fs::read_dir(&directory)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let [file] = files.as_slice() else {
        panic!("{files:?}")
    };
    let name = file.file_name().into_string().unwrap();
    assert!(name.ends_with("-password_changed.eml"), "{name}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        fs::metadata(&directory).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let source = fs::read(file.path()).unwrap();
    let mail = MessageParser::default().parse(&source).unwrap();
    assert_eq!(mail.subject(), Some("Your password was changed"));
    fs::remove_dir_all(directory).unwrap();
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn without_a_server_mails_stay_in_the_table(pool: PgPool) {
    let app = TestApp::start_with(pool, Clock::system(), &[]).await;
    queue(&app, "password_changed", "ann@x.com").await;
    wait_for(&app, "failed_at is not null").await;
    assert_eq!(
        last_error(&app).await,
        "neither SMTP_URL nor MAIL_DIR is set"
    );
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn old_mails_and_expired_tokens_are_deleted(pool: PgPool) {
    let mut app = TestApp::start_with(pool, Clock::system(), &[]).await;
    app.create_user("ann@x.com").await;
    for recipient in ["old@x.com", "new@x.com"] {
        queue(&app, "password_changed", recipient).await;
    }
    wait_for(&app, "failed_at is not null").await;
    app.execute(
        "update identity.mails set created_at = now() - interval '8 days'
         where recipient = 'old@x.com'",
    )
    .await;
    app.execute(
        "insert into identity.account_tokens (token_hash, purpose, user_id, expires_at)
         select sha256(n::text::bytea), 'reset_password', id, now() + n * interval '1 hour'
         from identity.users, unnest(array[-1, 1]) n",
    )
    .await;
    app.stop().await;
    app.start_process(&[]).await;
    let left = async |table: &'static str| app.count(table).await;
    testing::eventually("one of each is left", TIMEOUT, async || {
        left("select count(*) from identity.mails").await == 1
            && left("select count(*) from identity.account_tokens").await == 1
    })
    .await;
    app.finish().await;
}
