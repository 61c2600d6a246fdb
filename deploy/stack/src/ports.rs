//! Ports on the loopback interface: the preferred one, else the one of the last run, else any that is
//! free.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use rand::Rng as _;

/// Below the range of the kernel's outgoing ports (32768 and up on Linux): a port stays free while
/// its process restarts.
const RANGE: std::ops::Range<u16> = 20_000..32_000;
const MAX_DRAWS: usize = 500;
/// Starts with other ports before a start fails.
pub(crate) const MAX_CHANGES: usize = 10;

/// Ports drawn by this process. A drawn port looks free until its owner listens: without this, two
/// stacks that start together could draw the same one.
static DRAWN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// Ports by purpose. The default forgets them at the end.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    file: Option<PathBuf>,
    saved: BTreeMap<String, u16>,
    assigned: BTreeMap<String, u16>,
}

impl Ports {
    /// Ports that are saved in `file` for the next run.
    pub(crate) fn saved_in(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        Self {
            file: Some(file.to_path_buf()),
            saved: serde_json::from_str(&text).unwrap_or_default(),
            assigned: BTreeMap::new(),
        }
    }

    /// Returns a free port for `purpose`; `preferred` is tried first.
    pub(crate) fn assign(&mut self, purpose: &str, preferred: Option<u16>) -> Result<u16> {
        let port = [preferred, self.saved.get(purpose).copied()]
            .into_iter()
            .flatten()
            .chain((0..MAX_DRAWS).filter_map(|_| draw()))
            .find(|port| !self.assigned.values().any(|other| other == port) && is_free(*port))
            .context("no free port found")?;
        self.assigned.insert(purpose.to_owned(), port);
        self.save()?;
        Ok(port)
    }

    /// Replaces the port of `purpose`, which another process has taken since it was assigned.
    pub(crate) fn reassign(&mut self, purpose: &str) -> Result<u16> {
        self.saved.remove(purpose);
        self.assigned.remove(purpose);
        self.assign(purpose, None)
    }

    /// Starts a server on the port of `purpose`. When another process has taken the port since it was
    /// assigned, starts the server again on another one.
    pub(crate) fn serve<T>(
        &mut self,
        purpose: &str,
        start: impl Fn(u16) -> Result<T>,
    ) -> Result<T> {
        let mut started = start(self.assign(purpose, None)?);
        for _ in 0..MAX_CHANGES {
            match &started {
                Err(error) if is_address_in_use(error) => {
                    started = start(self.reassign(purpose)?);
                }
                _ => break,
            }
        }
        started
    }

    fn save(&self) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut all = self.saved.clone();
        all.extend(self.assigned.clone());
        fs::write(file, serde_json::to_string_pretty(&all)?)
            .with_context(|| format!("cannot write {}", file.display()))
    }
}

/// Draws a port that this process never drew before.
fn draw() -> Option<u16> {
    let port = rand::rng().random_range(RANGE);
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    drawn.insert(port).then_some(port)
}

fn is_address_in_use(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes.any(|cause: &io::Error| cause.kind() == io::ErrorKind::AddrInUse)
}

/// Returns whether nobody listens on the port.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Names the process that listens on a port, where the kernel shows it to us.
pub(crate) fn listening_process(port: u16) -> Option<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let inode = tables
        .iter()
        .find_map(|table| listener_inode(&fs::read_to_string(table).unwrap_or_default(), port))?;
    let socket = PathBuf::from(format!("socket:[{inode}]"));
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let mut files = fs::read_dir(entry.path().join("fd")).ok()?.flatten();
        files
            .any(|file| fs::read_link(file.path()).is_ok_and(|link| link == socket))
            .then(|| {
                let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
                format!("{} (pid {pid})", name.trim())
            })
    })
}

/// Finds the socket that listens on `port` in a table in the format of /proc/net/tcp.
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
    use std::cell::{Cell, RefCell};

    use super::*;

    fn listener() -> (TcpListener, u16) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    #[test]
    fn a_taken_port_is_not_assigned() {
        let (_listener, taken) = listener();
        let port = Ports::default().assign("wallet", Some(taken)).unwrap();
        assert!(RANGE.contains(&port));
    }

    #[test]
    fn no_port_is_assigned_twice() {
        let mut ports = Ports::default();
        let first = ports.assign("wallet", None).unwrap();
        assert_ne!(ports.assign("orders", Some(first)).unwrap(), first);
    }

    fn address_in_use() -> anyhow::Error {
        anyhow::Error::new(io::Error::from(io::ErrorKind::AddrInUse)).context("it has ended")
    }

    #[test]
    fn a_server_whose_port_is_taken_gets_another_a_few_times() {
        let tried = RefCell::new(BTreeSet::new());
        let served: Result<()> = Ports::default().serve("nats", |port| {
            assert!(tried.borrow_mut().insert(port), "{port} is tried twice");
            Err(address_in_use())
        });
        assert_eq!(served.unwrap_err().to_string(), "it has ended");
        assert_eq!(tried.into_inner().len(), 1 + MAX_CHANGES);
    }

    #[test]
    fn a_server_that_fails_otherwise_is_not_started_again() {
        let starts = Cell::new(0);
        let served: Result<()> = Ports::default().serve("nats", |_| {
            starts.set(starts.get() + 1);
            anyhow::bail!("no such program")
        });
        assert_eq!(served.unwrap_err().to_string(), "no such program");
        assert_eq!(starts.get(), 1);
    }

    #[test]
    fn the_next_run_gets_the_port_that_a_server_changed_to() {
        let file = std::env::temp_dir().join(format!("stack-changed-{}", std::process::id()));
        let taken = Cell::new(None);
        let start = |port| match taken.replace(Some(port)) {
            None => Err(address_in_use()),
            Some(_) => Ok(port),
        };
        let used = Ports::saved_in(&file).serve("nats", start).unwrap();
        let again = Ports::saved_in(&file).assign("nats", None).unwrap();
        fs::remove_file(file).unwrap();
        assert_eq!(used, again);
    }

    #[test]
    fn the_next_run_gets_the_same_ports() {
        let file = std::env::temp_dir().join(format!("stack-ports-{}", std::process::id()));
        let first = Ports::saved_in(&file).assign("postgres", None).unwrap();
        let again = Ports::saved_in(&file).assign("postgres", None).unwrap();
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
    fn the_listening_process_is_named() {
        let (_listener, port) = listener();
        let process = listening_process(port).unwrap();
        assert!(
            process.ends_with(&format!("(pid {})", std::process::id())),
            "{process}"
        );
    }

    #[test]
    fn stacks_that_start_together_never_share_a_port() {
        let draw_many = || {
            let mut ports = Ports::default();
            (0..150)
                .map(|number: u32| ports.assign(&number.to_string(), None).unwrap())
                .collect::<Vec<_>>()
        };
        let stacks: Vec<_> = (0..4).map(|_| std::thread::spawn(draw_many)).collect();
        let ports = stacks.into_iter().flat_map(|stack| stack.join().unwrap());
        assert_eq!(ports.collect::<BTreeSet<u16>>().len(), 600);
    }
}
