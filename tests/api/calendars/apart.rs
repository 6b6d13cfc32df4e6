//! Exceptions of a series that the provider keeps as records of their own (calendars of the sandbox provider with `apart`): they arrive
//! before or after their series, on one page or on several, and have the same effect as in the series' own record.

use std::collections::BTreeMap;

use base::clock::Entropy;
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::jobs::pull::PULL;

/// The days of March 2026 on which each series takes place, an hour from nine on.
const DAYS: [u8; 4] = [2, 3, 4, 5];
const MOVED: &str = "weekly@2026-03-03T09:00:00";

struct World {
    server: TestServer,
    api: Actor,
    provider: Actor,
    connection: Value,
}

/// A calendar, here and at the provider.
struct TestCalendar {
    id: String,
    events: String,
    theirs: String,
    cursor: Option<String>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// An event of an hour with these fields.
fn timed(day: u8, hour: u8, fields: Value) -> Value {
    let at = |hour: u8| json!(format!("2026-03-{day:02}T{hour:02}:00:00Z"));
    let mut event = fields;
    event["start"] = at(hour);
    event["end"] = at(hour + 1);
    event["timeZone"] = json!("UTC");
    event
}

fn local(day: u8) -> String {
    format!("2026-03-{day:02}T09:00:00")
}

/// Day and hour of the start, and the title.
fn shown(event: &Value) -> String {
    let start: String = text(&event["start"]).chars().skip(8).take(5).collect();
    format!("{start} {}", event["title"].as_str().unwrap_or_default())
}

impl World {
    async fn new(pull_page: u32) -> World {
        let server = TestServer::builder().config(|c| {
            c.pull_page = pull_page;
            c.freshness_ms = 0;
        });
        World::open(server.start().await).await
    }

    async fn open(server: TestServer) -> World {
        let (api, provider) = (server.client().await, server.provider("zoe"));
        let connection = api
            .connect(json!({
                "provider": "sandbox", "scopes": ["calendar.read", "calendar.write"],
                "credentials": { "username": "zoe@sandbox.test", "password": "sandbox" },
            }))
            .await;
        World { server, api, provider, connection }
    }

    async fn calendar(&self, name: &str, is_apart: bool) -> TestCalendar {
        let made = json!({ "name": name, "timeZone": "UTC", "apart": is_apart });
        let made = self.provider.post("/sandbox/v1/calendars", made).send().await.expect(201);
        let of = text(&self.connection["id"]);
        let listed = self.get(format!("/v1/calendars?connection_id={of}&limit=100")).await;
        let mut all = listed["data"].as_array().expect("a list").iter();
        let id = text(&all.find(|calendar| calendar["name"] == name).expect("the new calendar")["id"]);
        let events = format!("/v1/calendars/{id}/events");
        let theirs = format!("/sandbox/v1/calendars/{}/events", text(&made["id"]));
        TestCalendar { id, events, theirs, cursor: None }
    }

    /// Makes a series at the provider.
    async fn make_series(&self, calendar: &TestCalendar, id: &str, title: &str) {
        let rule = ["RRULE:FREQ=DAILY;COUNT=4"];
        let body = timed(DAYS[0], 9, json!({ "id": id, "title": title, "recurrence": rule }));
        self.provider.post(&calendar.theirs, body).send().await.expect(201);
    }

    /// Makes a changed instance at the provider, a record that names its series.
    async fn make_exception(&self, calendar: &TestCalendar, series: &str, day: u8, title: &str) {
        let (original, start) = (local(day), format!("{}Z", local(day)));
        let fields =
            json!({ "seriesId": series, "recurrenceId": original, "originalStart": start, "title": title });
        let body = timed(day, 15, fields);
        self.provider.post(&calendar.theirs, body).send().await.expect(201);
    }

    /// Makes this number of changed instances of the series `weekly` at the provider, each with these notes.
    async fn make_exceptions(&self, calendar: &TestCalendar, count: usize, notes: &str) {
        for number in 0..count {
            let local = format!("2026-03-{:02}T{:02}:00:00", 1 + number % 28, number / 28);
            let fields = json!({
                "seriesId": "weekly", "recurrenceId": local, "originalStart": format!("{local}Z"),
                "title": format!("Changed {number}"), "description": notes,
            });
            let body = timed(3, 15, fields);
            self.provider.post(&calendar.theirs, body).send().await.expect(201);
        }
    }

