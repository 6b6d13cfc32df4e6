//! Exceptions as other programs write them: a day given by another zone's midnight, one exception for all later instances.

use harness::Actor;
use serde_json::{Value, json};

use crate::dav::{connect, got, put, server, servers};

const CALENDAR: &str = "text/calendar; charset=utf-8";

/// An object with these components, `|` for the ends of lines.
fn object(uid: &str, components: &[&str]) -> String {
    let one = |lines: &&str| {
        let lines = lines.replace('|', "\n");
        format!("BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\n{lines}\nEND:VEVENT\n")
    };
    let all: String = components.iter().map(one).collect();
    format!("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Other//EN\n{TOKYO}{all}END:VCALENDAR\n")
}

const TOKYO: &str = "BEGIN:VTIMEZONE\nTZID:Tokyo Standard Time\nBEGIN:STANDARD\nDTSTART:16010101T000000\nTZOFFSETFROM:+0900\n\
    TZOFFSETTO:+0900\nEND:STANDARD\nEND:VTIMEZONE\n";

/// Start and title of each instance of March 2027.
async fn march(api: &Actor, path: &str) -> Vec<String> {
    let query = "expand=true&limit=100&start=2027-03-01T00:00:00Z&end=2027-04-01T00:00:00Z";
    let page =
        api.get(format!("{path}?{query}")).header("cache-control", "no-cache").send().await.expect(200);
    let one = |event: &Value| {
        let start = event["startDate"].as_str().or(event["start"].as_str()).expect("a start");
        let start: String = start.chars().skip(8).take(8).collect();
        format!("{start} {}", event["title"].as_str().unwrap_or_default())
    };
    page["data"].as_array().expect("a list").iter().map(one).collect()
}

/// The starts of busy times of a stretch.
async fn busy(api: &Actor, calendar: &Value, (start, end): (&str, &str)) -> Vec<String> {
    let query = json!({
        "start": start, "end": end,
        "targets": [{ "connectionId": calendar["connectionId"], "calendarIds": [calendar["id"]] }],
    });
    let answer = api.post("/v1/calendars/freebusy/query", query).send().await.expect(200);
    let all = answer["data"][0]["busy"].as_array().expect("a list");
    all.iter().map(|one| one["start"].as_str().expect("a start").chars().skip(8).take(8).collect()).collect()
}

/// A day at the midnight of a zone that the calendar does not have: only the moved day is listed, and it can be moved back.
async fn midnights(api: &Actor, (url, user): (&str, &str), calendar: &Value, path: &str) {
    let href = calendar["externalId"].as_str().expect("a path");
    let days = "DTSTART;VALUE=DATE:20270301|DTEND;VALUE=DATE:20270302|RRULE:FREQ=DAILY;COUNT=4|SUMMARY:Day";
    let moved = "RECURRENCE-ID;TZID=Tokyo Standard Time:20270303T000000|DTSTART;VALUE=DATE:20270310|\
        DTEND;VALUE=DATE:20270311|SUMMARY:Moved";
    put(url, user, href, "days.ics", (CALENDAR, &object("days", &[days, moved]))).await;
    assert_eq!(march(api, path).await, ["01 Day", "02 Day", "04 Day", "10 Moved"]);
    let stored = api.get(path).send().await.expect(200);
    let all = stored["data"].as_array().expect("a list");
    let moved = all.iter().find(|event| event["title"] == "Moved").expect("the moved one");
    assert_eq!(
        (&moved["recurrenceId"], &moved["originalStart"]),
        (&json!("2027-03-03"), &json!("2027-03-02T23:00:00.000Z"))
    );
    // The id that the instance had before it was changed still names it.
    let series = moved["seriesId"].as_str().expect("a series").to_owned();
    let same = api.get(format!("{path}/{series}_20270303")).send().await.expect(200);
    assert_eq!(same["id"], moved["id"]);
    let event = format!("{path}/{}", moved["id"].as_str().expect("an id"));
    let back = json!({ "startDate": "2027-03-03", "endDate": "2027-03-04" });
    api.patch(event, back).send().await.expect(200);
    assert_eq!(march(api, path).await, ["01 Day", "02 Day", "03 Moved", "04 Day"]);
    api.delete(format!("{path}/{series}")).send().await.expect(204);
}

