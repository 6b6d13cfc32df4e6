//! Collections that a provider's list lacks for a while, as when they are unshared and shared again: they come back with all their
//! content, and until that has been read again they do not count as empty.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::app::event_log::Origin;
use service::app::resource_kind::ResourceKind;
use service::local_copy::change::CopyLocation;
use service::sync::page::sweep_contents;
use storage::sync_states::{self, SyncState};

use crate::contacts::people::zoe;
use crate::contacts::sync::Replica;
use crate::email::mailbox::text;
use crate::local_reads::{held, hold, let_go};

const MINUTE_MS: i64 = 60_000;
/// A copy may be as old as this where a test does not ask the provider.
const FRESHNESS_MS: i64 = 10_000;

/// A kind of collection: where the API lists them, and where the provider does.
#[derive(Clone, Copy)]
struct Kind {
    ours: &'static str,
    theirs: &'static str,
    surface: &'static str,
}

const CALENDARS: Kind = Kind { ours: "/v1/calendars", theirs: "/sandbox/v1/calendars", surface: "calendar" };
const TASK_LISTS: Kind = Kind { ours: "/v1/task-lists", theirs: "/sandbox/v1/lists", surface: "tasks" };
const CONTACT_BOOKS: Kind =
    Kind { ours: "/v1/contact-books", theirs: "/sandbox/v1/books", surface: "contacts" };

/// A collection of zoe's with something in it.
struct World {
    server: TestServer,
    api: Actor,
    provider: Actor,
    connection: String,
    kind: Kind,
    id: String,
    /// The list of its contents.
    contents: String,
    /// Its id at the provider.
    external: String,
}

impl World {
    /// A collection with two entries. Nothing is pulled but by the test, or by requests that wait for it.
    async fn of(kind: Kind) -> World {
        let server = TestServer::builder().config(|c| c.freshness_ms = FRESHNESS_MS).without_pulls();
        World::on(server.start().await, kind).await
    }

    async fn on(server: TestServer, kind: Kind) -> World {
        let (api, connection) = zoe(&server).await;
        let provider = server.provider("zoe");
        let new = json!({ "connectionId": connection, "name": "Shared" });
        let id = text(&api.post(kind.ours, new).send().await.expect(201)["id"]);
        let contents = match kind.ours {
            "/v1/calendars" => format!("/v1/calendars/{id}/events"),
            "/v1/task-lists" => format!("/v1/task-lists/{id}/tasks"),
            _ => format!("/v1/contacts?book_id={id}"),
        };
        let listed = provider.get(kind.theirs).send().await.expect(200);
        let listed = listed.as_object().and_then(|lists| lists.values().next()).expect("a list");
        let theirs = listed.as_array().expect("a list").iter().find(|one| one["name"] == "Shared");
        let external = text(&theirs.expect("the new collection")["id"]);
        let world = World { server, api, provider, connection, kind, id, contents, external };
        for name in ["first", "second"] {
            world.add(name).await;
        }
        // The account's other collections are known too: a list that lacks all that is known is read a second time.
        assert!(world.is_listed().await);
        world
    }

    /// Makes an entry through the API.
    async fn add(&self, name: &str) {
        let (path, body) = match self.kind.ours {
            "/v1/calendars" => {
                let hour = if name == "first" { 11 } else { 12 };
                let at = |minute: u8| format!("2026-03-02T{hour}:{minute:02}:00Z");
                (self.contents.as_str(), json!({ "title": name, "start": at(0), "end": at(30) }))
            }
            "/v1/task-lists" => (self.contents.as_str(), json!({ "title": name })),
            _ => ("/v1/contacts", json!({ "bookId": self.id, "displayName": name })),
        };
        self.api.post(path, body).send().await.expect(201);
    }

    fn path(&self) -> String {
        format!("{}/{}", self.kind.ours, self.id)
    }

    /// Whether the account's collections, as the provider lists them now, have this one.
    async fn is_listed(&self) -> bool {
        self.server.clock.advance_ms(1);
        let path = format!("{}?connection_id={}", self.kind.ours, self.connection);
        let page = self.api.get(path).header("cache-control", "no-cache").send().await.expect(200);
        page["data"].as_array().expect("a list").iter().any(|one| one["id"] == *self.id)
    }

