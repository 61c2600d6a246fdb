//! Ports that another process takes while a stack starts.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, TcpListener},
};

use stack::{Stack, StackOptions};

fn ports(stack: &Stack) -> BTreeMap<String, u16> {
    let instances = stack.wiring().instances.iter();
    instances.map(|it| (it.name.clone(), it.port)).collect()
}

#[test]
fn a_process_whose_port_was_taken_starts_on_another() {
    let options = StackOptions::for_test("ports").expect("options");
    let mut stack = Stack::without_processes(options).expect("a database");
    let assigned = ports(&stack);
    let taken = ["orders-svc", "gateway"].map(|name| {
        TcpListener::bind((Ipv4Addr::LOCALHOST, assigned[name])).expect("the port is free")
    });

    stack.start_processes().expect("all processes are ready");

    let used = ports(&stack);
    for listener in &taken {
        let port = listener.local_addr().expect("an address").port();
        assert!(!used.values().any(|used| *used == port), "{used:?}");
    }
    assert_eq!(used["wallet-svc"], assigned["wallet-svc"]);
}
