//! A message is sent once, wherever the connection breaks and whenever the service dies. A relay stands between the service and Exim, and
//! stops at each step of the protocol; the service is killed there (SIGKILL) and started again, and the arrived messages are counted.

use std::process::{Child, Command};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::Client;
use serde_json::{Value, json};
use service::job_runner::kind::JobKind;
use service::job_runner::runner;
use service::jobs::REQUIRED_JOBS;
use service::sending::dispatch::SEND;
use storage::jobs;
use tempfile::TempDir;
use tokio::sync::watch;

use crate::crash::{Stubborn, key, serve};
use crate::email::mailbox::{Mailbox, Provider, There, imap_accounts, port, text, until};
use crate::email::relay::{Relay, Step};

static KINDS: [JobKind; 1] = [SEND];

/// A service as a separate process, with a mailbox on Dovecot and the relays in front of it.
struct Service {
    child: Child,
    data: TempDir,
    port: u16,
    api: Stubborn,
    connection: String,
    smtp: Relay,
    imap: Relay,
    there: There,
    other: There,
}

impl Service {
    async fn start() -> Option<Service> {
        let (smtp, imap) = (port("EXIM_PORT")?, port("DOVECOT_IMAP_PORT")?);
        let (there, other) = imap_accounts(Provider::Dovecot).await?;
        let (smtp, imap) = (Relay::before(smtp), Relay::before(imap));
        let data = tempfile::tempdir().expect("a data directory");
        harness::share_compiled_code(data.path());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
        let port = listener.expect("a port").port();
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().expect("a client");
        let child = serve(data.path(), port);
        let api = Stubborn { http, base: format!("http://127.0.0.1:{port}"), key: String::new() };
        api.ready().await;
        let api = Stubborn { key: key(data.path()), ..api };
        let server = |port: u16| json!({ "host": "127.0.0.1", "port": port, "tls": "none" });
        let account = json!({ "provider": "imap", "scopes": ["email.read", "email.write", "email.send"],
            "credentials": { "username": there.address, "password": "secret", "imap": server(imap.port), "smtp": server(smtp.port) } });
        let connection =
            text(&api.until_answered("POST", "/v1/connections", &account, "connect").await["id"]);
        Some(Service { child, data, port, api, connection, smtp, imap, there, other })
    }

    async fn submit(&self, subject: &str, attachments: &Value) -> Value {
        let message = json!({ "connectionId": self.connection, "to": [{ "email": self.other.address }],
            "subject": subject, "body": { "text": "Hello" }, "attachments": attachments });
        self.api.until_answered("POST", "/v1/email/send", &message, subject).await
    }

    async fn state(&self, message: &Value) -> String {
        let path = format!("/v1/email/messages/{}?fields=summary", text(&message["id"]));
        let (status, answer) = self.api.try_once("GET", &path, &Value::Null, "").await.expect("an answer");
        assert_eq!(status, 200, "{answer}");
        text(&answer["delivery"]["state"])
    }

    async fn until_sent(&self, message: &Value) {
        until("the message is sent", async || (self.state(message).await == "sent").then_some(())).await;
    }

    async fn killed_and_started(&mut self) {
        self.child.kill().expect("the service is killed");
        self.child.wait().expect("it ended");
        self.smtp.cut();
        self.imap.cut();
        self.child = serve(self.data.path(), self.port);
        self.api.ready().await;
    }

    /// How often a message is in a mailbox.
    async fn count(&self, there: &There, message: &Value) -> usize {
        there.folders_of(&text(&message["internetMessageId"])).await.len()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// More than socket buffers hold: the sender is still writing when the relay stops in the middle.
fn large() -> Value {
    json!([{ "filename": "large.bin", "contentBase64": BASE64_STANDARD.encode(vec![0; 16 << 20]) }])
}

/// Killed before Exim can have the message: it is sent after the start, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_before_the_message_is_handed_over() {
    let Some(mut service) = Service::start().await else { return };
    for step in [
        Step::Connect,
        Step::Line("EHLO"),
        Step::Line("MAIL"),
        Step::Line("RCPT"),
        Step::Line("DATA"),
        Step::HalfOfTheData,
    ] {
        let stopped = service.smtp.stop_at(step);
        let files = if step == Step::HalfOfTheData { large() } else { json!([]) };
        let message = service.submit(&format!("{step:?}"), &files).await;
        stopped.recv_timeout(Duration::from_secs(30)).unwrap_or_else(|e| panic!("{step:?} never came: {e}"));
        service.killed_and_started().await;
        service.until_sent(&message).await;
        service.other.arrived(&text(&message["internetMessageId"])).await;
        assert_eq!(service.count(&service.other, &message).await, 1, "{step:?}");
        assert_eq!(
            service.count(&service.there, &message).await,
            1,
            "{step:?}: one copy among what was sent"
        );
    }
}

/// Killed when the outcome cannot be known: the message is not sent again, and another one, which is sent afterwards, shows that there
/// was time for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_the_message_is_handed_over() {
    let Some(mut service) = Service::start().await else { return };
    for (step, wanted) in [(Step::AllButTheDot, 0), (Step::Dot, 1), (Step::Answer, 1)] {
        let stopped = service.smtp.stop_at(step);
        let message = service.submit(&format!("{step:?}"), &json!([])).await;
        stopped.recv_timeout(Duration::from_secs(30)).unwrap_or_else(|e| panic!("{step:?} never came: {e}"));
        service.killed_and_started().await;
        let another = service.submit(&format!("after {step:?}"), &json!([])).await;
        service.until_sent(&another).await;
        service.other.arrived(&text(&another["internetMessageId"])).await;
        assert_eq!(service.count(&service.other, &message).await, wanted, "{step:?}");
        let state = service.state(&message).await;
        let may_be: &[&str] = if step == Step::Answer { &["sending", "sent"] } else { &["sending"] };
        assert!(may_be.contains(&state.as_str()), "{step:?}: {state}");
    }
}

