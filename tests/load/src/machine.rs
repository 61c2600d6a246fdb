//! CPU time and memory of processes, as the kernel reports them, and the machine itself.

use std::{fmt, fs, num::NonZeroUsize, thread::available_parallelism};

use anyhow::Context as _;
use serde_json::{Value, json};

/// The kernel reports times in hundredths of a second, on every architecture we run on.
const TICKS_PER_SECOND: u64 = 100;

/// The machine before a run.
#[derive(Debug)]
pub struct Machine {
    /// The number of its cores.
    pub cores: NonZeroUsize,
    /// The load average of the last minute.
    pub load_average: String,
}

impl Machine {
    /// Reads it.
    pub fn read() -> anyhow::Result<Self> {
        Ok(Self {
            cores: available_parallelism()?,
            load_average: load_average(),
        })
    }

    /// Returns it for a JSON document.
    pub fn to_json(&self) -> Value {
        json!({
            "cores": self.cores,
            "loadAverage": self.load_average.parse::<f64>().ok(),
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cores, load average {}",
            self.cores, self.load_average
        )
    }
}

/// CPU time of a process in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuTime {
    /// Its own.
    pub own: f64,
    /// Of its children that have ended.
    pub children: f64,
}

/// Returns the CPU time of a process; zero for one that has ended.
pub fn cpu_time(pid: u32) -> CpuTime {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    parse(&stat).unwrap_or_default()
}

/// Parses the fields behind the name, which may hold anything. utime is field 14, see proc(5).
fn parse(stat: &str) -> Option<CpuTime> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |number: usize| fields.get(number - 3)?.parse::<u32>().ok();
    let seconds = |first| {
        let sum = u64::from(ticks(first)?) + u64::from(ticks(first + 1)?);
        Some(duration(sum))
    };
    Some(CpuTime {
        own: seconds(14)?,
        children: seconds(16)?,
    })
}

fn duration(ticks: u64) -> f64 {
    std::time::Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND).as_secs_f64()
}

/// Returns the running children of a process. Not every kernel lists them: this reads all processes.
pub fn children(pid: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number| parent(*number) == Some(pid))
        .collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the proportional set size in kilobytes: shared pages count once in a sum.
pub fn proportional_memory(pid: u32) -> anyhow::Result<u32> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    value(&rollup, "Pss:").context("no Pss in smaps_rollup")
}

/// Returns the largest resident set so far, in kilobytes.
pub fn peak_memory(pid: u32) -> anyhow::Result<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    value(&status, "VmHWM:").context("no VmHWM in status")
}

/// Returns the current resident set, in kilobytes.
pub fn resident_memory(pid: u32) -> anyhow::Result<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    value(&status, "VmRSS:").context("no VmRSS in status")
}

fn value(text: &str, name: &str) -> Option<u32> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Converts kilobytes to megabytes.
pub fn megabytes(kilobytes: u32) -> f64 {
    f64::from(kilobytes) / 1024.0
}

/// Returns the load average of the last minute.
pub fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace()
        .next()
        .unwrap_or("unknown")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_times_are_parsed_behind_any_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 9 8 7 6 150 50 300 25 20 0 1 0 99";
        let time = parse(stat).unwrap();
        assert!((time.own - 2.0).abs() < 1e-9 && (time.children - 3.25).abs() < 1e-9);
        assert!(parse("").is_none() && parse("7 (a) S 1").is_none());
    }

    #[test]
    fn our_own_process_is_found() {
        let pid = std::process::id();
        assert!(proportional_memory(pid).unwrap() > 0 && resident_memory(pid).unwrap() > 0);
        let resident = resident_memory(pid).unwrap();
        assert!(peak_memory(pid).unwrap() >= resident);
        assert!(children(parent(pid).unwrap()).contains(&pid));
    }
}
