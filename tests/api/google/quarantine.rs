//! Unusual items of Google: one that cannot be read is shown by the sync status, and its neighbours and the cursor go on.

use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::google::mail::{MailAccount, letter};
use crate::google::{ALICE, World, ZONE, event};

/// Longer than the service waits after failures, ms.
const AFTER_FAILURES_MS: i64 = 30 * 60_000;

/// Returns the Google ids of the items that a sync could not read, and whether each is quarantined.
async fn unreadable(world: &World, status: &str) -> Vec<(String, bool)> {
    let status = world.api.get(status).send().await.expect(200);
    let errors = status["itemErrors"].as_array().expect("a list");
    assert_eq!(status["itemErrorCount"], errors.len(), "{status:#}");
    errors.iter().map(|error| (text(&error["externalId"]), error["quarantined"] == true)).collect()
}

/// Events without an end, with a part that no rule has, and in a zone that IANA does not know are read as well as can be. One without a
/// start is no event: the status shows it, until Google has another version of it.
#[tokio::test]
async fn odd_events_hold_up_no_others() {
    let Some(world) = World::start().await else { return };
    world.put(event("before", "Before", "2026-03-02T09:00:00Z", json!({})));
    world.fake.with(|state| state.add_odd_events(ALICE));
    world.put(json!({ "id": "oddstart", "summary": "No start" }));
    world.put(event("after", "After", "2026-03-06T09:00:00Z", json!({})));
    let connection = world.connect().await;
    let mut calendar = world.calendar(&connection, ALICE).await;
    let told = world.follow(&mut calendar).await;
    let read =
        ["created After", "created Before", "created No end", "created Unknown part", "created Unknown zone"];
    assert_eq!(told, read);
    let mut march = world.march(&calendar).await;
    march.retain(|line| line.contains("Unknown part"));
    assert_eq!(march, ["04T09:00 Unknown part", "05T09:00 Unknown part"], "what is known of the rule counts");
    let endless = world.titled(&calendar, "No end").await;
    assert_eq!(endless["end"], endless["start"], "{endless:#}");
    let zoned = world.titled(&calendar, "Unknown zone").await;
    assert_eq!(
        (&zoned["start"], &zoned["timeZone"], &zoned["warnings"][0]["code"]),
        (&json!("2026-03-05T09:00:00.000Z"), &json!(ZONE), &json!("unknown_time_zone")),
        "{zoned:#}"
    );
    let status = format!("/v1/calendars/{}/sync/status", calendar.id);
    assert_eq!(unreadable(&world, &status).await, [("oddstart".to_owned(), false)]);

    world.put(event("later", "Later", "2026-03-07T09:00:00Z", json!({})));
    assert_eq!(world.changes(&mut calendar).await, ["created Later"], "the cursor goes on");
    let time = |hour: u8| json!({ "dateTime": format!("2026-03-08T{hour:02}:00:00Z"), "timeZone": "UTC" });
    let times = json!({ "start": time(9), "end": time(10) });
    world.fake.with(|state| state.change_event(ALICE, "oddstart", times));
    assert_eq!(world.changes(&mut calendar).await, ["created No start"]);
    assert_eq!(unreadable(&world, &status).await, Vec::<(String, bool)>::new());
    world.assert_allowed();
}

/// A bad history entry causes no loop: a message that Gmail answers with an HTML page is tried three times and then skipped, until Gmail
/// has another version.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_history_entry_does_not_loop() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    account.deliver("Before");
    account.deliver("After");
    let broken = account.deliver("Broken");
    let status = format!("/v1/email/sync/status/{}", account.connection);
    account.world.fake.trap("batch_part_html", 3);
    assert_eq!(account.pull().await, ["created After", "created Before"]);
    assert_eq!(unreadable(&account.world, &status).await, [(broken.clone(), false)]);
    let mut pulls = 0;
    while unreadable(&account.world, &status).await != [(broken.clone(), true)] {
        assert_eq!(account.pull().await, Vec::<String>::new(), "it is no deletion either");
        pulls += 1;
        assert!(pulls < 10, "it is tried for ever");
    }
    account.deliver("Later");
    assert_eq!(account.pull_all().await, ["created Later"], "the cursor goes on");

    account.mailbox(|mailbox| mailbox.relabel(&broken, &["STARRED"], &[]));
    assert_eq!(account.pull_all().await, ["created Broken"]);
    assert_eq!(unreadable(&account.world, &status).await, Vec::<(String, bool)>::new());
    account.assert_sound().await;
}