/// Killed when Dovecot has stored the copy and the answer is on its way: the copy is found, and there is one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_the_copy_is_stored() {
    let Some(mut service) = Service::start().await else { return };
    let stopped = service.imap.stop_at(Step::Append);
    let message = service.submit("Copy", &json!([])).await;
    stopped.recv_timeout(Duration::from_secs(30)).expect("a copy is stored");
    service.killed_and_started().await;
    service.until_sent(&message).await;
    service.other.arrived(&text(&message["internetMessageId"])).await;
    assert_eq!(service.count(&service.other, &message).await, 1);
    assert_eq!(service.there.folders_of(&text(&message["internetMessageId"])).await, ["sent"]);
}

/// Dovecot and Exim through relays, in a service whose clock the test moves.
async fn behind_relays() -> Option<(Mailbox, Relay, Relay)> {
    let mut mailbox = Mailbox::open(Provider::Dovecot).await?;
    let (imap, smtp) = (Relay::before(port("DOVECOT_IMAP_PORT")?), Relay::before(port("EXIM_PORT")?));
    let server = |port: u16| json!({ "host": "127.0.0.1", "port": port, "tls": "none" });
    let account = json!({ "provider": "imap", "scopes": ["email.read", "email.write", "email.send"],
        "credentials": { "username": mailbox.address, "password": "secret",
            "imap": server(imap.port), "smtp": server(smtp.port) } });
    let api = mailbox.server.key("behind a relay", |_| {}).await;
    mailbox.connection = text(&api.connect(account).await["id"]);
    mailbox.api = api;
    Some((mailbox, imap, smtp))
}

/// When the relay has stopped a line.
async fn reached(stopped: std::sync::mpsc::Receiver<()>) {
    let told = tokio::task::spawn_blocking(move || stopped.recv_timeout(Duration::from_secs(30)));
    told.await.expect("it is told").expect("the step comes");
}

/// The connection breaks when it cannot be known whether Exim has the message: the service searches for it, and finally reports an
/// unknown outcome. It is never sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_line_breaks_when_the_message_is_handed_over() {
    let Some((mailbox, _imap, relay)) = behind_relays().await else { return };
    for (step, wanted) in [(Step::AllButTheDot, 0), (Step::Dot, 1)] {
        let stopped = relay.stop_at(step);
        let sent = mailbox.submit(json!({ "subject": format!("{step:?}") })).await;
        let cut = async {
            reached(stopped).await;
            relay.cut();
        };
        tokio::join!(mailbox.server.hand_over(), cut);
        let id = text(&sent["internetMessageId"]);
        assert_eq!(mailbox.read(&sent["id"]).await["delivery"]["state"], "sending");
        for seconds in [5, 30, 120] {
            mailbox.later(seconds).await;
            assert_eq!(mailbox.read(&sent["id"]).await["delivery"]["state"], "sending", "it is looked for");
        }
        mailbox.later(600).await;
        let over = mailbox.read(&sent["id"]).await;
        assert_eq!(
            (&over["delivery"]["state"], &over["delivery"]["error"]["code"]),
            (&json!("failed"), &json!("outcome_unknown"))
        );
        mailbox.later(86_400).await;
        let another = mailbox.send(json!({ "subject": format!("after {step:?}") })).await;
        mailbox.other.arrived(&text(&another["internetMessageId"])).await;
        assert_eq!(mailbox.other.folders_of(&id).await.len(), wanted, "{step:?}");
    }
}

