//! A faulty connector deletes nothing: items that an enumeration lacks are deleted when a second one lacks them too, and a walk over
//! changes has no enumeration page. The connector here passes on the test's pages.

use serde_json::{Value, json};
use service::app::resource_kind::ResourceKind;
use storage::sync_states::{self, SyncState};

use crate::contract::odd_items::good;
use crate::contract::odd_items::relay::{ScriptedAnswer, World};

/// A surface: how its collections and their contents are read, here and there.
#[derive(Clone, Copy)]
struct Surface {
    lists: &'static str,
    list_kind: ResourceKind,
    our_lists: &'static str,
    contents: &'static str,
    kind: ResourceKind,
}

const EVENTS: Surface = Surface {
    lists: "calendars.list",
    list_kind: ResourceKind::Calendar,
    our_lists: "/v1/calendars",
    contents: "events",
    kind: ResourceKind::Event,
};
const CONTACTS: Surface = Surface {
    lists: "books.list",
    list_kind: ResourceKind::ContactBook,
    our_lists: "/v1/contact-books",
    contents: "contacts",
    kind: ResourceKind::Contact,
};
const TASKS: Surface = Surface {
    lists: "lists.list",
    list_kind: ResourceKind::TaskList,
    our_lists: "/v1/task-lists",
    contents: "tasks",
    kind: ResourceKind::Task,
};

/// A page of sources with these numbers.
fn page_of(kind: ResourceKind, numbers: std::ops::Range<usize>, is_enumeration: bool) -> Value {
    let source = |n: usize| {
        let mut source = good(kind, &format!("item-{n}"));
        if kind == ResourceKind::Task {
            source["items"][0]["body"]["parentId"] = Value::Null;
        }
        source
    };
    json!({ "sources": numbers.map(source).collect::<Vec<Value>>(), "enumeration": is_enumeration })
}

/// An account with one collection.
struct Desk {
    world: World,
    of: Surface,
    collection: String,
}

impl Desk {
    /// With `items` in the collection, which were read.
    async fn open(of: Surface, items: usize) -> Desk {
        let world = World::open().await;
        let home = json!({ "sources": [good(of.list_kind, "home")], "enumeration": true });
        world.provider.tell(of.lists, home);
        let mut desk = Desk { world, of, collection: String::new() };
        let lists = desk.read(&desk.lists()).await;
        desk.collection = lists[0]["id"].as_str().expect("an id").to_owned();
        desk.tell(0..items);
        assert_eq!(desk.items().await, items, "{}", of.contents);
        desk
    }

    /// From now on an enumeration has the items with these numbers.
    fn tell(&self, numbers: std::ops::Range<usize>) {
        self.world.provider.tell(self.of.contents, page_of(self.of.kind, numbers, true));
    }

    /// Sets the next enumeration, after those already set.
    fn tell_once(&self, numbers: std::ops::Range<usize>) {
        let page = ScriptedAnswer::page(page_of(self.of.kind, numbers, true));
        self.world.provider.script(self.of.contents, [page]);
    }

    fn lists(&self) -> String {
        format!("{}?connection_id={}", self.of.our_lists, self.world.connection.id)
    }

    fn contents(&self) -> String {
        match self.of.contents {
            "contacts" => format!("/v1/contacts?book_id={}&limit=100", self.collection),
            contents => format!("{}/{}/{contents}?limit=100", self.of.our_lists, self.collection),
        }
    }

    /// The first page of a list, for which the provider is asked.
    async fn read(&self, path: &str) -> Vec<Value> {
        self.world.server.clock.advance_ms(1);
        let page = self.world.api.get(path).header("cache-control", "no-cache").send().await.expect(200);
        page["data"].as_array().expect("a list").clone()
    }

    /// How many items are listed.
    async fn items(&self) -> usize {
        self.read(&self.contents()).await.len()
    }

    /// Returns the number of items, and how often the contents were requested.
    async fn items_and_calls(&self) -> (usize, u32) {
        let before = self.world.provider.calls_of(self.of.contents);
        let items = self.items().await;
        (items, self.world.provider.calls_of(self.of.contents) - before)
    }

