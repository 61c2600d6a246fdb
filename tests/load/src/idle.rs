//! Measures how fast a built stack is ready, and the memory of its idle processes.

use std::time::Instant;

use crate::{
    Server,
    environment::{Environment, Options},
    machine::{megabytes, proportional_memory},
};

/// Prints the figures of the second start, that of Postgres and NATS included; the first one creates the data.
pub fn run(server: &Server) -> anyhow::Result<()> {
    let options = || Options {
        keep: true,
        ..Options::new("idle", server.clone())
    };
    Environment::start_empty(options())?.stop()?;
    let started = Instant::now();
    let environment = Environment::start(options())?;
    println!("start to ready  {:>8.2} s", started.elapsed().as_secs_f64());
    let stack = &environment.stack;
    let servers = stack.environment().process_ids();
    let mut total = 0;
    for (name, pid) in stack.process_ids() {
        if servers.contains_key(&name) {
            continue;
        }
        let kilobytes = proportional_memory(pid)?;
        total += kilobytes;
        println!("{name:<14}  {:>8.1} MB", megabytes(kilobytes));
    }
    println!("{:<14}  {:>8.1} MB", "total", megabytes(total));
    environment.discard()
}
