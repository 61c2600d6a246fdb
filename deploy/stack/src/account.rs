//! The account that runs Postgres when the stack itself runs as root, because Postgres
//! refuses to.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// An account of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its login name.
    pub name: String,
    /// Its user id.
    pub uid: u32,
    /// Its primary group.
    pub gid: u32,
}

impl Account {
    /// Nothing to change for an ordinary user; `postgres`, else `nobody`, for root.
    pub fn for_postgres() -> Option<Self> {
        rustix::process::geteuid().is_root().then(|| {
            let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
            choose(&accounts)
        })
    }

    /// Lets `command` run as this account, in none of root's groups.
    pub fn apply(&self, command: &mut Command) {
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
    fn prefers_postgres_to_nobody() {
        let passwd = format!("{NOBODY}postgres:x:101:104:admin,,,:/var/lib/postgresql:/bin/bash\n");
        let expected = Account {
            name: "postgres".to_owned(),
            uid: 101,
            gid: 104,
        };
        assert_eq!(choose(&passwd), expected);
    }

    #[test]
    fn takes_nobody_where_there_is_no_postgres() {
        assert_eq!((choose(NOBODY).uid, choose(NOBODY).gid), (65_534, 65_533));
        assert_eq!(choose("").uid, 65_534);
    }
}
