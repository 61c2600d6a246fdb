//! Runs identity-svc; `--help` lists its settings.

fn main() -> std::process::ExitCode {
    platform::service::main::<identity_svc::Service>()
}
