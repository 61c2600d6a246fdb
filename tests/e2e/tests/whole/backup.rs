//! Backup and restore: a fresh stack, with nothing of the old one but the file and the secrets, has what
//! was there at the moment of the backup, and goes on from there.

use std::{
    iter::once,
    path::{Path, PathBuf},
};

use e2e::{TestApp, text, usd};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use stack::{Service, StackOptions};
use tokio::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_stack_goes_on_from_a_backup() {
    let app = TestApp::start(StackOptions::for_test("backup").expect("options")).await;
    let secrets = app.stack.wiring().secrets.clone();
    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "100.00").await;
    let tea = app.create_product("Tea", "8", "0.8").await;
    let cake = app.create_product("Cake", "10", "0.5").await;
    let login = json!({ "email": "ada@example.com", "password": "Correct1Horse" });
    let login = app.create("/auth/token", login).await;
    let paid = app.order(&buyer, &tea).await;
    app.wait_for_balance(wallet, &usd("91.20")).await;
    let paid = app.get_data(&order_path(&paid)).await;

    // The events of this one are in the database only.
    app.stack.stop_nats().expect("NATS stops");
    let unrewarded = app.order(&buyer, &tea).await;
    let servers = Servers::of(&app).await;
    let name = format!("guerdon_{:08x}", rand::random::<u32>());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.dump"));
    servers.run("backup", &servers.url, &file).await;
    let later = app.order(&buyer, &tea).await;
    drop(app);

    servers.execute(format!("create database {name}")).await;
    let url = servers.url_of(&name);
    servers.run("restore", &url, &file).await;
    let mut options = StackOptions::for_test("restore").expect("options");
    options.database = Some(name.clone());
    options.secrets = secrets;
    let restored = TestApp::start(options).await;

    assert_eq!(restored.get_data(&order_path(&paid)).await, paid);
    assert_eq!(restored.get(&order_path(&later)).await.status, 404);
    restored.wait_for_balance(wallet, &usd("82.40")).await;
    assert_eq!(
        restored.get_data(&order_path(&unrewarded)).await["paymentStatus"],
        "fully_paid"
    );
    replay(&restored, text(&buyer["createdAt"]));
    // Its event comes after those that were published again, and its bonus is none of theirs.
    restored.order(&buyer, &cake).await;
    restored.wait_for_balance(wallet, &usd("70.90")).await;
    let transactions = format!("/wallets/{}/transactions", text(wallet));
    let transactions = restored.get(&transactions).await;
    assert_eq!(transactions.body["total"], 7, "{transactions:?}");
    restored.assert_settled().await;
    // The keys that verify tokens are restored.
    let token = format!("Bearer {}", text(&login["token"]));
    let restored = restored.with_header("authorization", &token);
    let me = restored
        .get_data(&format!("/users/{}", text(&buyer["id"])))
        .await;
    assert_eq!(me["email"], "ada@example.com");

    let refused = servers.command("restore", &url, &file).output().await;
    let refused = refused.expect("it runs");
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    drop(restored);
    std::fs::remove_file(file).expect("it is there");
    servers.execute(format!("drop database {name}")).await;
}

fn order_path(order: &Value) -> String {
    format!("/orders/{}", text(&order["id"]))
}

/// Publishes all events once more, as after a restore, whose NATS is empty.
fn replay(app: &TestApp, since: &str) {
    for service in Service::ALL {
        let replayed = app.stack.run(service, &["replay", "--since", since]);
        replayed.expect("its events are published");
    }
}

/// The Postgres of a stack, which outlives it.
struct Servers {
    url: String,
    /// Where `pg_dump` and the like of the server's version are.
    programs: String,
}

impl Servers {
    async fn of(app: &TestApp) -> Self {
        let programs = "select setting from pg_config where name = 'BINDIR'";
        let mut connection = app.connect().await;
        let programs = sqlx::query_scalar(programs).fetch_one(&mut connection);
        Self {
            url: app.stack.wiring().admin_url().expect("a url"),
            programs: programs.await.expect("a directory"),
        }
    }

    fn url_of(&self, database: &str) -> String {
        let (server, _) = self.url.rsplit_once('/').expect("a database");
        format!("{server}/{database}")
    }

    async fn execute(&self, sql: String) {
        let url = self.url_of("postgres");
        let mut connection = PgConnection::connect(&url).await.expect("a connection");
        let executed = connection.execute(AssertSqlSafe(sql)).await;
        executed.expect("it is executed");
    }

    fn command(&self, script: &str, url: &str, file: &Path) -> Command {
        let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/postgres");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs = once(PathBuf::from(&self.programs));
        let path = std::env::join_paths(programs.chain(std::env::split_paths(&path)));
        let mut command = Command::new(Path::new(scripts).join(script));
        command.args([url.as_ref(), file.as_os_str()]);
        command.env("PATH", path.expect("no colons"));
        command
    }

    async fn run(&self, script: &str, url: &str, file: &Path) {
        let output = self.command(script, url, file).output().await;
        let output = output.expect("it runs");
        assert!(output.status.success(), "{script}: {output:?}");
    }
}