    /// Makes this number of single events at the provider.
    async fn make_others(&self, calendar: &TestCalendar, count: usize) {
        for number in 0..count {
            let body = timed(9, 9, json!({ "title": format!("Other {number}") }));
            self.provider.post(&calendar.theirs, body).send().await.expect(201);
        }
    }

    async fn drop_record(&self, calendar: &TestCalendar, id: &str) {
        self.provider.delete(format!("{}/{id}", calendar.theirs)).send().await.expect(204);
    }

    async fn their_record(&self, calendar: &TestCalendar, id: &str) -> Value {
        self.provider.get(format!("{}/{id}", calendar.theirs)).send().await.expect(200)
    }

    /// The answer to a read that is as fresh as the provider.
    async fn get(&self, path: String) -> Value {
        self.server.clock.advance_ms(1);
        self.api.get(path).header("cache-control", "no-cache").send().await.expect(200)
    }

    async fn listed(&self, calendar: &TestCalendar, query: &str) -> Vec<Value> {
        let page = self.get(format!("{}?limit=200{query}", calendar.events)).await;
        page["data"].as_array().expect("a list").clone()
    }

    /// The events and instances of March.
    async fn march(&self, calendar: &TestCalendar) -> Vec<String> {
        const MARCH: &str = "&expand=true&start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z";
        self.listed(calendar, MARCH).await.iter().map(shown).collect()
    }

    /// The stored event with this title.
    async fn titled(&self, calendar: &TestCalendar, title: &str) -> Value {
        let all = self.listed(calendar, "&show_cancelled=true").await;
        let found = all.iter().find(|event| event["title"] == title);
        found.unwrap_or_else(|| panic!("no event {title}: {all:#?}")).clone()
    }

    /// Days and hours at which busy times begin.
    async fn busy(&self, calendar: &TestCalendar) -> Vec<String> {
        let query = json!({
            "start": "2026-03-01T00:00:00Z", "end": "2026-04-01T00:00:00Z",
            "targets": [{ "connectionId": self.connection["id"], "calendarIds": [calendar.id] }],
        });
        let answer = self.api.post("/v1/calendars/freebusy/query", query).send().await.expect(200);
        let busy = answer["data"][0]["busy"].as_array().expect("a list");
        busy.iter().map(|one| text(&one["start"]).chars().skip(8).take(5).collect()).collect()
    }

    async fn follow(&self, calendar: &mut TestCalendar) {
        let path = format!("/v1/calendars/{}/sync/start", calendar.id);
        self.api.post(path, json!({})).send().await.expect(202);
        self.told(calendar).await;
    }

    /// Returns the new changes of the feed, each with its title.
    async fn told(&self, calendar: &mut TestCalendar) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            let cursor = calendar.cursor.as_ref().map_or_else(String::new, |c| format!("&cursor={c}"));
            let page =
                self.get(format!("/v1/calendars/{}/sync/changes?limit=100{cursor}", calendar.id)).await;
            for change in page["data"].as_array().expect("a list") {
                let title = change["resource"]["title"].as_str().unwrap_or_default();
                told.push(format!("{} {title}", text(&change["changeType"])).trim_end().to_owned());
            }
            calendar.cursor = page["sync_cursor"].as_str().map(str::to_owned);
            if page["next_cursor"].is_null() {
                return told;
            }
        }
    }

    /// Returns changes until four reads in a row have none.
    async fn all_told(&self, calendar: &mut TestCalendar) -> Vec<String> {
        let (mut told, mut quiet) = (Vec::new(), 0);
        while quiet < 4 {
            let more = self.told(calendar).await;
            quiet = if more.is_empty() { quiet + 1 } else { 0 };
            told.extend(more);
        }
        told
    }
}