    /// The next list of the provider lacks the collection.
    async fn away(&self) {
        self.provider.post("/sandbox/faults", json!({ "missing": self.external })).send().await.expect(201);
        assert!(!self.is_listed().await, "the provider's list lacks it");
        self.api.get(self.path()).send().await.refused(404, "not_found");
    }

    /// The list after it has it again.
    async fn back(&self) {
        assert!(self.is_listed().await, "it is back under its id");
    }

    /// Returns the ids of its contents, in order, without reading from the provider.
    async fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> =
            self.api.all(&self.contents).await.iter().map(|one| text(&one["id"])).collect();
        ids.sort_unstable();
        ids
    }

    /// Has it followed.
    async fn follow(&self) {
        let (path, body) = match self.kind.ours {
            "/v1/contact-books" => {
                ("/v1/contacts/sync/start".to_owned(), json!({ "connectionId": self.connection }))
            }
            _ => (format!("{}/sync/start", self.path()), json!({})),
        };
        self.api.post(path, body).send().await.expect(202);
        assert!(self.server.pull().await > 0, "it is read");
    }

    /// Returns the status of its sync.
    async fn status(&self) -> Value {
        let path = match self.kind.ours {
            "/v1/contact-books" => format!("/v1/contacts/sync/status/{}", self.connection),
            _ => format!("{}/sync/status", self.path()),
        };
        self.api.get(path).send().await.expect(200)
    }

    /// The stored state of its contents.
    async fn state(&self) -> SyncState {
        let reader = self.server.app.db.reader();
        let found = sync_states::find(reader, &self.connection, self.kind.surface, &self.id).await;
        found.expect("a query").expect("it was read")
    }

    /// From now on the provider does not answer requests for this path.
    async fn fail(&self, path: &str) {
        let fault = json!({ "status": 503, "times": 1_000, "pathPrefix": path });
        self.provider.post("/sandbox/faults", fault).send().await.expect(201);
    }

    /// The path of its contents at the provider.
    fn inside(&self) -> String {
        let contents = match self.kind.ours {
            "/v1/calendars" => "events",
            "/v1/task-lists" => "todos",
            _ => "cards",
        };
        format!("{}/{}/{contents}", self.kind.theirs, self.external)
    }
}

/// The contents come back under their old ids, whether a request for the list or the service itself reads first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_in_a_collection_is_in_it_again_when_it_comes_back() {
    for kind in [CALENDARS, TASK_LISTS, CONTACT_BOOKS] {
        let world = World::of(kind).await;
        let before = world.ids().await;
        assert_eq!(before.len(), 2, "{}", kind.ours);
        world.away().await;
        world.back().await;
        assert_eq!(world.ids().await, before, "{}", kind.ours);
        // And once more, for one absence must not be the last.
        world.away().await;
        world.server.clock.advance_ms(60 * MINUTE_MS);
        world.back().await;
        assert_eq!(world.ids().await, before, "{}", kind.ours);
        let state = world.state().await;
        assert_eq!((state.status.as_str(), state.is_return), ("caught_up", false), "{}", kind.ours);
    }
}

/// The status does not say that all is read, and a list is no empty one while the provider does not answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collection_that_is_back_is_being_read_until_it_has_been_read() {
    for kind in [CALENDARS, TASK_LISTS, CONTACT_BOOKS] {
        let world = World::of(kind).await;
        world.follow().await;
        let before = world.ids().await;
        assert_eq!(world.status().await["status"], "caught_up", "{}", kind.ours);
        world.away().await;
        world.back().await;
        let status = world.status().await;
        assert_eq!(
            (&status["status"], &status["lastSuccessAt"]),
            (&json!("initial"), &Value::Null),
            "{status:#}"
        );
        world.fail(&world.inside()).await;
        let refused = world.api.get(&world.contents).send().await;
        assert_eq!(refused.status, 503, "{refused}");
        let_go(&world.provider).await;
        // A failed read is retried by the service after a while, and at once by a request.
        world.server.clock.advance_ms(30 * MINUTE_MS);
        assert!(world.server.pull().await > 0);
        let status = world.status().await;
        assert_eq!(
            (&status["status"], &status["lastError"]),
            (&json!("caught_up"), &Value::Null),
            "{status:#}"
        );
        assert_eq!(world.ids().await, before, "{}", kind.ours);
    }
}

