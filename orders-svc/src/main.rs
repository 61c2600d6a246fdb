//! The process.

fn main() -> std::process::ExitCode {
    platform::service::main::<orders_svc::OrdersService>()
}
