//! The mailbox is followed by its history: what fails on the way is neither lost nor taken for a deletion.

use serde_json::json;

use crate::fake_provider::builder;
use crate::fake_provider::mail::MINUTE_MS;
use crate::google::ALICE;
use crate::google::mail::{MailAccount, letter};

const HOUR_MS: i64 = 60 * MINUTE_MS;

/// Messages of this many numbers, as `created` or so with their subjects, sorted.
fn numbered(change: &str, numbers: std::ops::Range<u32>) -> Vec<String> {
    let mut all: Vec<String> = numbers.map(|number| format!("{change} Number {number}")).collect();
    all.sort();
    all
}

/// Each step of another program is reported once: a message arrives, is read, is archived, and is deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_is_followed() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    let id = account.deliver("Lunch");
    assert_eq!(account.pull().await, ["created Lunch"]);
    account.world.fake.clear_requests();
    account.mailbox(|mailbox| mailbox.relabel(&id, &[], &["UNREAD"]));
    assert_eq!(account.pull().await, ["updated Lunch"]);
    let reads = account.trips().into_iter().filter(|trip| trip.starts_with("batch")).count();
    assert_eq!(reads, 0, "the history has the labels: {:?}", account.trips());
    account.mailbox(|mailbox| mailbox.relabel(&id, &[], &["INBOX"]));
    assert_eq!(account.pull().await, ["updated Lunch"]);
    let archived = account.titled("Lunch").await;
    assert_eq!(account.folders_of(&archived).await, ["archive"]);
    // A page of the history without records is not its end.
    account.deliver("Dinner");
    account.world.fake.trap("history_empty_page", 1);
    account.mailbox(|mailbox| mailbox.remove(&id));
    assert_eq!(account.pull().await, ["created Dinner", "deleted"]);
    assert_eq!(account.pull().await, Vec::<String>::new(), "nothing is told twice");
    account.assert_sound().await;
}

/// Parts that failed with 429 are not dropped: Gmail refuses parts of a batch, also repeated ones. They are read later, and none counts
/// as deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_batch_429_is_not_a_deletion() {
    let account = MailAccount::followed(|state| {
        for number in 0..30 {
            state.deliver(ALICE, letter(&format!("Number {number}"), "").as_bytes());
        }
    });
    let Some(mut account) = account.await else { return };
    assert_eq!(account.list("").await.len(), 30);
    for number in 30..75 {
        account.deliver(&format!("Number {number}"));
    }
    // The first batch is answered; of the second one, and of the retry, every other part is not.
    account.world.fake.trap_later("batch_429", 1, 2);
    let first = account.pull().await;
    assert!(first.len() < 45 && first.iter().all(|change| change.starts_with("created")), "{first:?}");
    let mut told = first;
    told.extend(account.pull_all().await);
    told.sort();
    assert_eq!(told, numbered("created", 30..75), "each once, and none is gone");
    assert_eq!(account.list("").await.len(), 75);
    account.assert_sound().await;
}

/// A 401 in the parts of a batch does not lose the account: a token that has expired shows so, though the batch itself is 200. It is
/// renewed, and the connection stays active.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_401_renews_and_nobody_reconnects() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    account.deliver("Lunch");
    account.world.fake.clear_requests();
    account.world.fake.trap("batch_401", 1);
    let mut told = account.pull().await;
    if told.is_empty() {
        told = account.pull().await;
    }
    assert_eq!(told, ["created Lunch"]);
    let renewed = account.world.fake.requests().iter().filter(|request| request.path == "/token").count();
    assert!(renewed >= 1, "the token is renewed");
    account.assert_sound().await;
}

