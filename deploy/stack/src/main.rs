//! The executable behind `cargo stack <command>`.

fn main() -> std::process::ExitCode {
    stack::command::main()
}