/// Followed collections are read at once, without a request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_followed_collection_is_read_as_soon_as_it_is_back() {
    for kind in [CALENDARS, TASK_LISTS, CONTACT_BOOKS] {
        let world = World::of(kind).await;
        world.follow().await;
        let before = world.ids().await;
        world.away().await;
        world.back().await;
        assert!(world.server.pull().await > 0, "{}: it is due", kind.ours);
        world.fail("/sandbox/v1").await;
        assert_eq!(world.ids().await, before, "{}: from the copy", kind.ours);
    }
}

/// The feed has the deletions and the restored items, so that a replica is complete.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_loses_nothing_of_a_collection_that_was_away() {
    for (kind, limit) in [(CALENDARS, 1), (CALENDARS, 100), (TASK_LISTS, 1), (CONTACT_BOOKS, 1)] {
        let world = World::of(kind).await;
        world.follow().await;
        let feed = match kind.ours {
            "/v1/contact-books" => format!("/v1/contacts/sync/changes?connection_id={}", world.connection),
            _ => format!("{}/sync/changes", world.path()),
        };
        let mut replica = Replica::default();
        replica.catch_up(&world.api, &feed, limit).await;
        let before: Vec<String> = replica.resources.keys().cloned().collect();
        world.away().await;
        world.back().await;
        replica.told.clear();
        replica.catch_up(&world.api, &feed, limit).await;
        let after: Vec<String> = replica.resources.keys().cloned().collect();
        assert_eq!(after, before, "{}", kind.ours);
        assert!(replica.told.len() >= 2, "{:?}", replica.told);
        let ids = world.ids().await;
        assert!(ids.iter().all(|id| after.contains(id)), "{ids:?} {after:?}");
    }
}

/// A taken time is not offered and cannot be booked: not while the calendar is away, not while it is read again, and not after that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_taken_times_of_a_calendar_that_was_away_stay_taken() {
    let world = World::of(CALENDARS).await;
    let event_type = json!({
        "slug": "intro", "title": "Intro call", "durationMinutes": 30,
        "hosts": [{
            "connectionId": world.connection, "calendarId": world.id, "conflictCalendarIds": [world.id],
        }],
        "schedule": { "timeZone": "UTC", "weekly": [{ "days": [1], "start": "10:00", "end": "13:00" }] },
    });
    let made = world.api.post("/v1/scheduling/event-types", event_type).send().await.expect(201);
    let query = json!({
        "eventTypeId": made["id"], "start": "2026-03-02T00:00:00Z", "end": "2026-03-02T23:59:59Z",
    });
    let slots = || world.api.post("/v1/scheduling/availability/query", query.clone()).send();
    let starts = async || {
        let answer = slots().await.expect(200);
        let each = answer["data"].as_array().expect("a list").iter();
        each.map(|slot| text(&slot["start"]).chars().skip(11).take(5).collect()).collect::<Vec<String>>()
    };
    let free = ["10:00", "10:30", "11:30", "12:30"];
    assert_eq!(starts().await, free);

    world.away().await;
    slots().await.refused(503, "availability_unknown");
    world.fail(&world.inside()).await;
    assert!(world.is_listed().await);
    slots().await.refused(503, "availability_unknown");
    let booking = json!({
        "eventTypeId": made["id"], "start": "2026-03-02T11:00:00Z", "inviteeEmail": "ada@example.org",
        "inviteeName": "Ada",
    });
    let book = || world.api.post("/v1/scheduling/bookings", booking.clone()).send();
    book().await.refused(503, "availability_unknown");

    let_go(&world.provider).await;
    world.server.clock.advance_ms(MINUTE_MS);
    assert_eq!(starts().await, free);
    book().await.refused(409, "slot_unavailable");
}

