//! Drafts in a mailbox in which several clients and another program write while it is pulled all the time: every acknowledged draft
//! exists afterwards, under its id.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harness::Exchange;
use serde_json::{Value, json};
use service::app::App;
use tokio::sync::Semaphore;

use crate::email::mailbox::{Mailbox, Provider, letter, text, until};
use crate::email::sync::{Replica, start};

/// Clients that write at once, and how many drafts each begins.
const WRITERS: usize = 4;
const DRAFTS: usize = 9;
/// Versions that each draft has.
const VERSIONS: usize = 4;
/// Messages that arrive between two rounds of a pull. If they arrived faster than small pages are read, no pull would ever end.
const LETTERS: usize = 5;

/// The drafts that are expected, by id: the subject, or none if the draft was deleted or sent.
type Expected = BTreeMap<String, Option<String>>;

fn path(id: &str) -> String {
    format!("/v1/email/drafts/{id}")
}

/// The draft as the provider has it, right after a write of it was acknowledged.
async fn read(mailbox: &Mailbox, id: &str, written: &Exchange) -> Value {
    let read = mailbox.api.get(path(id)).send().await;
    assert_eq!(read.status, 200, "{id} after {written}: {read}");
    assert_eq!(read.answer["id"], id);
    read.answer
}

/// One client: begins drafts, changes them, and leaves, deletes or sends them.
async fn write(mailbox: &Mailbox, number: usize) -> Expected {
    let mut expected = Expected::new();
    for draft in 0..DRAFTS {
        let subject = |version: usize| format!("draft {number}.{draft} version {version}");
        let new = json!({ "connectionId": mailbox.connection, "to": [{ "email": mailbox.other.address }],
            "subject": subject(0), "body": { "text": subject(0) } });
        let made = mailbox.api.post("/v1/email/drafts", new).send().await;
        assert_eq!(made.status, 201, "{made}");
        let id = text(&made.answer["id"]);
        let mut etag = text(&read(mailbox, &id, &made).await["etag"]);
        for version in 1..VERSIONS {
            let change = json!({ "subject": subject(version), "body": { "text": subject(version) } });
            let changed = mailbox.api.patch(path(&id), change).if_match(&etag).send().await;
            assert_eq!(changed.status, 200, "{changed}");
            assert_eq!(
                (&changed.answer["id"], &changed.answer["subject"]),
                (&json!(id), &json!(subject(version)))
            );
            let now = read(mailbox, &id, &changed).await;
            assert_eq!(
                (&now["subject"], text(&now["body"]["text"]).trim_end()),
                (&json!(subject(version)), subject(version).as_str())
            );
            etag = text(&now["etag"]);
        }
        let left = match draft % 3 {
            0 => Some(subject(VERSIONS - 1)),
            1 => {
                let gone = mailbox.api.delete(path(&id)).if_match(&etag).send().await;
                assert_eq!(gone.status, 204, "{gone}");
                mailbox.api.get(path(&id)).send().await.refused(404, "not_found");
                None
            }
            _ => {
                let sent = mailbox.api.post(format!("{}/send", path(&id)), json!({})).send().await;
                assert_eq!(sent.status, 202, "{sent}");
                let now = read(mailbox, &id, &sent).await;
                assert_eq!(now["sentMessageId"], sent.answer["id"]);
                None
            }
        };
        expected.insert(id, left);
    }
    expected
}

/// Writes as another program in the same mailbox: as many messages as there are permits.
async fn write_there(mailbox: &Mailbox, letters: &Semaphore) {
    let mut number = 0;
    while let Ok(letter_now) = letters.acquire().await {
        letter_now.forget();
        let id = format!("there{number}@x.test");
        mailbox.there.deliver(&letter(&format!("There {number}"), &id, "")).await;
        mailbox.there.flag(&id, "starred", true).await;
        if number >= 10 {
            mailbox.there.destroy(&format!("there{}@x.test", number - 10)).await;
        }
        number += 1;
    }
}