/// The exception may come first or last, with the series or on another page.
#[tokio::test]
async fn exception_before_its_series_is_linked() {
    for pull_page in [1, 100] {
        let world = World::new(pull_page).await;
        for (number, (first_read, is_exception_first)) in
            [(true, true), (false, true), (true, false), (false, false)].into_iter().enumerate()
        {
            let calendar = world.calendar(&format!("Apart {number}"), true).await;
            if is_exception_first {
                world.make_exception(&calendar, "weekly", 3, "Moved").await;
            } else {
                world.make_series(&calendar, "weekly", "Series").await;
            }
            let mut lone = None;
            if first_read && is_exception_first {
                assert_eq!(world.march(&calendar).await, ["03T15 Moved"]);
                let found = world.titled(&calendar, "Moved").await;
                assert_eq!((&found["type"], &found["seriesId"]), (&json!("exception"), &Value::Null));
                lone = Some(found["id"].clone());
            } else if first_read {
                assert_eq!(world.march(&calendar).await.len(), 4);
            }
            if is_exception_first {
                world.make_series(&calendar, "weekly", "Series").await;
            } else {
                world.make_exception(&calendar, "weekly", 3, "Moved").await;
            }
            let all = ["02T09 Series", "03T15 Moved", "04T09 Series", "05T09 Series"];
            assert_eq!(world.march(&calendar).await, all, "{pull_page} {first_read} {is_exception_first}");
            let (series, moved) =
                (world.titled(&calendar, "Series").await, world.titled(&calendar, "Moved").await);
            assert_eq!(moved["seriesId"], series["id"]);
            assert!(lone.is_none_or(|id| id == moved["id"]), "it keeps its id");
            assert_eq!(world.busy(&calendar).await, ["02T09", "03T15", "04T09", "05T09"]);
            // The id that the instance had before it was changed names it too.
            let same =
                world.get(format!("{}/{}_20260303T090000Z", calendar.events, text(&series["id"]))).await;
            assert_eq!(same["id"], moved["id"]);
        }
    }
}

/// Waiting exceptions are reported as updated, after the series.
#[tokio::test]
async fn series_adopts_waiting_exceptions() {
    let world = World::new(100).await;
    let mut calendar = world.calendar("Apart", true).await;
    world.follow(&mut calendar).await;
    world.make_exception(&calendar, "weekly", 3, "Third").await;
    world.make_exception(&calendar, "weekly", 4, "Fourth").await;
    world.make_exception(&calendar, "other", 5, "Elsewhere").await;
    assert_eq!(world.told(&mut calendar).await, ["created Third", "created Fourth", "created Elsewhere"]);
    world.make_series(&calendar, "weekly", "Series").await;
    let mut told = world.told(&mut calendar).await;
    assert_eq!(told.remove(0), "created Series");
    told.sort();
    assert_eq!(told, ["updated Fourth", "updated Third"]);
    let all = ["02T09 Series", "03T15 Third", "04T15 Fourth", "05T09 Series", "05T15 Elsewhere"];
    assert_eq!(world.march(&calendar).await, all);
    assert_eq!(world.told(&mut calendar).await, Vec::<String>::new(), "nothing is told twice");
    // After a full read everything is unchanged.
    let reset = format!("/v1/calendars/{}/sync/reset", calendar.id);
    world.api.post(reset, json!({})).send().await.expect(202);
    assert_eq!(world.told(&mut calendar).await, Vec::<String>::new());
    assert_eq!(world.march(&calendar).await, all);
}

/// The provider reports the deletion of the series, and not that of its exceptions. They come back with it.
#[tokio::test]
async fn deleted_series_takes_its_exceptions() {
    let world = World::new(1).await;
    let mut calendar = world.calendar("Apart", true).await;
    world.make_exception(&calendar, "weekly", 3, "Third").await;
    world.make_series(&calendar, "weekly", "Series").await;
    world.make_exception(&calendar, "other", 5, "Elsewhere").await;
    world.follow(&mut calendar).await;
    let (series, third) = (world.titled(&calendar, "Series").await, world.titled(&calendar, "Third").await);
    world.drop_record(&calendar, "weekly").await;
    assert_eq!(world.told(&mut calendar).await, ["deleted", "deleted"]);
    assert_eq!(world.march(&calendar).await, ["05T15 Elsewhere"]);
    let gone = format!("{}/{}", calendar.events, text(&third["id"]));
    world.api.get(gone).send().await.refused(404, "not_found");
    world.make_exception(&calendar, "weekly", 3, "Third").await;
    assert_eq!(world.told(&mut calendar).await, ["created Third"]);
    assert_eq!(world.march(&calendar).await, ["03T15 Third", "05T15 Elsewhere"]);
    world.make_series(&calendar, "weekly", "Series").await;
    assert_eq!(world.told(&mut calendar).await, ["created Series", "updated Third"]);
    let again = world.titled(&calendar, "Third").await;
    assert_eq!((&again["id"], &again["seriesId"]), (&third["id"], &series["id"]));
    // With the calendar all of it goes.
    let path = format!("/v1/calendars/{}", calendar.id);
    world.api.delete(&path).send().await.expect(204);
    world.api.get(&path).send().await.refused(404, "not_found");
}

