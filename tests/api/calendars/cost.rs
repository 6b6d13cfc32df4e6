//! The cost of responses about events: each is bounded in bytes, says each fact once, and computes no more than it shows.

use std::collections::HashSet;

use harness::stored::store_event;
use harness::{Actor, TestServer};
use model::Instant;
use model::calendar::{Event, EventType};
use serde_json::{Value, json};

const QUERY: &str = "/v1/calendars/freebusy/query";
/// 4 MiB of items, and the envelope.
const MAX_PAGE: usize = (4 << 20) + 4_096;
/// The length of a provider's longest field.
const LONGEST_FIELD_BYTES: usize = 500_000;

fn id(value: &Value) -> String {
    value["id"].as_str().expect("an id").to_owned()
}

async fn new_calendar(api: &Actor, connection: &str, name: &str) -> String {
    let body = json!({ "connectionId": connection, "name": name, "timeZone": "UTC" });
    id(&api.post("/v1/calendars", body).send().await.expect(201))
}

/// Makes a series from the first minute of 2 March 2026 on.
async fn new_series(api: &Actor, calendar: &str, (minute, seconds): (i64, i64), rule: &str) {
    let start = "2026-03-02T00:00:00Z".parse::<Instant>().expect("an instant").as_millis() + minute * 60_000;
    let body = json!({
        "title": "Pulse", "start": Instant::from_millis(start), "end": Instant::from_millis(start + seconds * 1_000),
        "recurrence": [rule]
    });
    api.post(format!("/v1/calendars/{calendar}/events"), body).send().await.expect(201);
}

/// A connection, and a calendar of it with four hourly series that leave time between them.
async fn crowded_calendar(api: &Actor) -> (String, String) {
    let connection = id(&api.connect_sandbox().await);
    let calendar = new_calendar(api, &connection, "Crowded").await;
    for quarter in 0..4 {
        new_series(api, &calendar, (15 * quarter, 600), "RRULE:FREQ=HOURLY").await;
    }
    (connection, calendar)
}

/// A query over 92 days, the most there is.
fn query(targets: &[Value]) -> Value {
    json!({ "start": "2026-03-02T00:00:00Z", "end": "2026-06-02T00:00:00Z", "targets": targets })
}

/// Busy times of four hourly series in 92 days.
const QUARTERS: usize = 92 * 24 * 4;

/// A repeated target is answered at its first position, even if its calendars are named in another order; a warning says so.
#[tokio::test]
async fn what_is_named_fifty_times_is_answered_once() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = crowded_calendar(&api).await;
    let other = new_calendar(&api, &connection, "Empty").await;
    let target = json!({ "connectionId": connection, "calendarIds": [calendar] });
    let once = api.post(QUERY, query(std::slice::from_ref(&target))).send().await;
    let busy = once.answer["data"][0]["busy"].clone();
    assert_eq!(busy.as_array().map(Vec::len), Some(QUARTERS), "{}", once.status);
    let often = api.post(QUERY, query(&vec![target.clone(); 50])).send().await;
    assert!(often.text.len() < once.text.len() + 10_000, "{} and {}", often.text.len(), once.text.len());
    let answer = often.expect(200);
    assert_eq!(answer["complete"], true);
    let data = answer["data"].as_array().expect("a list");
    assert_eq!(data.len(), 1);
    assert_eq!((&data[0]["target"]["calendarIds"], &data[0]["busy"]), (&json!([calendar]), &busy));
    let warnings = answer["warnings"].as_array().expect("a list");
    assert_eq!(warnings.len(), 49);
    assert_eq!(
        (&warnings[0]["code"], &warnings[0]["target"]),
        (&json!("duplicate_target"), &json!("targets[1]"))
    );

    let both = |ids: [&str; 2]| json!({ "connectionId": connection, "calendarIds": ids });
    let targets = [target, both([&calendar, &other]), both([&other, &calendar])];
    let answer = api.post(QUERY, query(&targets)).send().await.expect(200);
    let data = answer["data"].as_array().expect("a list");
    assert_eq!(data.len(), 2, "a list of the same calendars is the same");
    assert!(data.iter().all(|result| result["busy"] == busy), "each is answered for itself");
    assert_eq!(answer["warnings"][0]["target"], "targets[2]");
}

