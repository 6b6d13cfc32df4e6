//! Retention: deleted and outdated data disappear at once for clients, and from the database in steps.

use base::ids::Kind;
use base::tenant::Tenant;
use futures::future::join_all;
use harness::{Actor, TestServer, reconnected};
use serde_json::{Value, json};
use service::app::App;
use service::app::event_log::{NewLogEntry, Origin, append};
use service::app::resource_kind::ResourceKind as Resource;
use service::job_runner::kind::{JobEnd, JobKind};
use service::job_runner::runner;
use service::jobs::upkeep::{self, CLEAN, PURGE};
use service::retention::{self, ROWS_PER_STEP, SWEEPS};
use storage::items::{self, Item, ItemKeys, Key};
use storage::locked::ConnectionLock;
use storage::sql::query;
use storage::{api_keys, jobs, mail};

use crate::contacts::people::zoe;
use crate::email::mailbox::{Mailbox, Provider, text};

const DAY_MS: i64 = 86_400_000;
const OLD_ROWS: usize = 5_000;

async fn tenant(server: &TestServer) -> Tenant {
    api_keys::tenants(server.app.db.reader()).await.expect("a query").remove(0)
}

/// The number that a statement with one parameter finds.
async fn count(server: &TestServer, sql: &'static str, id: &str) -> i64 {
    query(sql).bind(id).fetch_one(server.app.db.reader(), |row| row.get("n")).await.expect("a number")
}

/// Puts copies of a contact beside it, with keys and lines of the log; their ids.
async fn multiply(server: &TestServer, id: &str, copies: usize) -> Vec<String> {
    let ids: Vec<String> = (0..copies).map(|_| server.app.new_id(Kind::Contact)).collect();
    let (app, tenant, id, made) = (server.app.clone(), tenant(server).await, id.to_owned(), ids.clone());
    let item = items::any(server.app.db.reader(), &tenant, &id).await.expect("a query").expect("it is there");
    let written = server.app.db.write(move |tx| {
        Box::pin(async move {
            let lock = ConnectionLock::take(tx, &tenant, &item.connection_id).await?.expect("it is there");
            let mut notes = Vec::new();
            for id in ids {
                let copy = Item { external_id: id.clone(), source_id: id.clone(), id, ..item.clone() };
                let copy = items::insert(tx, &lock, copy).await?;
                let key = Key { name: "email", value: format!("{}@example.test", copy.id) };
                items::set_keys(tx, &tenant, &[ItemKeys { item: &copy, keys: &[key] }]).await?;
                notes.push(NewLogEntry {
                    connection_id: Some(copy.connection_id.clone()),
                    account_ids: None,
                    entry_type: "contact.created".into(),
                    change_type: "created",
                    resource_type: Resource::Contact.resource_type(),
                    resource_id: copy.id.clone(),
                    parent_id: copy.parent_id.clone(),
                    changed_fields: None,
                    etag: None,
                    origin: Origin::Provider,
                    resource: Some("{}".into()),
                });
            }
            append(tx, &app, &tenant, notes).await.map_err(|e| anyhow::anyhow!(e.to_string()))
        })
    });
    written.await.expect("the copies are written");
    made
}

const LEFT: [&str; 15] = [
    "select count(*) as n from items where connection_id = $1",
    "select count(*) as n from item_keys where connection_id = $1",
    "select count(*) as n from item_refs where connection_id = $1",
    "select count(*) as n from item_parts where connection_id = $1",
    "select count(*) as n from item_totals where connection_id = $1",
    "select count(*) as n from sync_states where connection_id = $1",
    "select count(*) as n from sync_item_errors where connection_id = $1",
    "select count(*) as n from email_places where connection_id = $1",
    "select count(*) as n from email_threads where connection_id = $1",
    "select count(*) as n from email_thread_refs where connection_id = $1",
    "select count(*) as n from outbox where connection_id = $1",
    "select count(*) as n from jobs where connection_id = $1",
    "select count(*) as n from tracking where connection_id = $1",
    "select count(*) as n from log where connection_id = $1 and resource is not null",
    "select count(*) as n from purges where connection_id = $1",
];
/// A job whose runs take one step each; the next is due a millisecond later.
const ONE_STEP: JobKind = JobKind {
    run: |turn| {
        Box::pin(async move {
            retention::purge_step(&turn.app, &turn.job).await?;
            Ok(JobEnd::Part(turn.app.now() + 1))
        })
    },
    ..PURGE
};

/// How many rows of a connection are left.
async fn rows(server: &TestServer, connection: &str) -> i64 {
    let mut all = 0;
    for sql in LEFT {
        all += count(server, sql, connection).await;
    }
    all
}

const LINES: &str = "select count(*) as n from log where connection_id = $1";

