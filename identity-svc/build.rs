//! Makes cargo notice new migrations.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
