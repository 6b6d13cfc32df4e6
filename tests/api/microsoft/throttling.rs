//! Graph throttles one kind of data of an account: that kind waits as long as Graph asks, and the others go on.

use serde_json::json;

use crate::email::mailbox::text;
use crate::fake_provider::builder;
use crate::fake_provider::tasks::FollowedTaskList;
use crate::microsoft::calendar::event;
use crate::microsoft::{ALICE, World, unbatched};

const MINUTE_MS: i64 = 60_000;

/// Requests to Graph for mail, alone or in a batch, since the last call.
fn mail_requests(world: &World) -> usize {
    let requests = world.fake.clear_requests().into_iter().flat_map(unbatched);
    let is_mail =
        |path: &str| path.starts_with("/v1.0/me/messages") || path.starts_with("/v1.0/me/mailFolders");
    requests.filter(|request| is_mail(&request.path)).count()
}

#[tokio::test]
async fn a_throttled_mailbox_leaves_calendars_alone() {
    let Some(world) = World::on(builder().without_pulls()).await else { return };
    let connection = world.connect_for(&["email.read", "calendar.read", "calendar.write"]).await;
    let calendar = world.default_calendar(&connection).await;
    let list = format!("/v1/email/messages?connection_id={}", text(&connection["id"]));
    let search = |word: &str| format!("{list}&native_query={word}");
    let found = world.get(&search("lunch")).await;
    assert_eq!(found["data"], json!([]), "{found:#}");
    assert!(mail_requests(&world) > 0, "Graph searches");

    world.fake.with(|state| state.surface_limits.set(ALICE, "mail", 0));
    let refused = world.api.get(search("dinner")).header("cache-control", "no-cache").send().await;
    assert_eq!(refused.header("retry-after"), Some("60"), "{refused}");
    refused.refused(429, "provider_rate_limited");
    assert!(mail_requests(&world) > 0, "Graph refuses");

    // Mail waits, without a request. Calendars are read from Graph and written as before.
    let again = world.api.get(search("tea")).header("cache-control", "no-cache").send().await;
    again.refused(429, "provider_rate_limited");
    world.fake.with(|state| state.put_event(ALICE, "", event("Lunch", 3, 12, json!({}))));
    assert_eq!(world.march(&calendar).await, ["03T12:00 Lunch"]);
    let tea = json!({ "title": "Tea", "start": "2026-03-04T15:00:00Z", "end": "2026-03-04T16:00:00Z" });
    world.api.post(&calendar.events, tea).send().await.expect(201);
    assert_eq!(mail_requests(&world), 0, "the wait holds");

    // The wait is over, and so is Graph's limit.
    world.fake.with(|state| state.surface_limits.clear(ALICE, "mail"));
    world.advance(2 * MINUTE_MS);
    let found = world.get(&search("dinner")).await;
    assert_eq!(found["data"], json!([]), "{found:#}");
    world.assert_allowed();
}

/// Graph's services throttle one by one: To Do waits, and contacts and mail of the same account are read from Graph meanwhile.
#[tokio::test]
async fn a_throttled_to_do_leaves_contacts_and_mail_alone() {
    let Some(world) = World::on(builder().without_pulls()).await else { return };
    let connection = world.connect_for(&["email.read", "contacts.read", "tasks.read"]).await;
    let id = text(&connection["id"]);
    let lists = world.get(&format!("/v1/task-lists?connection_id={id}")).await;
    let mut lists = lists["data"].as_array().expect("a list").iter();
    let default = lists.find(|list| list["role"] == "default").expect("the default list");
    let list = FollowedTaskList::new(default);

    world.fake.with(|state| state.surface_limits.set(ALICE, "todo", 0));
    let refused = world.api.get(&list.tasks).header("cache-control", "no-cache").send().await;
    refused.refused(429, "provider_rate_limited");
    world.fake.clear_requests();
    world
        .api
        .get(&list.tasks)
        .header("cache-control", "no-cache")
        .send()
        .await
        .refused(429, "provider_rate_limited");
    world.fake.with(|state| state.put_contact(ALICE, "", json!({ "givenName": "Ada" })));
    let contacts = world.get(&format!("/v1/contacts?connection_id={id}")).await;
    assert_eq!(contacts["data"][0]["displayName"], "Ada", "{contacts:#}");
    let found = world.get(&format!("/v1/email/messages?connection_id={id}&native_query=lunch")).await;
    assert_eq!(found["data"], json!([]), "{found:#}");
    let requests: Vec<_> = world.fake.clear_requests().into_iter().flat_map(unbatched).collect();
    let count_below = |path: &str| requests.iter().filter(|request| request.path.starts_with(path)).count();
    assert_eq!(count_below("/v1.0/me/todo"), 0, "the wait holds");
    assert!(
        count_below("/v1.0/me/contactFolders") > 0 && count_below("/v1.0/me/messages") > 0,
        "Graph is asked"
    );

    world.fake.with(|state| state.surface_limits.clear(ALICE, "todo"));
    world.advance(2 * MINUTE_MS);
    assert!(list.all(&world).await.is_empty(), "the tasks are read");
    world.assert_allowed();
}
