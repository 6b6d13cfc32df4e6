//! Odd items between good ones, on every surface and of every kind, generated at random. The good items are listed, an odd one is listed
//! or among the errors, the cursor advances, and a fixed item is listed without an error.

pub mod relay;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use service::app::resource_kind::ResourceKind;
use service::sync::ensure_fresh;
use service::sync::scope::SyncScope;
use storage::items;
use storage::sync_states::{self as table, ItemError};

use crate::contract::odd_items::relay::World;

/// An operation that a pull reads, and the kinds of its items.
struct Feed {
    op: &'static str,
    scope: ResourceKind,
    /// The operation that lists the collections, for items inside of collections.
    above: Option<(&'static str, ResourceKind)>,
    kinds: &'static [ResourceKind],
}

const FEEDS: [Feed; 7] = [
    Feed {
        op: "calendars.list",
        scope: ResourceKind::Calendar,
        above: None,
        kinds: &[ResourceKind::Calendar],
    },
    Feed {
        op: "events",
        scope: ResourceKind::Event,
        above: Some(("calendars.list", ResourceKind::Calendar)),
        kinds: &[ResourceKind::Event],
    },
    Feed {
        op: "books.list",
        scope: ResourceKind::ContactBook,
        above: None,
        kinds: &[ResourceKind::ContactBook],
    },
    Feed {
        op: "contacts",
        scope: ResourceKind::Contact,
        above: Some(("books.list", ResourceKind::ContactBook)),
        kinds: &[ResourceKind::Contact, ResourceKind::ContactGroup],
    },
    Feed { op: "lists.list", scope: ResourceKind::TaskList, above: None, kinds: &[ResourceKind::TaskList] },
    Feed {
        op: "tasks",
        scope: ResourceKind::Task,
        above: Some(("lists.list", ResourceKind::TaskList)),
        kinds: &[ResourceKind::Task],
    },
    Feed {
        op: "mail",
        scope: ResourceKind::EmailMessage,
        above: None,
        kinds: &[
            ResourceKind::EmailFolder,
            ResourceKind::EmailLabel,
            ResourceKind::EmailMessage,
            ResourceKind::EmailDraft,
        ],
    },
];

fn body(kind: ResourceKind, id: &str) -> Value {
    match kind {
        ResourceKind::Event => {
            json!({ "title": id, "sequence": 0, "type": "single", "recurrenceId": null, "timeZone": "UTC",
            "originalStart": null, "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T11:00:00Z", "allDay": false,
            "attendees": [], "recurrence": [], "status": "confirmed", "reminders": {}, "location": null })
        }
        ResourceKind::Contact => {
            json!({ "displayName": id, "name": {}, "emails": [], "phones": [], "groupIds": [] })
        }
        ResourceKind::ContactGroup => json!({ "name": id, "contactIds": [id], "memberCount": 0 }),
        ResourceKind::Task => {
            json!({ "title": id, "parentId": id, "status": "open", "dueDate": null, "recurrence": [],
            "percentComplete": null, "checklistItems": [], "position": null })
        }
        ResourceKind::EmailMessage | ResourceKind::EmailDraft => {
            json!({ "subject": id, "receivedAt": "2026-03-02T10:00:00Z",
            "internetMessageId": format!("{id}@relay.test"), "references": [], "from": [], "to": [], "snippet": "",
            "folderIds": [], "draft": kind == ResourceKind::EmailDraft, "size": 1, "unread": false, "attachments": [] })
        }
        ResourceKind::EmailFolder => {
            json!({ "name": id, "path": [id], "parentId": id, "role": null, "sortOrder": 0 })
        }
        _ => json!({ "name": id, "color": null }),
    }
}

/// A source with one item, both of this id.
pub fn good(kind: ResourceKind, id: &str) -> Value {
    let mut body = body(kind, id);
    if kind == ResourceKind::Task {
        body.as_object_mut().expect("an object").remove("status");
    }
    json!({ "externalId": id, "etag": "1", "items": [{ "externalId": id, "kind": kind.as_str(), "body": body }] })
}

/// Returns a strategy of values that no field expects.
fn values() -> impl Strategy<Value = Value> {
    let nested = (0..40).fold(json!(1), |inner, _| json!([inner]));
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(-1e300)),
        Just(json!(u64::MAX)),
        ".{0,12}".prop_map(Value::from),
        Just(json!("x".repeat(100_000))),
        Just(json!("a\u{0}b\u{7}")),
        Just(json!("2026-13-45T99:99:99Z")),
        Just(json!("+275760-09-13T00:00:00Z")),
        Just(json!("RRULE:FREQ=DAILY;UNTIL=202é0301")),
        Just(json!({})),
        Just(json!([null])),
        Just(json!(vec!["RRULE:FREQ=SECONDLY"; 3])),
        Just(json!(vec!["y"; 10_000])),
        Just(nested),
    ]
}

