//! Many slow lists of one caller leave room for other calls.

use std::{
    sync::Mutex,
    task::{Context, Poll},
};

use futures::future::{BoxFuture, join_all};
use http::{Response as HttpResponse, header::AUTHORIZATION};
use proto::services::Server as GeneratedServer;
use tokio::sync::{Semaphore, mpsc};
use tonic::{body::Body, server::NamedService};
use tower::Service;

use super::{access::bind, *};
use crate::auth::Role;

const LIST: &str = "/guerdon.catalog.v1.TaxRateService/ListTaxRates";
const GET: &str = "/guerdon.catalog.v1.TaxRateService/GetTaxRate";

/// Responds at once, to a list when it is released.
#[derive(Clone)]
struct SlowLists {
    entered: mpsc::UnboundedSender<()>,
    release: Arc<Semaphore>,
}

impl NamedService for SlowLists {
    const NAME: &'static str = "guerdon.catalog.v1.TaxRateService";
}

impl GeneratedServer for SlowLists {
    fn limited(self, _: usize) -> Self {
        self
    }
}

impl Service<http::Request<Body>> for SlowLists {
    type Response = HttpResponse<Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<HttpResponse<Body>, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let is_list = request.uri().path() == LIST;
        let SlowLists { entered, release } = self.clone();
        Box::pin(async move {
            if is_list {
                entered.send(()).unwrap();
                release.acquire().await.unwrap().forget();
            }
            Ok(HttpResponse::new(Body::empty()))
        })
    }
}

/// A client that calls on behalf of users.
#[derive(Clone)]
struct Client(client::Client);

impl Client {
    async fn call(mut self, user: &'static str, path: &'static str) -> tonic::Code {
        let token = issuer().issue(Grant {
            caller: &Caller {
                kind: Kind::User,
                subject: user.to_owned(),
                roles: vec![Role::User],
            },
            version: 0,
            now: Clock::system().now(),
            lifetime: Duration::from_mins(1),
            id: "t",
        });
        let request = http::Request::post(path)
            .header("content-type", "application/grpc")
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(Body::empty());
        let response = self.0.call(request.unwrap()).await.unwrap();
        crate::grpc::code_of(&response)
    }
}

#[tokio::test]
async fn slow_lists_of_a_caller_hold_up_neither_others_nor_its_own_reads() {
    let (entered, mut lists) = mpsc::unbounded_channel();
    let release = Arc::new(Semaphore::new(0));
    let server = bind(&config::Grpc::default()).await.add_service(SlowLists {
        entered,
        release: Arc::clone(&release),
    });
    let (url, _stop) = access::run(server);
    let client = Client(client::connect("test", &url, None).unwrap());

    let finished = Arc::new(Mutex::new(Vec::new()));
    let many = (0..100).map(|_| {
        let (client, finished) = (client.clone(), Arc::clone(&finished));
        tokio::spawn(async move {
            let code = client.call("ann", LIST).await;
            finished.lock().unwrap().push(code);
        })
    });
    let many: Vec<_> = many.collect();
    for _ in 0..4 {
        lists.recv().await.unwrap();
    }
    assert_eq!(client.clone().call("bob", GET).await, tonic::Code::Ok);
    assert_eq!(client.clone().call("ann", GET).await, tonic::Code::Ok);
    let of_bob = tokio::spawn(client.clone().call("bob", LIST));
    lists.recv().await.unwrap();
    assert!(lists.try_recv().is_err(), "no fifth list of ann runs");

    release.add_permits(101);
    assert_eq!(of_bob.await.unwrap(), tonic::Code::Ok);
    join_all(many).await;
    let codes = finished.lock().unwrap();
    let count = |wanted| codes.iter().filter(|code| **code == wanted).count();
    assert!(count(tonic::Code::Ok) >= 4, "{codes:?}");
    assert!(count(tonic::Code::ResourceExhausted) >= 68, "{codes:?}");
    assert_eq!(codes.len(), 100);
}
