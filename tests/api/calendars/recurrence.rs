//! Series that cannot be expanded, or not all at once: they are listed, their own time counts, and the events beside them are answered
//! as always.

use base::ids::Kind as IdKind;
use base::tenant::Tenant;
use harness::{Actor, TestServer};
use model::Instant;
use model::calendar::{Event, EventType};
use serde_json::{Value, json};
use service::local_copy::event_span::bounds;
use storage::api_keys;
use storage::items::{self, Item};
use storage::locked::ConnectionLock;

const MARCH: &str = "expand=true&start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z";
/// RFC 7529: the first of the Hebrew month Adar.
const HEBREW: &str = "RRULE:RSCALE=HEBREW;FREQ=YEARLY;BYMONTH=5L;BYMONTHDAY=1;SKIP=FORWARD";

/// A calendar with an appointment on 2 March 2026, at nine.
struct World {
    server: TestServer,
    api: Actor,
    connection: String,
    calendar: String,
    appointment: String,
}

impl World {
    async fn new() -> World {
        let server = TestServer::start().await;
        let api = server.client().await;
        let connection = api.connect_sandbox().await["id"].as_str().expect("an id").to_owned();
        let body = json!({ "connectionId": connection, "name": "Project", "timeZone": "UTC" });
        let calendar = api.post("/v1/calendars", body).send().await.expect(201);
        let calendar = calendar["id"].as_str().expect("an id").to_owned();
        let body =
            json!({ "title": "Dentist", "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T10:00:00Z" });
        let path = format!("/v1/calendars/{calendar}/events");
        let appointment = api.post(&path, body).send().await.expect(201);
        let appointment = appointment["id"].as_str().expect("an id").to_owned();
        api.all(&path).await;
        World { server, api, connection, calendar, appointment }
    }

    async fn tenant(&self) -> Tenant {
        api_keys::tenants(self.server.app.db.reader()).await.expect("a query").remove(0)
    }

    /// A series as a provider may have it, half an hour long; its id. The sandbox provider takes nothing that it could not expand.
    async fn series(&self, title: &str, start: &str, lines: &[&str]) -> String {
        let tenant = self.tenant().await;
        let found = items::any(self.server.app.db.reader(), &tenant, &self.appointment).await;
        let item = found.expect("a query").expect("it is there");
        let start: Instant = start.parse().expect("an instant");
        let event = Event {
            title: Some(title.to_owned()),
            event_type: EventType::Series,
            start,
            end: Instant::from_millis(start.as_millis() + 1_800_000),
            time_zone: "UTC".to_owned(),
            recurrence: lines.iter().map(ToString::to_string).collect(),
            busy: true,
            ..Event::default()
        };
        let id = self.server.app.new_id(IdKind::Event);
        let (sort_at, until_at) = bounds(&event);
        let copy = Item {
            external_id: id.clone(),
            source_id: id.clone(),
            id: id.clone(),
            body: serde_json::to_string(&event).expect("JSON"),
            is_series: true,
            sort_at,
            until_at,
            ..item
        };
        let written = self.server.app.db.write(move |tx| {
            Box::pin(async move {
                let lock =
                    ConnectionLock::take(tx, &tenant, &copy.connection_id).await?.expect("it is there");
                items::insert(tx, &lock, copy).await?;
                anyhow::Ok(())
            })
        });
        written.await.expect("it is stored");
        id
    }

    async fn list(&self, query: &str) -> Vec<Value> {
        self.api.all(&format!("/v1/calendars/{}/events?{query}", self.calendar)).await
    }

    /// Day, hour and minute of the start, and the title.
    async fn listed(&self, query: &str) -> Vec<String> {
        self.list(query).await.iter().map(shown).collect()
    }

    async fn busy(&self, start: &str, end: &str, details: bool) -> Value {
        let query = json!({
            "start": start, "end": end, "includeDetails": details,
            "targets": [{ "connectionId": self.connection, "calendarIds": [self.calendar] }]
        });
        let answer = self.api.post("/v1/calendars/freebusy/query", query).send().await.expect(200);
        assert_eq!(
            (&answer["complete"], &answer["data"][0]["status"]),
            (&json!(true), &json!("ok")),
            "{answer:#}"
        );
        answer
    }
}

fn short(instant: &Value) -> String {
    instant.as_str().expect("an instant").chars().skip(8).take(8).collect()
}

fn shown(event: &Value) -> String {
    format!("{} {}", short(&event["start"]), event["title"].as_str().unwrap_or_default())
}

fn times(answer: &Value) -> Vec<String> {
    let both = |b: &Value| format!("{} {}", short(&b["start"]), short(&b["end"]));
    answer["data"][0]["busy"].as_array().expect("a list").iter().map(both).collect()
}