/// One way in which an item is odd.
#[derive(Clone, Debug)]
enum Odd {
    /// It is no source at all.
    Instead(Value),
    /// A field of the source, of its item or of the item's body, by its number.
    Source(usize, Value),
    Item(usize, Value),
    Body(usize, Value),
    Without(usize),
    /// The item twice, or one that its neighbour has.
    Twice,
    Theirs,
    /// The source twice.
    Again,
    ManyItems,
}

fn odd() -> impl Strategy<Value = Odd> {
    prop_oneof![
        2 => values().prop_map(Odd::Instead),
        4 => (0..6_usize, values()).prop_map(|(n, v)| Odd::Source(n, v)),
        4 => (0..6_usize, values()).prop_map(|(n, v)| Odd::Item(n, v)),
        10 => (0..20_usize, values()).prop_map(|(n, v)| Odd::Body(n, v)),
        1 => (0..20_usize).prop_map(Odd::Without),
        1 => Just(Odd::Twice),
        1 => Just(Odd::Theirs),
        1 => Just(Odd::Again),
        1 => Just(Odd::ManyItems),
    ]
}

/// The source made odd.
fn spoilt(kind: ResourceKind, id: &str, neighbour: &str, odd: &Odd) -> Vec<Value> {
    let mut source = good(kind, id);
    let body = body(kind, id);
    let fields: Vec<&String> = body.as_object().expect("an object").keys().collect();
    match odd {
        Odd::Instead(value) => return vec![value.clone()],
        Odd::Source(n, value) => {
            source[["externalId", "etag", "deleted", "items", "error", "previousId"][*n]] = value.clone();
        }
        Odd::Item(n, value) => {
            let field = ["externalId", "kind", "uid", "seriesExternalId", "fingerprint", "partial"][*n];
            source["items"][0][field] = value.clone();
        }
        Odd::Body(n, value) => source["items"][0]["body"][fields[n % fields.len()]] = value.clone(),
        Odd::Without(n) => {
            let fields: [&[&str]; 3] = [&[], &["items"], &["externalId"]];
            match fields[n % 3] {
                [] => drop(source["items"][0].as_object_mut().expect("an item").remove("externalId")),
                [field, ..] => drop(source.as_object_mut().expect("a source").remove(*field)),
            }
        }
        Odd::Twice => {
            let item = source["items"][0].clone();
            source["items"].as_array_mut().expect("a list").push(item);
        }
        Odd::Theirs => source["items"][0]["externalId"] = json!(neighbour),
        Odd::Again => return vec![source.clone(), source],
        Odd::ManyItems => {
            let item = |n: usize| {
                json!({ "externalId": format!("{id}-{n}"), "body": good(kind, id)["items"][0]["body"],
                "kind": kind.as_str() })
            };
            source["items"] = (0..200).map(item).collect();
        }
    }
    vec![source]
}

/// The result of a round.
struct Outcome {
    live: Vec<String>,
    sources: Vec<String>,
    errors: Vec<ItemError>,
}

