//! Mail that another program marked as deleted (`\Deleted`) and did not expunge: it is not listed while it has the flag (RFC 8621 section
//! 4.1.1).

use crate::email::mailbox::{Mailbox, Provider, letter};
use crate::email::sync::start;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_gone_and_comes_back_on_dovecot() {
    it_is_gone_and_comes_back(Provider::Dovecot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_gone_and_comes_back_on_cyrus() {
    it_is_gone_and_comes_back(Provider::CyrusImap).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_gone_and_comes_back_by_jmap() {
    it_is_gone_and_comes_back(Provider::Jmap).await;
}

async fn it_is_gone_and_comes_back(provider: Provider) {
    let Some(mailbox) = Mailbox::open(provider).await else { return };
    for name in ["kept", "marked", "marked-before"] {
        mailbox.there.deliver(&letter(name, &format!("{name}@x.test"), "")).await;
    }
    mailbox.there.flag("marked-before@x.test", "deleted", true).await;

    let mut replica = start(&mailbox).await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(shown(&mailbox).await, ["kept", "marked"], "what was marked before it was first read");
    assert_eq!(inbox_counts(&mailbox).await, (2, 2));

    mailbox.there.flag("marked@x.test", "deleted", true).await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(shown(&mailbox).await, ["kept"]);
    assert_eq!(replica.messages().len(), 1);
    assert_eq!(inbox_counts(&mailbox).await, (1, 1));

    // It is read by the other program, and then kept after all.
    mailbox.there.flag("marked@x.test", "seen", true).await;
    mailbox.there.flag("marked@x.test", "deleted", false).await;
    mailbox.there.flag("marked-before@x.test", "deleted", false).await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(shown(&mailbox).await, ["kept", "marked", "marked-before"]);
    assert_eq!(mailbox.titled("marked").await["unread"], false);
    assert_eq!(replica.messages().len(), 3);
    assert_eq!(inbox_counts(&mailbox).await, (3, 2));

    // A change of ours does not bring the message back.
    let marked = mailbox.titled("marked").await;
    mailbox.there.flag("marked@x.test", "deleted", true).await;
    mailbox.there.flag("kept@x.test", "seen", true).await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(shown(&mailbox).await, ["kept", "marked-before"]);
    mailbox
        .get(format!("/v1/email/messages/{}", marked["id"].as_str().expect("an id")))
        .send()
        .await
        .expect(404);
    mailbox.there.destroy("marked@x.test").await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(shown(&mailbox).await, ["kept", "marked-before"]);
    assert_eq!(inbox_counts(&mailbox).await, (2, 1));
}

/// The subjects of all messages, in order.
async fn shown(mailbox: &Mailbox) -> Vec<String> {
    let found = mailbox.list("").await;
    let mut subjects: Vec<String> =
        found.iter().map(|message| message["subject"].as_str().unwrap_or_default().to_owned()).collect();
    subjects.sort();
    subjects
}

/// Messages in the inbox, and unread ones among them.
async fn inbox_counts(mailbox: &Mailbox) -> (i64, i64) {
    let folders = mailbox.all(&format!("/v1/email/folders?connection_id={}", mailbox.connection)).await;
    let inbox = folders.iter().find(|folder| folder["role"] == "inbox").expect("an inbox");
    let count = |name: &str| inbox[name].as_i64().unwrap_or_else(|| panic!("no {name}: {inbox:#}"));
    (count("totalCount"), count("unreadCount"))
}
