//! Prints the page `proto/API.md`.

fn main() {
    print!("{}", proto::reference::page());
}
