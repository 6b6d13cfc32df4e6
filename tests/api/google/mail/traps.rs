//! Known pitfalls of the Gmail API, and the messages that other integrators have lost or doubled by them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::mail::MINUTE_MS;
use crate::google::ALICE;
use crate::google::mail::{MailAccount, letter};

const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Returns the creations of messages with these subjects as in a feed; sorted.
fn created(subjects: &[String]) -> Vec<String> {
    let mut created: Vec<String> = subjects.iter().map(|subject| format!("created {subject}")).collect();
    created.sort();
    created
}

/// A history 404 is no broken account, is not retried forever, and is not skipped: everything is read again and compared. A message that
/// arrives during that read is reported too, because the new cursor was taken before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_404_skips_no_message() {
    let account = MailAccount::followed(|state| {
        for number in 0..60 {
            state.deliver(ALICE, letter(&format!("Number {number}"), "").as_bytes());
        }
    });
    let Some(mut account) = account.await else { return };
    account.world.advance(7 * HOUR_MS);
    account.pull_all().await;
    let gone = account.mailbox(|mailbox| mailbox.titled("Number 3").map(|message| message.id.clone()));
    account.deliver("Before");
    account.mailbox(|mailbox| mailbox.remove(&gone.expect("the message")));
    account.world.fake.trap("history_404", 1);
    // The read is interrupted: Gmail asks for a pause.
    account.world.fake.trap_later("batch_429", 1, 2);
    let mut told = account.pull().await;
    account.deliver("Meanwhile");
    told.extend(account.pull_all().await);
    told.sort();
    assert_eq!(told, ["created Before", "created Meanwhile", "deleted"]);
    assert_eq!(account.list("").await.len(), 61);
    assert_eq!(account.pull_all().await, Vec::<String>::new(), "nothing is read in full again");
    account.assert_sound().await;
}

/// Another history 404 right after a full read causes no endless full reads: until Gmail has a history again, only new mail is read, the
/// sync status gives the reason, and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_404_again_is_not_read_in_full_for_ever() {
    let account = MailAccount::followed(|state| {
        for number in 0..40 {
            state.deliver(ALICE, letter(&format!("Number {number}"), "").as_bytes());
        }
    });
    let Some(mut account) = account.await else { return };
    account.world.fake.trap("history_404", u32::MAX);
    account.world.fake.clear_requests();
    let mut told = Vec::new();
    for round in 0..3 {
        account.deliver(&format!("Round {round}"));
        told.extend(account.pull().await);
    }
    told.extend(account.pull_all().await);
    told.sort();
    assert_eq!(told, ["created Round 0", "created Round 1", "created Round 2"]);
    let requests = account.world.fake.requests();
    let most = requests.iter().map(|request| request.parts.len()).max();
    assert!(most.is_some_and(|most| most < 20), "it was read in full: {:?}", account.trips());
    let path = format!("/v1/email/sync/status/{}", account.connection);
    let status = account.world.api.get(path).send().await.expect(200);
    let error = text(&status["lastError"]["message"]);
    assert!(error.contains("lost the history"), "{status:#}");

    account.world.fake.trap("history_404", 0);
    account.deliver("Last");
    assert_eq!(account.pull_all().await, ["created Last"]);
    assert_eq!(account.list("").await.len(), 44);
    account.assert_sound().await;
}

/// Polling by date misses a message that Gmail dates in the past, and doubles those of one second. Changes come from the history only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polling_by_date_is_never_done() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    account.world.fake.clear_requests();
    account.world.fake.with(|state| {
        let now = state.clock.now_ms();
        for (subject, at) in [("Imported", now - 400 * DAY_MS), ("Twin A", now), ("Twin B", now)] {
            state.put_mail_at(ALICE, letter(subject, "").as_bytes(), &["INBOX"], at);
        }
    });
    assert_eq!(account.pull().await, ["created Imported", "created Twin A", "created Twin B"]);
    assert_eq!(account.pull().await, Vec::<String>::new());
    let trips = account.trips();
    assert!(trips.contains(&"GET history".to_owned()), "{trips:?}");
    assert!(!trips.contains(&"GET messages".to_owned()), "{trips:?}");
    account.assert_sound().await;
}

/// A part of a batch without an answer is requested again, and answers are matched by their ids, in any order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_that_are_missing_or_reversed_are_read() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    for (trap, name) in [("batch_part_missing", "Missing"), ("batch_reversed", "Reversed")] {
        let subjects: Vec<String> = (0..5).map(|number| format!("{name} {number}")).collect();
        for subject in &subjects {
            account.deliver(subject);
        }
        account.world.fake.trap(trap, 1);
        assert_eq!(account.pull_all().await, created(&subjects));
        assert!(!account.world.fake.with(|state| state.traps.is_on(trap)), "{trap}: there was a batch");
    }
    let listed = account.titled("Reversed 3").await;
    assert_eq!(account.read(&listed["id"]).await["subject"], "Reversed 3");
    account.assert_sound().await;
}