/// The history names a message before it can be read, and no later record names it again. It is reported as soon as it can be read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_message_is_told() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    let before = account.deliver("Before");
    assert_eq!(account.pull().await, ["created Before"]);
    // It cannot be read until after the next pull.
    account.world.fake.trap("late_message", 1);
    let late = account.deliver("Late");
    let now = account.world.fake.with(|state| state.clock.now_ms());
    let readable_ms = now + 16 * MINUTE_MS;
    account.mailbox(|mailbox| {
        let message = mailbox.messages.get_mut(&late).expect("the message");
        assert!(message.readable_ms > now, "it comes late");
        message.readable_ms = readable_ms;
        mailbox.remove(&before)
    });
    assert_eq!(account.pull().await, ["deleted"], "what cannot be read is neither there nor deleted");
    assert_eq!(account.pull().await, ["created Late"]);
    assert_eq!(account.pull().await, Vec::<String>::new());
    account.assert_sound().await;
}

/// Gmail forgets its history after a while. The mailbox is then read in full, once, and changes are reported as differences.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_404_is_read_in_full_once() {
    let account = MailAccount::followed(|state| {
        for number in 0..5 {
            state.deliver(ALICE, letter(&format!("Number {number}"), "").as_bytes());
        }
    });
    let Some(mut account) = account.await else { return };
    // The first reading was hours ago.
    account.world.advance(7 * HOUR_MS);
    account.pull_all().await;
    let gone = account.mailbox(|mailbox| mailbox.titled("Number 3").map(|message| message.id.clone()));
    account.deliver("Fresh");
    account.mailbox(|mailbox| {
        mailbox.remove(&gone.expect("the message"));
        mailbox.forget_history();
    });
    assert_eq!(account.pull_all().await, ["created Fresh", "deleted"], "differences alone");
    assert_eq!(account.list("").await.len(), 5);

    // Again right after that: there is no second full read, and new mail still arrives.
    account.mailbox(fakes::google::Mailbox::forget_history);
    let newer = account.deliver("Newer");
    account.mailbox(|mailbox| mailbox.history_floor = mailbox.history_id);
    account.world.fake.clear_requests();
    let mut told = account.pull().await;
    told.extend(account.pull().await);
    assert_eq!(told, ["created Newer"]);
    let parts: usize = account.world.fake.requests().iter().map(|request| request.parts.len()).sum();
    assert!(parts < 5, "it was not read in full: {:?}", account.trips());
    // Hours later it may be.
    account.world.advance(7 * HOUR_MS);
    account.pull_all().await;
    let all = account.list("").await;
    assert!(all.iter().any(|message| message["externalId"] == json!(newer)), "{all:#?}");
    assert_eq!(all.len(), 6);
    account.assert_sound().await;
}

/// Gmail gives a user units for each minute. A large mailbox is read as fast as they allow and no faster: Gmail refuses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn units_are_kept() {
    const COUNT: u32 = 500;
    let account = MailAccount::on(builder(), |state| {
        for number in 0..COUNT {
            state.deliver(ALICE, letter(&format!("Number {number}"), "").as_bytes());
        }
    });
    let Some(mut account) = account.await else { return };
    let start = json!({ "connectionId": account.connection });
    account.world.api.post("/v1/email/sync/start", start).send().await.expect(202);
    let limit = account.mailbox(|mailbox| mailbox.units.limit);
    let mut told = Vec::new();
    for minute in 0..40 {
        let before = account.mailbox(|mailbox| mailbox.units.spent);
        account.world.server.pull().await;
        let spent = account.mailbox(|mailbox| mailbox.units.spent) - before;
        assert!(spent <= u64::from(limit), "{spent} units in minute {minute}");
        told.extend(account.changes().await);
        account.world.advance(MINUTE_MS);
    }
    told.sort();
    assert_eq!(told, numbered("created", 0..COUNT));
    let (spent, refused) = account.mailbox(|mailbox| (mailbox.units.spent, mailbox.units.refused));
    assert_eq!(refused, 0, "Gmail refused calls, after {spent} units");
    assert!(spent > u64::from(limit), "{spent} units are more than a minute's");
    account.assert_sound().await;
}