/// A service that is asked to end (SIGTERM) releases at once a message that Exim cannot have; it is sent after the restart, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_gives_the_send_back_at_once() {
    let Some(mut service) = Service::start().await else { return };
    for step in [Step::Connect, Step::Line("DATA")] {
        let stopped = service.smtp.stop_at(step);
        let message = service.submit(&format!("{step:?}"), &json!([])).await;
        reached(stopped).await;
        let killed = Command::new("kill").args(["-TERM", &service.child.id().to_string()]).status();
        assert!(killed.expect("a signal is sent").success());
        let ended = service.child.wait().expect("it ends");
        assert!(ended.success(), "{step:?}: it stopped in order");
        service.smtp.cut();
        service.imap.cut();
        service.child = serve(service.data.path(), service.port);
        service.api.ready().await;
        service.until_sent(&message).await;
        service.other.arrived(&text(&message["internetMessageId"])).await;
        assert_eq!(service.count(&service.other, &message).await, 1, "{step:?}");
    }
}

/// The same within the process: the run is dropped, and its job is queued as if it had not been tried. Another host need not wait for a
/// lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_gives_the_send_back_at_once() {
    let Some((mailbox, _imap, relay)) = behind_relays().await else { return };
    let app = &mailbox.server.app;
    let stopped = relay.stop_at(Step::Connect);
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &KINDS, REQUIRED_JOBS, stopping));
    let sent = mailbox.submit(json!({ "subject": "Back" })).await;
    reached(stopped).await;
    stop.send_replace(true);
    // Exim is still silent: the runner does not wait for it.
    running.await.expect("the runner ends");
    let job = jobs::find(app.db.reader(), &format!("send:{}", text(&sent["id"]))).await;
    let job = job.expect("a query").expect("it is there");
    assert_eq!((job.state.as_str(), job.attempts, job.owner), ("queued", 0, None));
    assert_eq!((job.due_at, job.crashes), (Some(app.now()), 0));
    let beside = mailbox.server.beside().await;
    let next = beside.as_ref().map_or(app, |host| &host.app);
    assert_eq!(runner::drain(next, &KINDS).await.expect("the jobs are run"), 1);
    assert_eq!(mailbox.read(&sent["id"]).await["delivery"]["state"], "sent");
    let id = text(&sent["internetMessageId"]);
    mailbox.other.arrived(&id).await;
    assert_eq!(mailbox.other.folders_of(&id).await, ["inbox"]);
}

/// The line breaks before: it is tried again, and arrives once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_line_breaks_before() {
    let Some((mailbox, _imap, relay)) = behind_relays().await else { return };
    let stopped = relay.stop_at(Step::HalfOfTheData);
    let sent = mailbox.submit(json!({ "subject": "Half", "attachments": large() })).await;
    let cut = async {
        reached(stopped).await;
        relay.cut();
    };
    tokio::join!(mailbox.server.hand_over(), cut);
    let waiting = mailbox.read(&sent["id"]).await;
    assert_eq!(
        (&waiting["delivery"]["state"], &waiting["delivery"]["attempts"]),
        (&json!("queued"), &json!(1)),
        "{waiting:#}"
    );
    mailbox.later(15).await;
    assert_eq!(mailbox.read(&sent["id"]).await["delivery"]["state"], "sent");
    let id = text(&sent["internetMessageId"]);
    mailbox.other.arrived(&id).await;
    assert_eq!(mailbox.other.folders_of(&id).await, ["inbox"]);
}

/// A draft's new version is stored before the old one goes. A look between the two sees both; in the end there is one, and it is the
/// draft that it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_while_a_draft_is_replaced() {
    let Some((mailbox, imap, _smtp)) = behind_relays().await else { return };
    let new = json!({ "connectionId": mailbox.connection, "subject": "one", "metadata": { "a": "b" } });
    let draft = mailbox.api.post("/v1/email/drafts", new).send().await.expect(201);
    let path = format!("/v1/email/drafts/{}", text(&draft["id"]));
    let list = format!("/v1/email/drafts?connection_id={}", mailbox.connection);
    let change = async || {
        let change = json!({ "subject": "two", "etag": draft["etag"] });
        mailbox.api.patch(&path, change).keyed("change").send().await
    };
    let stopped = imap.stop_at(Step::Append);
    let look = async {
        reached(stopped).await;
        let between = mailbox.all(&list).await.len();
        imap.cut();
        between
    };
    let (changed, between) = tokio::join!(change(), look);
    assert_eq!(between, 2);
    let changed = match changed.status {
        200 => changed.expect(200),
        // The connection broke: the repeated request finds the effect of the first.
        _ => change().await.expect(200),
    };
    assert_eq!(
        (&changed["id"], &changed["subject"], &changed["metadata"]),
        (&draft["id"], &json!("two"), &json!({ "a": "b" }))
    );
    let listed = mailbox.all(&list).await;
    assert_eq!(listed.iter().map(|d| &d["id"]).collect::<Vec<_>>(), [&draft["id"]]);
    assert_eq!(mailbox.there.contents().await.len(), 1);
}
