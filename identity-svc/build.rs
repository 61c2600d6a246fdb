//! Makes cargo notice new migrations, which are compiled in.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
