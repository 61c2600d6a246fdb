//! The account that runs servers and programs when the stack runs as root: Postgres refuses to run as
//! root, and nothing else needs to.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, lchown},
        process::CommandExt as _,
    },
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result};

/// An account of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Account {
    /// Returns `postgres`, else `nobody`, for root, and nothing for other users.
    pub(crate) fn instead_of_root() -> Option<Self> {
        rustix::process::geteuid()
            .is_root()
            .then(|| choose(&fs::read_to_string("/etc/passwd").unwrap_or_default()))
    }

    /// Makes `command` run as this account, in none of root's groups, and in a directory that it may
    /// enter.
    pub(crate) fn apply(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid).current_dir("/");
    }

    /// Gives a file or directory to the account.
    pub(crate) fn give(&self, path: &Path) -> Result<()> {
        lchown(path, Some(self.uid), Some(self.gid))
            .with_context(|| format!("cannot give {} to {}", path.display(), self.name))
    }

    /// Gives a directory of ours with everything in it to the account. One that the account has
    /// already stays as it is: it may have put anything there.
    pub(crate) fn give_all(&self, dir: &Path) -> Result<()> {
        if fs::symlink_metadata(dir)?.uid() == self.uid {
            return Ok(());
        }
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                self.give_all(&entry.path())?;
            } else {
                self.give(&entry.path())?;
            }
        }
        self.give(dir)
    }

    /// Returns whether the account may enter a directory, or run a program.
    pub(crate) fn may_execute(&self, path: &Path) -> bool {
        self.test("-x", path)
    }

    /// Returns whether the account may read a file.
    pub(crate) fn may_read(&self, path: &Path) -> bool {
        self.test("-r", path)
    }

    /// Asks the kernel as the account: modes, groups and access lists count, of all parents too.
    fn test(&self, condition: &str, path: &Path) -> bool {
        let mut test = Command::new("/bin/sh");
        test.args(["-c", "test \"$1\" \"$2\"", "sh", condition])
            .arg(path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.apply(&mut test);
        test.status().is_ok_and(|status| status.success())
    }
}

fn choose(passwd: &str) -> Account {
    ["postgres", "nobody"]
        .iter()
        .find_map(|name| lookup(passwd, name))
        .unwrap_or_else(|| Account {
            name: "nobody".to_owned(),
            uid: 65_534,
            gid: 65_534,
        })
}

fn lookup(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        match fields.as_slice() {
            [found, _, uid, gid, ..] if *found == name => Some(Account {
                name: name.to_owned(),
                uid: uid.parse().ok()?,
                gid: gid.parse().ok()?,
            }),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: &str = "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65533::/:/usr/sbin/nologin\n";

    #[test]
    fn postgres_is_preferred_to_nobody() {
        let passwd = format!("{NOBODY}postgres:x:101:104:admin,,,:/var/lib/postgresql:/bin/bash\n");
        let expected = Account {
            name: "postgres".to_owned(),
            uid: 101,
            gid: 104,
        };
        assert_eq!(choose(&passwd), expected);
    }

    #[test]
    fn nobody_is_used_without_a_postgres_account() {
        assert_eq!((choose(NOBODY).uid, choose(NOBODY).gid), (65_534, 65_533));
        assert_eq!(choose("").uid, 65_534);
    }
}
