//! Many creations at once that want the same invite or email, at two processes.

use std::collections::BTreeSet;

use futures::future::join_all;
use platform::{clock::Clock, error::Code};
use proto::identity::v1::{
    CreateInviteRequest, CreateUserRequest, CreateUserResponse, InviteStatus, User,
};
use sqlx::PgPool;
use tonic::Request;

use super::{create, read, with_code};
use crate::{
    harness::{TIMEOUT, TestApp, code, keyed, new_user, noon},
    races::{AT_ONCE, ROUNDS, one_of_many},
};

/// The least cost of a hash.
const CHEAP: &[&str] = &[
    "--password-hash-memory-kib=8192",
    "--password-hash-passes=1",
];

/// One address as people and programs write it.
const FORMS: [&str; 6] = [
    "ann@b\u{fc}cher.example",
    "ANN@B\u{dc}CHER.EXAMPLE",
    " Ann@bu\u{308}cher.example ",
    "ann@xn--bcher-kva.example",
    "aNN@XN--BCHER-KVA.example",
    "ann@\u{ff42}\u{fc}cher.example",
];

/// Two processes with one database.
struct Processes([TestApp; 2]);

impl Processes {
    async fn start(pool: PgPool) -> Self {
        let first = TestApp::start_with(pool, Clock::fixed(noon()), CHEAP).await;
        let second = first.start_another(CHEAP).await;
        Self([first, second])
    }

    /// Creates users at once, at both processes in turn. One succeeds.
    async fn race(&self, creation: impl Fn(usize) -> CreateUserRequest, refusal: Code) -> User {
        let create = |number: usize| {
            let mut users = self.0[number % 2].users();
            let mut creation = Request::new(creation(number));
            // The answer matters, not its time.
            creation.set_timeout(TIMEOUT);
            async move { users.create_user(creation).await }
        };
        let CreateUserResponse { user } = one_of_many(create, refusal).await;
        user.unwrap()
    }

    fn first(&self) -> &TestApp {
        &self.0[0]
    }

    async fn count_users(&self) -> usize {
        let users = "select count(*) from identity.users";
        let count = self.first().count(users).await;
        count.try_into().unwrap()
    }

    async fn finish(self) {
        let Self([first, second]) = self;
        second.finish().await;
        first.finish().await;
    }
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_many_uses_of_one_invite_exactly_one_succeeds(pool: PgPool) {
    let processes = Processes::start(pool).await;
    for round in 0..ROUNDS {
        let invite = create(processes.first(), CreateInviteRequest::default()).await;
        let creation = |number| with_code(&format!("u{number}@round{round}.example"), &invite.code);
        let user = processes.race(creation, Code::InviteInvalid).await;
        let accepted = read(processes.first(), &invite.code).await;
        assert_eq!(accepted.status(), InviteStatus::Accepted);
        assert_eq!(accepted.invited_user_id, Some(user.id));
    }
    assert_eq!(processes.count_users().await, ROUNDS);
    processes.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_many_creations_with_one_email_in_any_form_exactly_one_succeeds(pool: PgPool) {
    let processes = Processes::start(pool).await;
    for round in 0..ROUNDS {
        let creation = |number: usize| {
            let (before, after) = FORMS[number % FORMS.len()].split_once('@').unwrap();
            new_user(&format!("{before}{round}@{after}"))
        };
        let user = processes.race(creation, Code::EmailTaken).await;
        let canonical = format!("ann{round}@xn--bcher-kva.example");
        assert_eq!(user.email.to_lowercase(), canonical);
    }
    assert_eq!(processes.count_users().await, ROUNDS);
    processes.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_many_creations_with_one_email_exactly_one_uses_its_invite(pool: PgPool) {
    let processes = Processes::start(pool).await;
    let app = processes.first();
    let invites = (0..AT_ONCE).map(|_| create(app, CreateInviteRequest::default()));
    let invites = join_all(invites).await;
    let creation = |number: usize| with_code("a@x.com", &invites[number].code);
    processes.race(creation, Code::EmailTaken).await;
    let pending = "select count(*) from identity.invites where state = 'pending'";
    assert_eq!(app.count(pending).await, 49);
    processes.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn parallel_repeats_of_a_creation_are_not_told_that_the_email_is_taken(pool: PgPool) {
    let app = TestApp::start_with(pool, Clock::fixed(noon()), CHEAP).await;
    let creations = (0..AT_ONCE).map(|_| {
        let mut users = app.users();
        let mut creation = keyed(new_user("ann@x.com"), "k", "00");
        creation.set_timeout(TIMEOUT);
        async move { users.create_user(creation).await }
    });
    let results = join_all(creations).await;
    let (created, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    for refused in refused {
        assert_eq!(code(refused), Code::IdempotencyKeyInUse);
    }
    let ids: BTreeSet<_> = created
        .into_iter()
        .map(|created| created.unwrap().into_inner().user.unwrap().id)
        .collect();
    assert_eq!(ids.len(), 1);
    app.finish().await;
}