/// A connection is gone with the response. Its rows are deleted in steps, between which others can write, and which continue after a
/// restart.
#[tokio::test]
async fn a_connection_is_gone_at_once_and_its_rows_in_steps() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let made = api.post("/v1/contacts", json!({ "connectionId": connection, "displayName": "One" }));
    let made = made.send().await.expect(201);
    // From here on the provider only reports changes, and none of the copies.
    api.all("/v1/contacts").await;
    let copies = multiply(&server, made["id"].as_str().expect("an id"), OLD_ROWS).await;
    let one = format!("/v1/contacts/{}", copies[7]);
    api.get(&one).send().await.expect(200);
    assert!(api.get("/v1/usage").send().await.expect(200)["storageBytes"].as_i64() > Some(0));
    let lines = count(&server, LINES, &connection).await;

    let path = format!("/v1/connections/{connection}");
    for _ in 0..2 {
        api.delete(&path).keyed("once").send().await.expect(204);
    }
    api.get(&one).send().await.refused(404, "not_found");
    api.get(&path).send().await.refused(404, "not_found");
    assert_eq!(api.all("/v1/contacts").await, [] as [Value; 0]);
    assert_eq!(api.all("/v1/contact-books").await, [] as [Value; 0]);
    assert_eq!(api.get("/v1/usage").send().await.expect(200)["storageBytes"], 0);
    assert_eq!(
        count(&server, LEFT[0], &connection).await,
        copies.len() as i64 + 2,
        "the rows are still there"
    );

    let mut left = rows(&server, &connection).await;
    for _ in 0..3 {
        assert_eq!(runner::drain(&server.app, &[ONE_STEP]).await.expect("a turn"), 1);
        let (before, now) = (left, rows(&server, &connection).await);
        assert!((1..=ROWS_PER_STEP).contains(&(before - now)), "{} rows in a step", before - now);
        left = now;
        api.connect_account("zoe").await;
        server.clock.advance_ms(1);
    }
    let server = server.restart().await;
    runner::drain(&server.app, &[PURGE]).await.expect("the rest");
    for sql in LEFT {
        assert_eq!(count(&server, sql, &connection).await, 0, "{sql}");
    }
    assert_eq!(count(&server, LINES, &connection).await, lines + 1, "the log keeps that it was there");
    assert_eq!(runner::drain(&server.app, &[PURGE]).await.expect("nothing"), 0);
    let api = reconnected(&server, &api);
    assert_eq!(api.all("/v1/connections").await.len(), 3);
    api.delete(&path).keyed("once").send().await.expect(204);
}

/// Makes the jobs that must be there, as a host does when it starts and every minute; the number of deleted connections that had none.
async fn ensure(app: &App) -> u64 {
    let now = app.now();
    let made: anyhow::Result<u64> =
        app.db.write(move |tx| Box::pin(async move { upkeep::ensure(tx, now).await })).await;
    made.expect("the jobs are made")
}

/// Data that is kept for a time has one cleaning job for all hosts. One of them runs it, and again ten minutes later.
#[tokio::test]
async fn two_hosts_clean_once() {
    let server = TestServer::start().await;
    let beside = server.beside().await;
    let hosts: Vec<&App> =
        [Some(&server.app), beside.as_ref().map(|host| &host.app)].into_iter().flatten().collect();
    let round = async || {
        for host in &hosts {
            assert_eq!(ensure(host).await, 0);
        }
        let turns = join_all(hosts.iter().map(|host| runner::drain(host, &[CLEAN]))).await;
        turns.into_iter().map(|turns| turns.expect("the jobs are run")).sum::<u64>()
    };
    assert_eq!(round().await, SWEEPS.len() as u64);
    assert_eq!(round().await, 0, "they rest");
    server.clock.advance_ms(10 * 60_000);
    assert_eq!(round().await, SWEEPS.len() as u64);
}

/// The job of a deleted connection that is not there, because a host of the version before deleted it, is made.
#[tokio::test]
async fn a_deleted_connection_without_a_job_is_adopted() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    api.delete(format!("/v1/connections/{connection}")).send().await.expect(204);
    let job = format!("purge:{connection}");
    let removed: anyhow::Result<()> =
        server.app.db.write(move |tx| Box::pin(async move { jobs::remove(tx, &job).await })).await;
    removed.expect("it is gone");
    assert_eq!(runner::drain(&server.app, &[PURGE]).await.expect("nothing"), 0);
    assert!(rows(&server, &connection).await > 0);
    assert_eq!((ensure(&server.app).await, ensure(&server.app).await), (1, 0));
    runner::drain(&server.app, &[PURGE]).await.expect("the data go");
    assert_eq!(rows(&server, &connection).await, 0);
}