/// A series that came and went between two readings takes the exceptions along that waited for it.
#[tokio::test]
async fn a_series_that_nobody_saw_takes_its_exceptions() {
    let world = World::open(TestServer::builder().without_pulls().start().await).await;
    let mut calendar = world.calendar("Apart", true).await;
    world.make_exception(&calendar, "weekly", 3, "Third").await;
    world.make_exception(&calendar, "other", 5, "Elsewhere").await;
    world.follow(&mut calendar).await;
    world.make_series(&calendar, "weekly", "Series").await;
    world.drop_record(&calendar, "weekly").await;
    assert_eq!(world.told(&mut calendar).await, ["deleted"]);
    assert_eq!(world.march(&calendar).await, ["05T15 Elsewhere"]);
}

/// A full read that lacks many items deletes them in steps: an exception is deleted with its series, and is not reported as an event of
/// its own before.
#[tokio::test]
async fn a_series_and_its_exceptions_are_deleted_in_steps() {
    const EXCEPTIONS: usize = 230;
    let world = World::new(100).await;
    let mut calendar = world.calendar("Apart", true).await;
    world.make_series(&calendar, "weekly", "Series").await;
    world.make_exceptions(&calendar, EXCEPTIONS, "").await;
    world.make_others(&calendar, EXCEPTIONS + 20).await;
    world.follow(&mut calendar).await;
    // From the beginning the provider tells only what there is.
    world.drop_record(&calendar, "weekly").await;
    let reset = format!("/v1/calendars/{}/sync/reset", calendar.id);
    world.api.post(reset, json!({})).send().await.expect(202);
    let told = world.all_told(&mut calendar).await;
    assert_eq!(told, vec!["deleted"; EXCEPTIONS + 1]);
}

/// More exceptions than a transaction holds are linked, and go with their series, when everything is read the next time.
#[tokio::test]
async fn exceptions_beyond_the_bound_follow_their_series() {
    const EXCEPTIONS: usize = 60;
    const OTHERS: usize = 100;
    let world = World::new(10).await;
    let mut calendar = world.calendar("Apart", true).await;
    // 6 MB of them, and a transaction takes 4 MiB.
    world.make_exceptions(&calendar, EXCEPTIONS, &"x".repeat(100_000)).await;
    world.make_others(&calendar, OTHERS).await;
    world.follow(&mut calendar).await;
    world.make_series(&calendar, "weekly", "Series").await;
    let told = world.all_told(&mut calendar).await;
    assert_eq!(told.first().map(String::as_str), Some("created Series"));
    let linked = told.iter().filter(|change| change.starts_with("updated Changed")).count();
    assert_eq!((linked, told.len()), (EXCEPTIONS, EXCEPTIONS + 1));
    let series = world.titled(&calendar, "Series").await;
    let path = format!("{}/{}", calendar.events, text(&series["id"]));
    world.api.delete(path).send().await.expect(204);
    assert_eq!(world.all_told(&mut calendar).await, vec!["deleted"; EXCEPTIONS + 1]);
    assert_eq!(world.listed(&calendar, "").await.len(), OTHERS);
}