/// Pulls in every way: fresh lists, the host's own rounds, the outbox; sometimes the provider has forgotten the token, and everything is
/// read again.
async fn pull(mailbox: &Mailbox, host: &App, (is_over, letters): (&AtomicBool, &Semaphore)) {
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    let list = format!("/v1/email/drafts?connection_id={}", mailbox.connection);
    let mut round = 0;
    while !is_over.load(Ordering::Relaxed) {
        round += 1;
        if round % 7 == 0 {
            let forgotten = json!({ "status": 410, "syncTokenOnly": true });
            sandbox.post("/sandbox/faults", forgotten).send().await.expect(201);
        }
        mailbox.get(&list).send().await.expect(200);
        mailbox.server.clock.advance_ms(60_000);
        harness::pull(host).await;
        mailbox.server.hand_over().await;
        letters.add_permits(LETTERS.saturating_sub(letters.available_permits()));
    }
}

async fn everything_that_is_acknowledged_stays(pull_page: u32) {
    let server = Provider::Sandbox.server().config(|c| c.pull_page = pull_page);
    let mailbox = Arc::new(Mailbox::open_with(Provider::Sandbox, server).await.expect("a sandbox"));
    let beside = mailbox.server.beside().await;
    let hosts = [Some(mailbox.server.app.clone()), beside.as_ref().map(|b| b.app.clone())];
    let mut replica = start(&mailbox).await;
    let (is_over, letters) = (Arc::new(AtomicBool::new(false)), Arc::new(Semaphore::new(LETTERS)));
    let mut behind = Vec::new();
    for host in hosts.into_iter().flatten() {
        let (mailbox, is_over, letters) = (mailbox.clone(), is_over.clone(), letters.clone());
        behind.push(tokio::spawn(async move { pull(&mailbox, &host, (&is_over, &letters)).await }));
    }
    let (mailbox_there, letters_there) = (mailbox.clone(), letters.clone());
    behind.push(tokio::spawn(async move { write_there(&mailbox_there, &letters_there).await }));
    let writers = (0..WRITERS).map(|number| {
        let mailbox = mailbox.clone();
        tokio::spawn(async move { write(&mailbox, number).await })
    });
    let mut expected = Expected::new();
    let mut failed = None;
    for writer in writers.collect::<Vec<_>>() {
        match writer.await {
            Ok(left) => expected.extend(left),
            Err(e) => failed = Some(e),
        }
    }
    is_over.store(true, Ordering::Relaxed);
    letters.close();
    for task in behind {
        task.await.expect("it goes on to its end");
    }
    if let Some(panic) = failed {
        std::panic::resume_unwind(panic.into_panic());
    }
    mailbox.there.sandbox().expect("it is the sandbox").delete("/sandbox/faults").send().await.expect(204);
    settled(&mailbox, &mut replica, &expected).await;
}

/// In the end the lists, the feed and the provider have the same drafts, each under the id that its author knows.
async fn settled(mailbox: &Mailbox, replica: &mut Replica, expected: &Expected) {
    let list = format!("/v1/email/drafts?connection_id={}", mailbox.connection);
    let left: BTreeMap<String, String> =
        expected.iter().filter_map(|(id, subject)| Some((id.clone(), subject.clone()?))).collect();
    let drafts = |all: &[Value]| -> BTreeMap<String, String> {
        all.iter().map(|d| (text(&d["id"]), text(&d["subject"]))).collect()
    };
    until("everything was read", async || {
        mailbox.later(60).await;
        replica.catch_up(mailbox, 100).await;
        (drafts(&mailbox.all(&list).await) == left).then_some(())
    })
    .await;
    let is_listed = |d: &&Value| d["draft"] == true && d["status"] == "draft";
    let told: Vec<Value> = replica.resources.values().filter(is_listed).cloned().collect();
    assert_eq!(drafts(&told), left, "the feed");
    let there = mailbox.there.contents().await;
    let there = there.values().flatten().filter(|(folder, _)| folder == "drafts").count();
    assert_eq!(there, left.len(), "the provider");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_small_pages() {
    everything_that_is_acknowledged_stays(3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_large_pages() {
    everything_that_is_acknowledged_stays(200).await;
}
