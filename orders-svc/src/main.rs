//! Runs orders-svc; `--help` lists its settings.

fn main() -> std::process::ExitCode {
    platform::service::main::<orders_svc::Service>()
}