/// A page of HTML with status 200, and an answer that ends in its middle, are no data of any API: nothing is taken for deleted, and what
/// changed in that time comes once Google answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_that_is_answered_by_html_is_not_lost() {
    let account = MailAccount::followed(|state| {
        state.deliver(ALICE, letter("First", "").as_bytes());
    });
    let Some(mut account) = account.await else { return };
    for trap in ["html_200", "cut_body"] {
        let subject = format!("During {trap}");
        account.deliver(&subject);
        account.world.fake.trap(trap, 100);
        account.world.fake.clear_requests();
        assert_eq!(account.pull().await, Vec::<String>::new(), "{trap}");
        assert!(!account.trips().is_empty(), "{trap}: Gmail was asked");
        account.world.fake.trap(trap, 0);
        account.world.advance(AFTER_FAILURES_MS);
        assert_eq!(account.pull_all().await, [format!("created {subject}")]);
    }
    assert_eq!(account.list("").await.len(), 3);
    account.assert_sound().await;
}

/// HTML answers for contacts and tasks have the same result.
#[tokio::test]
async fn contacts_and_tasks_that_are_answered_by_html_stay() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| {
        state.put_contact(ALICE, json!({ "names": [{ "givenName": "Ada" }] }));
        state.put_task(ALICE, json!({ "title": "Pay" }));
    });
    let connection = world.connect_for(&["contacts.read", "tasks.read"]).await;
    let id = text(&connection["id"]);
    let lists = world.get(&format!("/v1/task-lists?connection_id={id}")).await;
    let tasks = format!("/v1/task-lists/{}/tasks", text(&lists["data"][0]["id"]));
    for (path, field, title) in
        [(format!("/v1/contacts?connection_id={id}"), "displayName", "Ada"), (tasks, "title", "Pay")]
    {
        let titles = |page: &Value| -> Vec<String> {
            page["data"].as_array().into_iter().flatten().map(|item| text(&item[field])).collect()
        };
        assert_eq!(titles(&world.get(&path).await), [title]);
        for trap in ["html_200", "cut_body"] {
            world.fake.clear_requests();
            world.fake.trap(trap, 100);
            world.server.clock.advance_ms(1);
            let answer = world.api.get(&path).header("cache-control", "no-cache").send().await;
            if answer.status == 200 {
                assert_eq!(titles(&answer.answer), [title], "{trap}: {answer}");
            }
            assert!(!world.fake.requests().is_empty(), "{trap}: Google was asked");
            world.fake.trap(trap, 0);
            world.advance(AFTER_FAILURES_MS);
            assert_eq!(titles(&world.get(&path).await), [title], "{trap}");
        }
    }
    world.assert_allowed();
}

/// A person may have no name, or nothing at all: both are contacts, and so are their neighbours.
#[tokio::test]
async fn persons_without_a_name_are_contacts() {
    let Some(world) = World::start().await else { return };
    let [_, nameless, empty, _] = world.fake.with(|state| {
        [
            json!({ "names": [{ "givenName": "Ada" }] }),
            json!({ "emailAddresses": [{ "value": "nameless@example.org" }] }),
            json!({}),
            json!({ "names": [{ "givenName": "Zoe" }] }),
        ]
        .map(|person| state.put_contact(ALICE, person))
    });
    let connection = world.connect_for(&["contacts.read"]).await;
    let id = text(&connection["id"]);
    let start = json!({ "connectionId": id });
    world.api.post("/v1/contacts/sync/start", start).send().await.expect(202);
    let page = world.get(&format!("/v1/contacts?connection_id={id}&limit=50")).await;
    let contacts = page["data"].as_array().expect("a list");
    assert_eq!(contacts.len(), 4, "{page:#}");
    let of = |name: &str| contacts.iter().find(|contact| contact["externalId"] == name).expect("the contact");
    assert_eq!(of(&nameless)["emails"][0]["value"], "nameless@example.org");
    assert_eq!((&of(&empty)["givenName"], &of(&empty)["emails"]), (&Value::Null, &json!([])));
    world.fake.with(|state| state.put_contact(ALICE, json!({ "names": [{ "givenName": "Bea" }] })));
    let page = world.get(&format!("/v1/contacts?connection_id={id}&limit=50")).await;
    assert_eq!(page["data"].as_array().map(Vec::len), Some(5), "the cursor goes on");
    let status = format!("/v1/contacts/sync/status/{id}");
    assert_eq!(unreadable(&world, &status).await, Vec::<(String, bool)>::new());
    world.assert_allowed();
}
