//! Generates the gRPC code and the descriptor set that reflection serves.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message as _;
use prost_types::FileDescriptorSet;

const CONTEXTS: [&str; 7] = [
    "common", "audit", "catalog", "orders", "wallet", "identity", "events",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=guerdon");
    let mut files = Vec::new();
    for context in CONTEXTS {
        for entry in fs::read_dir(format!("guerdon/{context}/v1"))? {
            files.push(entry?.path());
        }
    }
    files.sort();
    let descriptors = protox::compile(&files, ["."])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    // tonic-prost-build ignores `file_descriptor_set_path` when it is handed compiled descriptors.
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .build_transport(false)
        .extern_path(".google.rpc", "::tonic_types::pb")
        .compile_fds(descriptors.clone())?;
    fs::write(out.join("services.rs"), services(&descriptors))?;
    Ok(())
}

/// Lists every generated client and server, for the macro in `src/services.rs`.
fn services(descriptors: &FileDescriptorSet) -> String {
    let mut lines = Vec::new();
    for file in &descriptors.file {
        let context = file.package().split('.').nth(1).unwrap_or_default();
        for service in &file.service {
            let name = service.name();
            let module = snake_case(name);
            lines.push(format!(
                "service!({context}, {module}_client::{name}Client, {module}_server::{name}Server);"
            ));
        }
    }
    lines.join("\n")
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
