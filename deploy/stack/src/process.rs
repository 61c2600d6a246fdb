//! A child process: started so that it can't outlive us, its output kept, stopped in good
//! order. Knows nothing of what the program is.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::account::Account;
use crate::logs::Log;

/// What to start.
#[derive(Debug, Clone)]
pub struct Spec {
    /// How messages call it.
    pub name: String,
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, added to ours unless it is to be free of it.
    pub env: Vec<(String, String)>,
    /// Whether our own environment must not reach it.
    pub isolated: bool,
    /// Whose rights it runs with; ours when absent.
    pub account: Option<Account>,
    /// What asks it to stop.
    pub stop: Signal,
}

/// A running (or ended) child.
#[derive(Debug)]
pub struct Process {
    name: String,
    stop: Signal,
    child: Mutex<Child>,
    log: Arc<Log>,
}

impl Process {
    /// Starts the program in a process group of its own, so that Ctrl-C in a terminal reaches
    /// only us and we stop things in order.
    pub fn spawn(spec: &Spec, log: Arc<Log>) -> Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut command = bound_to_us(&spec.program, spec.stop);
        if spec.isolated {
            command.env_clear();
        }
        command
            .args(&spec.args)
            .envs(spec.env.iter().cloned())
            .process_group(0);
        command
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        if let Some(account) = &spec.account {
            // It may not be allowed where we are.
            command.current_dir("/");
            account.apply(&mut command);
        }
        let child = spawn_from_lasting_thread(command).with_context(|| {
            format!(
                "{} ({}) can't be started",
                spec.name,
                spec.program.display()
            )
        })?;
        let reading = Arc::clone(&log);
        thread::spawn(move || reading.follow(reader));
        Ok(Self {
            name: spec.name.clone(),
            stop: spec.stop,
            child: Mutex::new(child),
            log,
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child().id()
    }

    /// What it printed.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<ExitStatus> {
        self.child().try_wait().ok().flatten()
    }

    /// Fails, with its last lines, when it has ended.
    pub fn check(&self) -> Result<()> {
        let Some(status) = self.ended() else {
            return Ok(());
        };
        bail!(
            "{} has ended ({status}). Its last lines:\n{}",
            self.name,
            self.log.last_lines(20)
        )
    }

    /// Asks it to stop, without waiting.
    pub fn ask_to_stop(&self) {
        let child = &mut self.child();
        if matches!(child.try_wait(), Ok(None)) {
            signal(child.id(), self.stop);
        }
    }

    /// Asks it to stop, and kills it when it takes longer than `patience`.
    pub fn stop(&self, patience: Duration) {
        self.ask_to_stop();
        if self.wait(patience).is_none() {
            self.kill();
        }
    }

    /// Ends it with SIGKILL, and waits until it is gone.
    pub fn kill(&self) {
        let mut child = self.child();
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Waits for its end, at most `patience`.
    pub fn wait(&self, patience: Duration) -> Option<ExitStatus> {
        poll(patience, || self.ended())
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop(Duration::from_secs(5));
    }
}

/// Asks `probe` again and again until it has an answer, at most `patience`.
pub fn poll<T>(patience: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        let answer = probe();
        if answer.is_some() || Instant::now() >= deadline {
            return answer;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to a process that may be gone already.
pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// `setpriv` has the kernel signal the child when we die, even by `kill -9`.
fn bound_to_us(program: &Path, on_death: Signal) -> Command {
    static SETPRIV: LazyLock<Option<&'static str>> = LazyLock::new(|| {
        ["/usr/bin/setpriv", "/bin/setpriv"]
            .into_iter()
            .find(|path| knows_pdeathsig(path))
    });
    let Some(setpriv) = *SETPRIV else {
        return Command::new(program);
    };
    let mut command = Command::new(setpriv);
    command.arg("--pdeathsig").arg(if on_death == Signal::INT {
        "INT"
    } else {
        "TERM"
    });
    command.arg("--").arg(program);
    command
}

fn knows_pdeathsig(setpriv: &str) -> bool {
    let help = Command::new(setpriv).arg("--help").output();
    help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--pdeathsig"))
}

/// The kernel's signal fires when the *thread* that started the child ends, and a test's thread
/// ends long before the stack that it shares with others. So one thread starts everything.
fn spawn_from_lasting_thread(command: Command) -> io::Result<Child> {
    type Order = (Command, SyncSender<io::Result<Child>>);
    static SPAWNER: LazyLock<Mutex<Sender<Order>>> = LazyLock::new(|| {
        let (orders, inbox) = channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in inbox {
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(orders)
    });
    let (answer, child) = sync_channel(1);
    let orders = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
    orders.send((command, answer)).map_err(io::Error::other)?;
    drop(orders);
    child.recv().map_err(io::Error::other)?
}
