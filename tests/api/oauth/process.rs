//! Tokens after a process ends between a provider's answer and the commit. The service runs as a process of its own; the provider runs in
//! this one and lives on.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use harness::browser::{Browser, Consent, parameter};
use harness::{Actor, TestServer};
use reqwest::Client;
use serde_json::{Value, json};
use storage::sql::query;
use storage::{Db, Options};
use tempfile::TempDir;
use tokio::sync::{Notify, watch};

use crate::crash::{Stubborn, serve};
use crate::email::mailbox::{text, until};
use crate::oauth::refresh::{held, plan};
use crate::oauth::{REDIRECT, apps};

const HOUR_MS: i64 = 3_600_000;

/// A host in a separate process, to which the sandbox provider is an external server.
struct Host {
    child: Child,
    data: TempDir,
    port: u16,
    api: Stubborn,
    provider: TestServer,
    browser: Browser,
}

impl Drop for Host {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Host {
    async fn start() -> Host {
        let provider = TestServer::builder().from_now().start().await;
        let data = tempfile::tempdir().expect("a data directory");
        harness::share_compiled_code(data.path());
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
        let child = serve(data.path(), port);
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().expect("a client");
        let api = Stubborn { http, base: format!("http://127.0.0.1:{port}"), key: String::new() };
        api.ready().await;
        let command = |arguments: &[&str]| apps::command(data.path(), arguments);
        let key = command(&["keys", "create", "--scopes", "all", "--rate-limit", "1000000"]);
        let app = text(&key["applicationId"]);
        command(&["apps", "redirects", &app, "--add", REDIRECT]);
        let issuer = format!("http://{}/sandbox", provider.address);
        let server = format!("serverUrl={issuer}");
        let client = [
            "--client-id",
            "switchboard",
            "--public",
            "--issuer",
            issuer.as_str(),
            "--setting",
            server.as_str(),
        ];
        command(&[&["apps", "provider", "set", app.as_str(), "sandbox"][..], &client[..]].concat());
        let api = Stubborn { key: text(&key["key"]), ..api };
        Host { child, data, port, api, provider, browser: Browser::default() }
    }

    /// Connects an account, or authorizes its connection again; the connection's id.
    async fn connect(&self, account: &str, connection: Option<&str>) -> String {
        let request =
            json!({ "scopes": ["email.read"], "redirectUri": REDIRECT, "connectionId": connection });
        let path = "/v1/auth/connectors/sandbox/authorize";
        let key = format!("{account} {}", self.provider.clock.now_ms());
        let authorization = self.api.until_answered("POST", path, &request, &key).await;
        let url = text(&authorization["authorizationUrl"]);
        let callback = self.browser.consent(&url, account, Consent::Allow).await;
        let page = self.browser.open(&callback).await;
        parameter(&page.location(), "connection_id").unwrap_or_else(|| panic!("no connection: {page:#?}"))
    }

    /// Reads mail of a connection; the status of the answer.
    async fn read(&self, id: &str) -> u16 {
        let path = format!("/v1/email/messages?connection_id={id}");
        let answer = self.api.try_once("GET", &path, &Value::Null, "").await.expect("an answer");
        answer.0.as_u16()
    }

    async fn connection(&self, id: &str) -> Value {
        let path = format!("/v1/connections/{id}");
        self.api.try_once("GET", &path, &Value::Null, "").await.expect("an answer").1
    }

    /// Has the host ask for new tokens of an account, since the provider refuses the old ones. The provider has exchanged them by now,
    /// and holds its answer. No request waits for it.
    async fn exchanged(&self, account: &Actor, id: &str) {
        // The plan comes first: a pull in the background is refused as soon as the old tokens have expired, and asks for new ones by
        // itself.
        plan(account, json!({ "pathPrefix": "/sandbox/oauth/token", "heldAnswer": true })).await;
        self.provider.clock.advance_ms(HOUR_MS);
        let (api, path) = (self.api.clone(), format!("/v1/email/messages?connection_id={id}"));
        let asked = tokio::spawn(async move { api.try_once("GET", &path, &Value::Null, "").await.is_some() });
        held(account).await;
        asked.abort();
    }

