//! Changes of a mailbox of Microsoft 365 that other programs make, and how Graph tells of them.

use std::collections::BTreeMap;

use futures::future::join_all;

use crate::email::mailbox::{escaped, text};
use crate::microsoft::ALICE;
use crate::microsoft::mail::{MailAccount, created, letter};

/// A message that was moved away and back between two looks is told as gone from its folder, and never comes back. It is not lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moved_there_and_back_is_not_lost() {
    let account = MailAccount::followed(|state| {
        state.mailbox(ALICE).make_folder("", "Projects");
        for subject in ["Lunch", "Dinner"] {
            state.deliver(ALICE, letter(subject, "").as_bytes());
        }
    });
    let Some(mut account) = account.await else { return };
    let (lunch, dinner) = (account.titled("Lunch").await, account.titled("Dinner").await);
    account.world.fake.trap("removed_a_b_a", 5);
    account.world.fake.clear_requests();
    account.world.fake.with(|state| {
        let id = text(&lunch["externalId"]);
        state.move_mail(ALICE, &id, "Projects");
        state.move_mail(ALICE, &id, "inbox");
        state.delete_mail(ALICE, &text(&dinner["externalId"]));
    });
    assert_eq!(account.pull_all().await, ["deleted"]);
    let there = account.titled("Lunch").await;
    assert_eq!(there["id"], lunch["id"]);
    assert_eq!(account.folders_of(&there).await, ["inbox"]);
    let end = format!("/messages/{}", text(&lunch["externalId"]));
    assert!(account.requests().iter().any(|request| request.path.ends_with(&end)), "it was looked for");
    assert_eq!(account.list("").await.len(), 1);
    // A deleted message for which Graph still answers is not among the folders of a mailbox: it is gone too.
    account.world.fake.trap("recoverable_shown", 1);
    account.world.fake.with(|state| state.delete_mail(ALICE, &text(&lunch["externalId"])));
    assert_eq!(account.pull_all().await, ["deleted"]);
    assert_eq!(account.list("").await.len(), 0);
    account.assert_sound().await;
}

/// A link that Graph forgets while a folder is read begins that folder again, and no other one; nothing is lost or doubled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_next_link_restarts_one_folder_alone() {
    let subjects: Vec<String> = (0..70).map(|number| format!("Number {number}")).collect();
    let account = MailAccount::start(|state| {
        for (number, subject) in subjects.iter().enumerate() {
            let folder = if number % 7 == 0 { "archive" } else { "inbox" };
            state.put_mail(ALICE, letter(subject, "").as_bytes(), folder, true);
        }
    });
    let Some(mut account) = account.await else { return };
    account.world.fake.trap("delta_410_sync_state_not_found", 1);
    assert_eq!(account.follow().await, created(&subjects));
    let mut begun: BTreeMap<String, usize> = BTreeMap::new();
    for request in account.requests().into_iter().filter(|request| request.path.ends_with("/messages/delta"))
    {
        let is_begin = request.query.iter().any(|(name, _)| name == "$select");
        *begun.entry(request.path).or_default() += usize::from(is_begin);
    }
    let again: Vec<usize> = begun.into_values().filter(|count| *count > 1).collect();
    assert_eq!(again, [2], "one folder is begun twice");
    account.deliver("Later");
    assert_eq!(account.pull_all().await, ["created Later"]);
    account.assert_sound().await;
}

/// A message that is destroyed before the token of its folder expires is in no change of that folder. It is found among the recoverable
/// items, with one request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_destroyed_before_a_token_expires_is_gone() {
    let account = MailAccount::followed(|state| {
        for subject in ["Lunch", "Dinner"] {
            state.deliver(ALICE, letter(subject, "").as_bytes());
        }
    });
    let Some(mut account) = account.await else { return };
    let lunch = account.titled("Lunch").await;
    account.world.fake.with(|state| state.delete_mail(ALICE, &text(&lunch["externalId"])));
    account.mailbox(|mailbox| mailbox.expire_folder_tokens("inbox"));
    account.world.fake.clear_requests();
    assert_eq!(account.pull_all().await, ["deleted"]);
    let looks =
        account.requests().into_iter().filter(|request| request.path.contains("/recoverableitemsdeletions/"));
    assert_eq!(looks.count(), 1);
    let left = account.list("").await;
    assert_eq!(left.iter().map(|message| text(&message["subject"])).collect::<Vec<_>>(), ["Dinner"]);
    account.assert_sound().await;
}

/// Outlook answers four requests of a mailbox at once and refuses a fifth.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn never_more_than_four_requests_at_once() {
    let account = MailAccount::followed(|state| {
        for number in 0..5 {
            state.deliver(ALICE, letter(&format!("Number {number}"), "").as_bytes());
        }
    });
    let Some(account) = account.await else { return };
    let list = format!("/v1/email/messages?connection_id={}&limit=50", account.connection);
    let ask = |number: usize| {
        let path = format!("{list}&native_query={}", escaped(&format!("subject:\"number {number}\"")));
        account.world.api.get(path).send()
    };
    let answers = join_all((0..12).map(|number| ask(number % 5))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    let (most, refused) = account.world.fake.with(|state| (state.flights.most(ALICE), state.flights.refused));
    assert!((1..=4).contains(&most), "{most}");
    assert_eq!(refused, 0);
    account.assert_sound().await;
}
