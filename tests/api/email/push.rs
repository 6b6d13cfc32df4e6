//! Mailboxes whose server reports changes by itself (IMAP IDLE): new mail is listed without any request.

use harness::Watcher;
use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, Provider, letter, until};

async fn status(mailbox: &Mailbox) -> Value {
    let path = format!("/v1/email/sync/status/{}", mailbox.connection);
    mailbox.api.get(path).send().await.expect(200)
}

/// The status once it is as `wanted` says.
async fn status_with(mailbox: &Mailbox, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    until(what, async || Some(status(mailbox).await).filter(|status| wanted(status))).await
}

async fn follow(mailbox: &Mailbox) -> Value {
    let start = json!({ "connectionId": mailbox.connection });
    mailbox.api.post("/v1/email/sync/start", start).send().await.expect(202);
    status_with(mailbox, "the first reading ends", |s| s["status"] == "caught_up").await
}

/// New mail is read when the server reports it; without a client's request, and without a wait.
async fn new_mail_is_read_when_the_server_tells(provider: Provider) {
    let Some(mailbox) = Mailbox::open(provider).await else { return };
    let before = follow(&mailbox).await;
    assert_eq!(before["watch"]["status"], "expired", "{before:#}");
    assert_eq!(before["watch"]["lastNotificationAt"], Value::Null, "{before:#}");
    let _watcher = Watcher::start(&mailbox.server.app);
    status_with(&mailbox, "the line waits", |s| s["watch"]["status"] == "active").await;
    mailbox.there.deliver(&letter("Pushed", "pushed@elsewhere.test", "")).await;
    // The pull after the stream's opening may read the message before the server reports it.
    status_with(&mailbox, "the message is read, and the server has told of it", |s| {
        s["latestSequence"].as_i64() > before["latestSequence"].as_i64()
            && s["watch"]["lastNotificationAt"] != Value::Null
    })
    .await;
    let path = format!("/v1/email/messages?connection_id={}&subject=Pushed", mailbox.connection);
    assert_eq!(mailbox.api.get(path).send().await.expect(200)["data"].as_array().map(Vec::len), Some(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dovecot_tells_of_new_mail() {
    new_mail_is_read_when_the_server_tells(Provider::Dovecot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cyrus_tells_of_new_mail() {
    new_mail_is_read_when_the_server_tells(Provider::CyrusImap).await;
}

/// A provider without push is reported as such.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_tells_of_nothing() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("it is part of the service");
    follow(&mailbox).await;
    let _watcher = Watcher::start(&mailbox.server.app);
    assert_eq!(status(&mailbox).await["watch"]["status"], "unsupported");
}

/// A mailbox that is no longer connected is not watched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_connection_is_not_listened_to() {
    let Some(mailbox) = Mailbox::open(Provider::Dovecot).await else { return };
    follow(&mailbox).await;
    let _watcher = Watcher::start(&mailbox.server.app);
    status_with(&mailbox, "the line waits", |s| s["watch"]["status"] == "active").await;
    mailbox.api.delete(format!("/v1/connections/{}", mailbox.connection)).send().await.expect(204);
    assert_eq!(mailbox.server.app.watches.find(&mailbox.connection), None);
}
