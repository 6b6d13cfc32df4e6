//! A queued message is cancelled by its deletion, or it is sent: the response says which, in any race.

use std::collections::BTreeSet;

use futures::future::join_all;
use harness::Exchange;
use serde_json::{Value, json};
use service::app::App;
use service::job_runner::kind::JobKind;
use service::job_runner::runner;
use service::sending::dispatch::SEND;

use crate::email::mailbox::{Mailbox, Provider, text, until};

/// Messages that are deleted at the moment at which they are sent.
const ROUNDS: usize = 200;

static KINDS: [JobKind; 1] = [SEND];

fn path(message: &Value) -> String {
    format!("/v1/email/messages/{}", text(&message["id"]))
}

/// Returns the time in this many seconds.
fn at(mailbox: &Mailbox, seconds: i64) -> String {
    model::Instant::from_millis(mailbox.server.clock.now_ms() + seconds * 1_000).to_string()
}

async fn state(mailbox: &Mailbox, message: &Value) -> Value {
    let now = mailbox.api.get(format!("{}?fields=summary", path(message))).send().await.expect(200);
    now["delivery"]["state"].clone()
}

/// Lets others run.
async fn pause(steps: usize) {
    for _ in 0..steps {
        tokio::task::yield_now().await;
    }
}

/// Deletes a message while all hosts run due sends. In every eighth round the deletion ends before, in every eighth it begins after; in
/// the others one of the two begins slightly later than the other, by another time each round.
async fn raced(mailbox: &Mailbox, hosts: &[&App], message: &Value, round: usize) -> Exchange {
    let steps = round * 37 % ROUNDS * 100;
    let (of_send, of_delete) = if round.is_multiple_of(2) { (steps, 0) } else { (0, steps) };
    let send = async {
        pause(of_send).await;
        for turns in join_all(hosts.iter().map(|host| runner::drain(host, &KINDS))).await {
            turns.expect("the jobs are run");
        }
    };
    let delete = async {
        pause(of_delete).await;
        mailbox.api.delete(path(message)).send().await
    };
    match round % 8 {
        0 => {
            let deleted = delete.await;
            send.await;
            deleted
        }
        1 => {
            send.await;
            delete.await
        }
        _ => tokio::join!(delete, send).0,
    }
}

/// With 204 the message is never sent; with 409 it arrives, once. On PostgreSQL two hosts try to send it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_at_send_at_is_a_cancel_or_a_conflict() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let beside = mailbox.server.beside().await;
    let mut hosts = vec![&mailbox.server.app];
    hosts.extend(beside.as_ref().map(|host| &host.app));
    let (mut taken_back, mut sent) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..ROUNDS {
        let new = json!({ "subject": format!("Round {round}"), "sendAt": at(&mailbox, 1) });
        let message = mailbox.submit(new).await;
        mailbox.server.clock.advance_ms(1_000);
        let deleted = raced(&mailbox, &hosts, &message, round).await;
        let id = text(&message["internetMessageId"]);
        if deleted.status == 204 {
            mailbox.api.get(path(&message)).send().await.refused(404, "not_found");
            taken_back.insert(id);
        } else {
            deleted.refused(409, "already_sent");
            assert_eq!(state(&mailbox, &message).await, "sent");
            sent.insert(id);
        }
    }
    assert!(!taken_back.is_empty() && !sent.is_empty(), "{} and {}", taken_back.len(), sent.len());
    // Nothing was left to be sent later.
    mailbox.later(86_400).await;
    let arrived = mailbox.other.contents().await;
    assert_eq!(arrived.keys().cloned().collect::<BTreeSet<_>>(), sent);
    assert!(arrived.values().all(|places| places.len() == 1), "each once: {arrived:?}");
    let copies = mailbox.there.contents().await;
    assert_eq!(copies.into_keys().collect::<BTreeSet<_>>(), sent);
}