/// A series that cannot be expanded is listed as stored, from its start to its UNTIL, with the reason; all other events are listed too.
#[tokio::test]
async fn a_series_that_cannot_be_expanded_is_listed_as_it_is() {
    let world = World::new().await;
    let hebrew = world.series("Adar", "2026-02-20T12:00:00Z", &[HEBREW]).await;
    world.series("Twice", "2026-03-05T12:00:00Z", &["RRULE:FREQ=DAILY;FREQ=WEEKLY"]).await;
    world
        .series("Over", "2026-01-05T12:00:00Z", &["RRULE:FREQ=DAILY;FREQ=DAILY;UNTIL=20260201T000000Z"])
        .await;
    world.series("Later", "2026-04-05T12:00:00Z", &["RRULE:FREQ=DAILY;FREQ=DAILY"]).await;
    world.series("Weekly", "2026-03-03T08:00:00Z", &["RRULE:FREQ=WEEKLY;COUNT=3"]).await;
    let all = world.list(MARCH).await;
    let found: Vec<String> = all.iter().map(shown).collect();
    assert_eq!(
        found,
        [
            "20T12:00 Adar",
            "02T09:00 Dentist",
            "03T08:00 Weekly",
            "05T12:00 Twice",
            "10T08:00 Weekly",
            "17T08:00 Weekly"
        ]
    );
    let adar = &all[0];
    assert_eq!(
        (&adar["id"], &adar["type"], &adar["recurrence"]),
        (&json!(hebrew), &json!("series"), &json!([HEBREW]))
    );
    let warning = &adar["warnings"][0];
    assert_eq!(
        (&warning["code"], &warning["target"]),
        (&json!("recurrence_not_expanded"), &json!("recurrence"))
    );
    assert!(warning["message"].as_str().expect("a text").contains("RSCALE"), "{warning}");
    assert!(all[3]["warnings"][0]["message"].as_str().expect("a text").contains("FREQ"), "{}", all[3]);
    for other in [1, 2, 4, 5] {
        assert_eq!(all[other]["warnings"], json!([]));
    }
    // One by one: no page repeats or leaves out anything.
    let mut one_by_one = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/calendars/{}/events?{MARCH}&limit=1{cursor}", world.calendar);
        let page = world.api.get(path).send().await.expect(200);
        one_by_one.extend(page["data"].as_array().expect("a list").iter().map(shown));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(one_by_one, found);
}

/// An event that the filter excludes causes no error.
#[tokio::test]
async fn a_filter_excludes_the_trouble_too() {
    let world = World::new().await;
    world.series("Adar", "2026-02-20T12:00:00Z", &[HEBREW]).await;
    world.series("Weekly", "2026-03-03T08:00:00Z", &["RRULE:FREQ=WEEKLY;COUNT=2"]).await;
    assert_eq!(world.listed(&format!("{MARCH}&q=weekly")).await, ["03T08:00 Weekly", "10T08:00 Weekly"]);
    assert_eq!(world.listed(&format!("{MARCH}&q=adar")).await, ["20T12:00 Adar"]);
    assert_eq!(world.listed(&format!("{MARCH}&status=cancelled")).await, Vec::<String>::new());
}

/// A series that cannot be expanded has unknown times: from its start to its UNTIL no time is free, and other times are as usual.
#[tokio::test]
async fn the_time_of_a_series_that_cannot_be_expanded_is_not_free() {
    let world = World::new().await;
    let ended = format!("{HEBREW};UNTIL=20260321T000000Z");
    let series = world.series("Adar", "2026-03-20T12:00:00Z", &[&ended]).await;
    let answer = world.busy("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", false).await;
    assert_eq!(times(&answer), ["02T09:00 02T10:00", "20T12:00 21T00:30"]);
    let warning = &answer["warnings"][0];
    assert_eq!(
        (&warning["code"], &warning["target"]),
        (&json!("recurrence_not_expanded"), &json!("targets[0]"))
    );
    let details = world.busy("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", true).await;
    assert_eq!(details["data"][0]["busy"][1]["eventId"], json!(series));
    assert!(details["warnings"][0]["message"].as_str().expect("a text").contains("RSCALE"), "{details:#}");
    let before = world.busy("2026-03-01T00:00:00Z", "2026-03-20T12:00:00Z", false).await;
    assert_eq!((times(&before), &before["warnings"]), (vec!["02T09:00 02T10:00".to_owned()], &json!([])));

    let query = json!({
        "durationMinutes": 360, "start": "2026-03-20T00:00:00Z", "end": "2026-03-21T12:00:00Z",
        "participants": [{ "members": [{ "connectionId": world.connection, "calendarIds": [world.calendar] }] }]
    });
    let answer = world.api.post("/v1/calendars/availability/query", query.clone()).send().await.expect(200);
    let starts: Vec<String> =
        answer["data"].as_array().expect("a list").iter().map(|slot| short(&slot["start"])).collect();
    assert_eq!(starts, ["20T00:00", "20T06:00", "21T06:00"]);
    assert_eq!(
        (&answer["complete"], &answer["warnings"][0]["target"]),
        (&json!(true), &json!(world.connection))
    );
    let mut ignoring = query;
    ignoring["ignoreEventIds"] = json!([series]);
    let answer = world.api.post("/v1/calendars/availability/query", ignoring).send().await.expect(200);
    assert_eq!((answer["data"].as_array().expect("a list").len(), &answer["warnings"]), (6, &json!([])));
}

