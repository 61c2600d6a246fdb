//! Prints the OpenAPI document: `cargo run --example openapi > gateway/openapi.json`.

fn main() {
    println!("{:#}", gateway::openapi_document());
}