impl Feed {
    async fn scope(&self, world: &World) -> SyncScope {
        let Some((op, kind)) = self.above else {
            return SyncScope { kind: self.scope, ..SyncScope::collections(self.scope) };
        };
        world.provider.tell(op, json!({ "sources": [good(kind, "home")], "enumeration": true }));
        let app = &world.server.app;
        world.server.clock.advance_ms(1);
        ensure_fresh(app, &world.connection, &SyncScope::collections(kind), true)
            .await
            .expect("the collections");
        let (tenant, id) = (&world.connection.tenant, &world.connection.id);
        let found = items::list_top(app.db.reader(), tenant, Some(id), kind.as_str(), "", 10).await;
        let home = found.expect("a query").remove(0);
        SyncScope {
            kind: self.scope,
            scope_id: home.id,
            collection: Some("home".into()),
            time_zone: Some("UTC".into()),
        }
    }

    /// Has the host read this page.
    async fn pull(&self, world: &World, scope: &SyncScope, page: Vec<Value>) -> Outcome {
        let enumeration = scope.kind.is_collection();
        world.provider.tell(self.op, json!({ "sources": page, "enumeration": enumeration }));
        world.server.clock.advance_ms(1);
        let (app, connection) = (&world.server.app, &world.connection);
        let state = || table::find(app.db.reader(), &connection.id, scope.surface(), &scope.scope_id);
        let before = state().await.expect("a query").and_then(|s| s.cursor);
        ensure_fresh(app, connection, scope, true).await.unwrap_or_else(|e| panic!("{}: {e}", self.op));
        let state = state().await.expect("a query").expect("it was read");
        assert_eq!(state.status, "caught_up", "{}", self.op);
        assert!(enumeration || state.cursor != before, "{}: the cursor goes on", self.op);
        let (errors, _) = table::item_errors(app.db.reader(), &state, 1_000).await.expect("a query");
        let (mut live, mut sources) = (Vec::new(), Vec::new());
        for kind in self.kinds {
            let list = items::list_top(
                app.db.reader(),
                &connection.tenant,
                Some(&connection.id),
                kind.as_str(),
                "",
                9_999,
            );
            for item in list.await.expect("a query") {
                live.push(item.external_id);
                sources.push(item.source_id);
            }
        }
        Outcome { live, sources, errors }
    }

    async fn round(&self, world: &World, scope: &SyncScope, odds: &[Odd], number: usize) {
        let kind = |n: usize| self.kinds[n % self.kinds.len()];
        let (fine, bad) = (|n: usize| format!("good-{number}-{n}"), |n: usize| format!("odd-{number}-{n}"));
        let home = || good(self.scope, "home");
        let all_good = || (0..odds.len()).map(|n| good(kind(n), &fine(n)));
        let mut page: Vec<Value> = self.scope.is_collection().then(home).into_iter().collect();
        for (n, odd) in odds.iter().enumerate() {
            page.push(good(kind(n), &fine(n)));
            page.extend(spoilt(kind(n), &bad(n), &fine(n), odd));
        }
        let seen = self.pull(world, scope, page).await;
        for (n, odd) in odds.iter().enumerate() {
            assert!(seen.live.contains(&fine(n)), "{}: {} beside {odd:?}", self.op, fine(n));
            let is_told = seen.errors.iter().any(|e| e.source_id == bad(n));
            let is_there = seen.sources.contains(&bad(n)) || seen.live.contains(&bad(n));
            // Without its name it is reported under none; without items, or deleted, it is not reported.
            let is_nameless = seen.errors.iter().any(|e| e.code == "bad_name" || e.source_id.is_empty());
            let may_be_nothing = match odd {
                Odd::Instead(_) | Odd::Source(0, _) => is_nameless || self.renamed(odd, &seen),
                Odd::Without(n) => n % 3 == 1 || is_nameless,
                Odd::Source(2, value) => *value == json!(true),
                Odd::Source(3, value) => value.as_array().is_some_and(Vec::is_empty),
                Odd::Item(5, _) => self.op == "mail",
                Odd::Theirs => true,
                _ => false,
            };
            assert!(
                is_told || is_there || may_be_nothing,
                "{}: nobody knows of {odd:?}: {:?}",
                self.op,
                seen.errors
            );
        }
        let mended = (0..odds.len()).map(|n| good(kind(n), &bad(n)));
        let page =
            self.scope.is_collection().then(home).into_iter().chain(all_good()).chain(mended).collect();
        let seen = self.pull(world, scope, page).await;
        for (n, odd) in odds.iter().enumerate() {
            assert!(seen.live.contains(&fine(n)) && seen.live.contains(&bad(n)), "{}: {n} {odd:?}", self.op);
            // A mailbox keeps an item in its first source until a move is reported.
            let is_kept_there = self.op == "mail" && matches!(odd, Odd::Source(0, Value::String(_)));
            let left = seen.errors.iter().find(|e| e.source_id == fine(n) || e.source_id == bad(n));
            assert!(left.is_none() || is_kept_there, "{}: {left:?} {odd:?}", self.op);
        }
    }

