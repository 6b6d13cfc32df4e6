//! A provider with push is listened to by exactly one host, and by another one when that host is gone.

use harness::Watcher;
use serde_json::{Value, json};
use service::app::App;
use service::sync::schedule::watch_id;
use service::sync::watch_job;
use storage::jobs::{self, Busy, Job};
use storage::wakes::JobClass;

use crate::email::mailbox::{Mailbox, Provider, until};

async fn status(mailbox: &Mailbox) -> Value {
    let path = format!("/v1/email/sync/status/{}", mailbox.connection);
    mailbox.api.get(path).send().await.expect(200)
}

/// A mailbox that is followed and was read.
async fn followed() -> Option<Mailbox> {
    let mailbox = Mailbox::open(Provider::Dovecot).await?;
    let start = json!({ "connectionId": mailbox.connection });
    mailbox.api.post("/v1/email/sync/start", start).send().await.expect(202);
    until("it is read", async || (status(&mailbox).await["status"] == "caught_up").then_some(())).await;
    Some(mailbox)
}

async fn job(app: &App, mailbox: &Mailbox) -> Option<Job> {
    jobs::find(app.db.reader(), &watch_id(&mailbox.connection)).await.expect("a query")
}

/// Waits until this host listens, and every host says so.
async fn is_listened_to_by(mailbox: &Mailbox, app: &App) {
    until("the stream is open", async || {
        let owner = job(app, mailbox).await?.owner;
        let is_shown = status(mailbox).await["watch"]["status"] == "active";
        (owner.as_ref() == Some(&app.boot) && is_shown).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_is_held_by_one_host() {
    let Some(mailbox) = followed().await else { return };
    let app = &mailbox.server.app;
    assert_eq!(status(&mailbox).await["watch"]["status"], "expired");
    let one = Watcher::start(app);
    is_listened_to_by(&mailbox, app).await;
    let (due, nobody) = ((app.now(), 10), Busy::default());
    let free = jobs::candidates(app.db.reader(), JobClass::Watch, due, &nobody).await.expect("a query");
    assert!(free.is_empty(), "there is nothing for another host: {free:?}");
    let beside = mailbox.server.beside().await;
    let other = beside.as_ref().map_or(app, |beside| &beside.app);
    one.stop().await;
    assert_eq!(job(app, &mailbox).await.map(|job| job.state), Some("queued".to_owned()));
    let _two = Watcher::start(other);
    is_listened_to_by(&mailbox, other).await;
    assert_eq!(other.watches.held(), [(mailbox.connection.clone(), other.boot.clone())]);
    if beside.is_some() {
        assert_eq!(app.watches.find(&mailbox.connection), None, "one stream, not two");
    }
}

/// The connection is deleted at a host that does not listen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_with_its_connection_on_any_host() {
    let Some(mailbox) = followed().await else { return };
    let beside = mailbox.server.beside().await;
    let other = beside.as_ref().map_or(&mailbox.server.app, |beside| &beside.app);
    let _watcher = Watcher::start(other);
    is_listened_to_by(&mailbox, other).await;
    mailbox.api.delete(format!("/v1/connections/{}", mailbox.connection)).send().await.expect(204);
    assert!(job(other, &mailbox).await.is_none());
    watch_job::end_lost(other).await.expect("a look");
    assert_eq!(other.watches.find(&mailbox.connection), None);
}