/// A pull that had its answer before the calendar disappeared continues from a cursor that is void by then: it stores nothing, and the
/// copy does not count as read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_under_way_does_not_vouch_for_a_calendar_that_went_and_came_back() {
    let world = World::of(CALENDARS).await;
    let before = world.ids().await;
    let provider = world.provider.clone();
    hold(&provider, &world.inside()).await;
    let path = world.contents.clone();
    world.server.clock.advance_ms(FRESHNESS_MS + 1);
    let asked = world.api.get(path).header("cache-control", "no-cache");
    let asked = tokio::spawn(async move { asked.send().await });
    held(&provider).await;
    world.away().await;
    world.back().await;
    let_go(&provider).await;
    let answer = asked.await.expect("the request is sent").expect(200);
    assert_eq!(answer["data"].as_array().map(Vec::len), Some(2), "{answer:#}");
    assert_eq!(world.ids().await, before);

    // Late writes of the state are ignored too.
    let late = world.state().await;
    world.away().await;
    world.back().await;
    service::sync::save(&world.server.app, &late, None).await.expect("the pull ends");
    let after = world.state().await;
    assert_eq!((after.cursor, after.last_success_at), (None, None));
    assert!(after.generation > late.generation);
    assert_eq!(world.ids().await, before);
}

/// A crash between the steps of a large calendar's deletion leaves no cursor that covers deleted items.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_while_a_large_collection_goes_loses_nothing() {
    let world = World::of(TASK_LISTS).await;
    for n in 0..201 {
        let todo = json!({ "id": format!("todo-{n}"), "title": format!("Todo {n}") });
        world.provider.post(world.inside(), todo).send().await.expect(201);
    }
    world.server.clock.advance_ms(FRESHNESS_MS + 1);
    let before = world.ids().await;
    assert_eq!(before.len(), 203);
    let app = &world.server.app;
    let states = sync_states::of_connection(app.db.reader(), &world.connection).await.expect("a query");
    let place = CopyLocation {
        tenant: states.first().expect("the connection was read").tenant(),
        connection_id: world.connection.clone(),
        kind: ResourceKind::TaskList,
        parent_id: String::new(),
        origin: Origin::Provider,
    };
    // The steps before the one that deletes the list itself, which is never reached.
    sweep_contents(app, &place, &world.id).await.expect("the contents are deleted");
    assert!(world.is_listed().await);
    assert_eq!(world.ids().await, before);
}

/// A collection that comes back has its client's metadata again, and so have its items.
#[tokio::test]
async fn a_collection_that_comes_back_has_its_metadata() {
    for kind in [CALENDARS, TASK_LISTS, CONTACT_BOOKS] {
        let world = World::of(kind).await;
        let metadata = json!({ "metadata": { "team": "sales" } });
        world.api.patch(world.path(), metadata).send().await.expect(200);
        world.away().await;
        world.back().await;
        let shown = world.api.get(world.path()).send().await.expect(200);
        assert_eq!(shown["metadata"], json!({ "team": "sales" }), "{}", kind.ours);
    }
}

/// A calendar that was deleted through the API and is created again by another program, under the same name at the provider, is read.
#[tokio::test]
async fn a_deleted_calendar_that_is_restored_at_the_provider_is_read() {
    let world = World::of(CALENDARS).await;
    assert_eq!(world.ids().await.len(), 2);
    world.api.delete(world.path()).send().await.expect(204);
    let restored = json!({ "id": world.external, "name": "Shared", "timeZone": "UTC" });
    world.provider.post(world.kind.theirs, restored).send().await.expect(201);
    let at = |hour: u8| json!(format!("2026-03-02T{hour:02}:00:00Z"));
    let event = json!({ "title": "restored", "start": at(9), "end": at(10), "timeZone": "UTC" });
    world.provider.post(world.inside(), event).send().await.expect(201);
    world.back().await;
    let events = world.api.all(&world.contents).await;
    let titles: Vec<&str> = events.iter().filter_map(|event| event["title"].as_str()).collect();
    assert_eq!(titles, ["restored"]);
}
