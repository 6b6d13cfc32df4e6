//! Messages whose host goes while it sends them, and messages beside others whose provider does not answer.

use futures::future::join_all;
use harness::TestServer;
use serde_json::{Value, json};
use service::app::App;
use service::job_runner::kind::JobKind;
use service::job_runner::lease::{self, HostLease};
use service::job_runner::runner;
use service::jobs::REQUIRED_JOBS;
use service::sending::dispatch::SEND;
use storage::Tx;
use storage::jobs::{self, Claim, Fence};
use storage::outbox;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::email::mailbox::{Mailbox, Provider, text, until};

static KINDS: [JobKind; 1] = [SEND];

fn job_of(message: &Value) -> String {
    format!("send:{}", text(&message["id"]))
}

async fn delivery(mailbox: &Mailbox, message: &Value) -> Value {
    let path = format!("/v1/email/messages/{}?fields=summary", text(&message["id"]));
    mailbox.api.get(path).send().await.expect(200)["delivery"].clone()
}

/// Runs due sends, as the service does by itself, until the sender says that the process ends.
fn start(app: &App) -> (watch::Sender<bool>, JoinHandle<()>) {
    let (stop, stopping) = watch::channel(false);
    (stop, tokio::spawn(runner::run(app.clone(), &KINDS, REQUIRED_JOBS, stopping)))
}

/// Has the account's provider take messages and hold its answers.
async fn hold(mailbox: &Mailbox, times: u32) {
    let fault = json!({ "method": "POST", "pathPrefix": "/sandbox/v1/mail/send", "heldAnswer": true, "times": times });
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    sandbox.post("/sandbox/faults", fault).send().await.expect(201);
}

/// How many answers the account's provider holds.
async fn held(mailbox: &Mailbox) -> Value {
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    sandbox.get("/sandbox/faults").send().await.expect(200)["held"].clone()
}

async fn let_go(mailbox: &Mailbox) {
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    sandbox.delete("/sandbox/faults").send().await.expect(204);
}

/// Writes what a host writes from the start of a message's run until it dies: that the provider is about to have the message, and, if
/// `is_accepted`, that the provider took it. The provider of this test never sees it.
async fn die_with(server: &TestServer, job: String, is_accepted: bool) {
    let lost = HostLease::begin(&server.app).await.expect("a lease");
    let claim = Claim {
        owner: lost.id().to_owned(),
        fence: Fence::random(&server.app.entropy),
        now: server.app.now(),
        deadline_at: None,
    };
    let written: anyhow::Result<()> = server
        .app
        .db
        .write(move |tx| Box::pin(async move { write_steps(tx, &job, &claim, is_accepted).await }))
        .await;
    written.expect("it is written");
}

async fn write_steps(tx: &mut Tx, job: &str, claim: &Claim, is_accepted: bool) -> anyhow::Result<()> {
    let claimed = jobs::claim(tx, &[job.to_owned()], claim).await?;
    let (id, fence, now) = (claimed[0].key(), claim.fence, claim.now);
    assert!(outbox::begin(tx, id, fence, now).await?.is_some());
    assert!(outbox::handed_over(tx, id, fence, now).await?);
    if is_accepted {
        assert!(outbox::accepted(tx, id, fence, now).await?);
    }
    Ok(())
}

/// Has another host take over the job of a dead one, and send; on SQLite, where a database belongs to one host, the next host.
async fn take_over(server: &TestServer) {
    let beside = server.beside().await;
    let host = match &beside {
        Some(other) => {
            // At most nine seconds after the kill the lease has ended and the job is taken over.
            server.clock.advance_ms(9_000);
            assert_eq!(lease::take_over(&other.app).await.expect("a look"), 1);
            &other.app
        }
        None => {
            HostLease::begin(&server.app).await.expect("a lease");
            &server.app
        }
    };
    assert_eq!(runner::drain(host, &KINDS).await.expect("the jobs are run"), 1);
}

