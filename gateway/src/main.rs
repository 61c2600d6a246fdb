//! The public REST edge of Guerdon.

use gateway::Gateway;

fn main() -> std::process::ExitCode {
    platform::service::main::<Gateway>()
}
