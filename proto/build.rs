//! Generates the gRPC code and the descriptor set that reflection serves.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message as _;

const CONTEXTS: [&str; 6] = [
    "common", "catalog", "orders", "wallet", "identity", "events",
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
        .compile_fds(descriptors)?;
    Ok(())
}