/// The provider had said that it takes the message, and no copy of it can be found: it was sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accepted_message_without_a_copy_is_sent_after_a_kill() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let message = mailbox.submit(json!({ "saveToSent": false })).await;
    die_with(&mailbox.server, job_of(&message), true).await;
    take_over(&mailbox.server).await;
    let now = delivery(&mailbox, &message).await;
    assert_eq!((&now["state"], &now["attempts"], &now["error"]), (&json!("sent"), &json!(1), &Value::Null));
    assert_eq!(now["recipients"][0]["status"], "accepted");
    assert!(mailbox.other.contents().await.is_empty(), "it was not sent once more");
    assert!(jobs::find(mailbox.server.app.db.reader(), &job_of(&message)).await.expect("a query").is_none());
}

/// A message that may have been sent and keeps no copy fails at once with `outcome_unknown`, and is not sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_without_a_copy_is_not_looked_for() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let message = mailbox.submit(json!({ "saveToSent": false })).await;
    die_with(&mailbox.server, job_of(&message), false).await;
    take_over(&mailbox.server).await;
    let now = delivery(&mailbox, &message).await;
    assert_eq!((&now["state"], &now["error"]["code"]), (&json!("failed"), &json!("outcome_unknown")));
    mailbox.later(86_400).await;
    assert!(mailbox.other.contents().await.is_empty(), "it was not sent once more");
    let path = format!("/v1/email/messages/{}", text(&message["id"]));
    mailbox.api.delete(&path).send().await.refused(409, "already_sent");
    mailbox.api.delete(format!("{path}?permanent=true")).send().await.expect(204);
}

/// Bytes that are lost are not sent as an empty message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_message_is_never_sent() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let message = mailbox.submit(json!({ "subject": "Lost" })).await;
    let id = text(&message["id"]);
    let forgotten: anyhow::Result<()> = mailbox
        .server
        .app
        .db
        .write(move |tx| Box::pin(async move { outbox::forget_contents(tx, &id).await }))
        .await;
    forgotten.expect("the bytes are lost");
    mailbox.server.hand_over().await;
    let now = delivery(&mailbox, &message).await;
    assert_eq!((&now["state"], &now["error"]["code"]), (&json!("failed"), &json!("empty_message")));
    mailbox.later(86_400).await;
    assert!(mailbox.other.contents().await.is_empty(), "nobody got anything");
    assert!(mailbox.there.contents().await.is_empty(), "nothing is among the sent messages");
}

/// A host that stops finishes a message that the provider has: its outcome is known.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_finishes_what_is_handed_over() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    hold(&mailbox, 1).await;
    let (stop, running) = start(&mailbox.server.app);
    let message = mailbox.submit(json!({ "saveToSent": false })).await;
    until("the provider has the message", async || (held(&mailbox).await == 1).then_some(())).await;
    stop.send_replace(true);
    let_go(&mailbox).await;
    running.await.expect("the runner ends");
    let now = delivery(&mailbox, &message).await;
    assert_eq!((&now["state"], &now["attempts"]), (&json!("sent"), &json!(1)), "{now:#}");
    assert_eq!(mailbox.other.folders_of(&text(&message["internetMessageId"])).await, ["inbox"]);
}

/// A provider that accepts messages and does not answer: an account has two of them in progress, and 300 waiting ones delay no other
/// account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_server_delays_nobody_else() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let theirs = mailbox.connect_other().await;
    hold(&mailbox, 1_000).await;
    for part in 0..10 {
        let new = (0..30).map(|n| mailbox.submit(json!({ "subject": format!("Slow {part} {n}") })));
        join_all(new).await;
    }
    let (stop, running) = start(&mailbox.server.app);
    until("the provider has two messages", async || (held(&mailbox).await == 2).then_some(())).await;
    let quick = mailbox.message(json!({ "connectionId": theirs, "to": [{ "email": mailbox.address }] }));
    let quick = mailbox.api.post("/v1/email/send", quick).send().await.expect(202);
    until("the message of another account is sent", async || {
        (delivery(&mailbox, &quick).await["state"] == "sent").then_some(())
    })
    .await;
    assert_eq!(held(&mailbox).await, 2);
    stop.send_replace(true);
    let_go(&mailbox).await;
    running.await.expect("the runner ends");
}