/// An event that names a single event is alone, until that one recurs.
#[tokio::test]
async fn an_exception_of_a_single_event_is_alone() {
    let world = World::new(100).await;
    let calendar = world.calendar("Apart", true).await;
    let single = timed(2, 9, json!({ "id": "single", "title": "Single" }));
    world.provider.post(&calendar.theirs, single).send().await.expect(201);
    world.make_exception(&calendar, "single", 3, "Third").await;
    assert_eq!(world.titled(&calendar, "Third").await["seriesId"], Value::Null);
    let (path, rule) = (format!("{}/single", calendar.theirs), ["RRULE:FREQ=DAILY;COUNT=4"]);
    world.provider.patch(&path, json!({ "recurrence": rule })).send().await.expect(200);
    let series = world.titled(&calendar, "Single").await;
    assert_eq!(world.titled(&calendar, "Third").await["seriesId"], series["id"]);
    assert_eq!(world.march(&calendar).await, ["02T09 Single", "03T15 Third", "04T09 Single", "05T09 Single"]);
}

/// Two records for one instance on two pages: the one that was reported or changed last counts.
#[tokio::test]
async fn of_two_exceptions_for_one_instance_the_later_counts() {
    let world = World::new(100).await;
    let calendar = world.calendar("Apart", true).await;
    world.make_series(&calendar, "weekly", "Series").await;
    world.make_exception(&calendar, "weekly", 3, "First").await;
    let march = |title: &str| {
        let changed = format!("03T15 {title}");
        ["02T09 Series", changed.as_str(), "04T09 Series", "05T09 Series"].map(str::to_owned)
    };
    assert_eq!(world.march(&calendar).await, march("First"));
    // The same start under another name.
    let (original, start) = ("2026-03-03T09:00", "2026-03-03T09:00:00Z");
    let fields =
        json!({ "seriesId": "weekly", "recurrenceId": original, "originalStart": start, "title": "Second" });
    let body = timed(3, 15, fields);
    world.provider.post(&calendar.theirs, body).send().await.expect(201);
    assert_eq!(world.march(&calendar).await, march("Second"));
    let series = text(&world.titled(&calendar, "Series").await["id"]);
    let second = world.get(format!("{}/{series}_20260303T090000Z", calendar.events)).await;
    assert_eq!(second["title"], "Second");
    let change = json!({ "title": "Third" });
    world.provider.patch(format!("{}/{MOVED}", calendar.theirs), change).send().await.expect(200);
    assert_eq!(world.march(&calendar).await, march("Third"));
}

/// The instance is again as in the series, and readers get an update: the series expands differently.
#[tokio::test]
async fn deleted_exception_gives_the_instance_back() {
    let world = World::new(100).await;
    let mut calendar = world.calendar("Apart", true).await;
    world.make_series(&calendar, "weekly", "Series").await;
    world.make_exception(&calendar, "weekly", 3, "Third").await;
    world.follow(&mut calendar).await;
    world.drop_record(&calendar, MOVED).await;
    assert_eq!(world.told(&mut calendar).await, ["updated Series", "deleted"]);
    let all = ["02T09 Series", "03T09 Series", "04T09 Series", "05T09 Series"];
    assert_eq!(world.march(&calendar).await, all);
    assert_eq!(world.busy(&calendar).await, ["02T09", "03T09", "04T09", "05T09"]);
    // A cancelled one is an instance that does not take place.
    world.make_exception(&calendar, "weekly", 3, "Third").await;
    let cancel = json!({ "status": "cancelled" });
    world.provider.patch(format!("{}/{MOVED}", calendar.theirs), cancel).send().await.expect(200);
    assert_eq!(world.march(&calendar).await, ["02T09 Series", "04T09 Series", "05T09 Series"]);
    assert_eq!(world.busy(&calendar).await, ["02T09", "04T09", "05T09"]);
}

