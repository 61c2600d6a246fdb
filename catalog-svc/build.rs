//! Cargo does not see a new migration by itself.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
