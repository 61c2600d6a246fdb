//! Where things are: the clone and the directories that hold the stack's state. Knows nothing of
//! what is stored in them.

use std::{
    env, fs,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use crate::account::Account;

/// The directories of one user's stack in one clone.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The root of the clone.
    pub root: PathBuf,
    /// Secrets, ports, env, logs and NATS data: `.stack/` in the clone where possible.
    pub state: PathBuf,
    /// Downloads and Postgres data: the same directory, unless the account that runs Postgres can't
    /// reach it.
    pub(crate) servers: PathBuf,
    pub(crate) cache: PathBuf,
    /// The account that runs Postgres, when it isn't ours.
    pub(crate) account: Option<Account>,
    /// Why a directory is not in the clone.
    pub(crate) notes: Vec<String>,
}

impl Workspace {
    /// Finds the clone that holds the current directory, and makes its directories.
    pub fn current() -> Result<Self> {
        let here = env::current_dir().context("the current directory is gone")?;
        Self::open(find_root(&here)?, Account::for_postgres())
    }

    fn open(root: PathBuf, account: Option<Account>) -> Result<Self> {
        let (inside, outside) = (root.join(".stack"), outside(&root));
        let mut notes = Vec::new();
        let state = match own_directory(&inside) {
            Ok(()) => inside,
            Err(reason) => {
                own_directory(&outside)?;
                notes.push(format!(
                    "state is in {} because {reason:#}",
                    outside.display()
                ));
                outside.clone()
            }
        };
        let servers = match &account {
            Some(account) if !reachable(&state, account) => {
                own_directory(&outside)?;
                notes.push(format!(
                    "Postgres data is in {} because user {} can't reach {}",
                    outside.display(),
                    account.name,
                    state.display()
                ));
                outside
            }
            _ => state.clone(),
        };
        Ok(Self {
            root,
            cache: servers.join("cache"),
            state,
            servers,
            account,
            notes,
        })
    }

    /// Makes the directories of a stack apart from the running one, such as that of the tests.
    pub fn subdirectory(&self, name: &str) -> Result<Self> {
        let workspace = Self {
            state: self.state.join(name),
            servers: self.servers.join(name),
            ..self.clone()
        };
        own_directory(&workspace.state)?;
        own_directory(&workspace.servers)?;
        Ok(workspace)
    }

    /// Returns the directory of log files.
    pub(crate) fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// Returns the file of keys and passwords.
    pub fn secrets(&self) -> PathBuf {
        self.state.join("secrets")
    }

    /// Removes all that is stored, but not the downloads.
    pub fn remove(self) -> Result<()> {
        for dir in [&self.state, &self.servers] {
            if dir.exists() {
                fs::remove_dir_all(dir)
                    .with_context(|| format!("cannot remove {}", dir.display()))?;
            }
        }
        Ok(())
    }
}

fn find_root(start: &Path) -> Result<PathBuf> {
    start
        .ancestors()
        .find(|dir| dir.join("deploy/stack/Cargo.toml").is_file())
        .map(Path::to_path_buf)
        .with_context(|| format!("{} is not inside a clone of the project", start.display()))
}

/// Returns the place for directories that can't be in the clone: one for each clone and user.
fn outside(root: &Path) -> PathBuf {
    // FNV-1a: it must stay the same between builds, which std's hasher does not promise.
    let hash = root
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let user = rustix::process::geteuid().as_raw();
    PathBuf::from(format!("/var/tmp/guerdon-{hash:016x}-{user}"))
}

/// Makes `dir`, or checks that it is a directory of ours: in a shared place such as /var/tmp
/// somebody else could have made it first.
fn own_directory(dir: &Path) -> Result<()> {
    // Others may pass through (the Postgres account has to), but not list it.
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o711)
        .create(dir)
        .with_context(|| format!("cannot make {}", dir.display()))?;
    let metadata = fs::symlink_metadata(dir)?;
    if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
        bail!("{} belongs to another user", dir.display());
    }
    Ok(())
}

fn reachable(dir: &Path, account: &Account) -> bool {
    let mut probe = Command::new("/bin/sh");
    probe
        .args(["-c", "cd \"$1\"", "sh"])
        .arg(dir)
        .current_dir("/")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    account.apply(&mut probe);
    probe.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clone_is_found_from_a_folder_inside_it() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = find_root(&here.join("src")).unwrap();
        assert_eq!(root, here.ancestors().nth(2).unwrap());
    }

    #[test]
    fn a_folder_outside_of_a_clone_is_an_error() {
        assert!(find_root(Path::new("/")).is_err());
    }

    #[test]
    fn each_clone_has_its_own_directory_outside() {
        assert_eq!(outside(Path::new("/home/a")), outside(Path::new("/home/a")));
        assert_ne!(outside(Path::new("/home/a")), outside(Path::new("/home/b")));
    }
}
