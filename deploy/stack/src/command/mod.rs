//! One module a command, and what they share.

mod bed;
mod cargo;
mod leftovers;
mod lock;
mod node;
mod servers;
mod signals;
mod summary;

pub(crate) mod exec;
pub(crate) mod prepare;
pub(crate) mod reset;
pub(crate) mod test;
pub(crate) mod up;

use std::process::{ExitCode, ExitStatus};

use anyhow::Result;
use stack::account::Account;
use stack::progress::Progress;
use stack::project::{Dirs, Project};

/// Where a command works, and how it tells what it does.
struct Place {
    project: Project,
    account: Option<Account>,
    dirs: Dirs,
    progress: Progress,
}

impl Place {
    fn find() -> Result<Self> {
        let progress = Progress::for_people();
        let project = Project::current()?;
        let account = Account::for_postgres();
        let dirs = Dirs::prepare(&project, account.as_ref())?;
        dirs.notes
            .iter()
            .for_each(|note| progress.tell(&format!("note: {note}")));
        Ok(Self {
            project,
            account,
            dirs,
            progress,
        })
    }
}

/// The exit code of a command that ran on our behalf.
fn passed_on(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
