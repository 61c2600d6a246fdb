//! No secret leaves its place: a system that logs everything is driven through every flow that has one,
//! with mistakes and faults, and then all that it left behind is searched.

mod canary;
mod client;
mod evidence;
mod faults;
mod flows;
mod mailbox;

use std::{fs, path::PathBuf};

use e2e::{TestApp, TraceCollector, text};
use stack::{Auth, StackOptions, Variable};

use self::{canary::Canaries, client::Client, evidence::Evidence, mailbox::Mailbox};

/// The name of a product, which is no secret.
const PLAIN: &str = "nosecret-9b1f";

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_left_in_logs_traces_errors_metrics_events_or_tables() {
    let mut canaries = Canaries::new();
    let (traces, mailbox) = (TraceCollector::default(), Mailbox::default());
    let mut options = StackOptions::for_test("secrets").expect("options");
    options.auth = Auth::Required;
    options.otlp = Some(traces.serve().await);
    options.settings = settings(&options, &canaries, &mailbox).await;
    let app = TestApp::start(options).await;
    add_settings(&app, &mut canaries);

    let mut client = Client::new(&app);
    let user = flows::passwords(&mut client, &canaries).await;
    flows::sessions(&mut client, &mut canaries, &user).await;
    flows::credentials(&mut client, &mut canaries).await;
    flows::webhooks(&mut client, &mut canaries).await;
    flows::mails(&app, &mut client, &mut canaries, &mailbox).await;
    flows::others(&mut client, &canaries, &user).await;
    let statuses = flows::services(&app, &canaries).await;
    let mut evidence = Evidence::of_responses(statuses);
    // Those of a process that starts again begin anew.
    evidence.metrics(&app).await;
    faults::outages(&app, &mut client, &canaries).await;
    faults::wrong_settings(&app, &canaries);
    evidence.metrics(&app).await;

    let key = app.stack.wiring().secrets.api_key.clone();
    let app = app.with_header("apikey", &key);
    let product = app.create_product(PLAIN, "1", "0").await;
    app.assert_settled().await;
    evidence.add("responses", client.into_kept());
    evidence.read(&app, &traces).await;
    search_finds_what_is_there(&evidence, text(&product["id"]));
    let leaks = evidence.leaks(&canaries);
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

/// Returns settings by which every process says all it can, and that hold secrets.
async fn settings(options: &StackOptions, canaries: &Canaries, mailbox: &Mailbox) -> Vec<Variable> {
    let smtp = mailbox.start().await;
    let password = canaries.secret("smtp");
    let methods = payment_methods(options, canaries);
    let settings = [
        ("LOG", "trace".to_owned()),
        ("LOG_FORMAT", "json".to_owned()),
        ("SIGN_UP", "open".to_owned()),
        ("SMTP_URL", format!("smtp://shop:{password}@{smtp}")),
        ("MAIL_FROM", "shop@example.com".to_owned()),
        ("PAYMENT_METHODS_FILE", methods.display().to_string()),
    ];
    settings
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
}

/// Writes a payment method with a secret.
fn payment_methods(options: &StackOptions, canaries: &Canaries) -> PathBuf {
    let file = options.environment.directory().join("payment-methods.toml");
    let text = format!(
        "[[paymentMethods]]\nslug = \"stripe\"\nname = \"Card\"\n\
         [paymentMethods.secrets]\nsecretKey = \"sk_live_{}\"\n",
        canaries.secret("payment")
    );
    fs::write(&file, text).expect("a file");
    file
}

/// Adds the secrets that the processes were started with.
fn add_settings(app: &TestApp, canaries: &mut Canaries) {
    let wiring = app.stack.wiring();
    for instance in &wiring.instances {
        for (name, value) in wiring.environment(instance).expect("settings") {
            let is_url = name.ends_with("DATABASE_URL") || name == "NATS_URL";
            if is_url {
                let url = reqwest::Url::parse(&value).expect("a url");
                canaries.add(&name, url.password().expect("a password"));
            } else if name.ends_with("SECRET") || name.ends_with("_KEY") {
                canaries.add(&name, &value);
            }
        }
    }
}

/// A search that finds nothing where something is would prove nothing.
fn search_finds_what_is_there(evidence: &Evidence, product: &str) {
    let hexadecimal = canary::hexadecimal(product.as_bytes());
    for (place, text) in [
        ("responses", "\"code\":\"unauthenticated\""),
        ("log gateway", "POST"),
        ("log identity-svc", "refresh tokens: one was used again"),
        ("log wallet-svc", "\"level\":\"trace\""),
        ("log nats", "JetStream"),
        ("traces", "POST /auth/token/refresh"),
        ("metrics gateway", "/auth/token/refresh"),
        ("metrics identity-svc", "refresh_token_families_ended_total"),
        ("stream GUERDON_CATALOG", product),
        ("table catalog.products", PLAIN),
        // As bytes.
        ("table catalog.outbox", &hexadecimal),
    ] {
        assert!(evidence.has(place, text), "{text} is not found in {place}");
    }
}
