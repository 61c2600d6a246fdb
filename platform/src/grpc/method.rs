//! The RPC methods of Guerdon, from the descriptors: names for spans and metrics. Paths that
//! aren't in this table never become a label, so that nobody can invent labels.

use std::{collections::HashMap, sync::LazyLock};

use prost::Message as _;
use prost_types::{FileDescriptorProto, FileDescriptorSet};

/// One RPC method.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Method {
    /// `guerdon.orders.v1.OrderService`.
    pub(super) service: String,
    /// `PayOrder`.
    pub(super) name: String,
    /// `orders.order.pay_order`: the name of its spans and its label in metrics.
    pub(super) label: String,
    /// Whether it answers with a stream.
    pub(super) streams: bool,
}

static METHODS: LazyLock<HashMap<String, Method>> = LazyLock::new(|| {
    let set = FileDescriptorSet::decode(proto::DESCRIPTORS).expect("proto's build wrote it");
    set.file.iter().flat_map(methods).collect()
});

/// The method at this request path, `/guerdon.orders.v1.OrderService/PayOrder`.
pub(super) fn find(path: &str) -> Option<&'static Method> {
    METHODS.get(path)
}

fn methods(file: &FileDescriptorProto) -> impl Iterator<Item = (String, Method)> {
    let package = file.package();
    file.service.iter().flat_map(move |service| {
        service.method.iter().map(move |method| {
            let service_name = format!("{package}.{}", service.name());
            let entry = Method {
                label: label(package, service.name(), method.name()),
                name: method.name().to_owned(),
                streams: method.server_streaming(),
                service: service_name,
            };
            (format!("/{}/{}", entry.service, entry.name), entry)
        })
    })
}

fn label(package: &str, service: &str, method: &str) -> String {
    let context = package.split('.').nth(1).unwrap_or(package);
    let aggregate = service.strip_suffix("Service").unwrap_or(service);
    format!("{context}.{}.{}", snake_case(aggregate), snake_case(method))
}

fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for (index, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_by_path() {
        let method = find("/guerdon.identity.v1.AuthService/ExchangeApiKey").unwrap();
        assert_eq!(method.label, "identity.auth.exchange_api_key");
        assert_eq!(
            (method.name.as_str(), method.streams),
            ("ExchangeApiKey", false)
        );
        assert_eq!(find("/guerdon.identity.v1.AuthService/Nonsense"), None);
        assert_eq!(find("/grpc.health.v1.Health/Check"), None);
    }
}
