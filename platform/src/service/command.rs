//! The command line: `serve` (the default), and the commands on the service's schema.

use std::ffi::OsString;

use clap::{ArgMatches, Args, Command, FromArgMatches as _};

use super::{
    Application,
    database::{self, DatabaseCommand},
    secret_files,
};
use crate::config::{Settings, Telemetry};

/// A parsed command line.
pub(super) enum Invocation<C> {
    Serve(Box<C>),
    Database(Box<DatabaseCommand>),
}

impl<C: Settings> Invocation<C> {
    pub(super) fn telemetry(&self) -> &Telemetry {
        match self {
            Self::Serve(config) => &config.common().telemetry,
            Self::Database(command) => &command.telemetry,
        }
    }
}

/// Parses the command line; prints help or an error and exits.
pub(super) fn parse<A: Application>() -> Invocation<A::Config> {
    read::<A>(std::env::args_os()).unwrap_or_else(|error| error.exit())
}

fn read<A: Application>(
    args: impl IntoIterator<Item = OsString>,
) -> Result<Invocation<A::Config>, clap::Error> {
    let mut command = secret_files::apply(command::<A>(), &|name| std::env::var_os(name))?;
    let matches = command.try_get_matches_from_mut(args)?;
    let parsed = match (matches.subcommand(), A::DATABASE) {
        (Some((name, matches)), Some(database)) if name != "serve" => {
            DatabaseCommand::parse(name, matches, database, A::VERIFY, A::COMMANDS)
                .map(|command| Invocation::Database(Box::new(command)))
        }
        (Some((_, matches)), _) => serve::<A>(matches),
        (None, _) => serve::<A>(&matches),
    };
    parsed.map_err(|error| error.format(&mut command))
}

fn serve<A: Application>(matches: &ArgMatches) -> Result<Invocation<A::Config>, clap::Error> {
    A::Config::from_arg_matches(matches).map(|config| Invocation::Serve(Box::new(config)))
}

fn command<A: Application>() -> Command {
    // Descriptions come last, as flattened structs have their own.
    let serve = A::Config::augment_args(Command::new("serve")).long_about(None);
    let command = A::Config::augment_args(Command::new(A::NAME))
        .about(A::ABOUT)
        .long_about(None)
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_negates_reqs(true)
        .args_conflicts_with_subcommands(true)
        .subcommand(serve.about("Serve; the default"));
    match A::DATABASE {
        Some(database) => command.subcommands(database::commands(database, A::VERIFY, A::COMMANDS)),
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use std::{borrow::Cow, net::SocketAddr};

    use sqlx::migrate::Migrator;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{
        config::{Common, ServiceSecret},
        pg::Schema,
        service::{Database, Runtime},
    };

    static MIGRATOR: Migrator = Migrator {
        migrations: Cow::Borrowed(&[]),
        ..Migrator::DEFAULT
    };

    /// An application with or without a database.
    struct Stock<const OWNER: bool>;

    #[derive(Args)]
    struct Config {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        service_secret: ServiceSecret,
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
    }

    impl Settings for Config {
        fn common(&self) -> &Common {
            &self.common
        }

        fn listen(&self) -> SocketAddr {
            self.listen
        }
    }

    impl<const OWNER: bool> Application for Stock<OWNER> {
        const NAME: &'static str = "stock-svc";
        const ABOUT: &'static str = "Counts the stock";
        const DATABASE: Option<Database> = if OWNER {
            Some(Database {
                schema: Schema::new("stock"),
                migrator: &MIGRATOR,
                url_env: "STOCK_DATABASE_URL",
                owner_url_env: "STOCK_OWNER_DATABASE_URL",
            })
        } else {
            None
        };
        type Config = Config;

        async fn build(_: Config, _: Runtime) -> anyhow::Result<Self> {
            Ok(Self)
        }

        async fn run_until_stopped(self, _: CancellationToken) -> anyhow::Result<()> {
            Ok(())
        }
    }

    fn read_line<const OWNER: bool>(line: &str) -> Result<Invocation<Config>, String> {
        let words = line.split(' ').map(OsString::from);
        read::<Stock<OWNER>>(words).map_err(|error| error.to_string())
    }

    #[test]
    fn serve_is_the_default() {
        let secret = "--service-secret k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha";
        for line in [format!("svc {secret}"), format!("svc serve {secret}")] {
            assert!(
                matches!(read_line::<true>(&line), Ok(Invocation::Serve(_))),
                "{line}"
            );
        }
        assert!(read_line::<true>("svc serve").is_err(), "without a secret");
    }

    #[test]
    fn commands_on_the_schema_need_no_settings_of_serve() {
        for line in [
            "svc migrate --owner-database-url postgres://db/x --log debug",
            "svc replay --database-url postgres://db/x --since 2026-01-31T10:00:00Z",
            "svc dead-letters --database-url postgres://db/x list",
            "svc dead-letters --database-url postgres://db/x retry",
        ] {
            let read = read_line::<true>(line);
            assert!(
                matches!(read, Ok(Invocation::Database(_))),
                "{line}: {:?}",
                read.err()
            );
            assert!(read_line::<false>(line).is_err(), "{line}: no database");
        }
        let bad = "svc replay --database-url postgres://db/x --since yesterday";
        assert!(read_line::<true>(bad).is_err());
    }

    #[test]
    fn help_lists_description_commands_and_settings() {
        command::<Stock<true>>().debug_assert();
        let help = command::<Stock<true>>().render_long_help().to_string();
        assert!(help.starts_with("Counts the stock\n"), "{help}");
        for name in [
            "serve",
            "migrate",
            "replay",
            "dead-letters",
            "SERVICE_SECRET",
        ] {
            assert!(help.contains(name), "{name}");
        }
    }
}
