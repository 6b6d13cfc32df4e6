//! Hosts on one PostgreSQL start each other's work at once. On SQLite a database belongs to one host, so there are no notifications.

use std::time::Duration;

use futures::FutureExt;
use harness::TestServer;
use service::app::App;
use service::job_runner::listen;
use storage::sql::query;
use storage::wakes::{JobClass, LogGrowth};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::email::mailbox::until;
use crate::jobs::{NOTHING, enqueue};

/// The time limit for notifications that should arrive at once.
const LIMIT: Duration = Duration::from_secs(60);
const END_LISTENERS: &str = "select pg_terminate_backend(pid) from pg_stat_activity \
                             where datname = current_database() and query like '%' || md5(current_schema()) || '%'";

/// Listens and notifies in the background, until the sender is dropped.
fn listen_at(app: &App) -> watch::Sender<bool> {
    let (stop, stopping) = watch::channel(false);
    let app = app.clone();
    tokio::spawn(async move { listen::run(&app, stopping).await });
    stop
}

/// When the host hears others, without the wakes that it began with.
async fn hears(app: &App) {
    until("the host hears itself", async || app.db.wakes().hears().then_some(())).await;
    for class in JobClass::ALL {
        while app.db.wakes().woken(class).now_or_never().is_some() {}
    }
    while app.db.wakes().grown().now_or_never().is_some() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_begins_what_another_one_enqueued() {
    let server = TestServer::start().await;
    let Some(other) = server.beside().await else { return };
    let _listening = [listen_at(&server.app), listen_at(&other.app)];
    hears(&server.app).await;
    hears(&other.app).await;
    enqueue(&server.app, NOTHING, "one", None).await;
    timeout(LIMIT, other.app.db.wakes().woken(JobClass::Upkeep)).await.expect("the other host is woken");

    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    api.calendar(&connection, "Work").await;
    let grown = timeout(LIMIT, other.app.db.wakes().grown()).await.expect("the other host is told");
    assert!(matches!(grown, LogGrowth::These(ids) if ids.len() == 1), "the log of one application grew");
    // A host does not receive its own wakes.
    assert!(server.app.db.wakes().woken(JobClass::Send).now_or_never().is_none());
}

/// Notifications that were sent while no host listened are found all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_listen_connection_sweeps() {
    let server = TestServer::start().await;
    if !server.app.db.is_shared() {
        return;
    }
    let _listening = listen_at(&server.app);
    hears(&server.app).await;
    let ended = query(END_LISTENERS).fetch_all(server.app.db.reader(), |_| Ok(())).await.expect("a query");
    assert_eq!(ended.len(), 1, "one connection listens");
    timeout(LIMIT, server.app.db.wakes().woken(JobClass::Upkeep)).await.expect("it looks at everything");
    assert_eq!(
        timeout(LIMIT, server.app.db.wakes().grown()).await.expect("also at the logs"),
        LogGrowth::Any
    );
    hears(&server.app).await;
}

/// Behind a transaction pooler no notification arrives: here the host listens at another database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_listen_everything_is_looked_at_again_and_again() {
    let elsewhere = |url: &str| Some(format!("{}/template1", url.rsplit_once('/')?.0));
    let server =
        TestServer::builder().config(|c| c.database_listen_url = elsewhere(&c.database())).start().await;
    if !server.app.db.is_shared() {
        return;
    }
    let _listening = listen_at(&server.app);
    for _ in 0..3 {
        timeout(LIMIT, server.app.db.wakes().woken(JobClass::Send)).await.expect("it looks");
        timeout(LIMIT, server.app.db.wakes().grown()).await.expect("also at the logs");
    }
    assert!(!server.app.db.wakes().hears());
}

/// Notifications from other users of the database may have any content.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notification_that_nobody_understands_does_nothing() {
    let server = TestServer::start().await;
    let Some(other) = server.beside().await else { return };
    let _listening = listen_at(&server.app);
    hears(&server.app).await;
    for payload in
        ["", "no JSON", "[]", r#"{"classes":"send"}"#, r#"{"from":"x","classes":["rule the world"]}"#]
    {
        let told = query("select pg_notify('switchboard_' || md5(current_schema()), $1)").bind(payload);
        told.fetch_all(other.app.db.reader(), |_| Ok(())).await.expect("it is sent");
    }
    // Notifications arrive in order: when this one is received, so were those.
    let _telling = listen_at(&other.app);
    hears(&other.app).await;
    enqueue(&other.app, NOTHING, "one", None).await;
    timeout(LIMIT, server.app.db.wakes().woken(JobClass::Upkeep)).await.expect("it is woken");
    assert!(server.app.db.wakes().woken(JobClass::Send).now_or_never().is_none());
    assert!(server.app.db.wakes().hears());
}