/// Targets that differ are answered as long as an answer has room for their busy times; then the query is refused, and says what to do.
#[tokio::test]
async fn an_answer_that_would_be_too_long_is_refused() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = crowded_calendar(&api).await;
    let mut targets = vec![json!({ "connectionId": connection, "calendarIds": [calendar] })];
    for n in 1..6 {
        let other = new_calendar(&api, &connection, &format!("Empty {n}")).await;
        targets.push(json!({ "connectionId": connection, "calendarIds": [calendar, other] }));
    }
    let five = api.post(QUERY, query(&targets[..5])).send().await;
    assert!(five.text.len() < MAX_PAGE, "{}", five.text.len());
    assert_eq!(five.expect(200)["data"].as_array().map(Vec::len), Some(5));
    let error = api.post(QUERY, query(&targets)).send().await.refused(400, "range_too_large");
    assert_eq!(error["param"], "end");
    assert!(error["message"].as_str().expect("a text").contains("fewer targets"), "{error}");
}

/// More busy times than one target may have: the rest counts as busy as a whole, and a warning says from when on.
#[tokio::test]
async fn the_rest_of_too_many_busy_times_is_told_as_one() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = id(&api.connect_sandbox().await);
    let calendar = new_calendar(&api, &connection, "Crowded").await;
    new_series(&api, &calendar, (0, 30), "RRULE:FREQ=MINUTELY;INTERVAL=5").await;
    let target = json!({ "connectionId": connection, "calendarIds": [calendar] });
    let answer = api.post(QUERY, query(&[target])).send().await.expect(200);
    let busy = answer["data"][0]["busy"].as_array().expect("a list");
    assert_eq!(busy.len(), 20_000);
    let (last, before) = (&busy[19_999], &busy[19_998]);
    assert_eq!(
        (&last["start"], &last["end"]),
        (&json!("2026-05-10T10:35:00.000Z"), &json!("2026-06-01T23:55:30.000Z"))
    );
    assert_eq!(before["end"], "2026-05-10T10:30:30.000Z");
    let warning = &answer["warnings"][0];
    assert_eq!((&warning["code"], &warning["target"]), (&json!("busy_times_joined"), &json!("targets[0]")));
    assert!(warning["message"].as_str().expect("a text").contains("2026-05-10T10:35"), "{warning}");
}

/// An event as a provider may have it.
fn event(title: &str, start: &str, description: usize) -> Event {
    let start = start.parse::<Instant>().expect("an instant");
    Event {
        title: Some(title.to_owned()),
        description: Some("x".repeat(description)),
        start,
        end: Instant::from_millis(start.as_millis() + 600_000),
        time_zone: "UTC".to_owned(),
        busy: true,
        ..Event::default()
    }
}

/// A calendar that was read, and the path of its events; and one of those.
async fn read_calendar(api: &Actor) -> (String, String) {
    let connection = id(&api.connect_sandbox().await);
    let calendar = new_calendar(api, &connection, "Large").await;
    let path = format!("/v1/calendars/{calendar}/events");
    let body = json!({ "title": "Dentist", "start": "2026-02-02T09:00:00Z", "end": "2026-02-02T10:00:00Z" });
    let event = id(&api.post(&path, body).send().await.expect(201));
    api.all(&path).await;
    (path, event)
}

/// Every page of a list, as the ids of its items. None is empty, and none is longer than a page may be.
async fn pages(api: &Actor, path: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = api.get(format!("{path}&limit=200{cursor}")).send().await;
        assert!(page.text.len() <= MAX_PAGE, "{} bytes", page.text.len());
        let page = page.expect(200);
        let ids: Vec<String> = page["data"].as_array().expect("a list").iter().map(id).collect();
        assert!(!ids.is_empty(), "a page with nothing on it");
        pages.push(ids);
        let Some(next) = page["next_cursor"].as_str() else { return pages };
        cursor = format!("&cursor={next}");
    }
}

