//! Prints the page of the access matrix.

fn main() {
    print!("{}", gateway::access_page());
}
