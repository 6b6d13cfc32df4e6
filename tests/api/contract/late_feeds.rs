//! A provider that reports changes late: a version older than the stored one does not replace it, and the record is fetched by itself.
//! The connector here passes on the test's pages.

use serde_json::{Value, json};
use service::app::resource_kind::ResourceKind;

use crate::contract::odd_items::good;
use crate::contract::odd_items::relay::{ScriptedAnswer, World};

/// A version of the only task, which the provider made at this minute after the start of the test; none: it does not say when.
fn version(title: &str, minute: Option<u32>) -> Value {
    version_of("a", title, minute)
}

/// A version of a task with this id.
fn version_of(id: &str, title: &str, minute: Option<u32>) -> Value {
    let mut source = good(ResourceKind::Task, id);
    source["items"][0]["body"]["parentId"] = Value::Null;
    source["items"][0]["body"]["title"] = json!(title);
    if let Some(minute) = minute {
        source["updatedAt"] = json!(format!("2026-03-01T08:{minute:02}:00Z"));
    }
    source
}

fn page(source: &Value, is_enumeration: bool) -> Value {
    json!({ "sources": [source], "enumeration": is_enumeration })
}

/// An account with a list of one task, which was read in a version of minute 1.
struct Desk {
    world: World,
    tasks: String,
}

impl Desk {
    async fn open() -> Desk {
        let world = World::open().await;
        world.provider.tell("lists.list", page(&good(ResourceKind::TaskList, "home"), true));
        let path = format!("/v1/task-lists?connection_id={}", world.connection.id);
        let lists = world.api.get(path).header("cache-control", "no-cache").send().await.expect(200);
        let list = lists["data"][0]["id"].as_str().expect("a list");
        let tasks = format!("/v1/task-lists/{list}/tasks");
        world.provider.tell("tasks", json!({ "sources": [], "enumeration": false }));
        let desk = Desk { world, tasks };
        assert_eq!(desk.title_after(page(&version("first", Some(1)), true)).await, "first");
        desk
    }

    /// Returns the sorted titles of all tasks after the provider has sent this page.
    async fn titles_after(&self, page: Value) -> Vec<String> {
        self.world.provider.script("tasks", [ScriptedAnswer::page(page)]);
        self.world.server.clock.advance_ms(1);
        let read = self.world.api.get(&self.tasks).header("cache-control", "no-cache").send().await;
        let tasks = read.expect(200)["data"].as_array().expect("a list").clone();
        let titles = tasks.iter().map(|task| task["title"].as_str().expect("a title").to_owned());
        let mut titles: Vec<String> = titles.collect();
        titles.sort();
        titles
    }

    /// Returns the title of the only task after this page.
    async fn title_after(&self, page: Value) -> String {
        match self.titles_after(page).await.as_slice() {
            [title] => title.clone(),
            titles => panic!("not one task: {titles:#?}"),
        }
    }

    /// Returns the title after a page of changes with one version.
    async fn title_told(&self, version: Value) -> String {
        self.title_after(page(&version, false)).await
    }

    /// Reads of the task by itself so far.
    fn single_reads(&self) -> u32 {
        self.world.provider.calls_of("tasks.get")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_version_is_read_by_itself() {
    let desk = Desk::open().await;
    assert_eq!(desk.title_told(version("third", Some(3))).await, "third");
    assert_eq!(desk.title_told(version("same minute", Some(3))).await, "same minute");
    assert_eq!(desk.single_reads(), 0);
    desk.world.provider.tell("tasks.get", page(&version("as it is now", Some(4)), false));
    assert_eq!(desk.title_told(version("second", Some(2))).await, "as it is now");
    assert_eq!(desk.single_reads(), 1);
    // The provider went back to an earlier version.
    desk.world.provider.tell("tasks.get", page(&version("restored", Some(1)), false));
    assert_eq!(desk.title_told(version("restored", Some(1))).await, "restored");
    assert_eq!(desk.single_reads(), 2);
    assert_eq!(
        desk.title_told(version("second again", Some(2))).await,
        "second again",
        "it counts from there"
    );
    assert_eq!(desk.single_reads(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_version_in_an_enumeration_is_taken() {
    let desk = Desk::open().await;
    assert_eq!(desk.title_told(version("third", Some(3))).await, "third");
    assert_eq!(desk.title_after(page(&version("second", Some(2)), true)).await, "second");
    assert_eq!(desk.single_reads(), 0);
}

/// Without a time on either side, or with an impossible one, the last reported version counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_without_a_time_is_taken() {
    let desk = Desk::open().await;
    assert_eq!(desk.title_told(version("third", Some(3))).await, "third");
    assert_eq!(desk.title_told(version("timeless", None)).await, "timeless");
    assert_eq!(desk.title_told(version("second", Some(2))).await, "second");
    let mut absurd = version("of the future", None);
    absurd["updatedAt"] = json!("9999-01-01T00:00:00Z");
    assert_eq!(desk.title_told(absurd).await, "of the future");
    assert_eq!(desk.title_told(version("first again", Some(1))).await, "first again", "nothing is frozen");
    assert_eq!(desk.single_reads(), 0);
}

/// One that the connector cannot read by itself holds up no others, and is tried again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_cannot_be_read_by_itself_holds_up_no_others() {
    let desk = Desk::open().await;
    let both = |title: &str, minute: u32| {
        let sources = ["a", "b"].map(|id| version_of(id, title, Some(minute)));
        json!({ "sources": sources, "enumeration": false })
    };
    assert_eq!(desk.titles_after(both("third", 3)).await, ["third", "third"]);
    let fresh = page(&version_of("b", "as it is now", Some(4)), false);
    desk.world.provider.script("tasks.get", [json!("none"), fresh].map(ScriptedAnswer::page));
    assert_eq!(desk.titles_after(both("second", 2)).await, ["as it is now", "third"]);
    assert_eq!(desk.single_reads(), 2);
    desk.world.provider.tell("tasks.get", page(&version("read in the end", Some(3)), false));
    desk.world.server.clock.advance_ms(60_000);
    let nothing = json!({ "sources": [], "enumeration": false });
    assert_eq!(desk.titles_after(nothing).await, ["as it is now", "read in the end"]);
}

/// Lists come with every pull and are not read by themselves: none is left out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_version_of_a_list_is_taken() {
    let desk = Desk::open().await;
    let path = format!("/v1/task-lists?connection_id={}", desk.world.connection.id);
    for (name, minute) in [("newer", 3), ("older", 2)] {
        let mut list = good(ResourceKind::TaskList, "home");
        list["items"][0]["body"]["name"] = json!(name);
        list["updatedAt"] = json!(format!("2026-03-01T08:{minute:02}:00Z"));
        desk.world.provider.tell("lists.list", page(&list, false));
        desk.world.server.clock.advance_ms(1);
        let lists = desk.world.api.get(&path).header("cache-control", "no-cache").send().await.expect(200);
        assert_eq!(lists["data"][0]["name"], name);
    }
}