    /// The host's own database, as another process sees it.
    async fn database(&self) -> Db {
        let url = format!("sqlite://{}", self.data.path().join("switchboard.db").display());
        Db::connect(&Options::for_url(url)).await.expect("the database")
    }

    /// Returns how often the log says that a connection has to be authorized again.
    async fn told(&self, id: &str) -> i64 {
        let db = self.database().await;
        let sql =
            "select count(*) as n from log where resource_id = $1 and type = 'connection.reauth_required'";
        let counted = query(sql).bind(id).fetch_one(db.reader(), |row| row.get("n")).await;
        db.close().await;
        counted.expect("a number")
    }

    fn killed(&mut self) {
        self.child.kill().expect("the service is killed");
        self.child.wait().expect("it ended");
    }

    async fn started(&mut self) {
        self.child = serve(self.data.path(), self.port);
        self.api.ready().await;
    }
}

/// Waits until the provider has released its answer.
async fn answered(account: &Actor) {
    account.delete("/sandbox/faults").send().await.expect(204);
    until("the answer is sent", async || {
        let faults = account.get("/sandbox/faults").send().await.expect(200);
        (faults["held"] == 0).then_some(())
    })
    .await;
}

/// `kill -9` after the provider has exchanged a refresh token and before its successor is stored, whether the answer is still on its way
/// or the commit has begun: that one connection has to be authorized again and says so, once; no other one is concerned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_between_answer_and_commit() {
    let mut host = Host::start().await;
    let alice = host.provider.provider("alice");
    let (one, other) = (host.connect("alice", None).await, host.connect("bob", None).await);
    for round in 1..=4 {
        host.exchanged(&alice, &one).await;
        if round % 2 == 0 {
            // As long as another process writes, the host cannot commit.
            let db = host.database().await;
            let begun = Arc::new(Notify::new());
            let (end, over) = watch::channel(false);
            let told = begun.clone();
            let work = db.write(move |_| {
                Box::pin(async move {
                    told.notify_one();
                    let mut over = over;
                    over.wait_for(|is_over| *is_over).await?;
                    Ok::<_, anyhow::Error>(())
                })
            });
            let kill = async {
                begun.notified().await;
                answered(&alice).await;
                host.killed();
                end.send_replace(true);
            };
            let (written, ()) = tokio::join!(work, kill);
            written.expect("the lock was held");
            db.close().await;
        } else {
            host.killed();
            answered(&alice).await;
        }
        host.started().await;
        assert_ne!(host.read(&one).await, 200);
        let connection = host.connection(&one).await;
        let stands = (&connection["status"], &connection["statusReason"]);
        assert_eq!(stands, (&json!("reauth_required"), &json!("token_revoked")), "{connection:#}");
        assert_eq!(host.told(&one).await, round);
        assert_eq!(host.read(&other).await, 200, "no other connection is lost");
        assert_eq!(host.connect("alice", Some(&one)).await, one);
        assert_eq!(host.read(&one).await, 200);
    }
    assert_eq!(host.told(&other).await, 0);
}

/// A host that is asked to end waits for tokens that it has requested from a provider, even if no request needs them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_waits_for_new_tokens() {
    let mut host = Host::start().await;
    let alice = host.provider.provider("alice");
    let id = host.connect("alice", None).await;
    host.exchanged(&alice, &id).await;
    let killed = Command::new("kill").arg(host.child.id().to_string()).status().expect("kill exists");
    assert!(killed.success());
    let port = host.port;
    until("no more connections are taken", async || TcpStream::connect(("127.0.0.1", port)).err()).await;
    assert!(host.child.try_wait().expect("a child").is_none(), "it has ended without the new tokens");
    answered(&alice).await;
    let child = &mut host.child;
    let ended = until("it ends", async || child.try_wait().expect("a child")).await;
    assert_eq!(ended.code(), Some(0));
    host.started().await;
    assert_eq!(host.read(&id).await, 200);
    assert_eq!(host.connection(&id).await["status"], "active");
}
