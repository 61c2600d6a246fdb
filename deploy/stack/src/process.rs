//! A child process that can't outlive us: its output goes to a log, and it is stopped gracefully.
//! Knows nothing about the program.

use std::{
    io,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        mpsc::{Sender, SyncSender, channel, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::logs::Log;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The time to stop when a [`Process`] is dropped without [`Process::stop`].
const DROP_TIMEOUT: Duration = Duration::from_secs(5);
/// The time to read the output of a process that has ended; longer only while its children write on.
const LOG_TIMEOUT: Duration = Duration::from_secs(1);
/// The system's text for EADDRINUSE, which servers write with and without a capital letter.
const ADDRESS_IN_USE: &str = "address already in use";

/// A child process, running or ended.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    stop_signal: Signal,
    child: Mutex<Child>,
    log: Arc<Log>,
    follower: JoinHandle<()>,
}

impl Process {
    /// Starts a command of [`command`] in a process group of its own: Ctrl-C in a terminal reaches
    /// only us, and we stop the processes in order.
    pub(crate) fn spawn(
        name: &str,
        mut command: Command,
        stop_signal: Signal,
        log: Arc<Log>,
    ) -> Result<Self> {
        let (reader, writer) = io::pipe()?;
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let child = spawn_from_permanent_thread(command);
        let child = child.with_context(|| format!("cannot start {name}"))?;
        let output = Arc::clone(&log);
        let follower = thread::spawn(move || output.follow(reader));
        Ok(Self {
            name: name.to_owned(),
            stop_signal,
            child: Mutex::new(child),
            log,
            follower,
        })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child().id()
    }

    /// Returns the exit status of a process that has ended.
    pub(crate) fn exit_status(&self) -> Option<ExitStatus> {
        self.child().try_wait().ok().flatten()
    }

    /// Fails, with the last lines of output, when the process has ended. The error has an
    /// [`io::Error`] as its cause where the lines say that an address is in use.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(status) = self.exit_status() else {
            return Ok(());
        };
        poll(LOG_TIMEOUT, || self.follower.is_finished().then_some(()));
        let lines = self.log.last_lines(20);
        let ended = format!(
            "{} has ended ({status}). Its last lines:\n{lines}",
            self.name
        );
        if lines.to_lowercase().contains(ADDRESS_IN_USE) {
            return Err(io::Error::from(io::ErrorKind::AddrInUse)).context(ended);
        }
        bail!(ended)
    }

    /// Calls `probe` until it succeeds. Fails after `timeout`, and when this process or one of `group`
    /// has ended.
    pub(crate) fn wait_until_ready(
        &self,
        timeout: Duration,
        group: &[Arc<Self>],
        probe: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let mut last_error = anyhow!("no response");
        let ready = poll(timeout, || {
            let running = group.iter().try_for_each(|process| process.check());
            if let Err(ended) = self.check().and(running) {
                return Some(Err(ended));
            }
            probe().map_err(|error| last_error = error).ok().map(Ok)
        });
        ready.unwrap_or_else(|| {
            bail!(
                "{} is not ready after {timeout:?} ({last_error:#}). Its last lines:\n{}",
                self.name,
                self.log.last_lines(15)
            )
        })
    }

    /// Sends the stop signal without waiting.
    pub(crate) fn signal_stop(&self) {
        let child = &mut self.child();
        if matches!(child.try_wait(), Ok(None)) {
            signal(child.id(), self.stop_signal);
        }
    }

    /// Sends the stop signal, and SIGKILL after `timeout`.
    pub(crate) fn stop(&self, timeout: Duration) {
        self.signal_stop();
        if poll(timeout, || self.exit_status()).is_none() {
            self.kill();
        }
    }

    /// Sends SIGKILL and waits for the end.
    pub(crate) fn kill(&self) {
        let mut child = self.child();
        let _ = child.kill();
        let _ = child.wait();
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop(DROP_TIMEOUT);
    }
}

/// Calls `probe` until it returns something, or until `timeout`.
pub(crate) fn poll<T>(timeout: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + timeout;
    loop {
        let result = probe();
        if result.is_some() || Instant::now() >= deadline {
            return result;
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Sends a signal to a process that may have ended already.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Returns the command of a program that can't outlive us. Where there is `setpriv`, the kernel sends
/// the signal to the child when we die, even by `kill -9`.
pub(crate) fn command(program: &Path, stop_signal: Signal) -> Command {
    static SETPRIV: LazyLock<Option<&'static str>> = LazyLock::new(|| {
        let paths = ["/usr/bin/setpriv", "/bin/setpriv"];
        paths.into_iter().find(|path| knows_pdeathsig(path))
    });
    let Some(setpriv) = *SETPRIV else {
        return Command::new(program);
    };
    let interrupt = stop_signal == Signal::INT;
    let mut command = Command::new(setpriv);
    command.args(["--pdeathsig", if interrupt { "INT" } else { "TERM" }, "--"]);
    command.arg(program);
    command
}

fn knows_pdeathsig(setpriv: &str) -> bool {
    let help = Command::new(setpriv).arg("--help").output();
    help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--pdeathsig"))
}

/// Starts the child from a thread that never ends: the kernel sends the signal when the *thread* that
/// started the child ends, and a test's thread may end before its stack.
fn spawn_from_permanent_thread(command: Command) -> io::Result<Child> {
    type Job = (Command, SyncSender<io::Result<Child>>);
    static SPAWNER: LazyLock<Mutex<Sender<Job>>> = LazyLock::new(|| {
        let (jobs, queue) = channel::<Job>();
        thread::spawn(move || {
            for (mut command, reply) in queue {
                let _ = reply.send(command.spawn());
            }
        });
        Mutex::new(jobs)
    });
    let (reply, child) = sync_channel(1);
    let spawner = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
    spawner.send((command, reply)).map_err(io::Error::other)?;
    drop(spawner);
    child.recv().map_err(io::Error::other)?
}