/// How many commits a request takes, where one process has the database for itself.
async fn commits(server: &TestServer, work: impl Future<Output = ()>) -> Option<u64> {
    let before = server.app.db.commits();
    work.await;
    Some(server.app.db.commits()? - before?)
}

/// The items of a deleted collection, and those that the provider no longer lists, are deleted in steps too.
#[tokio::test]
async fn much_that_is_gone_goes_in_steps() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let book = api.post("/v1/contact-books", json!({ "connectionId": connection, "name": "Club" }));
    let book = book.send().await.expect(201);
    let (book_id, many) = (book["id"].as_str().expect("an id"), 1_000);
    let contact = |name: &str| json!({ "bookId": book_id, "displayName": name });
    let stays = api.post("/v1/contacts", contact("Stays")).send().await.expect(201);
    let listed = format!("/v1/contacts?book_id={book_id}");
    api.all(&listed).await;
    let copies = multiply(&server, stays["id"].as_str().expect("an id"), many).await;
    assert_eq!(api.all(&format!("{listed}&limit=200")).await.len(), many + 1);
    let path = format!("/v1/contact-books/{book_id}");
    assert_eq!(api.get(&path).send().await.expect(200)["contactCount"], many + 1);

    // The provider knows nothing of the copies, and says so when all of it is read again.
    api.post("/v1/contacts/sync/start", json!({ "connectionId": connection })).send().await.expect(202);
    let reset = json!({ "connectionId": connection });
    api.post("/v1/contacts/sync/reset", reset).send().await.expect(202);
    let read = commits(&server, async {
        assert_eq!(api.all(&listed).await.len(), 1);
    });
    let read = read.await;
    assert!(read.is_none_or(|commits| commits >= many as u64 / 200), "{read:?} commits");
    assert_eq!(api.get(&path).send().await.expect(200)["contactCount"], 1);

    multiply(&server, stays["id"].as_str().expect("an id"), many).await;
    let deleted = commits(&server, async {
        api.delete(format!("{path}?force=true")).send().await.expect(204);
    });
    let deleted = deleted.await;
    assert!(deleted.is_none_or(|commits| commits >= many as u64 / 200), "{deleted:?} commits");
    api.get(&path).send().await.refused(404, "not_found");
    api.get(format!("/v1/contacts/{}", copies[0])).send().await.refused(404, "not_found");
    let live = "select count(*) as n from items where connection_id = $1 and kind = 'contact' and deleted_at is null";
    assert_eq!(count(&server, live, &connection).await, 0);
    let full = "select count(*) as n from items where connection_id = $1 and deleted_at is not null and body <> '{}'";
    assert_eq!(count(&server, full, &connection).await, 0, "tombstones have lost what they were");
}

const SIZES: [&str; 4] = [
    "select count(*) as n from items where id <> $1",
    "select count(*) as n from log where id <> $1",
    "select count(*) as n from idempotency where scope <> $1",
    "select count(*) as n from item_parts where id <> $1",
];

async fn sizes(server: &TestServer) -> Vec<i64> {
    let mut sizes = Vec::new();
    for sql in SIZES {
        sizes.push(count(server, sql, "").await);
    }
    sizes
}

async fn some_task(api: &Actor, list: &str, key: &str) -> String {
    let task = json!({ "title": "Once", "checklist": [{ "title": "One" }, { "title": "Two" }] });
    let made = api.post(format!("/v1/task-lists/{list}/tasks"), task).keyed(key).send().await.expect(201);
    made["id"].as_str().expect("an id").to_owned()
}

/// A deleted item loses its content at once, and its row is deleted together with the log entry of its deletion. However many items are
/// made and deleted, the tables stay in proportion to the existing ones.
#[tokio::test]
async fn what_comes_and_goes_leaves_nothing() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_account("alice").await;
    let lists = api.all(&format!("/v1/task-lists?connection_id={connection}")).await;
    let list = lists[0]["id"].as_str().expect("an id");
    api.all(&format!("/v1/task-lists/{list}/tasks")).await;
    api.post(format!("/v1/task-lists/{list}/sync/start"), json!({})).send().await.expect(202);
    let feed = format!("/v1/task-lists/{list}/sync/changes");
    let cursor =
        api.get(&feed).send().await.expect(200)["sync_cursor"].as_str().expect("a cursor").to_owned();
    let kept = some_task(&api, list, "kept").await;
    let mut after = Vec::new();
    for round in 0..3 {
        for n in 0..10 {
            let id = some_task(&api, list, &format!("{round}-{n}")).await;
            let path = format!("/v1/task-lists/{list}/tasks/{id}");
            api.delete(&path).send().await.expect(204);
            let body = query("select body from items where id = $1").bind(&id);
            let body: Option<String> =
                body.fetch_optional(server.app.db.reader(), |row| row.get("body")).await.expect("a query");
            assert_eq!(body.as_deref(), Some("{}"));
        }
        // Rows younger than the log are kept.
        server.clock.advance_ms(29 * DAY_MS);
        retention::clean(&server.app).await.expect("a clean-up");
        assert!(sizes(&server).await[0] > 10);
        server.clock.advance_ms(2 * DAY_MS);
        let removed = retention::clean(&server.app).await.expect("a clean-up");
        assert!(removed.rows >= 30 && removed.largest <= ROWS_PER_STEP, "{removed:?}");
        after.push(sizes(&server).await);
    }
    assert_eq!(after[1], after[2], "the second and the third round");
    assert_eq!((after[2][1], after[2][2]), (0, 0), "lines and answers are older than they are kept");
    api.get(format!("/v1/task-lists/{list}/tasks/{kept}")).send().await.expect(200);
    api.get(format!("{feed}?cursor={cursor}")).send().await.refused(409, "sync_reset_required");
    assert_eq!(retention::clean(&server.app).await.expect("nothing"), retention::RemovedRows::default());
    // Days of which no usage is asked any more.
    server.clock.advance_ms(800 * DAY_MS);
    retention::clean(&server.app).await.expect("a clean-up");
    assert_eq!(count(&server, "select count(*) as n from usage where key_id = $1", "").await, 0);
}

