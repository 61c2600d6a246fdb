//! Runs catalog-svc; `--help` lists its settings.

fn main() -> std::process::ExitCode {
    platform::service::main::<catalog_svc::Service>()
}
