//! Request targets: no spelling of a path leads to another resource.

use super::Target;
use crate::harness::{ADMIN_KEY, ID};

async fn get(target: &Target, path: &[u8]) -> (Vec<u16>, String) {
    let head = format!(" HTTP/1.1\r\nhost: a\r\napikey: {ADMIN_KEY}\r\nconnection: close\r\n\r\n");
    let reply = target.send([b"GET ", path, head.as_bytes()].concat()).await;
    assert!(reply.closed);
    (reply.statuses(), reply.text())
}

#[tokio::test]
async fn no_spelling_leads_to_another_resource() {
    let target = Target::start().await;
    for path in [
        "//products",
        "/products/../users",
        "/products/%2e%2e/users",
        "/products/..%2fusers",
        "/./products",
        "/products/.",
        "/%2fproducts",
        "/Products",
        "/PRODUCTS",
        "/products%00",
        "/products%20",
        "/products;x=1",
        "/products//",
        "/products/%",
        "/products/%zz",
        "/products/%ff",
        "/products/%c0%af",
        "/products/%00",
        "/products/%0d%0aX-Injected:%20y",
        "/products\\..\\users",
        "/products/{id}",
        "/orders/%2e/lines",
    ] {
        let (statuses, text) = get(&target, path.as_bytes()).await;
        let calls = target.app.services.take_calls();
        if path == "/products//" {
            // Slashes at the end are ignored.
            assert_eq!((statuses, calls.len()), (vec![200], 1));
            continue;
        }
        assert!(statuses == [404] || statuses == [400], "{path}: {text}");
        assert!(calls.is_empty(), "{path}: {calls:?}");
        assert!(
            !text.to_lowercase().contains("\r\nx-injected"),
            "{path}: {text}"
        );
    }
    target.is_well().await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let target = Target::start().await;
    for path in [
        &b"/products/\xff\xfe"[..],
        b"/products/\xc0\xaf",
        b"/products?filter[name]=\xff",
        "/products/é".as_bytes(),
        b"/products/\x7f",
        b"/products/\x01",
    ] {
        let (statuses, text) = get(&target, path).await;
        assert!(statuses == [400] || statuses == [404], "{path:?}: {text}");
    }
    let (statuses, text) = get(&target, b"/products?filter[name]=%ff").await;
    assert_eq!(statuses, [400], "{text}");
    assert!(target.app.services.take_calls().is_empty());
    target.is_well().await;
}

#[tokio::test]
async fn a_target_with_a_host_leads_to_its_path() {
    let target = Target::start().await;
    for (path, status) in [
        (format!("http://a/products/{ID}"), 200),
        (format!("http://elsewhere.example/products/{ID}"), 200),
        ("http://a/nope".to_owned(), 404),
        ("a:443".to_owned(), 404),
        ("*".to_owned(), 404),
        ("products".to_owned(), 404),
        (format!("/products/{ID}#fragment"), 200),
        (format!("/products/{ID}?"), 200),
    ] {
        let (statuses, text) = get(&target, path.as_bytes()).await;
        let is_refused = statuses == [400] && status != 200;
        assert!(statuses == [status] || is_refused, "{path}: {text}");
    }
    target.is_well().await;
}