/// The delivery status stays in the message; the records of its sending and tracking are deleted.
#[tokio::test]
async fn a_message_that_was_sent_long_ago() {
    let service = TestServer::builder().config(|c| c.public_url = Some("https://us.test".to_owned()));
    let mailbox = Mailbox::open_with(Provider::Sandbox, service).await.expect("it is always up");
    let server = &mailbox.server;
    let tracked = json!({ "body": { "text": "Hi", "html": "<p>Hi</p>" }, "tracking": { "opens": true } });
    let sent = mailbox.send(tracked).await;
    let id = text(&sent["id"]);
    let rows = [
        "select count(*) as n from outbox where id = $1",
        "select count(*) as n from tracking where message_id = $1",
        "select count(*) as n from outbox_contents where id = $1",
    ];
    let mut found = Vec::new();
    for days in [31, 360, 20] {
        server.clock.advance_ms(days * DAY_MS);
        retention::clean(&server.app).await.expect("a clean-up");
        found.push([count(server, rows[0], &id).await, count(server, rows[1], &id).await]);
        assert_eq!(count(server, rows[2], &id).await, 0);
    }
    assert_eq!(found, [[1, 1], [1, 1], [0, 0]]);
    assert_eq!(mailbox.read(&sent["id"]).await["delivery"], sent["delivery"]);
}

/// A thread without messages is deleted with all its references once its log entries are gone; one that gets messages again is not.
#[tokio::test]
async fn empty_threads_are_forgotten() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("it is always up");
    let (server, connection) = (&mailbox.server, mailbox.connection.clone());
    let (tenant, now) = (tenant(server).await, server.app.now());
    let made = server.app.db.write(move |tx| {
        Box::pin(async move {
            for id in ["thr_empty", "thr_revived"] {
                let thread =
                    mail::NewThread { id: id.into(), external_id: None, created_at: now, latest_at: now };
                mail::insert_threads(tx, &tenant, &connection, &[thread]).await?;
                let refs: Vec<String> = (0..ROWS_PER_STEP + 10).map(|n| format!("{id}-{n}")).collect();
                let names: Vec<_> =
                    refs.iter().map(|name| mail::ThreadName { name, thread_id: id }).collect();
                mail::name_threads(tx, &connection, &names).await?;
                mail::set_latest(tx, &[id], now).await?;
            }
            Ok::<_, anyhow::Error>(())
        })
    });
    made.await.expect("two threads");
    let revive = "update email_threads set latest_at = 1, emptied_at = null where id = 'thr_revived'";
    let revived = server.app.db.write(move |tx| Box::pin(async move { tx.batch(revive).await }));
    let threads = "select count(*) as n from email_threads where id = $1";
    let refs = "select count(*) as n from email_thread_refs where thread_id = $1";
    server.clock.advance_ms(29 * DAY_MS);
    retention::clean(&server.app).await.expect("a clean-up");
    assert_eq!(count(server, threads, "thr_empty").await, 1);
    revived.await.expect("one comes to life");
    server.clock.advance_ms(2 * DAY_MS);
    let removed = retention::clean(&server.app).await.expect("a clean-up");
    assert!(removed.largest <= ROWS_PER_STEP, "{removed:?}");
    let found = [count(server, threads, "thr_empty").await, count(server, refs, "thr_empty").await];
    assert_eq!(found, [0, 0]);
    assert_eq!(count(server, threads, "thr_revived").await, 1);
    assert_eq!(count(server, refs, "thr_revived").await, ROWS_PER_STEP + 10);
}