/// One exception for all later instances: they are listed, found and busy accordingly; a change of one of them, of the first, and its
/// deletion affect that one only, for other programs too.
async fn this_and_future(api: &Actor, (url, user): (&str, &str), calendar: &Value, path: &str) {
    let href = calendar["externalId"].as_str().expect("a path");
    let daily = "DTSTART:20270301T090000Z|DTEND:20270301T100000Z|RRULE:FREQ=DAILY;COUNT=7|SUMMARY:Series";
    let later = "RECURRENCE-ID;RANGE=THISANDFUTURE:20270303T090000Z|DTSTART:20270303T110000Z|\
        DTEND:20270303T113000Z|SUMMARY:Later";
    put(url, user, href, "range.ics", (CALENDAR, &object("range", &[daily, later]))).await;
    let all = [
        "01T09:00 Series",
        "02T09:00 Series",
        "03T11:00 Later",
        "04T11:00 Later",
        "05T11:00 Later",
        "06T11:00 Later",
        "07T11:00 Later",
    ];
    let now = march(api, path).await;
    if now.iter().all(|one| !one.contains("Later")) {
        println!("NOT RUN: {url} does not keep RANGE");
        return;
    }
    assert_eq!(now, all);
    assert_eq!(busy(api, calendar, ("2027-03-05T00:00:00Z", "2027-03-06T00:00:00Z")).await, ["05T11:00"]);
    let stored = api.get(path).send().await.expect(200);
    let stored = stored["data"].as_array().expect("a list");
    let third = stored.iter().find(|event| event["title"] == "Later").expect("the exception");
    assert_eq!(third["appliesToFollowing"], true);
    let series = third["seriesId"].as_str().expect("a series").to_owned();
    let fifth = format!("{path}/{series}_20270305T090000Z");
    let shown = api.get(&fifth).send().await.expect(200);
    assert_eq!((&shown["start"], &shown["title"]), (&json!("2027-03-05T11:00:00.000Z"), &json!("Later")));

    // One of the later ones.
    let changed = api.patch(&fifth, json!({ "location": "Roof" })).send().await.expect(200);
    assert_eq!((&changed["start"], &changed["title"]), (&json!("2027-03-05T11:00:00.000Z"), &json!("Later")));
    assert_eq!(march(api, path).await, all);
    // The one that says it.
    let event = format!("{path}/{}", third["id"].as_str().expect("an id"));
    api.patch(&event, json!({ "title": "Alone" })).send().await.expect(200);
    let mut expected = all.map(str::to_owned);
    expected[2] = "03T11:00 Alone".to_owned();
    assert_eq!(march(api, path).await, expected);
    let text = got(url, user, &format!("{href}range.ics")).await;
    assert!(text.contains("RANGE=THISANDFUTURE:20270304T090000Z"), "others begin with the next\n{text}");
    assert_eq!(text.matches("RECURRENCE-ID").count(), 3, "{text}");
    // The one that says it now, taken out.
    let stored = api.get(path).send().await.expect(200);
    let stored = stored["data"].as_array().expect("a list");
    let fourth = stored.iter().find(|event| event["appliesToFollowing"] == true).expect("the exception");
    api.delete(format!("{path}/{}", fourth["id"].as_str().expect("an id"))).send().await.expect(204);
    expected[3].clear();
    let expected: Vec<String> = expected.into_iter().filter(|one| !one.is_empty()).collect();
    assert_eq!(march(api, path).await, expected);
    // The whole series, moved: it moves along.
    let body = json!({ "start": "2027-03-01T09:30:00Z", "end": "2027-03-01T10:30:00Z" });
    let moved = api.patch(format!("{path}/{series}"), body).send().await.expect(200);
    assert_eq!(moved["warnings"], json!([]));
    let half_later: Vec<String> = expected.iter().map(|one| one.replace(":00 ", ":30 ")).collect();
    assert_eq!(march(api, path).await, half_later);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exceptions_of_other_programs_replace_what_they_name() {
    for (name, url) in servers() {
        println!("{name}");
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &url, "t12").await;
        let body =
            json!({ "connectionId": connection["id"], "name": "Foreign", "timeZone": "Europe/Berlin" });
        let calendar = api.post("/v1/calendars", body).send().await.expect(201);
        let path = format!("/v1/calendars/{}/events", calendar["id"].as_str().expect("an id"));
        midnights(&api, (url.as_str(), "t12"), &calendar, &path).await;
        this_and_future(&api, (url.as_str(), "t12"), &calendar, &path).await;
        api.delete(format!("/v1/calendars/{}", calendar["id"].as_str().expect("an id")))
            .send()
            .await
            .expect(204);
    }
}
