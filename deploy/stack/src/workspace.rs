//! Where things are: the clone and the directories that hold the stack's state. Knows nothing of
//! what is stored in them.

use std::{
    env, fs,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};

use crate::account::Account;

/// The directories of one user's stack in one clone.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The root of the clone.
    pub root: PathBuf,
    /// Secrets, ports, env and logs: `.stack/` in the clone where possible.
    pub state: PathBuf,
    /// Downloads and the data of the servers: the same directory, unless the account that runs them
    /// can't reach it.
    pub(crate) servers: PathBuf,
    pub(crate) cache: PathBuf,
    /// The account that runs servers and programs, when it isn't ours.
    pub(crate) account: Option<Account>,
    /// Why a directory is not in the clone.
    pub(crate) notes: Vec<String>,
}

impl Workspace {
    /// Finds the clone that holds the current directory, and makes its directories.
    pub fn current() -> Result<Self> {
        let here = env::current_dir().context("the current directory is gone")?;
        Self::open(find_root(&here)?, Account::instead_of_root())
    }

    fn open(root: PathBuf, account: Option<Account>) -> Result<Self> {
        let (inside, outside) = (root.join(".stack"), outside(&root));
        let mut notes = Vec::new();
        let own = |dir: &Path| own_directory(dir, account.as_ref());
        let state = match own(&inside) {
            Ok(()) => inside,
            Err(reason) => {
                own(&outside)?;
                notes.push(format!(
                    "state is in {} because {reason:#}",
                    outside.display()
                ));
                outside.clone()
            }
        };
        let servers = match &account {
            Some(account) if !account.may_execute(&state) => {
                own(&outside)?;
                notes.push(format!(
                    "the servers' data is in {} because user {} can't reach {}",
                    outside.display(),
                    account.name,
                    state.display()
                ));
                outside
            }
            _ => state.clone(),
        };
        // Whatever the umask: the account runs the servers that are downloaded to it.
        let cache = servers.join("cache");
        own(&cache)?;
        Ok(Self {
            root,
            state,
            servers,
            cache,
            account,
            notes,
        })
    }

    /// Makes the directories of a stack apart from the running one, such as that of the tests.
    pub fn subdirectory(&self, name: &str) -> Result<Self> {
        let mut workspace = self.clone();
        for part in name.split('/') {
            workspace.state.push(part);
            workspace.servers.push(part);
            own_directory(&workspace.state, self.account.as_ref())?;
            own_directory(&workspace.servers, self.account.as_ref())?;
        }
        Ok(workspace)
    }

    /// Makes the directories of a test, which the test removes.
    #[cfg(test)]
    pub(crate) fn scratch() -> Self {
        let name = format!("test/stacks/scratch-{:016x}", rand::random::<u64>());
        Self::current().unwrap().subdirectory(&name).unwrap()
    }

    /// Returns the directory of log files.
    pub(crate) fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// Makes the directory of mails, to which the account of the services writes.
    pub(crate) fn mails(&self) -> Result<PathBuf> {
        let dir = self.servers.join("mail");
        let mut directory = fs::DirBuilder::new();
        directory.recursive(true).mode(0o700).create(&dir)?;
        if let Some(account) = &self.account {
            account.give(&dir)?;
        }
        Ok(dir)
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
/// somebody else could have made it first. Nobody else may enter it, apart from the account of the
/// servers, which may pass through but not list it.
fn own_directory(dir: &Path, account: Option<&Account>) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| format!("cannot make {}", dir.display()))?;
    let metadata = fs::symlink_metadata(dir)?;
    if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
        bail!("{} belongs to another user", dir.display());
    }
    let mode = if account.is_some() { 0o710 } else { 0o700 };
    fs::set_permissions(dir, fs::Permissions::from_mode(mode))?;
    if let Some(account) = account {
        chown(dir, None, Some(account.gid))?;
    }
    Ok(())
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
    fn a_directory_is_closed_to_all_but_us_and_the_account_of_the_servers() {
        let dir = env::temp_dir().join(format!("stack-directory-{}", std::process::id()));
        let account = Account::instead_of_root();
        // As an earlier version made it.
        fs::DirBuilder::new().mode(0o755).create(&dir).unwrap();
        own_directory(&dir, account.as_ref()).unwrap();
        let metadata = fs::metadata(&dir).unwrap();
        fs::remove_dir(&dir).unwrap();
        let Some(account) = account else {
            assert_eq!(metadata.mode() & 0o777, 0o700);
            return;
        };
        assert_eq!(metadata.mode() & 0o777, 0o710);
        assert_eq!((metadata.uid(), metadata.gid()), (0, account.gid));
    }

    #[test]
    fn the_account_of_the_servers_can_reach_the_downloads() {
        let workspace = Workspace::current().unwrap();
        let mode = fs::metadata(&workspace.cache).unwrap().mode() & 0o777;
        match &workspace.account {
            Some(account) => {
                assert_eq!(mode, 0o710);
                assert!(account.may_execute(&workspace.cache));
            }
            None => assert_eq!(mode, 0o700),
        }
    }

    #[test]
    fn each_clone_has_its_own_directory_outside() {
        assert_eq!(outside(Path::new("/home/a")), outside(Path::new("/home/a")));
        assert_ne!(outside(Path::new("/home/a")), outside(Path::new("/home/b")));
    }
}
