//! Watches are started where clients follow, renewed at half of their life, and stopped with the connection.

use harness::TestServer;
use model::Instant;
use serde_json::{Value, json};
use service::job_runner::runner;
use service::push::renew_job::RENEW;
use service::push::stop::stop_all;
use storage::connections;
use storage::jobs;
use storage::watches::{self as table, Status};

use crate::email::mailbox::text;
use crate::email::mailbox::until;
use crate::push::{LIFE_MS, MINUTE_MS, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_life_renews() {
    let world = World::start().await;
    let (watch, began) = (world.watch(0).await, world.server.app.now());
    assert_eq!(watch.expires_at, Some(began + LIFE_MS));
    assert_eq!(world.theirs().await.len(), 1);
    // Renewals are spread by up to a twentieth, earlier or later.
    world.server.clock.advance_ms(LIFE_MS / 2 - LIFE_MS / 39);
    assert_eq!(world.server.renew().await, 0, "it is not due");
    world.server.clock.advance_ms(2 * LIFE_MS / 39);
    assert_eq!(world.server.renew().await, 1);
    let (renewed, now) = (world.watch(0).await, world.server.app.now());
    assert_eq!((renewed.id, renewed.status), (watch.id, Status::Active));
    assert_eq!(renewed.expires_at, Some(now + LIFE_MS));
    assert!(world.told().await.is_empty());
    assert_eq!(world.server.renew().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_can_have_it_renewed() {
    let world = World::start().await;
    let ended_at = world.server.app.now() + LIFE_MS;
    world.server.clock.advance_ms(LIFE_MS / 4);
    let path = format!("/v1/calendars/{}/sync/renew", world.calendars[0].0);
    let shown = world.api.post(&path, json!({})).send().await.expect(200);
    assert_eq!(shown["status"], "active");
    assert_eq!(shown["expiresAt"], json!(Instant::from_millis(ended_at)), "as it stands now");
    assert_eq!(world.server.renew().await, 1);
    assert_eq!(world.watch(0).await.expires_at, Some(world.server.app.now() + LIFE_MS));
    // At a provider that cannot renew, each renewal is another watch: one that is a minute old is not renewed again.
    world.api.post(&path, json!({})).send().await.expect(200);
    assert_eq!(world.server.renew().await, 0);
    world.server.clock.advance_ms(MINUTE_MS);
    world.api.post(&path, json!({})).send().await.expect(200);
    assert_eq!(world.server.renew().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_its_provider_forgot_is_followed_by_another() {
    let world = World::start().await;
    let old = world.watch(0).await;
    world.provider.delete(format!("/sandbox/v1/watches/{}", old.id)).send().await.expect(204);
    world.server.clock.advance_ms(LIFE_MS * 6 / 10);
    assert_eq!(world.server.renew().await, 1);
    let statuses: Vec<Status> = world.watches().await.iter().map(|watch| watch.status).collect();
    assert_eq!(statuses, [Status::Stopping, Status::Active], "they overlap for a minute");
    assert_eq!(world.shown(0).await["status"], "active");
    assert_eq!(world.server.pull().await, 1, "a change between the two is found");
    world.server.clock.advance_ms(MINUTE_MS);
    assert_eq!(world.server.renew().await, 1);
    let new = world.watch(0).await;
    assert_ne!(new.id, old.id);
    assert_eq!(world.theirs().await.len(), 1);
    world.notify(&old.id, &world.token(&old)).await.expect(202);
    assert_eq!(world.counted("unknown_watch"), 1, "what the old one still sends is nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_watch_polls_and_tells() {
    let world = World::start().await;
    world.fails("POST").await;
    world.server.clock.advance_ms(LIFE_MS * 6 / 10);
    assert_eq!(world.server.renew().await, 1);
    assert_eq!(world.watch(0).await.status, Status::Active, "it is tried again in a minute");
    world.server.clock.advance_ms(2 * MINUTE_MS);
    assert_eq!(world.server.renew().await, 1);
    world.server.clock.advance_ms(LIFE_MS * 2 / 10);
    world.server.renew().await;
    assert_eq!(world.shown(0).await["status"], "expiring");
    assert_eq!(world.told().await, ["calendar.watch.expiring"]);
    world.server.clock.advance_ms(LIFE_MS * 2 / 10);
    world.server.renew().await;
    assert_eq!(world.shown(0).await["status"], "expired");
    assert_eq!(world.told().await, ["calendar.watch.expiring", "calendar.watch.expired"]);
    // It is polled as if there had never been a watch.
    world.make(0, "lunch").await;
    assert_eq!(world.server.pull().await, 1);
    assert_eq!(world.here(0).await, 1);
    let due_at = world.pull_job(0).await.due_at.expect("a time");
    assert!(due_at <= world.server.app.now() + 15 * MINUTE_MS, "{due_at}");
    // In the end the provider takes one again.
    world.provider.delete("/sandbox/faults").send().await.expect(204);
    world.server.clock.advance_ms(8 * 60 * MINUTE_MS);
    assert_eq!(world.server.renew().await, 1);
    assert_eq!(world.watch(0).await.status, Status::Active);
    assert_eq!(world.told().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disconnected_account_stops_its_watch() {
    let world = World::start().await;
    let watch = world.watch(0).await;
    world.api.delete(format!("/v1/connections/{}", world.connection)).send().await.expect(204);
    assert!(world.theirs().await.is_empty());
    assert!(world.watches().await.is_empty());
    assert_eq!(world.server.renew().await, 0);
    world.notify(&watch.id, &world.token(&watch)).await.expect(202);
    assert_eq!((world.counted("unknown_watch"), world.server.pull().await), (1, 0));
}

/// Between the stop of the watches and the end of the connection no watch is started again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_watch_is_started_anew_only_if_its_account_stays() {
    let world = World::start().await;
    let (app, tenant) = (&world.server.app, world.watch(0).await.tenant);
    let found = connections::find(app.db.reader(), &tenant, &world.connection).await.expect("a query");
    stop_all(app, &found.expect("the connection")).await;
    assert!(world.theirs().await.is_empty());
    assert_eq!(world.server.renew().await, 0, "the account is about to be disconnected");
    world.server.clock.advance_ms(MINUTE_MS);
    assert_eq!(world.server.renew().await, 1, "it is still there");
    assert_eq!(world.theirs().await.len(), 1);
    assert_eq!(world.watch(0).await.status, Status::Active);
}

/// The provider has started a watch, and the account is disconnected before the provider answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_begins_while_its_account_is_disconnected_is_stopped() {
    let builder = TestServer::builder().config(|config| config.push_over_http = true);
    let world = World::unwatched(builder.without_pulls().start().await, &["Shared"]).await;
    let fault = json!({ "method": "POST", "pathPrefix": "/sandbox/v1/watches", "heldAnswer": true });
    world.provider.post("/sandbox/faults", fault).send().await.expect(201);
    let app = world.server.app.clone();
    let renewing = tokio::spawn(async move { runner::drain(&app, &[RENEW]).await });
    let begun = async || (world.theirs().await.len() == 1).then_some(());
    until("the provider has started the watch", begun).await;
    world.api.delete(format!("/v1/connections/{}", world.connection)).send().await.expect(204);
    assert_eq!(world.theirs().await.len(), 1, "its answer is still under way");
    world.provider.delete("/sandbox/faults").send().await.expect(204);
    assert_eq!(renewing.await.expect("no panic").expect("the jobs are run"), 1);
    assert!(world.theirs().await.is_empty(), "it is not left behind");
    assert!(world.watches().await.is_empty());
}

/// A provider that does not answer does not prevent a disconnect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_is_disconnected_whatever_its_provider_says() {
    let world = World::start().await;
    world.fails("DELETE").await;
    world.api.delete(format!("/v1/connections/{}", world.connection)).send().await.expect(204);
    assert_eq!(world.theirs().await.len(), 1, "it ends by itself some day");
    assert!(world.watches().await.is_empty());
}

/// A calendar shows its watch, by id and in lists.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calendar_shows_its_watch() {
    let world = World::with(&["One", "Two"]).await;
    let path = format!("/v1/calendars/{}", world.calendars[0].0);
    let before = world.api.get(&path).send().await.expect(200);
    let status = world.shown(0).await;
    assert_eq!(before["watch"]["status"], "active");
    assert_eq!(before["watch"]["expiresAt"], status["expiresAt"], "as the status of its sync has it");
    let watch = world.watch(0).await;
    world.notify(&watch.id, &world.token(&watch)).await.expect(202);
    let listed = world.api.all(&format!("/v1/calendars?connection_id={}", world.connection)).await;
    let shown = |id: &str| {
        listed.iter().find(|calendar| calendar["id"] == id).expect("it is listed")["watch"].clone()
    };
    let now = json!(Instant::from_millis(world.server.app.now()));
    assert_eq!(shown(&world.calendars[0].0)["lastNotificationAt"], now);
    assert_eq!(shown(&world.calendars[1].0)["status"], "active");
    let watched = listed.iter().filter(|calendar| calendar["watch"] != Value::Null).count();
    assert_eq!(watched, 2, "of those that nobody follows there is nothing to show");
    let after = world.api.get(&path).send().await.expect(200);
    assert_eq!(after["etag"], before["etag"], "a watch is no part of the version");
}

/// A client can send back a calendar that it has read although its watch has changed meanwhile. Clients cannot change a watch that way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calendar_is_changed_whatever_its_watch_does() {
    let server =
        TestServer::builder().config(|config| config.push_over_http = true).without_pulls().start().await;
    let api = server.client().await;
    let connection = api.connect_account("alice").await;
    let calendar = text(
        &api.post("/v1/calendars", json!({ "connectionId": connection, "name": "Shared" }))
            .send()
            .await
            .expect(201)["id"],
    );
    let path = format!("/v1/calendars/{calendar}");
    let mut read = api.get(&path).send().await.expect(200);
    assert_eq!(read["watch"], Value::Null, "nobody follows it");
    api.post(format!("{path}/sync/start"), json!({})).send().await.expect(202);
    server.pull().await;
    assert_eq!(server.renew().await, 1);
    read["name"] = json!("Renamed");
    let renamed = api.patch(&path, read.clone()).send().await.expect(200);
    assert_eq!((&renamed["name"], &renamed["watch"]["status"]), (&json!("Renamed"), &json!("active")));
    let refused = api.patch(&path, json!({ "watch": "expired" })).send().await;
    assert_eq!(refused.refused(400, "invalid_parameter")["param"], "watch");
    let kept = api.patch(&path, json!({ "watch": { "status": "expired" } })).send().await.expect(200);
    assert_eq!(kept["watch"]["status"], "active");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contacts_are_watched_book_by_book() {
    let builder = TestServer::builder().config(|config| config.push_over_http = true);
    let server = builder.without_pulls().start().await;
    let api = server.client().await;
    let connection = api.connect_account("alice").await;
    let start = json!({ "connectionId": connection });
    api.post("/v1/contacts/sync/start", start).send().await.expect(202);
    server.pull().await;
    let books = api.all("/v1/contact-books").await.len() as u64;
    assert_eq!(server.renew().await, books + 1, "each book, and the books themselves");
    assert!(server.pull().await > 0, "all of them are one feed, which is read once more");
    let status = async || {
        let status = api.get(format!("/v1/contacts/sync/status/{connection}")).send().await.expect(200);
        status["watch"]["status"].clone()
    };
    assert_eq!(status().await, "active");
    let coverage = async || {
        let status = api.get(format!("/v1/contacts/sync/status/{connection}")).send().await.expect(200);
        status["watchCoverage"].clone()
    };
    assert_eq!(coverage().await, json!({ "watched": books, "total": books }));
    // One of the books cannot be watched any longer, and everything is polled again.
    let watches = table::of_connection(server.app.db.reader(), &connection).await.expect("a query");
    let of_book = watches.iter().find(|watch| !watch.scope_id.is_empty()).expect("the watch of a book");
    let path = format!("/sandbox/v1/watches/{}/renew", of_book.id);
    let fault = json!({ "method": "POST", "pathPrefix": path, "status": 503, "times": 1_000 });
    server.provider("alice").post("/sandbox/faults", fault).send().await.expect(201);
    server.clock.advance_ms(LIFE_MS * 6 / 10);
    assert_eq!(server.renew().await, books + 1);
    server.clock.advance_ms(LIFE_MS * 2 / 10);
    assert_eq!(status().await, "expiring");
    server.clock.advance_ms(LIFE_MS * 3 / 10);
    assert_eq!(coverage().await, json!({ "watched": books - 1, "total": books }));
    assert_eq!(status().await, "expired");
}

/// The first 50 of very many books are watched. The others are polled as if no book were watched, and the status says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_very_many_books_the_first_are_watched() {
    let builder = TestServer::builder().config(|config| config.push_over_http = true);
    let server = builder.without_pulls().start().await;
    let (api, provider) = (server.client().await, server.provider("zoe"));
    for n in 0..51 {
        let book = json!({ "name": format!("Book {n}") });
        provider.post("/sandbox/v1/books", book).send().await.expect(201);
    }
    let connection = api.connect_account("zoe").await;
    api.post("/v1/contacts/sync/start", json!({ "connectionId": connection })).send().await.expect(202);
    server.pull().await;
    let books = api.all("/v1/contact-books").await;
    assert!(books.len() > 51, "{}", books.len());
    assert_eq!(server.renew().await, 51, "50 books, and the books themselves");
    let watched = table::of_connection(server.app.db.reader(), &connection).await.expect("a query");
    let mut watched: Vec<String> = watched.into_iter().map(|watch| watch.scope_id).collect();
    let mut first: Vec<String> = books.iter().map(|book| text(&book["id"])).collect();
    first.sort_unstable();
    first.truncate(50);
    first.insert(0, String::new());
    watched.sort_unstable();
    assert_eq!(watched, first, "those that came first");
    let path = format!("/v1/contacts/sync/status/{connection}");
    let status = api.get(path).send().await.expect(200);
    assert_eq!(status["watch"]["status"], "expired", "not all of it is watched");
    assert_eq!(status["watch"]["expiresAt"], Value::Null);
    assert_eq!(status["watchCoverage"], json!({ "watched": 50, "total": books.len() }));
    assert!(server.pull().await > 0, "what changed while the watches began is read");
    let pull = jobs::find(server.app.db.reader(), &format!("pull:{connection}:contacts:")).await;
    let due_at = pull.expect("a query").expect("it is there").due_at;
    assert!(due_at.is_some_and(|at| at <= server.app.now() + MINUTE_MS), "it is polled: {due_at:?}");
}

/// Without an address that begins with https no provider posts anything, and everything is polled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_watched_without_an_address() {
    let server = TestServer::builder().without_pulls().start().await;
    let world = World::unwatched(server, &["Shared"]).await;
    assert_eq!(world.server.renew().await, 0);
    assert!(world.theirs().await.is_empty());
    assert_eq!(world.shown(0).await["status"], "unsupported");
    assert_eq!(world.pull_job(0).await.due_at, Some(world.server.app.now() + MINUTE_MS));
}

/// A watch ends with its collection, and a collection that comes back gets a new one: the provider may have ended the old one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calendar_that_comes_back_is_watched_again() {
    let world = World::start().await;
    let old = world.watch(0).await;
    let missing = json!({ "missing": world.calendars[0].1 });
    world.provider.post("/sandbox/faults", missing).send().await.expect(201);
    let list = format!("/v1/calendars?connection_id={}", world.connection);
    let listed = async || {
        world.server.clock.advance_ms(1);
        let page = world.api.get(&list).header("cache-control", "no-cache").send().await.expect(200);
        page["data"].as_array().expect("a list").iter().any(|one| text(&one["id"]) == world.calendars[0].0)
    };
    assert!(!listed().await);
    assert_eq!(world.server.renew().await, 1, "it is stopped");
    assert!(world.watches().await.is_empty() && world.theirs().await.is_empty());

    assert!(listed().await);
    assert_eq!(world.server.pull().await, 1, "it is read at once");
    assert_eq!(world.server.renew().await, 1, "it is watched again");
    let new = world.watch(0).await;
    assert_eq!((new.status, world.theirs().await.len()), (Status::Active, 1));
    assert_ne!(new.id, old.id);
}
