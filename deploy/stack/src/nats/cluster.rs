//! Servers that store streams together. One of them can be lost.

use std::fmt::Write as _;

use anyhow::Result;

use super::{NatsOptions, NatsServer};
use crate::ports::Ports;

/// Starts so many servers, each with data of its own: `nats`, or `nats-1`, `nats-2`, … as a cluster.
pub(crate) fn start(
    options: NatsOptions<'_>,
    ports: &mut Ports,
    count: usize,
) -> Result<Vec<NatsServer>> {
    if count == 1 {
        let start = |port| NatsServer::start(options, "nats", port, "");
        return Ok(vec![ports.serve("nats", start)?]);
    }
    let labels: Vec<_> = (1..=count).map(|number| format!("nats-{number}")).collect();
    let routes = labels.iter();
    let routes = routes.map(|label| ports.assign(&format!("{label} routes"), None));
    let routes = routes.collect::<Result<Vec<_>>>()?;
    let password = format!("r{:032x}", rand::random::<u128>());
    let servers = labels.iter().zip(&routes).map(|(label, own)| {
        let cluster = configuration(*own, &routes, &password);
        ports.serve(label, |port| {
            NatsServer::start(options, label, port, &cluster)
        })
    });
    servers.collect()
}

/// The part of a server's configuration about the others. As in a deployment, a route needs a password:
/// who connects as a server may do everything.
fn configuration(own: u16, routes: &[u16], password: &str) -> String {
    let mut text = format!(
        "cluster {{\n  name: guerdon\n  listen: \"127.0.0.1:{own}\"\n  \
         authorization {{ user: \"route\", password: \"{password}\" }}\n  routes: [\n"
    );
    for port in routes {
        writeln!(
            text,
            "    \"nats-route://route:{password}@127.0.0.1:{port}\""
        )
        .expect("writing to a String cannot fail");
    }
    text + "  ]\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_the_routes_to_all() {
        let text = configuration(2, &[1, 2, 3], "secret");
        assert!(text.contains("listen: \"127.0.0.1:2\""), "{text}");
        for port in 1..=3 {
            let route = format!("\"nats-route://route:secret@127.0.0.1:{port}\"");
            assert!(text.contains(&route), "{text}");
        }
    }
}
