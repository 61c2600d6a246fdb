use serde_json::json;

use super::*;

const SECRET: &str = "sk_live_51HxYz";

fn modified() -> DateTime<Utc> {
    "2026-01-31T10:00:00.123456Z".parse().unwrap()
}

fn error(text: &str) -> String {
    format!("{:#}", parse(text, modified()).unwrap_err())
}

#[test]
fn an_entry_with_all_keys_is_read() {
    let text = r#"
        [[paymentMethods]]
        slug = "stripe"
        name = "Card"
        enabled = false
        assets = ["usd", "EUR"]
        capabilities = ["deposit", "withdrawal"]
        features = ["card", "apm"]
        createdAt = 2026-01-01T12:00:00+02:00
        [paymentMethods.metadata]
        publishableKey = "pk_live_1"
        retries = 3
        fee = 1.5
        since = 2026-01-01
        countries = ["pt", "de"]
        [paymentMethods.secrets]
        secretKey = "sk_live_51HxYz"
        pin = "123456789"
    "#;
    let methods = parse(text, modified()).unwrap();
    let method = methods.find("stripe").unwrap();
    let metadata: Json = serde_json::from_str(&method.metadata).unwrap();
    let expected = json!({
        "publishableKey": "pk_live_1", "retries": 3, "fee": 1.5, "since": "2026-01-01",
        "countries": ["pt", "de"], "secretKey": "sk_li*****", "pin": "*****",
    });
    assert_eq!(metadata, expected);
    let expected = PaymentMethod {
        slug: "stripe".to_owned(),
        name: "Card".to_owned(),
        enabled: false,
        assets: vec!["usd".to_owned(), "EUR".to_owned()],
        capabilities: vec![Capability::Deposit, Capability::Withdrawal],
        features: vec![Feature::Card, Feature::Apm],
        metadata: method.metadata.clone(),
        created_at: "2026-01-01T10:00:00Z".parse().unwrap(),
    };
    assert_eq!(*method, expected);
    assert!(!format!("{methods:?}").contains(SECRET));
}

#[test]
fn a_slug_and_a_name_are_enough() {
    let text = "[[paymentMethods]]\nslug = 'b'\nname = 'B'\n
                [[paymentMethods]]\nslug = 'a'\nname = 'A'\ncreatedAt = '2026-01-01T00:00:00Z'";
    let methods = parse(text, modified()).unwrap();
    let [a, b] = methods.all() else {
        panic!("{methods:?}")
    };
    assert_eq!((&*a.slug, &*b.slug), ("a", "b"));
    assert!(b.enabled && b.assets.is_empty() && b.features.is_empty());
    assert_eq!(
        (&*b.metadata, &*b.capabilities),
        ("{}", &[Capability::Deposit][..])
    );
    // The time of the file, in milliseconds.
    assert_eq!(
        b.created_at,
        "2026-01-31T10:00:00.123Z".parse::<DateTime<Utc>>().unwrap()
    );
    assert_eq!(
        a.created_at,
        "2026-01-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap()
    );
    assert!(parse("", modified()).unwrap().all().is_empty());
}

#[test]
fn masks_hide_short_secrets_and_lengths() {
    for (secret, shown) in [
        ("", "*****"),
        ("123456789", "*****"),
        ("1234567890", "12345*****"),
        ("äöüßéäöüßé!", "äöüßé*****"),
    ] {
        assert_eq!(mask(&SecretString::from(secret)), shown);
    }
}

fn entry(rest: &str) -> String {
    format!("[[paymentMethods]]\nslug = 'x'\nname = 'X'\n{rest}")
}

fn assert_error(text: &str, parts: [&str; 2]) {
    let message = error(text);
    let found = parts.iter().all(|part| message.contains(part));
    assert!(found, "{text}: {message}");
}

#[test]
fn an_error_of_the_file_names_the_entry() {
    for (text, parts) in [
        (
            "[[paymentMethod]]",
            ["`paymentMethod`", "[[paymentMethods]]"],
        ),
        ("paymentMethods = 1", ["`paymentMethods`", "not a list"]),
        (
            "paymentMethods = [1]",
            ["entry 1 (`no slug`)", "not a table"],
        ),
        (
            "[[paymentMethods]]\nname = 'X'",
            ["entry 1 (`no slug`)", "slug"],
        ),
        ("[[paymentMethods]]\nslug = 'x'", ["entry 1 (`x`)", "name"]),
        (
            "[[paymentMethods]]\nslug = 'X Y'\nname = 'X'",
            ["(`X Y`)", "slug"],
        ),
    ] {
        assert_error(text, parts);
    }
    let double = format!("{}\n{}", entry(""), entry(""));
    assert_error(&double, ["entry 2 (`x`)", "another entry"]);
}

#[test]
fn an_error_of_an_entry_names_the_key() {
    for (rest, parts) in [
        ("name = 'Y'", ["line 4", "duplicate"]),
        ("enabled = 'yes'", ["entry 1 (`x`)", "enabled"]),
        ("enable = true", ["entry 1 (`x`)", "`enable`"]),
        ("features = ['cards']", ["features[0]", "`cards`"]),
        ("capabilities = ['refund']", ["capabilities[0]", "`refund`"]),
        (
            "assets = ['usd', 'us-d']",
            ["assets[1]", "code of an asset"],
        ),
        (
            "createdAt = 2026-01-01",
            ["createdAt", "2026-01-31T10:00:00Z"],
        ),
        ("createdAt = 5", ["createdAt", "2026-01-31T10:00:00Z"]),
        ("metadata = { rate = nan }", ["metadata", "NaN"]),
        (
            "metadata = { key = 'a' }\nsecrets = { key = 'b' }",
            ["secrets.key", "metadata too"],
        ),
    ] {
        assert_error(&entry(rest), parts);
    }
}

#[test]
fn no_error_quotes_a_secret() {
    for text in [
        entry(&format!("secrets = '{SECRET}'")),
        entry(&format!("secrets = ['{SECRET}']")),
        entry(&format!("secrets = {{ key = ['{SECRET}'] }}")),
        entry(&format!("[paymentMethods.secrets]\nkey = {SECRET}")),
        entry(&format!("[paymentMethods.secrets]\nkey = '{SECRET}")),
        entry(&format!("[paymentMethods.secrets]\nkey = \"{SECRET}\\q\"")),
        entry(&format!("[paymentMethods.secrets]\nkey '{SECRET}'")),
        entry(&format!("[paymentMethods.secrets]\nkey = '{SECRET}' x")),
        entry(&format!(
            "[paymentMethods.secrets]\nkey = '{SECRET}'\nkey = '{SECRET}'"
        )),
        format!("paymentMethods = ['{SECRET}']"),
        format!("paymentMethods = '{SECRET}'"),
    ] {
        let message = error(&text);
        assert!(!message.contains(SECRET), "{text}: {message}");
    }
}

#[test]
fn the_example_is_valid() {
    let text = include_str!("../../../../deploy/payment-methods.example.toml");
    let methods = parse(text, modified()).unwrap();
    assert!(methods.for_deposit(Feature::Card, "stripe").is_some());
    assert!(methods.for_deposit(Feature::Apm, "mbway").is_some());
}

#[test]
fn a_missing_file_is_named() {
    let missing = read(Some(Path::new("/nowhere/methods.toml"))).unwrap_err();
    assert!(
        missing
            .to_string()
            .contains("PAYMENT_METHODS_FILE /nowhere/methods.toml")
    );
    assert!(read(None).unwrap().all().is_empty());
}