/// Every second of ten minutes, twenty years after the start; and a request for a month of it does not fail.
#[tokio::test]
async fn a_series_of_seconds_is_expanded_where_it_is_looked_at() {
    let world = World::new().await;
    world.series("Tick", "2006-01-01T00:00:00Z", &["RRULE:FREQ=SECONDLY;UNTIL=20260302T084959Z"]).await;
    let minutes = "expand=true&start=2026-03-02T09:20:00Z&end=2026-03-02T09:30:00Z";
    // Half an hour long each: those of the last minutes still run.
    assert_eq!(world.list(minutes).await.len(), 1);
    let first = format!("/v1/calendars/{}/events?{MARCH}&limit=20", world.calendar);
    let page = world.api.get(first).send().await.expect(200);
    let ticks: Vec<String> = page["data"].as_array().expect("a list").iter().map(shown).collect();
    assert_eq!((ticks.len(), ticks[0].as_str()), (20, "28T23:30 Tick"));
    let busy = world.busy("2026-03-02T00:00:00Z", "2026-03-02T12:00:00Z", false).await;
    assert_eq!(times(&busy), ["02T00:00 02T10:00"], "it ends at 09:19:59, while the appointment lasts");
    let after = world.busy("2026-03-02T09:30:00Z", "2026-03-09T12:00:00Z", false).await;
    assert_eq!((times(&after), &after["warnings"]), (vec!["02T09:30 02T10:00".to_owned()], &json!([])));
}

/// All minutes of a day in pages; each can be read by its id.
#[tokio::test]
async fn a_series_of_minutes_is_listed_page_by_page() {
    let world = World::new().await;
    let body = json!({
        "title": "Pulse", "start": "2026-03-01T00:00:00Z", "end": "2026-03-01T00:00:30Z",
        "recurrence": ["RRULE:FREQ=MINUTELY;INTERVAL=5"]
    });
    let path = format!("/v1/calendars/{}/events", world.calendar);
    world.api.post(&path, body).send().await.expect(201);
    let day = world.list("expand=true&start=2026-03-20T00:00:00Z&end=2026-03-21T00:00:00Z").await;
    assert_eq!(day.len(), 288);
    let last = &day[287];
    assert_eq!(shown(last), "20T23:55 Pulse");
    let read =
        world.api.get(format!("{path}/{}", last["id"].as_str().expect("an id"))).send().await.expect(200);
    assert_eq!(read["start"], last["start"]);
    let month = format!("{path}?{MARCH}&limit=5");
    let page = world.api.get(month).send().await.expect(200);
    assert_eq!(page["data"].as_array().expect("a list").len(), 5);
    let busy = world.busy("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", false).await;
    let count = busy["data"][0]["busy"].as_array().expect("a list").len();
    assert_eq!(
        (count, &busy["warnings"]),
        (31 * 288 - 12, &json!([])),
        "the appointment takes twelve of them in and touches one more"
    );
}

/// Two rules are the union of both (RFC 2445 had them), an EXRULE takes away, and dates that can be read count beside others.
#[tokio::test]
async fn rules_and_dates_that_can_be_read_all_count() {
    let world = World::new().await;
    let lines =
        ["RRULE:FREQ=WEEKLY;COUNT=3", "RRULE:FREQ=DAILY;INTERVAL=10;COUNT=3", "EXRULE:FREQ=WEEKLY;BYDAY=FR"];
    world.series("Both", "2026-03-03T08:00:00Z", &lines).await;
    let found = world.listed(&format!("{MARCH}&q=both")).await;
    assert_eq!(found, ["03T08:00 Both", "10T08:00 Both", "17T08:00 Both", "23T08:00 Both"]);
    let lines = ["RRULE:FREQ=DAILY;COUNT=2", "RDATE:20260320T080000Z,20260231T080000Z,soon"];
    world.series("Dates", "2026-03-03T08:00:00Z", &lines).await;
    let all = world.list(&format!("{MARCH}&q=dates")).await;
    assert_eq!(
        all.iter().map(shown).collect::<Vec<_>>(),
        ["03T08:00 Dates", "04T08:00 Dates", "20T08:00 Dates"]
    );
    let messages: Vec<&str> =
        all[0]["warnings"].as_array().expect("a list").iter().filter_map(|w| w["message"].as_str()).collect();
    assert_eq!(messages.len(), 2);
    assert!(messages[0].contains("20260231T080000Z") && messages[1].contains("soon"), "{messages:?}");
}