    async fn state(&self) -> SyncState {
        let reader = self.world.server.app.db.reader();
        let surface = self.of.kind.surface().as_str();
        let found = sync_states::find(reader, &self.world.connection.id, surface, &self.collection).await;
        found.expect("a query").expect("it was read")
    }

    /// Returns the status of the collection's sync.
    async fn status(&self) -> Value {
        let path = match self.of.contents {
            "contacts" => format!("/v1/contacts/sync/status/{}", self.world.connection.id),
            _ => format!("{}/{}/sync/status", self.of.our_lists, self.collection),
        };
        self.world.api.get(path).send().await.expect(200)
    }

    /// Returns the number of deletions in the log.
    async fn deletions(&self) -> usize {
        let kinds = [self.of.list_kind, self.of.kind].map(|kind| format!("{}.deleted", kind.resource_type()));
        let path = format!("/v1/events?after_sequence=0&type={}&limit=100", kinds.join(","));
        let page = self.world.api.get(path).send().await.expect(200);
        page["data"].as_array().expect("a list").len()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_enumeration_deletes_only_what_a_second_one_lacks_too() {
    for surface in [EVENTS, CONTACTS, TASKS] {
        let desk = Desk::open(surface, 3).await;
        desk.tell_once(0..0);
        assert_eq!(desk.items_and_calls().await, (3, 2), "{}: it was wrong once", surface.contents);
        assert_eq!(desk.deletions().await, 0);
        // One item was really deleted.
        desk.tell_once(0..0);
        desk.tell_once(0..2);
        assert_eq!(desk.items_and_calls().await, (2, 2), "{}", surface.contents);
        desk.tell(0..0);
        assert_eq!(desk.items_and_calls().await, (0, 2), "{}: everything is gone", surface.contents);
        assert_eq!(desk.deletions().await, 3);
        let state = desk.state().await;
        assert_eq!((state.status.as_str(), state.doubt), ("caught_up", None));
        assert_eq!(desk.items_and_calls().await, (0, 1), "nothing is left to be doubted");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_enumeration_that_lacks_most_of_many_items_is_read_twice() {
    let desk = Desk::open(TASKS, 24).await;
    desk.tell_once(0..11);
    assert_eq!(desk.items_and_calls().await, (24, 2), "13 of 24 are missing");
    // Items new in the second enumeration are listed, and items missing only there are deleted as usual.
    desk.tell_once(0..11);
    desk.tell(1..26);
    assert_eq!(desk.items_and_calls().await, (25, 2));
    assert_eq!(desk.deletions().await, 1);
    desk.tell(1..14);
    assert_eq!(desk.items_and_calls().await, (13, 1), "12 of 25 are no more than half");
    desk.tell(1..2);
    assert_eq!(desk.items_and_calls().await, (1, 1), "13 are few");
}

/// A provider that is down, and a connector that takes that for an empty list: however often it is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_read_while_the_provider_fails_deletes_nothing() {
    let desk = Desk::open(TASKS, 3).await;
    let empty = || ScriptedAnswer { status: 503, more: false, body: page_of(desk.of.kind, 0..0, true) };
    desk.world.provider.script(desk.of.contents, [empty(), empty(), empty()]);
    for _ in 0..3 {
        assert_eq!(desk.items_and_calls().await, (3, 1));
        let state = desk.state().await;
        let error = state.last_error.unwrap_or_default();
        assert!(
            state.status == "error" && error.contains("the provider failed"),
            "{}: {error}",
            state.status
        );
    }
    assert_eq!(desk.items().await, 3);
    assert_eq!(desk.state().await.status, "caught_up");
    // The same for the collections, whose deletion would delete everything.
    desk.world.provider.script(desk.of.lists, [empty(), empty()]);
    for _ in 0..2 {
        assert_eq!(desk.read(&desk.lists()).await.len(), 1);
    }
    assert_eq!((desk.read(&desk.lists()).await.len(), desk.items().await), (1, 3));
    assert_eq!(desk.deletions().await, 0);
}

/// A day of failing readings counts from the first of them, however long ago the last good one was. Then it is the provider's way to
/// answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_after_a_pause_deletes_nothing() {
    let desk = Desk::open(TASKS, 3).await;
    let empty = || ScriptedAnswer { status: 503, more: false, body: page_of(desk.of.kind, 0..0, true) };
    // An outage, another one three days later, and half a day after it.
    for hours in [72, 72, 13] {
        desk.world.server.clock.advance_ms(hours * 3_600_000);
        desk.world.provider.script(desk.of.contents, [empty()]);
        assert_eq!(desk.items_and_calls().await, (3, 1), "{hours}");
    }
    assert_eq!(desk.state().await.status, "error");
    assert_eq!((&desk.status().await["secondReading"], desk.deletions().await), (&Value::Null, 0));
    desk.world.server.clock.advance_ms(13 * 3_600_000);
    desk.world.provider.script(desk.of.contents, [empty(), empty()]);
    assert_eq!(desk.items_and_calls().await, (0, 2));
    assert_eq!((desk.deletions().await, desk.state().await.doubt), (3, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn collections_are_deleted_when_a_second_list_lacks_them_too() {
    for surface in [EVENTS, CONTACTS, TASKS] {
        let desk = Desk::open(surface, 2).await;
        let list = |names: &[&str]| {
            let sources: Vec<Value> = names.iter().map(|name| good(surface.list_kind, name)).collect();
            json!({ "sources": sources, "enumeration": true })
        };
        desk.world.provider.tell(surface.lists, list(&["home", "work", "club"]));
        assert_eq!(desk.read(&desk.lists()).await.len(), 3);
        for wrong in [list(&[]), list(&["club"])] {
            desk.world.provider.script(surface.lists, [ScriptedAnswer::page(wrong)]);
            assert_eq!(desk.read(&desk.lists()).await.len(), 3, "{}", surface.lists);
        }
        assert_eq!((desk.items().await, desk.deletions().await), (2, 0), "{}", surface.lists);
        desk.world.provider.tell(surface.lists, list(&["club"]));
        let before = desk.world.provider.calls_of(surface.lists);
        assert_eq!(desk.read(&desk.lists()).await.len(), 1, "{}", surface.lists);
        assert_eq!(desk.world.provider.calls_of(surface.lists) - before, 2);
        assert!(desk.deletions().await >= 2 + 2, "two collections, and what was in one");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walk_over_changes_that_turns_into_an_enumeration_is_refused() {
    let desk = Desk::open(TASKS, 3).await;
    let start = desk.state().await.cursor;
    let turned = [
        ScriptedAnswer { status: 200, more: true, body: page_of(desk.of.kind, 3..4, false) },
        ScriptedAnswer::page(page_of(desk.of.kind, 0..0, true)),
    ];
    desk.world.provider.script(desk.of.contents, turned);
    assert_eq!(desk.items_and_calls().await, (4, 2), "what the first page names is there");
    let state = desk.state().await;
    let error = state.last_error.unwrap_or_default();
    assert!(state.status == "error" && error.contains("enumeration: true"), "{}: {error}", state.status);
    assert_eq!((state.cursor, state.walk_start), (start, None), "the walk begins again");
    assert_eq!(desk.deletions().await, 0);
    desk.tell(0..4);
    assert_eq!(desk.items().await, 4);
    assert_eq!(desk.state().await.status, "caught_up");
}

/// An answer that stops the pull: it is no page, and neither is the answer to the retry.
fn unreadable() -> [ScriptedAnswer; 2] {
    [json!("none"), json!("none")].map(ScriptedAnswer::page)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn how_a_walk_began_is_known_to_the_pull_that_goes_on_with_it() {
    let desk = Desk::open(TASKS, 3).await;
    let first = ScriptedAnswer { status: 200, more: true, body: page_of(desk.of.kind, 3..4, false) };
    desk.world.provider.script(desk.of.contents, [first]);
    desk.world.provider.script(desk.of.contents, unreadable());
    assert_eq!(desk.items().await, 4);
    assert!(desk.state().await.walk_start.is_some(), "the pull stopped inside of the walk");
    desk.tell_once(0..0);
    assert_eq!(desk.items_and_calls().await, (4, 1), "the page is refused");
    assert_eq!(desk.deletions().await, 0);
}

/// The later pages of a walk may be as old as its first one: a pull that continues the walk asks once more for later changes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_that_ends_a_stopped_walk_is_as_fresh_as_any() {
    let desk = Desk::open(TASKS, 3).await;
    let page = |numbers| page_of(desk.of.kind, numbers, false);
    let script = |pages: Vec<ScriptedAnswer>| desk.world.provider.script(desk.of.contents, pages);
    script(vec![ScriptedAnswer { status: 200, more: true, body: page(3..4) }]);
    desk.world.provider.script(desk.of.contents, unreadable());
    assert_eq!(desk.items().await, 4);
    script(vec![ScriptedAnswer::page(page(4..5)), ScriptedAnswer::page(page(5..6))]);
    assert_eq!(
        desk.items_and_calls().await,
        (6, 2),
        "the end of the walk, and what has changed since it began"
    );
    let state = desk.state().await;
    assert_eq!((state.status.as_str(), state.walk_start), ("caught_up", None));
    script(vec![
        ScriptedAnswer { status: 200, more: true, body: page(6..7) },
        ScriptedAnswer::page(page(7..8)),
    ]);
    assert_eq!(desk.items_and_calls().await, (8, 2), "a walk that was not stopped");
    assert_eq!(desk.deletions().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_reading_that_fails_is_made_up_for_by_the_next_pull() {
    for is_gone in [true, false] {
        let desk = Desk::open(TASKS, 3).await;
        desk.tell_once(0..0);
        desk.world.provider.script(desk.of.contents, unreadable());
        assert_eq!(desk.items().await, 3);
        let status = desk.status().await;
        assert_eq!(
            (&status["secondReading"]["missing"], &status["secondReading"]["known"]),
            (&json!(3), &json!(3)),
            "{status:#}"
        );
        desk.tell(if is_gone { 0..0 } else { 0..3 });
        assert_eq!(desk.items_and_calls().await, (if is_gone { 0 } else { 3 }, 1));
        let status = desk.status().await;
        assert_eq!(
            (&status["status"], &status["secondReading"]),
            (&json!("caught_up"), &Value::Null),
            "{status:#}"
        );
    }
}

/// Neither is believed, and the next pull begins again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_enumerations_that_contradict_each_other_delete_nothing() {
    let desk = Desk::open(TASKS, 24).await;
    desk.tell_once(0..5);
    desk.tell_once(20..24);
    assert_eq!(desk.items_and_calls().await, (24, 2));
    let state = desk.state().await;
    assert_eq!((state.status.as_str(), state.doubt), ("error", None));
    assert_eq!(desk.items_and_calls().await, (24, 1));
    assert_eq!(desk.state().await.status, "caught_up");
    assert_eq!(desk.deletions().await, 0);
}

/// A reset reads everything again. It deletes nothing because of the first answer alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_deletes_no_more_than_any_pull() {
    let desk = Desk::open(TASKS, 3).await;
    let sync = format!("{}/{}/sync", desk.of.our_lists, desk.collection);
    desk.world.api.post(format!("{sync}/start"), json!({})).send().await.expect(202);
    desk.world.server.pull().await;
    desk.tell_once(0..0);
    desk.world.api.post(format!("{sync}/reset"), json!({ "mode": "hard" })).send().await.expect(202);
    desk.world.server.pull().await;
    assert_eq!((desk.items().await, desk.deletions().await), (3, 0));
}

/// The change may have been made: the connector is at fault, and the client is not asked to repeat it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_whose_item_the_connector_leaves_out_is_the_fault_of_the_connector() {
    let desk = Desk::open(EVENTS, 1).await;
    let (api, provider) = (&desk.world.api, &desk.world.provider);
    for answer in [json!({ "sources": [] }), json!({ "sources": [], "item": "new" })] {
        provider.tell("calendars.create", answer.clone());
        provider.tell("events.create", answer);
        let calendar = json!({ "connectionId": desk.world.connection.id, "name": "New" });
        let events = format!("/v1/calendars/{}/events", desk.collection);
        let event = json!({ "title": "New", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
        for (path, body) in [("/v1/calendars", calendar), (events.as_str(), event)] {
            let error = api.post(path, body).send().await.refused(502, "connector_error");
            assert_eq!(error["retryable"], false, "{error:#}");
        }
    }
}
