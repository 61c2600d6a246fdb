//! What a process of the stack gets from us: the account that it runs as, files that the account can
//! reach, and those variables of our environment that concern it.

use std::{
    ffi::OsString,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::{service::programs, workspace::Workspace};

/// Variables that any process may have. Everything else of a developer's environment stays here:
/// tokens, keys and passwords of other things.
const COMMON: &[&str] = &[
    "LANG",
    "LC_ALL",
    "LLVM_PROFILE_FILE",
    "NO_COLOR",
    "PATH",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TOKIO_WORKER_THREADS",
    "TZ",
];

/// Settings of our programs whose names don't begin with that of the program.
const SETTINGS: &[&str] = &[
    "BONUS_ASSET_CODE",
    "CORS_ORIGINS",
    "DEFAULT_ASSET_CODE",
    "DRAIN_DELAY",
    "FAILPOINTS",
    "HD_PUBLIC_KEYS",
    "HUGE_PAGES",
    "INSECURE_PEERS",
    "LOG",
    "LOG_FORMAT",
    "MAIL_FROM",
    "NATS_CA_FILE",
    "NATS_CERT_FILE",
    "NATS_KEY_FILE",
    "NATS_STREAM_REPLICAS",
    "PASSWORD_HASH_LANES",
    "PASSWORD_HASH_MEMORY_KIB",
    "PASSWORD_HASH_PASSES",
    "PAYMENT_METHODS_FILE",
    "PEER_CA_FILE",
    "RATE_LIMIT_BURST",
    "REFERRAL_PURCHASE_PERCENT",
    "REFERRAL_TASK_PERCENT",
    "SELLER_NAME",
    "SHIPPING_AMOUNTS",
    "SIGN_UP",
    "SMTP_URL",
    "TLS_CERT_FILE",
    "TLS_CLIENT_CA_FILE",
    "TLS_KEY_FILE",
    "TRACE_SAMPLE_RATIO",
    "TRUSTED_PROXIES",
    "WEBHOOK_ALLOW_HTTP",
    "WEBHOOK_ALLOW_PRIVATE",
];

/// Returns whether a process of `program` gets a variable of our environment.
pub fn is_passed(name: &str, program: &str) -> bool {
    if COMMON.contains(&name) || !programs().any(|known| known == program) {
        return COMMON.contains(&name);
    }
    let prefix = format!("{}_", program.trim_end_matches("-svc").to_uppercase());
    // The stack sets those; another one, in a shell with the variables of a stack, is not for it.
    let is_database = name.ends_with("DATABASE_URL");
    SETTINGS.contains(&name) || (name.starts_with(&prefix) && !is_database)
}

impl Workspace {
    /// Makes a command run as the account of the servers, with those variables of our environment
    /// that concern `program`.
    pub(crate) fn isolate(&self, command: &mut Command, program: &str) -> Result<()> {
        command.env_clear();
        for (name, value) in std::env::vars_os() {
            match name.to_str() {
                Some(known) if is_passed(known, program) => {
                    let value = self.passed_value(known, value)?;
                    command.env(name, value);
                }
                _ => (),
            }
        }
        if let Some(account) = &self.account {
            account.apply(command);
        }
        Ok(())
    }

    /// Returns a directory with the programs of `directory` that the account can run. Links are
    /// enough where both are on one file system.
    pub(crate) fn runnable(&self, directory: &Path, names: &[&str]) -> Result<PathBuf> {
        let account = self.account.as_ref();
        let runs = |program: &Path| account.is_none_or(|it| it.may_execute(program));
        if names.iter().all(|name| runs(&directory.join(name))) {
            return Ok(directory.to_path_buf());
        }
        let reachable = self.subdirectory("programs")?.servers;
        for name in names {
            let (from, to) = (directory.join(name), reachable.join(name));
            let _ = fs::remove_file(&to);
            if fs::hard_link(&from, &to).is_err() || !runs(&to) {
                self.copy(&from, &to)?;
            }
        }
        Ok(reachable)
    }

    /// Removes the programs and files that were handed over.
    pub(crate) fn remove_handed_over(&self) {
        for name in ["programs", "files"] {
            let _ = fs::remove_dir_all(self.servers.join(name));
            let _ = fs::remove_dir_all(self.state.join(name));
        }
    }

    /// Returns the value of a variable for the account: a file that it can't read is copied.
    fn passed_value(&self, name: &str, value: OsString) -> Result<OsString> {
        let Some(account) = self.account.as_ref().filter(|_| name.ends_with("_FILE")) else {
            return Ok(value);
        };
        let file = std::path::absolute(&value)?;
        // A file that isn't there is the program's to complain about.
        if !file.is_file() || account.may_read(&file) {
            return Ok(file.into());
        }
        let copy = self.subdirectory("files")?.servers.join(name);
        self.copy(&file, &copy)?;
        Ok(copy.into())
    }

    /// Copies a file, with its time, for the account alone. Several processes may ask at once.
    fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let part = to.with_extension(format!("{:016x}.part", rand::random::<u64>()));
        let copy = || -> Result<()> {
            fs::copy(from, &part)?;
            File::options()
                .write(true)
                .open(&part)?
                .set_modified(fs::metadata(from)?.modified()?)?;
            let account = self.account.as_ref();
            account.map_or(Ok(()), |account| account.give(&part))?;
            Ok(fs::rename(&part, to)?)
        };
        copy().with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};

    use super::*;

    #[test]
    fn a_process_gets_its_own_settings_only() {
        for (name, program) in [
            ("PATH", "nats"),
            ("LOG", "gateway"),
            ("WALLET_MAX_BATCH", "wallet-svc"),
            ("GATEWAY_MAX_CONNECTIONS", "gateway"),
        ] {
            assert!(is_passed(name, program), "{program} gets {name}");
        }
        for (name, program) in [
            ("AWS_SECRET_ACCESS_KEY", "wallet-svc"),
            ("PGPASSWORD", "wallet-svc"),
            ("WALLET_DATABASE_URL", "wallet-svc"),
            ("WALLET_MAX_BATCH", "gateway"),
            ("HD_PUBLIC_KEYS", "nats"),
        ] {
            assert!(!is_passed(name, program), "{program} gets {name}");
        }
    }

    #[test]
    fn programs_and_files_stay_where_the_account_can_reach_them() {
        let (workspace, dir) = (Workspace::current().unwrap(), std::env::temp_dir());
        let shell = workspace.runnable(Path::new("/bin"), &["sh"]).unwrap();
        assert_eq!(shell, Path::new("/bin"));
        let readable = workspace.passed_value("A_FILE", "/etc/passwd".into());
        assert_eq!(readable.unwrap(), "/etc/passwd");
        let missing = dir.join("missing").into_os_string();
        let passed = workspace.passed_value("A_FILE", missing.clone());
        assert_eq!(passed.unwrap(), missing);
    }

    /// Only root runs programs as another account.
    #[test]
    fn programs_and_files_that_the_account_cannot_reach_are_handed_over() {
        let name = format!("test/stacks/handover-{:016x}", rand::random::<u64>());
        let workspace = Workspace::current().unwrap().subdirectory(&name).unwrap();
        let private = workspace.state.join("private");
        let program = private.join("program");
        fs::DirBuilder::new().mode(0o700).create(&private).unwrap();
        fs::write(&program, "#!/bin/sh\nid -u\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();

        let directory = workspace.runnable(&private, &["program"]).unwrap();
        let file = workspace.passed_value("A_FILE", program.clone().into());

        let file = PathBuf::from(file.unwrap());
        let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(modified(&file), modified(&program));
        if let Some(account) = &workspace.account {
            assert!(account.may_execute(&directory.join("program")));
            assert!(account.may_read(&file));
            assert_ne!(file, program);
        } else {
            assert_eq!((directory, file), (private, program));
        }
        workspace.remove().unwrap();
    }
}
