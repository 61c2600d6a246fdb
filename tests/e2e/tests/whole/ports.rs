//! Ports that another process takes while a stack starts.

use std::{
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, TcpListener},
};

use stack::{Stack, StackOptions};

fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

fn ports(stack: &Stack) -> BTreeMap<String, u16> {
    let instances = stack.wiring().instances.iter();
    instances.map(|it| (it.name.clone(), it.port)).collect()
}

#[test]
fn a_process_whose_port_was_taken_starts_on_another() {
    let options = StackOptions::for_test("ports").expect("options");
    let mut stack = Stack::without_processes(options).expect("a database");
    let assigned = ports(&stack);
    let taken =
        ["orders-svc", "gateway"].map(|name| listen(assigned[name]).expect("the port is free"));

    stack.start_processes().expect("all processes are ready");

    let used = ports(&stack);
    for listener in &taken {
        let port = listener.local_addr().expect("an address").port();
        assert!(!used.values().any(|used| *used == port), "{used:?}");
    }
    assert_eq!(used["wallet-svc"], assigned["wallet-svc"]);
}

#[test]
fn a_gateway_whose_metrics_port_was_taken_keeps_the_rest_port_that_was_asked_for() {
    let mut options = StackOptions::for_test("metrics-port").expect("options");
    // Below the ports that stacks draw.
    let mut free = (19_000..20_000).filter(|port| listen(*port).is_ok());
    let rest_port = free.next().expect("a free port");
    options.rest_port = Some(rest_port);
    let mut stack = Stack::without_processes(options).expect("a database");
    let gateway = |stack: &Stack| {
        let mut instances = stack.wiring().instances.iter();
        let gateway = instances.find(|it| it.name == "gateway");
        gateway.expect("a gateway").clone()
    };
    let assigned = gateway(&stack);
    assert_eq!(assigned.port, rest_port);
    let _taken = listen(assigned.metrics_port).expect("the port is free");

    stack.start_processes().expect("all processes are ready");

    let used = gateway(&stack);
    assert_eq!(used.port, rest_port);
    assert_ne!(used.metrics_port, assigned.metrics_port);
}
