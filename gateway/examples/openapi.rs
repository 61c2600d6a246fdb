//! Prints the OpenAPI document: `cargo run --example openapi > gateway/openapi.json`.

fn main() {
    let document = gateway::openapi_document().to_pretty_json();
    println!("{}", document.expect("the document is JSON"));
}
