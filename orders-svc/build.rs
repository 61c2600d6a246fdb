//! New migrations are picked up without a clean build.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