/// Exhausted units of a user come as 403 in the parts of a batch, if the project has fewer than the operator said. Refused parts are read
/// later, and are no deletion.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spent_units_as_403_are_waited_for() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    let subjects: Vec<String> = (0..20).map(|number| format!("Number {number}")).collect();
    for subject in &subjects {
        account.deliver(subject);
    }
    account.mailbox(|mailbox| mailbox.units.limit = 200);
    account.world.fake.trap("units_403", u32::MAX);
    assert_eq!(account.pull_all().await, created(&subjects));
    let refused = account.mailbox(|mailbox| mailbox.units.refused);
    assert!(refused > 0, "Gmail refused none");
    assert_eq!(account.list("").await.len(), 20);
    account.assert_sound().await;
}

/// A message that is read without its payload keeps no neighbour back, and is whole at the next read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_without_its_payload_is_read() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    account.deliver("Bare");
    account.deliver("Next");
    account.world.fake.trap("missing_payload", 1);
    assert_eq!(account.pull_all().await, ["created", "created Next"]);
    let all = account.list("").await;
    let bare = all.iter().find(|message| message["subject"] != "Next").expect("the other message");
    assert_eq!(account.read(&bare["id"]).await["subject"], "Bare");
    account.assert_sound().await;
}

/// Ids of attachments that the reading of a message gave are good for nothing later: another one is asked for right before each download.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_of_attachments_are_never_kept() {
    let account = MailAccount::start(|state| {
        state.add_odd_mail(ALICE);
    });
    let Some(mut account) = account.await else { return };
    // All ids that the sync is given expire at once.
    account.world.fake.trap("attachments_expire", u32::MAX);
    account.follow().await;
    account.world.fake.trap("attachments_expire", 0);
    let listed = account.titled("A hundred parts").await;
    let many = account.read(&listed["id"]).await;
    for number in [0_usize, 99] {
        let way = text(&many["attachments"][number]["downloadUrl"]);
        let file = account.world.api.get(format!("{way}?format=raw")).send().await;
        assert_eq!((file.status, file.text.trim_end()), (200, number.to_string().as_str()));
    }
    account.assert_sound().await;
}

/// Sent twice after a lost 200: if Gmail keeps neither our Message-ID nor our own field, the message cannot be found. It is still not
/// sent again, and its state says that the outcome is unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_left_no_trace_is_not_sent_twice() {
    let Some(account) = MailAccount::followed(|_| {}).await else { return };
    account.world.fake.trap("x_headers_lost", 1);
    account.world.fake.fault(Fault::new("/upload/gmail/v1/users/me/messages/send", What::Kill).after());
    let mut message = account.send(json!({ "subject": "Once" })).await;
    for _ in 0..100 {
        if message["delivery"]["state"] == "failed" {
            break;
        }
        account.world.advance(30 * MINUTE_MS);
        account.world.server.hand_over().await;
        message = account.shown(&message["id"]).await;
    }
    let delivery = &message["delivery"];
    assert_eq!(
        (&delivery["state"], &delivery["error"]["code"]),
        (&json!("failed"), &json!("outcome_unknown")),
        "{message:#}"
    );
    assert_eq!(account.world.fake.with(|state| state.sent.len()), 1);
    account.assert_sound().await;
}

/// A message that is larger than Google takes is refused by a front end, in HTML. It fails with that reason, and is not sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_too_large_fails_at_once() {
    let Some(account) = MailAccount::followed(|_| {}).await else { return };
    let page = json!("<!DOCTYPE html><title>Error 413 (Request Entity Too Large)!!1</title>");
    account.world.fake.fault(Fault::status("/upload/gmail/v1/users/me/messages/send", 413, page));
    let message = account.send(json!({ "subject": "Large" })).await;
    let delivery = &message["delivery"];
    assert_eq!(
        (&delivery["state"], &delivery["error"]["code"]),
        (&json!("failed"), &json!("provider_rejected")),
        "{message:#}"
    );
    assert!(text(&delivery["error"]["message"]).contains("too large"), "{message:#}");
    account.world.advance(DAY_MS);
    account.world.server.hand_over().await;
    assert_eq!(account.world.fake.with(|state| state.sent.len()), 0);
    account.assert_sound().await;
}

/// The index of Message-IDs lags behind a message that was just stored: the repeated request finds it among the newest, and stores no
/// second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_the_index_lacks_is_not_stored_twice() {
    let Some(account) = MailAccount::followed(|_| {}).await else { return };
    let folder = account.place("folders", "inbox").await;
    let raw = BASE64_STANDARD.encode(letter("Imported", ""));
    let new = json!({ "connectionId": account.connection, "folderIds": [folder], "rawBase64": raw });
    let store = || account.world.api.post("/v1/email/messages", new.clone()).keyed("lost").send();
    account.world.fake.trap("late_index", 1);
    account.world.fake.fault(Fault::new("/upload/gmail/v1/users/me/messages", What::Kill).after());
    let lost = store().await;
    assert!(lost.status >= 500, "{lost}");
    let stored = store().await.expect(201);
    let there: Vec<String> = account.mailbox(|mailbox| mailbox.messages.keys().cloned().collect());
    assert_eq!(there, [text(&stored["externalId"])]);
    assert_ne!(stored["id"], Value::Null);
    account.assert_sound().await;
}
