//! Runs wallet-svc; `--help` lists its settings.

fn main() -> std::process::ExitCode {
    platform::service::main::<wallet_svc::Service>()
}
