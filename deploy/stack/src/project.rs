//! Where things are: the clone, its target directory, and the directories that hold the
//! stack's state. Knows nothing of what is stored in them.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::account::Account;

/// A clone of the project.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder of the workspace's `Cargo.toml`.
    pub root: PathBuf,
}

impl Project {
    /// The clone that holds `start` (as a rule the current directory).
    pub fn containing(start: &Path) -> Result<Self> {
        start
            .ancestors()
            .find(|dir| dir.join("deploy/stack/Cargo.toml").is_file())
            .map(|root| Self {
                root: root.to_path_buf(),
            })
            .with_context(|| format!("{} is not inside a clone of the project", start.display()))
    }

    /// The clone that holds the current directory.
    pub fn current() -> Result<Self> {
        Self::containing(&std::env::current_dir().context("the current directory is gone")?)
    }

    /// Short and stable for one clone: names the directories that can't live inside it.
    fn fingerprint(&self) -> String {
        // FNV-1a: it must stay the same between builds, which std's hasher does not promise.
        let hash = self
            .root
            .as_os_str()
            .as_encoded_bytes()
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
        format!("{hash:016x}")
    }
}

/// The directories of one user's stack in one clone.
#[derive(Debug, Clone)]
pub struct Dirs {
    /// Ours alone: secrets, ports, env, logs, NATS data. `.stack/` in the clone where possible.
    pub state: PathBuf,
    /// Downloaded binaries and Postgres data: the same, unless the account that runs Postgres
    /// can't reach it.
    pub servers: PathBuf,
    /// Why something does not live in the clone's `.stack/`, for the reader of the summary.
    pub notes: Vec<String>,
}

impl Dirs {
    /// Finds or makes the directories; `postgres` is the account that Postgres will run as.
    pub fn prepare(project: &Project, postgres: Option<&Account>) -> Result<Self> {
        let mut notes = Vec::new();
        let inside = project.root.join(".stack");
        let state = match own_directory(&inside) {
            Ok(()) => inside,
            Err(reason) => {
                let outside = outside(project);
                own_directory(&outside)?;
                notes.push(format!(
                    "state is in {} because {reason:#}",
                    outside.display()
                ));
                outside
            }
        };
        let servers = match postgres {
            Some(account) if !reachable(&state, account) => {
                let outside = outside(project);
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
            state,
            servers,
            notes,
        })
    }

    /// The same directories for a stack apart from the running one, such as that of the tests.
    pub fn apart(&self, name: &str) -> Result<Self> {
        let apart = Self {
            state: self.state.join(name),
            servers: self.servers.join(name),
            notes: self.notes.clone(),
        };
        own_directory(&apart.state)?;
        own_directory(&apart.servers)?;
        Ok(apart)
    }
}

fn outside(project: &Project) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    PathBuf::from(format!("/var/tmp/guerdon-{}-{user}", project.fingerprint()))
}

/// Makes `dir`, or checks that it is a directory of ours: in a shared place such as /var/tmp
/// somebody else could have put one there first.
fn own_directory(dir: &Path) -> Result<()> {
    // Others may pass through (the Postgres account has to), but not look around.
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o711)
        .create(dir);
    made.with_context(|| format!("{} can't be made", dir.display()))?;
    let found = fs::symlink_metadata(dir)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        bail!("{} belongs to another user", dir.display());
    }
    Ok(())
}

fn reachable(dir: &Path, account: &Account) -> bool {
    let mut probe = Command::new("/bin/sh");
    probe
        .arg("-c")
        .arg("cd \"$1\"")
        .arg("sh")
        .arg(dir)
        .current_dir("/");
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    account.apply(&mut probe);
    probe.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_clone_from_a_folder_inside_it() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let project = Project::containing(&here.join("src")).unwrap();
        assert_eq!(project.root, here.ancestors().nth(2).unwrap());
    }

    #[test]
    fn says_when_there_is_no_clone() {
        assert!(Project::containing(Path::new("/")).is_err());
    }

    #[test]
    fn fingerprints_tell_clones_apart() {
        let of = |root: &str| Project { root: root.into() }.fingerprint();
        assert_eq!(of("/home/a"), of("/home/a"));
        assert_ne!(of("/home/a"), of("/home/b"));
    }
}