/// With the scope `all` the series' record is changed, under the version that it has; with `this` the exception's own.
#[tokio::test]
async fn scope_all_from_an_exception_reaches_the_series() {
    let world = World::new(100).await;
    let calendar = world.calendar("Apart", true).await;
    world.make_series(&calendar, "weekly", "Series").await;
    world.make_exception(&calendar, "weekly", 3, "Third").await;
    let (series, third) = (world.titled(&calendar, "Series").await, world.titled(&calendar, "Third").await);
    let before = world.their_record(&calendar, "weekly").await;
    let path = format!("{}/{}", calendar.events, text(&third["id"]));

    let one = json!({ "title": "Alone" });
    let alone = world.api.patch(&path, one).if_match(&text(&third["etag"])).send().await.expect(200);
    assert_eq!((&alone["id"], &alone["seriesId"]), (&third["id"], &series["id"]));
    assert_eq!(world.their_record(&calendar, "weekly").await["etag"], before["etag"]);
    assert_eq!(world.their_record(&calendar, MOVED).await["title"], "Alone");

    let whole = json!({ "title": "Whole", "recurrenceScope": "all" });
    let changed =
        world.api.patch(&path, whole.clone()).if_match(&text(&alone["etag"])).send().await.expect(200);
    assert_eq!((&changed["id"], &changed["title"]), (&series["id"], &json!("Whole")));
    assert_eq!(world.their_record(&calendar, "weekly").await["title"], "Whole");
    assert_eq!(world.march(&calendar).await, ["02T09 Whole", "03T15 Alone", "04T09 Whole", "05T09 Whole"]);

    // Another program changes the series: the caller's version of the exception is current, but the known version of the series is not.
    let theirs = json!({ "title": "Theirs" });
    world.provider.patch(format!("{}/weekly", calendar.theirs), theirs).send().await.expect(200);
    let etag = text(&world.titled(&calendar, "Alone").await["etag"]);
    let whole = world.api.patch(&path, whole).if_match(&etag).send().await.expect(200);
    assert_eq!(whole["title"], "Whole", "the change was read first");

    let second = json!({ "title": "Second" });
    let second_path = format!("{}/{}_20260302T090000Z", calendar.events, text(&series["id"]));
    let second = world.api.patch(second_path, second).send().await.expect(200);
    assert_eq!((&second["type"], &second["seriesId"]), (&json!("exception"), &series["id"]));
    assert_eq!(world.their_record(&calendar, "weekly@2026-03-02T09:00:00").await["title"], "Second");

    let second_path = format!("{}/{}", calendar.events, text(&second["id"]));
    world.api.delete(&second_path).send().await.expect(204);
    assert_eq!(world.march(&calendar).await, ["03T15 Alone", "04T09 Whole", "05T09 Whole"]);
    world.api.delete(format!("{path}?recurrence_scope=all")).send().await.expect(204);
    assert_eq!(world.march(&calendar).await, Vec::<String>::new());
    let gone = world.provider.get(format!("{}/weekly", calendar.theirs)).send().await;
    assert_eq!(gone.status, 404);
}

/// The series is divided as one whose exceptions are in its own record.
#[tokio::test]
async fn this_and_following_from_an_exception_divides_the_series() {
    let world = World::new(100).await;
    let mut found = Vec::new();
    for (name, is_apart) in [("Apart", true), ("Together", false)] {
        let calendar = world.calendar(name, is_apart).await;
        world.make_series(&calendar, "weekly", "Series").await;
        for day in [3, 5] {
            let body = timed(day, 15, json!({ "title": format!("Day {day}") }));
            let instance = format!("{}/weekly/instances/{}", calendar.theirs, local(day));
            world.provider.patch(instance, body).send().await.expect(200);
        }
        let third = world.titled(&calendar, "Day 3").await;
        let later = json!({ "location": "Roof", "recurrenceScope": "thisAndFollowing" });
        let path = format!("{}/{}", calendar.events, text(&third["id"]));
        let new = world.api.patch(path, later).if_match(&text(&third["etag"])).send().await.expect(200);
        assert_eq!((&new["type"], &new["location"]), (&json!("series"), &json!("Roof")));
        let all = world.listed(&calendar, "").await;
        let of_new = all.iter().filter(|event| event["seriesId"] == new["id"]).count();
        found.push((world.march(&calendar).await, all.len(), of_new, world.busy(&calendar).await));
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0].0.len(), 4);
}

