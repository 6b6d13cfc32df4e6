//! A wait that a connector reports in a successful answer, as when parts of a batch were refused: the page is stored, its pull continues
//! after the wait, and only the kinds of data of the wait's bucket wait.

use serde_json::{Value, json};
use service::app::resource_kind::ResourceKind;
use service::sync::schedule::{pull_job, pull_soon};
use service::sync::scope::SyncScope;
use storage::jobs;

use crate::contract::odd_items::good;
use crate::contract::odd_items::relay::{ScriptedAnswer, World};

/// A bucket of calendars. No request is counted in it.
const LIMITS: &str = r#"
[limits]
rates = [{ name = "calendar", hosts = ["calendar.relay.test"], surfaces = ["calendar"], units = 1000, per_s = 1 }]
"#;

/// Pages of differences with one event each.
fn page(event: &str, more: bool) -> ScriptedAnswer {
    let body = json!({ "sources": [good(ResourceKind::Event, event)], "enumeration": false });
    ScriptedAnswer { status: 200, more, body }
}

/// The answer to a pull that continues and then asks once more.
fn nothing_new() -> ScriptedAnswer {
    ScriptedAnswer { status: 200, more: false, body: json!({ "sources": [], "enumeration": false }) }
}

/// An account with a calendar of one event, which was read.
async fn open(limits: &str) -> (World, SyncScope) {
    let world = World::open_with(limits).await;
    let tell = |op: &str, kind: ResourceKind, id: &str| {
        world.provider.tell(op, json!({ "sources": [good(kind, id)], "enumeration": true }));
    };
    tell("calendars.list", ResourceKind::Calendar, "home");
    tell("lists.list", ResourceKind::TaskList, "list");
    tell("events", ResourceKind::Event, "first");
    let calendars = read(&world, "/v1/calendars").await;
    let scope = SyncScope {
        kind: ResourceKind::Event,
        scope_id: calendars[0]["id"].as_str().expect("an id").to_owned(),
        collection: Some("home".to_owned()),
        time_zone: None,
    };
    assert_eq!(events(&world, &scope).await, 1);
    (world, scope)
}

/// The first page of a list of the account, for which the provider is asked.
async fn read(world: &World, path: &str) -> Vec<Value> {
    let path = format!("{path}?connection_id={}", world.connection.id);
    let page = world.api.get(path).header("cache-control", "no-cache").send().await.expect(200);
    page["data"].as_array().expect("a list").clone()
}

/// How many events are listed.
async fn events(world: &World, scope: &SyncScope) -> usize {
    let page = world.api.get(format!("/v1/calendars/{}/events", scope.scope_id)).send().await.expect(200);
    page["data"].as_array().expect("a list").len()
}

/// Reads the calendar in the background: a page that notes a wait, one more behind it, and then nothing new.
async fn pull_with_wait(world: &World, scope: &SyncScope) {
    let (app, provider) = (&world.server.app, &world.provider);
    provider.script("events", [page("second", true), page("third", false), nothing_new()]);
    provider.wait_once("events");
    world.server.clock.advance_ms(1);
    pull_soon(app, &world.connection, scope).await.expect("a job");
    world.server.pull().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_with_a_wait_is_stored_and_its_pull_goes_on_after_it() {
    let (world, scope) = open(LIMITS).await;
    let (clock, calls) = (&world.server.clock, |op: &str| world.provider.calls_of(op));
    let before = calls("events");
    pull_with_wait(&world, &scope).await;
    assert_eq!(calls("events"), before + 1, "the page behind is not asked for");
    assert_eq!(events(&world, &scope).await, 2, "the page is stored");
    let job = jobs::find(world.server.app.db.reader(), &pull_job(&world.connection, &scope).id()).await;
    let job = job.expect("a query").expect("it is there");
    assert_eq!((job.due_at, job.attempts), (Some(clock.now_ms() + 60_000), 0), "nothing has failed");

    // Other kinds of data are not held, but other calls for this one are.
    let (lists, calendars) = (calls("lists.list"), calls("calendars.list"));
    clock.advance_ms(1_000);
    assert_eq!(read(&world, "/v1/task-lists").await.len(), 1);
    assert_eq!(read(&world, "/v1/calendars").await.len(), 1, "the copy is served");
    assert_eq!((calls("lists.list"), calls("calendars.list")), (lists + 1, calendars));

    clock.advance_ms(58_999);
    world.server.pull().await;
    assert_eq!(calls("events"), before + 1);
    clock.advance_ms(1);
    world.server.pull().await;
    assert_eq!(calls("events"), before + 3, "the page behind, and what has changed since the pull began");
    assert_eq!(events(&world, &scope).await, 3);
}

/// A bucket that the manifest does not name is the whole account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_without_a_bucket_holds_the_account() {
    let (world, scope) = open("").await;
    pull_with_wait(&world, &scope).await;
    assert_eq!(events(&world, &scope).await, 2, "the page is stored");
    let path = format!("/v1/task-lists?connection_id={}", world.connection.id);
    let refused = world.api.get(path).send().await;
    assert_eq!(refused.header("retry-after"), Some("60"));
    refused.refused(429, "provider_rate_limited");
    assert_eq!(world.provider.calls_of("lists.list"), 0);
    world.server.clock.advance_ms(60_000);
    assert_eq!(read(&world, "/v1/task-lists").await.len(), 1);
}
