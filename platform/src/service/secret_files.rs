//! Secrets from files: the variable `NAME_FILE` names the file of the secret `NAME`, as container platforms
//! mount them. A flag and the variable `NAME` itself have precedence.

use std::{
    ffi::{OsStr, OsString},
    fs,
};

use clap::{Arg, Command, error::ErrorKind};

/// Makes the files' secrets the defaults of a command and its subcommands. A secret is a setting whose
/// value `--help` hides.
pub(super) fn apply(
    mut command: Command,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Command, clap::Error> {
    let secrets: Vec<_> = command.get_arguments().filter_map(file_variable).collect();
    for (id, name) in secrets {
        if let Some(path) = variable(&name) {
            // clap keeps a default for as long as the process runs.
            let secret: &'static str = Box::leak(read(&name, &path)?.into_boxed_str());
            command = command.mut_arg(id, |arg| {
                let arg = arg.required(false).default_value(secret);
                arg.hide_default_value(true)
            });
        }
    }
    let names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
    for name in names.into_iter().map(str::to_owned).collect::<Vec<_>>() {
        let mut failure = None;
        command = command.mut_subcommand(&name, |subcommand| {
            apply(subcommand.clone(), variable).unwrap_or_else(|error| {
                failure = Some(error);
                subcommand
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
    }
    Ok(command)
}

/// Returns a secret's id and the name of the variable with its file.
fn file_variable(arg: &Arg) -> Option<(clap::Id, String)> {
    let name = arg.get_env().filter(|_| arg.is_hide_env_values_set())?;
    Some((arg.get_id().clone(), format!("{}_FILE", name.to_str()?)))
}

fn read(name: &str, path: &OsStr) -> Result<String, clap::Error> {
    let text = fs::read_to_string(path).map_err(|error| {
        let message = format!("{name}: cannot read {}: {error}\n", path.display());
        clap::Error::raw(ErrorKind::Io, message)
    })?;
    // Editors and `echo` end a file with a line feed.
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        let secret = || {
            let arg = Arg::new("secret").long("secret").env("SHOP_TEST_SECRET");
            arg.hide_env_values(true).required(true)
        };
        let plain = Arg::new("plain").long("plain").env("SHOP_TEST_PLAIN");
        Command::new("shop")
            .subcommand_negates_reqs(true)
            .arg(secret())
            .arg(plain)
            .subcommand(Command::new("migrate").arg(secret()))
    }

    fn with_file(path: &str) -> Result<Command, clap::Error> {
        let path = OsString::from(path);
        apply(command(), &|name: &str| {
            (name == "SHOP_TEST_SECRET_FILE").then(|| path.clone())
        })
    }

    fn secret_of(line: &[&str], path: &str) -> String {
        let matches = with_file(path).unwrap().get_matches_from(line);
        let matches = matches.subcommand_matches("migrate").unwrap_or(&matches);
        matches.get_one::<String>("secret").unwrap().clone()
    }

    #[test]
    fn a_secret_comes_from_the_file_that_its_variable_names() {
        let file = std::env::temp_dir().join(format!("secret-{}", std::process::id()));
        fs::write(&file, "hush hush\n").unwrap();
        let path = file.to_str().unwrap();
        assert_eq!(secret_of(&["shop"], path), "hush hush");
        assert_eq!(secret_of(&["shop", "migrate"], path), "hush hush");
        let flag = ["shop", "--secret", "flag"];
        assert_eq!(secret_of(&flag, path), "flag");
        let help = with_file(path).unwrap().render_long_help().to_string();
        assert!(!help.contains("hush"), "{help}");
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = with_file("/nowhere/secret").unwrap_err().to_string();
        assert!(error.contains("SHOP_TEST_SECRET_FILE: cannot read /nowhere/secret"));
    }

    #[test]
    fn without_a_file_a_secret_is_required() {
        let command = apply(command(), &|_: &str| None).unwrap();
        assert!(command.try_get_matches_from(["shop"]).is_err());
    }
}
