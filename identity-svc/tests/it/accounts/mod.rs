//! Resetting passwords, confirming and changing emails, with the tokens of mails.

mod emails;
mod passwords;
mod tokens;

use platform::{
    auth::Caller,
    clock::Clock,
    error::{Code, Failure, FieldCode},
    testing,
};
use proto::identity::v1::{
    BlockUserRequest, ChangeEmailRequest, ConfirmEmailRequest, DeleteUserRequest,
    ForgotPasswordRequest, GetUserRequest, ResendConfirmationRequest, ResetPasswordRequest,
    UnblockUserRequest, User,
};
use sqlx::PgPool;

use crate::{
    fake_smtp::{FakeSmtp, Received},
    harness::{TIMEOUT, TestApp, gateway},
};

const NEW_PASSWORD: &str = "Another1Password";

/// What an admin does to a user.
#[derive(Debug, Clone, Copy)]
enum Action {
    Block,
    Unblock,
    Delete,
}

/// A service that sends to a fake server.
struct Mailing {
    app: TestApp,
    smtp: FakeSmtp,
}

impl Mailing {
    async fn start(pool: PgPool) -> Self {
        let smtp = FakeSmtp::default();
        let url = format!("--smtp-url=smtp://{}", smtp.start().await);
        let flags = [&*url, "--mail-from=Shop <shop@example.com>"];
        let app = TestApp::start_with(pool, Clock::system(), &flags).await;
        Self { app, smtp }
    }

    /// Waits until every mail is sent or dropped, and returns those to an address.
    async fn mails_to(&self, address: &str) -> Vec<Received> {
        testing::eventually("mails are sent", TIMEOUT, async || {
            let waiting = "select count(*) from identity.mails where sent_at is null";
            self.app.count(waiting).await == 0
        })
        .await;
        let mails = self.smtp.mails().into_iter();
        mails.filter(|mail| mail.to == address).collect()
    }

    async fn subjects_to(&self, address: &str) -> Vec<String> {
        let mails = self.mails_to(address).await;
        let subjects = mails
            .iter()
            .map(|mail| mail.parse().subject().unwrap().to_owned());
        subjects.collect()
    }

    /// Returns the token of the newest mail to an address.
    async fn token_to(&self, address: &str) -> String {
        let mails = self.mails_to(address).await;
        let tokens = mails.iter().rev().filter_map(token_of);
        tokens.take(1).collect()
    }

    async fn forgot(&self, email: &str) {
        let email = email.to_owned();
        let request = ForgotPasswordRequest { email };
        let mut accounts = self.app.accounts_as(&gateway());
        accounts.forgot_password(request).await.unwrap();
    }

    async fn reset(&self, token: &str, password: &str) -> Result<(), Failure> {
        let request = ResetPasswordRequest {
            token: token.to_owned(),
            password: password.to_owned(),
        };
        let reset = self
            .app
            .accounts_as(&gateway())
            .reset_password(request)
            .await;
        reset
            .map(drop)
            .map_err(|status| Failure::from_status(&status))
    }

    async fn resend(&self, email: &str) {
        let email = email.to_owned();
        let request = ResendConfirmationRequest { email };
        let mut accounts = self.app.accounts_as(&gateway());
        accounts.resend_confirmation(request).await.unwrap();
    }

    async fn confirm(&self, token: &str) -> Result<(), Failure> {
        let token = token.to_owned();
        let request = ConfirmEmailRequest { token };
        let confirmed = self
            .app
            .accounts_as(&gateway())
            .confirm_email(request)
            .await;
        confirmed
            .map(drop)
            .map_err(|status| Failure::from_status(&status))
    }

    async fn change(&self, caller: &Caller, id: &str, email: &str) -> Result<(), Failure> {
        let request = ChangeEmailRequest {
            id: id.to_owned(),
            email: email.to_owned(),
        };
        let changed = self.app.accounts_as(caller).change_email(request).await;
        changed
            .map(drop)
            .map_err(|status| Failure::from_status(&status))
    }

    async fn act(&self, id: &str, action: Action) {
        let (id, mut users) = (id.to_owned(), self.app.users());
        match action {
            Action::Block => drop(users.block_user(BlockUserRequest { id }).await.unwrap()),
            Action::Unblock => drop(users.unblock_user(UnblockUserRequest { id }).await.unwrap()),
            Action::Delete => drop(users.delete_user(DeleteUserRequest { id }).await.unwrap()),
        }
    }

    async fn get(&self, id: &str) -> User {
        let request = GetUserRequest { id: id.to_owned() };
        let found = self.app.users().get_user(request).await;
        found.unwrap().into_inner().user.unwrap()
    }

    async fn password_hash(&self, id: &str) -> String {
        sqlx::query_scalar(
            "select password_hash from identity.credentials where user_id::text = $1",
        )
        .bind(id)
        .fetch_one(&self.app.pool)
        .await
        .unwrap()
    }

    /// Returns the actors of an action in the audit log.
    async fn actors(&self, action: &str) -> Vec<String> {
        sqlx::query_scalar("select actor from identity.audit_log where action = $1")
            .bind(action)
            .fetch_all(&self.app.pool)
            .await
            .unwrap()
    }

    async fn tokens(&self) -> i64 {
        self.app
            .count("select count(*) from identity.account_tokens")
            .await
    }
}

fn token_of(mail: &Received) -> Option<String> {
    let text = mail.parse().body_text(0)?.into_owned();
    let (_, rest) = text.split_once("token=")?;
    rest.split_whitespace().next().map(str::to_owned)
}

fn is_invalid_token(result: Result<(), Failure>) -> bool {
    let failure = result.unwrap_err();
    let [field] = failure.fields.as_slice() else {
        return false;
    };
    failure.code == Code::ValidationFailed
        && field.field == "token"
        && field.code == FieldCode::UnknownReference
}
