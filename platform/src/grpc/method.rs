//! The RPC methods of the descriptors: their names in spans and metrics, their callers, and whether they
//! change anything. An unknown path never becomes a label: clients cannot add labels.

use std::{collections::HashMap, sync::LazyLock};

use prost::Message as _;
use prost_types::{
    FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto, MethodOptions,
    method_options::IdempotencyLevel,
};

use proto::access::Row;

use super::access;

/// One RPC method.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Method {
    /// `guerdon.orders.v1.OrderService`.
    pub(super) service: String,
    /// `PayOrder`.
    pub(super) name: String,
    /// `orders.order.pay_order`: the name of its spans and its label in metrics.
    pub(super) label: String,
    /// Whether its response is a stream.
    pub(super) streams: bool,
    /// Whether it reads a list: `ListOrders`.
    pub(super) lists: bool,
    /// Whether it changes nothing: the option `idempotency_level = NO_SIDE_EFFECTS`.
    pub(super) reads: bool,
    pub(super) access: &'static Row,
}

static METHODS: LazyLock<HashMap<String, Method>> = LazyLock::new(|| {
    let set = FileDescriptorSet::decode(proto::DESCRIPTORS).expect("proto's build script wrote it");
    set.file.iter().flat_map(methods).collect()
});

/// Finds the method of a request path, `/guerdon.orders.v1.OrderService/PayOrder`.
pub(super) fn find(path: &str) -> Option<&'static Method> {
    METHODS.get(path)
}

fn methods(file: &FileDescriptorProto) -> impl Iterator<Item = (String, Method)> {
    let package = file.package();
    file.service.iter().flat_map(move |service| {
        service.method.iter().map(move |method| {
            let service_name = format!("{package}.{}", service.name());
            let rpc = format!("{service_name}/{}", method.name());
            let entry = Method {
                label: label(package, service.name(), method.name()),
                name: method.name().to_owned(),
                streams: method.server_streaming(),
                lists: method.name().starts_with("List"),
                reads: reads(method),
                service: service_name,
                access: access::of(&rpc),
            };
            (format!("/{rpc}"), entry)
        })
    })
}

fn reads(method: &MethodDescriptorProto) -> bool {
    let level = method
        .options
        .as_ref()
        .map(MethodOptions::idempotency_level);
    level == Some(IdempotencyLevel::NoSideEffects)
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
        assert_eq!(method.name, "ExchangeApiKey");
        assert!(!method.streams && !method.lists);
        assert!(
            find("/guerdon.orders.v1.OrderService/ListOrders")
                .unwrap()
                .lists
        );
        assert!(
            find("/guerdon.wallet.v1.WalletService/GetWallet")
                .unwrap()
                .reads
        );
        assert_eq!(find("/guerdon.identity.v1.AuthService/Nonsense"), None);
        assert_eq!(find("/grpc.health.v1.Health/Check"), None);
    }

    /// Names of RPCs that read, besides `Get…`, `List…`, `BatchGet…` and `Watch…`.
    const OTHER_READS: [&str; 6] = [
        "ExportProducts",
        "FindConversion",
        "FindRecipient",
        "Quote",
        "ValidateInvite",
        "ValidateToken",
    ];

    #[test]
    fn reads_and_no_others_are_declared_to_have_no_side_effects() {
        for method in METHODS.values() {
            let is_read = ["Get", "List", "BatchGet", "Watch"]
                .iter()
                .any(|verb| method.name.starts_with(verb))
                || OTHER_READS.contains(&&*method.name);
            let (service, name) = (&method.service, &method.name);
            let declared = "option idempotency_level = NO_SIDE_EFFECTS";
            assert_eq!(method.reads, is_read, "{service}/{name}: {declared}");
        }
    }
}
