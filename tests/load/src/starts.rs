//! Starts a stack again and again while other sockets take ports, and counts the failures.

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args;
use rand::Rng as _;
use stack::{Stack, StackOptions};

/// Below the kernel's range for outgoing connections, where the stack draws its ports.
const DRAWN_PORTS: std::ops::Range<u16> = 20_000..32_000;
const DEFAULT_PORTS: std::ops::Range<u16> = 15_051..15_055;
/// Listeners at a time: one in forty drawn ports, and half of the default ones.
const LISTENERS: usize = 300;
const HOLD: Duration = Duration::from_millis(20);
const REST_PORT: u16 = 18_080;

/// Options of `load starts`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The number of starts.
    #[arg(long, default_value_t = 200)]
    count: u32,
}

/// Prints how many starts succeeded and how many had to change ports; fails unless all succeeded.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (stop, stopped) = mpsc::channel();
    let competitor = thread::spawn(move || take_ports(&stopped));
    let (mut succeeded, mut changed) = (0, 0);
    let started = Instant::now();
    for number in 1..=arguments.count {
        let began = Instant::now();
        let outcome = start();
        succeeded += u32::from(outcome.is_ok());
        changed += u32::from(matches!(outcome, Ok(true)));
        println!(
            "start {number} of {}: {} ({:.1} s)",
            arguments.count,
            describe(&outcome),
            began.elapsed().as_secs_f64()
        );
    }
    drop(stop);
    ensure!(
        competitor.join().is_ok(),
        "starts: the thread that takes ports panicked, so the ports were not busy"
    );
    println!(
        "{succeeded} of {} starts on busy ports succeeded, {changed} with changed ports, {:.1} s each",
        arguments.count,
        started.elapsed().as_secs_f64() / f64::from(arguments.count.max(1))
    );
    ensure!(succeeded == arguments.count, "starts failed");
    Ok(())
}

fn describe(outcome: &anyhow::Result<bool>) -> String {
    match outcome {
        Ok(false) => "ready".to_owned(),
        Ok(true) => "ready, with changed ports".to_owned(),
        Err(error) => format!("FAILED: {error:#}"),
    }
}

/// Starts and stops a stack. Returns whether a process had to change its port.
fn start() -> anyhow::Result<bool> {
    let mut options = StackOptions::for_test("load-starts")?;
    let program = std::env::current_exe()?;
    let directory = program.parent().context("the program is in a directory")?;
    directory.clone_into(&mut options.binaries);
    options.rest_port = Some(REST_PORT);
    let mut stack = Stack::without_processes(options)?;
    let ports = |stack: &Stack| -> Vec<u16> {
        let instances = stack.wiring().instances.iter();
        instances.map(|instance| instance.port).collect()
    };
    let assigned = ports(&stack);
    stack.start_processes()?;
    Ok(ports(&stack) != assigned)
}

/// Listens on random ports, each set for [`HOLD`], until it is told to stop.
fn take_ports(stopped: &Receiver<()>) {
    let mut random = rand::rng();
    loop {
        let drawn = (0..LISTENERS).map(|_| random.random_range(DRAWN_PORTS));
        let drawn: Vec<u16> = drawn.collect();
        let defaults = DEFAULT_PORTS.filter(|_| random.random::<bool>());
        let listeners = drawn.into_iter().chain(defaults);
        let listeners: Vec<_> = listeners
            .filter_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok())
            .collect();
        let told = stopped.recv_timeout(HOLD);
        drop(listeners);
        if told != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}