/// An answer to an invitation is for the instance that is a record of its own, or for the whole series.
#[tokio::test]
async fn an_invitation_is_answered_for_one_or_for_all() {
    let world = World::new(100).await;
    let calendars = world.provider.get("/sandbox/v1/calendars").send().await.expect(200);
    let mut all = calendars["calendars"].as_array().expect("a list").iter();
    let main = text(&all.find(|calendar| calendar["isPrimary"] == true).expect("a main calendar")["id"]);
    let apart = json!({ "apart": true });
    world.provider.patch(format!("/sandbox/v1/calendars/{main}"), apart).send().await.expect(200);
    let of = text(&world.connection["id"]);
    let listed = world.get(format!("/v1/calendars?connection_id={of}&limit=100")).await;
    let mut all = listed["data"].as_array().expect("a list").iter();
    let found = all.find(|calendar| calendar["externalId"] == main.as_str()).expect("the main calendar");
    let id = text(&found["id"]);
    let (events, theirs) =
        (format!("/v1/calendars/{id}/events"), format!("/sandbox/v1/calendars/{main}/events"));
    let calendar = TestCalendar { id, events, theirs, cursor: None };

    let host = world.server.provider("alice");
    let team = json!({ "name": "Team", "timeZone": "UTC" });
    let team = host.post("/sandbox/v1/calendars", team).send().await.expect(201);
    let path = format!("/sandbox/v1/calendars/{}/events", text(&team["id"]));
    let fields = json!({
        "id": "weekly", "title": "Series", "recurrence": ["RRULE:FREQ=DAILY;COUNT=4"],
        "attendees": [{ "email": "zoe@sandbox.test" }],
    });
    let body = timed(DAYS[0], 9, fields);
    host.post(&path, body).send().await.expect(201);
    let moved = timed(3, 15, json!({ "title": "Moved" }));
    host.patch(format!("{path}/weekly/instances/{}", local(3)), moved).send().await.expect(200);

    let (series, moved) = (world.titled(&calendar, "Series").await, world.titled(&calendar, "Moved").await);
    assert_eq!(moved["seriesId"], series["id"]);
    let accept = format!("{}/{}/accept", calendar.events, text(&moved["id"]));
    let one = world.api.post(&accept, json!({})).send().await.expect(200);
    assert_eq!((&one["id"], &one["myResponse"]), (&moved["id"], &json!("accepted")));
    assert_eq!(world.titled(&calendar, "Series").await["myResponse"], "needsAction");
    let all = world.api.post(&accept, json!({ "recurrenceScope": "all" })).send().await.expect(200);
    assert_eq!((&all["id"], &all["myResponse"]), (&series["id"], &json!("accepted")));
}

/// Returns the statements of a pull in which this number of series adopt their waiting exceptions.
async fn adoption(count: usize) -> u64 {
    const HOUR_MS: i64 = 3_600_000;
    let world = World::open(TestServer::builder().without_pulls().start().await).await;
    let mut calendar = world.calendar("Apart", true).await;
    world.follow(&mut calendar).await;
    for n in 0..count {
        world.make_exception(&calendar, &format!("series-{n}"), 3, "Moved").await;
    }
    assert_eq!(world.told(&mut calendar).await.len(), count);
    for n in 0..count {
        world.make_series(&calendar, &format!("series-{n}"), "Series").await;
    }
    world.server.clock.advance_ms(HOUR_MS);
    let statements = || world.server.app.metrics.job_statements(PULL.name).statements;
    let before = statements();
    assert!(world.server.pull().await > 0, "nothing was due");
    let needed = statements() - before;
    assert_eq!(world.told(&mut calendar).await.len(), 2 * count, "each series, and its exception");
    needed
}

#[tokio::test]
async fn links_of_many_series_need_no_more_statements() {
    let (few, many) = (adoption(5).await, adoption(60).await);
    assert!(few > 0 && many <= few, "{few} statements for 5 series, {many} for 60");
}

/// One step of a history at the provider; numbers choose a series and a day.
#[derive(Clone, Copy, Debug)]
enum Step {
    MakeSeries(u8),
    /// Makes the exception, or gives it another title.
    Change(u8, u8),
    DropException(u8, u8),
    DropSeries(u8),
    Read,
}

fn steps(random: &Entropy) -> Vec<Step> {
    let bytes = random.bytes::<90>();
    let step = |of_one: &[u8]| {
        let (what, series, day) = (of_one[0] % 10, of_one[1] % 2, DAYS[usize::from(of_one[2] % 4)]);
        match what {
            0 | 1 => Step::MakeSeries(series),
            2..=4 => Step::Change(series, day),
            5 => Step::DropException(series, day),
            6 => Step::DropSeries(series),
            _ => Step::Read,
        }
    };
    bytes.chunks_exact(3).map(step).collect()
}