/// Three days of a series of hours with half a megabyte of description: an answer has as many instances as fit, and the pages have each
/// instance once, in order.
#[tokio::test]
async fn a_page_of_long_instances_ends_by_its_bytes() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (path, beside) = read_calendar(&api).await;
    let series = Event {
        event_type: EventType::Series,
        recurrence: vec!["RRULE:FREQ=HOURLY".to_owned()],
        ..event("Pulse", "2026-03-02T00:00:00Z", LONGEST_FIELD_BYTES)
    };
    let series = store_event(&server, &beside, &series).await;
    let short = store_event(&server, &beside, &event("Between", "2026-03-03T12:30:00Z", 0)).await;
    let found =
        pages(&api, &format!("{path}?expand=true&start=2026-03-02T00:00:00Z&end=2026-03-05T00:00:00Z")).await;
    assert!(found.len() >= 9 && found.iter().all(|page| page.len() <= 9), "{found:?}");
    let all = found.concat();
    let instance = |hour: usize| format!("{series}_202603{:02}T{:02}0000Z", 2 + hour / 24, hour % 24);
    let mut expected: Vec<String> = (0..72).map(instance).collect();
    expected.insert(37, short);
    assert_eq!(all, expected);
    // One that is asked for by its id is whole.
    let one = api.get(format!("{path}/{}", all[40])).send().await.expect(200);
    assert_eq!(one["description"].as_str().map(str::len), Some(LONGEST_FIELD_BYTES));
}

/// An event that is larger than a page is a page by itself, in a list of stored events and in one of instances alike.
#[tokio::test]
async fn an_event_that_is_larger_than_a_page_is_alone_on_one() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (path, beside) = read_calendar(&api).await;
    let mut ids = Vec::new();
    for (hour, length) in [(1, 10), (2, 5 << 20), (3, 10), (4, 10)] {
        let event = event("Note", &format!("2026-03-02T0{hour}:00:00Z"), length);
        ids.push(store_event(&server, &beside, &event).await);
    }
    let expected: [&[String]; 3] = [&ids[..1], &ids[1..2], &ids[2..]];
    for more in ["", "&expand=true", "&q=note"] {
        let range = "start=2026-03-02T00:00:00Z&end=2026-03-03T00:00:00Z";
        let mut found: Vec<Vec<String>> = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = api.get(format!("{path}?{range}{more}{cursor}")).send().await.expect(200);
            found.push(page["data"].as_array().expect("a list").iter().map(id).collect());
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(found, expected, "{more}");
    }
}

/// An hourly series over four hundred days beside a filter that few pass: nothing is listed twice, and nothing is left out.
#[tokio::test]
async fn the_pages_of_an_expanded_list_are_the_list() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (path, beside) = read_calendar(&api).await;
    for (title, rule) in [("Twice", "RRULE:FREQ=HOURLY;INTERVAL=12"), ("Daily", "RRULE:FREQ=DAILY")] {
        let series = Event {
            event_type: EventType::Series,
            recurrence: vec![rule.to_owned()],
            ..event(title, "2026-03-02T06:00:00Z", 100)
        };
        store_event(&server, &beside, &series).await;
    }
    let range = format!("{path}?expand=true&start=2026-03-02T00:00:00Z&end=2026-06-10T00:00:00Z");
    let all = pages(&api, &range).await;
    assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [200, 100]);
    let all = all.concat();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 300);
    let daily = pages(&api, &format!("{range}&q=daily")).await.concat();
    assert_eq!(daily.len(), 100);
    let mut by_seven = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = api.get(format!("{range}&q=daily&limit=7{cursor}")).send().await.expect(200);
        by_seven.extend(page["data"].as_array().expect("a list").iter().map(id));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(by_seven, daily);
}
