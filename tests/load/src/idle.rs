//! Measures how fast a built stack is ready, and the memory of its idle processes.

use std::time::Instant;

use anyhow::Context as _;
use stack::{Stack, StackOptions};

use crate::machine::{megabytes, proportional_memory};

const DATABASE: &str = "guerdon_load_idle";

/// Prints the figures of the second start; the first one creates the data.
pub fn run() -> anyhow::Result<()> {
    drop(Stack::start(options()?)?);
    let started = Instant::now();
    let stack = Stack::start(options()?)?;
    println!("start to ready  {:>8.2} s", started.elapsed().as_secs_f64());
    let mut total = 0;
    for (name, pid) in stack
        .process_ids()
        .into_iter()
        .filter(|(name, _)| name != "nats")
    {
        let kilobytes = proportional_memory(pid)?;
        total += kilobytes;
        println!("{name:<14}  {:>8.1} MB", megabytes(kilobytes));
    }
    println!("{:<14}  {:>8.1} MB", "total", megabytes(total));
    Ok(())
}

fn options() -> anyhow::Result<StackOptions> {
    let mut options = StackOptions::for_test("load-idle")?;
    let here = std::env::current_exe()?;
    let directory = here.parent().context("the program is in a directory")?;
    directory.clone_into(&mut options.binaries);
    options.database = Some(DATABASE.to_owned());
    Ok(options)
}
