//! Fairness: one caller cannot shut out others, neither by uploads those of other tenants, nor by invented keys the valid ones that are
//! sent from the same address.

use std::convert::Infallible;

use axum::body::Bytes;
use futures::future::join_all;
use futures::stream::{self, StreamExt};
use harness::{Actor, Exchange, TestServer, reconnected};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const MIB: usize = 1 << 20;

/// A body of 39 MiB whose last bytes come when the test says so: until then the service holds the others.
struct Upload {
    /// Rings when all but the last bytes went out.
    sent: oneshot::Receiver<()>,
    go: oneshot::Sender<()>,
    answer: JoinHandle<Exchange>,
}

impl Upload {
    fn begin(api: &Actor) -> Upload {
        let (tell, sent) = oneshot::channel();
        let (go, wait) = oneshot::channel::<()>();
        let head = stream::iter([Bytes::from_static(b"{\"a\":\"")]);
        let most = stream::iter(vec![Bytes::from(vec![b'x'; MIB]); 39]);
        let tail = stream::once(async move {
            // The test may not care for either.
            let _ = tell.send(());
            let _ = wait.await;
            Bytes::from_static(b"\"}")
        });
        let body = reqwest::Body::wrap_stream(head.chain(most).chain(tail).map(Ok::<_, Infallible>));
        let ask = api.ask(Method::POST, "/v1/email/send".to_owned(), None).raw("application/json", body);
        Upload { sent, go, answer: tokio::spawn(ask.send()) }
    }

    /// Waits until the service has received it, except for the data in socket buffers.
    async fn is_held(&mut self) {
        (&mut self.sent).await.expect("it goes out");
    }

    /// Sends the rest: the whole body was read and is no message.
    async fn finish(self) {
        self.go.send(()).expect("it waits");
        let answer = self.answer.await.expect("an answer");
        assert_eq!(answer.status, 400, "{answer}");
    }
}

/// A tenant with a mailbox: two keys, and the connection.
async fn tenant(server: &TestServer, name: &str) -> ([Actor; 2], Value) {
    let keys = [server.key(name, |_| ()).await, server.key(name, |_| ()).await];
    let account = json!({ "provider": "sandbox", "scopes": ["email.read", "email.write", "email.send"],
        "credentials": { "username": format!("{name}@sandbox.test"), "password": "sandbox" } });
    let connection = keys[0].connect(account).await;
    (keys, connection["id"].clone())
}

/// Saves a draft of 100 KB.
async fn save(api: &Actor, connection: &Value) {
    let draft =
        json!({ "connectionId": connection, "subject": "Report", "body": { "text": "x ".repeat(50_000) } });
    let saved = api.post("/v1/email/drafts", draft).send().await.expect(201);
    assert_eq!(saved["subject"], "Report");
}

/// One tenant uploads with two keys: one body after the other is accepted, and a second tenant can upload as much in parallel. Then the
/// memory for uploads is used up, and ordinary requests of all three tenants succeed, with 100 KB too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_of_one_tenant_shut_no_other_out() {
    let server = TestServer::start().await;
    let (hog, of_hog) = tenant(&server, "hog").await;
    let (other, of_other) = tenant(&server, "other").await;
    let (third, of_third) = tenant(&server, "third").await;
    let mut first = Upload::begin(&hog[0]);
    first.is_held().await;
    let mut second = Upload::begin(&hog[1]);
    save(&other[0], &of_other).await;
    let mut theirs = Upload::begin(&other[0]);
    theirs.is_held().await;
    assert!(second.sent.try_recv().is_err(), "it waits for the tenant's first one, whichever key it has");
    for (api, connection) in [(&hog[0], &of_hog), (&other[1], &of_other), (&third[0], &of_third)] {
        save(api, connection).await;
    }
    // At once, and in any order: none is refused.
    join_all((0..4).map(|_| save(&third[1], &of_third))).await;
    first.finish().await;
    second.is_held().await;
    second.finish().await;
    theirs.finish().await;
}

/// Sends this number of simultaneous requests from one address, with keys that look valid and do not exist, and with malformed keys.
async fn flood(server: &TestServer, requests: usize) -> Vec<Exchange> {
    let anybody = server.anonymous();
    let sent = (0..requests).map(|number| {
        let mut api = anybody.clone();
        api.key = Some(match number % 2 {
            0 => server.app.keyring.new_api_key().key,
            _ => format!("uc_live_{number}"),
        });
        async move { api.get("/v1/connections").send().await }
    });
    join_all(sent).await
}

/// After a restart no key is cached. An address that floods with invented and malformed keys uses up its own budget, and valid keys
/// continue to work, from the same address and at the same moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invented_keys_shut_no_valid_key_out_after_a_restart() {
    let server = TestServer::builder().config(|c| c.anonymous_per_minute = 5).start().await;
    let mut valid = Vec::new();
    for _ in 0..10 {
        valid.push(server.client().await);
    }
    let server = server.restart().await;
    let valid: Vec<Actor> = valid.iter().map(|api| reconnected(&server, api)).collect();
    let answers = flood(&server, 100).await;
    let of_status = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((of_status(401), of_status(429)), (5, 95));
    let welcome = join_all(valid.iter().map(|api| api.get("/v1/connections").send()));
    let (refused, welcome) = tokio::join!(flood(&server, 100), welcome);
    for answer in welcome {
        assert_eq!(answer.header("x-ratelimit-limit"), Some("1000000"), "the key's own budget");
        answer.expect(200);
    }
    for answer in refused {
        assert_eq!(answer.header("retry-after"), Some("60"));
        answer.refused(429, "rate_limited");
    }
}
