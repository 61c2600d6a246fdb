//! Many events to ten webhooks while identity-svc is killed: from its outbox through the broker to the
//! receivers, of which one never responds and one is slow.

mod receiver;

use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;
use serde_json::json;
use sqlx::PgConnection;
use tokio::time::interval;

use self::receiver::{Behaviour, Receiver};
use crate::{
    Server,
    api::Api,
    environment::{Environment, Options},
    machine,
};

const IDENTITY: &str = "identity-svc";
/// Receivers that respond at once.
const WELL: usize = 8;
const SLOW: Behaviour = Behaviour::Slow(Duration::from_secs(1));
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Options of `load webhooks`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Events.
    #[arg(long, default_value_t = 10_000)]
    events: usize,
    /// Within how many seconds the receivers that respond at once must have all events.
    #[arg(long, default_value_t = 600)]
    limit: u64,
    #[command(flatten)]
    server: Server,
}

/// Prints when each receiver had what, and fails if an event is lost or one receiver waits for another.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let environment = Environment::start_empty(Options::new("webhooks", arguments.server))?;
    println!("load average {}", machine::load_average());
    environment.stack.stop(IDENTITY)?;
    start_identity(&environment)?;
    let receivers = subscribe(&Api::new(&environment)).await?;
    let mut conn = environment.connect(None).await?;

    let started = Instant::now();
    publish(&mut conn, arguments.events).await?;
    let limit = Duration::from_secs(arguments.limit);
    wait(&receivers, arguments.events / 3, started + limit).await?;
    let before = receivers[0].count().distinct;
    environment.stack.kill(IDENTITY)?;
    println!("{IDENTITY} killed when the first receiver had {before} events");
    start_identity(&environment)?;
    wait(&receivers, arguments.events, started + limit).await?;
    report(&receivers, arguments.events, started)?;
    environment.stop()
}

/// Starts identity-svc so that it sends to this machine.
fn start_identity(environment: &Environment) -> anyhow::Result<()> {
    let allowed = ["WEBHOOK_ALLOW_HTTP", "WEBHOOK_ALLOW_PRIVATE"];
    let allowed = allowed.map(|name| (name.to_owned(), "true".to_owned()));
    environment.stack.start_again(IDENTITY, &allowed)
}

/// Starts the receivers and creates a webhook for each.
async fn subscribe(api: &Api) -> anyhow::Result<Vec<Receiver>> {
    let behaviours = [Behaviour::Well; WELL].into_iter();
    let mut receivers = Vec::new();
    for behaviour in behaviours.chain([SLOW, Behaviour::Dead]) {
        let receiver = Receiver::start(behaviour).await?;
        let url = format!("http://{}/", receiver.address);
        let webhook = json!({"url": url, "events": ["user.user.approved"]});
        api.create("/webhooks", &webhook).await?;
        receivers.push(receiver);
    }
    Ok(receivers)
}

/// Appends events to the outbox of identity-svc, as if users had been approved. The body is `UserApproved`
/// in protobuf: field 1 is the id in 36 bytes, field 2 the version 1.
async fn publish(conn: &mut PgConnection, count: usize) -> anyhow::Result<()> {
    let append = "with appended as (
             insert into identity.outbox
                 (id, event_type, aggregate_kind, aggregate_id, aggregate_version, body)
             select gen_random_uuid(), 'guerdon.identity.v1.UserApproved', 'user', id, 1,
                 '\\x0a24'::bytea || convert_to(id::text, 'UTF8') || '\\x1001'::bytea
             from (select gen_random_uuid() as id from generate_series(1, $1)) users
             returning position)
         insert into identity.outbox_pending (first_position, last_position)
         select position, position from appended";
    let count = i64::try_from(count)?;
    sqlx::query(append).bind(count).execute(conn).await?;
    Ok(())
}

/// Waits until all receivers that respond at once have this many events.
async fn wait(receivers: &[Receiver], events: usize, deadline: Instant) -> anyhow::Result<()> {
    let mut polls = interval(POLL_INTERVAL);
    loop {
        polls.tick().await;
        let well = receivers
            .iter()
            .filter(|it| it.behaviour == Behaviour::Well);
        let fewest = well.map(|it| it.count().distinct).min().unwrap_or_default();
        if fewest >= events {
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "a receiver that responds at once has {fewest} of {events} events"
        );
    }
}

fn report(receivers: &[Receiver], events: usize, started: Instant) -> anyhow::Result<()> {
    println!("receiver           events  duplicates  changed  last event after");
    for receiver in receivers {
        let count = receiver.count();
        let seconds = (count.last_new - started).as_secs_f64();
        let behaviour = format!("{:?}", receiver.behaviour);
        println!(
            "{behaviour:<16} {:>8} {:>11} {:>8} {seconds:>10.1} s",
            count.distinct, count.duplicates, count.changed
        );
        ensure!(count.changed == 0, "a duplicate has another body");
        let is_well = receiver.behaviour == Behaviour::Well;
        ensure!(
            !is_well || count.distinct == events,
            "events are missing, or there are others"
        );
        ensure!(
            is_well || count.distinct < events,
            "the slow one was not slower"
        );
    }
    Ok(())
}