/// The provider's side: titles of series, and of exceptions by series and day.
#[derive(Default)]
struct Model {
    /// A series was deleted, and the calendar was not read since.
    has_unread_deletion: bool,
    series: BTreeMap<u8, String>,
    exceptions: BTreeMap<(u8, u8), String>,
}

fn name(series: u8) -> String {
    format!("series-{series}")
}

impl Model {
    async fn step(&mut self, world: &World, calendar: &TestCalendar, step: Step, title: &str) {
        match step {
            Step::MakeSeries(series) if !self.series.contains_key(&series) => {
                if std::mem::take(&mut self.has_unread_deletion) {
                    // The provider tells a deletion as long as nothing else has the id.
                    world.march(calendar).await;
                }
                world.make_series(calendar, &name(series), title).await;
                self.series.insert(series, title.to_owned());
            }
            Step::MakeSeries(series) => {
                let path = format!("{}/{}", calendar.theirs, name(series));
                world.provider.patch(path, json!({ "title": title })).send().await.expect(200);
                self.series.insert(series, title.to_owned());
            }
            Step::Change(series, day) => {
                let known = self.exceptions.insert((series, day), title.to_owned());
                if known.is_none() {
                    return world.make_exception(calendar, &name(series), day, title).await;
                }
                let path = format!("{}/{}@{}", calendar.theirs, name(series), local(day));
                world.provider.patch(path, json!({ "title": title })).send().await.expect(200);
            }
            Step::DropException(series, day) => {
                if self.exceptions.remove(&(series, day)).is_some() {
                    world.drop_record(calendar, &format!("{}@{}", name(series), local(day))).await;
                }
            }
            Step::DropSeries(series) => {
                if self.series.remove(&series).is_some() {
                    world.drop_record(calendar, &name(series)).await;
                    self.exceptions.retain(|(of, _), _| *of != series);
                    self.has_unread_deletion = true;
                }
            }
            Step::Read => {
                world.march(calendar).await;
                self.has_unread_deletion = false;
            }
        }
    }

    /// Makes the same in a calendar that keeps exceptions in the record of their series.
    async fn make_together(&self, world: &World, calendar: &TestCalendar) {
        for (series, title) in &self.series {
            world.make_series(calendar, &name(*series), title).await;
        }
        for ((series, day), title) in &self.exceptions {
            let body = timed(*day, 15, json!({ "title": title }));
            if self.series.contains_key(series) {
                let path = format!("{}/{}/instances/{}", calendar.theirs, name(*series), local(*day));
                world.provider.patch(path, body).send().await.expect(200);
            } else {
                world.provider.post(&calendar.theirs, body).send().await.expect(201);
            }
        }
    }
}

/// Records come in any order and in pages of any size: in the end the calendar is as one whose exceptions are in the records of their
/// series.
#[tokio::test]
async fn any_order_means_the_same_as_one_record() {
    let random = Entropy::seeded(7);
    for pull_page in [1, 2, 100] {
        let world = World::new(pull_page).await;
        for number in 0..6 {
            let apart = world.calendar(&format!("Apart {number}"), true).await;
            let together = world.calendar(&format!("Together {number}"), false).await;
            let (mut model, history) = (Model::default(), steps(&random));
            for (at, step) in history.iter().enumerate() {
                model.step(&world, &apart, *step, &format!("title {at}")).await;
            }
            model.make_together(&world, &together).await;
            let sorted = |mut all: Vec<String>| {
                all.sort();
                all
            };
            let (one, other) = (world.march(&apart).await, world.march(&together).await);
            assert_eq!(sorted(one), sorted(other), "{pull_page} {number}: {history:?}");
            assert_eq!(
                world.busy(&apart).await,
                world.busy(&together).await,
                "{pull_page} {number}: {history:?}"
            );
            let linked = |all: Vec<Value>| all.iter().filter(|event| !event["seriesId"].is_null()).count();
            let (one, other) = (world.listed(&apart, "").await, world.listed(&together, "").await);
            assert_eq!(linked(one), linked(other), "{pull_page} {number}: {history:?}");
        }
    }
}
