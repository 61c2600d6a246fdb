//! Which port for what: the usual one, else the one of last time, else any that is free. All
//! on the loopback interface.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use rand::Rng;

/// Below the range that the kernel takes outgoing ports from (32768 and up on Linux), so that a
/// port stays free while the process that had it restarts.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

/// Ports drawn by this process. One that was drawn is free until its owner listens: without this, two
/// stacks that start together could draw the same.
static DRAWN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// Ports by what they are for, kept in a file.
#[derive(Debug)]
pub struct Ports {
    file: Option<PathBuf>,
    remembered: BTreeMap<String, u16>,
    given: BTreeMap<String, u16>,
}

impl Ports {
    /// Forgets them at the end: for stacks that come and go.
    pub fn passing() -> Self {
        Self {
            file: None,
            remembered: BTreeMap::new(),
            given: BTreeMap::new(),
        }
    }

    /// Remembers them in `file`, where they may be from the last time.
    pub fn kept_in(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        let remembered = serde_json::from_str(&text).unwrap_or_default();
        Self {
            file: Some(file.to_path_buf()),
            remembered,
            given: BTreeMap::new(),
        }
    }

    /// A free port for `purpose`; `usual` is tried first.
    pub fn give(&mut self, purpose: &str, usual: Option<u16>) -> Result<u16> {
        let wishes = [usual, self.remembered.get(purpose).copied()];
        let port = wishes
            .into_iter()
            .flatten()
            .chain((0..500).filter_map(|_| draw()))
            .find(|port| !self.given.values().any(|given| given == port) && is_free(*port))
            .context("no free port found")?;
        self.given.insert(purpose.to_owned(), port);
        self.save()?;
        Ok(port)
    }

    fn save(&self) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut all = self.remembered.clone();
        all.extend(self.given.clone());
        fs::write(file, serde_json::to_string_pretty(&all)?)
            .with_context(|| format!("{} can't be written", file.display()))
    }
}

/// A port that this process never drew before.
fn draw() -> Option<u16> {
    let port = rand::rng().random_range(RANGE);
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    drawn.insert(port).then_some(port)
}

/// Nobody listens there.
pub fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// The process that listens on a port, as far as the kernel tells us.
pub fn holder(port: u16) -> Option<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let inode = tables
        .iter()
        .find_map(|table| listener_inode(&fs::read_to_string(table).unwrap_or_default(), port))?;
    let wanted = PathBuf::from(format!("socket:[{inode}]"));
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let mut files = fs::read_dir(entry.path().join("fd")).ok()?.flatten();
        files
            .any(|file| fs::read_link(file.path()).is_ok_and(|link| link == wanted))
            .then(|| {
                let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
                format!("{} (pid {pid})", name.trim())
            })
    })
}

/// The socket that listens on `port`, from a table in the form of /proc/net/tcp.
fn listener_inode(table: &str, port: u16) -> Option<u64> {
    const LISTEN: &str = "0A";
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, hex) = fields.get(1)?.rsplit_once(':')?;
        let matches = u16::from_str_radix(hex, 16) == Ok(port) && *fields.get(3)? == LISTEN;
        matches.then(|| fields.get(9)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener() -> (TcpListener, u16) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    #[test]
    fn a_taken_port_is_passed_over() {
        let (_listener, taken) = listener();
        let port = Ports::passing().give("wallet", Some(taken)).unwrap();
        assert!(RANGE.contains(&port));
    }

    #[test]
    fn no_port_is_given_twice() {
        let mut ports = Ports::passing();
        let first = ports.give("wallet", None).unwrap();
        assert_ne!(ports.give("orders", Some(first)).unwrap(), first);
    }

    #[test]
    fn ports_are_remembered() {
        let file = std::env::temp_dir().join(format!("stack-ports-{}", std::process::id()));
        let first = Ports::kept_in(&file).give("postgres", None).unwrap();
        let again = Ports::kept_in(&file).give("postgres", None).unwrap();
        fs::remove_file(file).unwrap();
        assert_eq!(first, again);
    }

    #[test]
    fn a_listener_is_found_in_the_kernels_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:1F90 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 11 1\n\
             1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 42 1\n";
        assert_eq!(listener_inode(table, 8080), Some(42));
        assert_eq!(listener_inode(table, 8081), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_holder_of_a_port_is_named() {
        let (_listener, port) = listener();
        let holder = holder(port).unwrap();
        assert!(
            holder.ends_with(&format!("(pid {})", std::process::id())),
            "{holder}"
        );
    }

    #[test]
    fn stacks_that_start_together_never_share_a_port() {
        let draw_many = || {
            let mut ports = Ports::passing();
            let give = |number: u32| ports.give(&number.to_string(), None).unwrap();
            (0..150).map(give).collect::<Vec<_>>()
        };
        let stacks: Vec<_> = (0..4).map(|_| std::thread::spawn(draw_many)).collect();
        let ports = stacks.into_iter().flat_map(|stack| stack.join().unwrap());
        assert_eq!(ports.collect::<BTreeSet<u16>>().len(), 600);
    }
}
