//! The account that runs Postgres when the stack runs as root, because Postgres refuses to.

use std::{fs, os::unix::process::CommandExt as _, process::Command};

/// An account of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Account {
    /// Returns `postgres`, else `nobody`, for root, and nothing for other users.
    pub(crate) fn for_postgres() -> Option<Self> {
        rustix::process::geteuid()
            .is_root()
            .then(|| choose(&fs::read_to_string("/etc/passwd").unwrap_or_default()))
    }

    /// Makes `command` run as this account, in none of root's groups.
    pub(crate) fn apply(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
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