/// While the provider has the message and has not answered, it cannot be cancelled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_being_handed_over_is_not_taken_back() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    let held = json!({ "method": "POST", "pathPrefix": "/sandbox/v1/mail/send", "heldAnswer": true });
    sandbox.post("/sandbox/faults", held).send().await.expect(201);
    let message = mailbox.submit(json!({ "subject": "Too late" })).await;
    let delete = async {
        until("the provider has the message", async || {
            let faults = sandbox.get("/sandbox/faults").send().await.expect(200);
            (faults["held"] == 1).then_some(())
        })
        .await;
        for path in [path(&message), format!("{}?permanent=true", path(&message))] {
            mailbox.api.delete(path).send().await.refused(409, "already_sent");
        }
        sandbox.delete("/sandbox/faults").send().await.expect(204);
    };
    tokio::join!(mailbox.server.hand_over(), delete);
    assert_eq!(state(&mailbox, &message).await, "sent");
    assert_eq!(mailbox.other.folders_of(&text(&message["internetMessageId"])).await, ["inbox"]);
}

/// Some recipients have the message, one will get it later: it cannot be cancelled, because 204 promises that no one gets it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_some_have_is_not_taken_back() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let to = json!([{ "email": mailbox.other.address }, { "email": "defer@x.test" }]);
    for has_copy in [true, false] {
        let message = mailbox.submit(json!({ "to": to, "saveToSent": has_copy })).await;
        mailbox.server.hand_over().await;
        assert_eq!(state(&mailbox, &message).await, "queued");
        for path in [path(&message), format!("{}?permanent=true", path(&message))] {
            mailbox.api.delete(path).send().await.refused(409, "already_sent");
        }
        assert_eq!(state(&mailbox, &message).await, "queued");
    }
}

/// A deletion that may be meant as a cancellation says that it comes too late, as long as its caller may not know that the message was
/// sent. Who names the version that was sent, or comes long afterwards, deletes the copy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_copy_of_a_scheduled_message_is_not_deleted_by_mistake() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let mut sent = Vec::new();
    for subject in ["One", "Two"] {
        let message = mailbox.submit(json!({ "subject": subject, "sendAt": at(&mailbox, 60) })).await;
        sent.push(message);
    }
    mailbox.later(60).await;
    for message in &sent {
        mailbox.api.delete(path(message)).send().await.refused(409, "already_sent");
        let stale = mailbox.api.delete(path(message)).if_match(&text(&message["etag"])).send().await;
        stale.refused(409, "stale_etag");
    }
    let [one, two] = sent.as_slice() else { panic!("there are two") };
    let now = mailbox.read(&one["id"]).await;
    mailbox.api.delete(path(one)).if_match(&text(&now["etag"])).send().await.expect(204);
    mailbox.server.clock.advance_ms(11 * 60_000);
    mailbox.api.delete(path(two)).send().await.expect(204);
    for message in &sent {
        let id = text(&message["internetMessageId"]);
        assert_eq!(mailbox.there.folders_of(&id).await, ["trash"]);
        assert_eq!(mailbox.other.folders_of(&id).await, ["inbox"]);
    }
}

/// The record of a message that was sent without a copy cannot be cancelled like a message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_record_of_a_sent_message_goes_when_it_is_permanent() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sent = mailbox.send(json!({ "saveToSent": false })).await;
    mailbox.api.delete(path(&sent)).send().await.refused(409, "already_sent");
    assert_eq!(state(&mailbox, &sent).await, "sent");
    mailbox.api.delete(format!("{}?permanent=true", path(&sent))).send().await.expect(204);
    mailbox.api.get(path(&sent)).send().await.refused(404, "not_found");

    // A message without a successful recipient is deleted at once.
    let failed = mailbox.send(json!({ "to": [{ "email": "reject@x.test" }] })).await;
    assert_eq!(failed["delivery"]["state"], "failed", "{failed:#}");
    mailbox.api.delete(path(&failed)).send().await.expect(204);
}