    /// Whether it was read under the odd name that it was given.
    fn renamed(&self, odd: &Odd, seen: &Outcome) -> bool {
        match odd {
            Odd::Source(0, Value::String(name)) => {
                seen.sources.contains(name) || seen.errors.iter().any(|e| e.source_id == *name)
            }
            Odd::Instead(value) => value.is_object(),
            _ => false,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_items_keep_nothing_from_good_ones() {
    let world = World::open().await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for feed in FEEDS {
        let scope = feed.scope(&world).await;
        for number in 0..5 {
            let odds =
                proptest::collection::vec(odd(), 24).new_tree(&mut runner).expect("odd items").current();
            feed.round(&world, &scope, &odds, number).await;
        }
    }
}

/// Two exceptions for one instance of a series, as CalDAV servers take them: the newer one is listed, and the rest of the calendar too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_with_two_exceptions() {
    let world = World::open().await;
    let events = &FEEDS[1];
    let scope = events.scope(&world).await;
    let exception = |title: &str, sequence: i64| {
        let mut body = body(ResourceKind::Event, title);
        for (field, value) in [
            ("sequence", json!(sequence)),
            ("type", json!("exception")),
            ("recurrenceId", json!("2026-03-03T10:00:00")),
            ("originalStart", json!("2026-03-03T10:00:00Z")),
            ("start", json!("2026-03-03T12:00:00Z")),
            ("end", json!("2026-03-03T13:00:00Z")),
        ] {
            body[field] = value;
        }
        json!({ "externalId": "s/1", "seriesExternalId": "s", "body": body })
    };
    let mut series = body(ResourceKind::Event, "series");
    (series["type"], series["recurrence"]) = (json!("series"), json!(["RRULE:FREQ=DAILY;COUNT=3"]));
    let source = |etag: &str, exceptions: [Value; 2]| {
        let [first, second] = exceptions;
        json!({ "externalId": "s", "etag": etag, "items": [{ "externalId": "s", "body": series }, first, second] })
    };
    let path = format!(
        "/v1/calendars/{}/events?expand=true&start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z",
        scope.scope_id
    );
    for (etag, exceptions) in
        [("1", [exception("old", 1), exception("new", 2)]), ("2", [exception("new", 2), exception("old", 1)])]
    {
        let page = vec![
            good(ResourceKind::Event, "before"),
            source(etag, exceptions),
            good(ResourceKind::Event, "after"),
        ];
        let seen = events.pull(&world, &scope, page).await;
        assert!(seen.errors.is_empty(), "{:?}", seen.errors);
        world.provider.tell("events", json!({ "sources": [] }));
        let mut titles: Vec<String> = world
            .api
            .all(&path)
            .await
            .iter()
            .map(|e| e["title"].as_str().expect("a title").to_owned())
            .collect();
        titles.sort();
        assert_eq!(titles, ["after", "before", "new", "series", "series"]);
    }
}
