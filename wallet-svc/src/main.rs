//! Entry point.

fn main() -> std::process::ExitCode {
    platform::service::main::<wallet_svc::WalletService>()
}
