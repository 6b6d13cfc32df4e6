//! A moved series keeps its excluded, additional and changed instances, and reports those that it cannot keep.

use std::collections::BTreeMap;

use harness::Actor;
use serde_json::{Value, json};

use crate::dav::{connect, got, put, server, servers};

const CALENDAR: &str = "text/calendar; charset=utf-8";

/// A calendar on a server, with what other clients put there.
struct Place<'a> {
    api: &'a Actor,
    url: &'a str,
    user: &'a str,
    calendar: Value,
    path: String,
}

impl<'a> Place<'a> {
    async fn new(
        api: &'a Actor,
        connection: &Value,
        (url, user): (&'a str, &'a str),
        name: &str,
    ) -> Place<'a> {
        let body = json!({ "connectionId": connection["id"], "name": name, "timeZone": "Europe/Berlin" });
        let calendar = api.post("/v1/calendars", body).send().await.expect(201);
        let path = format!("/v1/calendars/{}/events", calendar["id"].as_str().expect("an id"));
        Place { api, url, user, calendar, path }
    }

    /// Puts an object with these components there (`|` for the ends of lines), and returns its series.
    async fn series(&self, uid: &str, components: &[&str]) -> Value {
        let one = |lines: &&str| {
            let lines = lines.replace('|', "\n");
            format!("BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\n{lines}\nEND:VEVENT\n")
        };
        let all: String = components.iter().map(one).collect();
        let text = format!("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Other//EN\n{ZONE}{all}END:VCALENDAR\n");
        let href = self.calendar["externalId"].as_str().expect("a path");
        put(self.url, self.user, href, &format!("{uid}.ics"), (CALENDAR, &text)).await;
        self.stored()
            .await
            .into_iter()
            .find(|e| e["iCalUid"] == uid && e["type"] == "series")
            .expect("a series")
    }

    async fn stored(&self) -> Vec<Value> {
        let page = self.api.get(&self.path).header("cache-control", "no-cache").send().await.expect(200);
        page["data"].as_array().expect("a list").clone()
    }

    /// Starts (day and local time of Berlin in winter) and titles of December.
    async fn december(&self, uid: &str) -> BTreeMap<String, String> {
        let query = "expand=true&limit=100&start=2026-12-01T00:00:00Z&end=2027-01-01T00:00:00Z";
        let page = self.api.get(format!("{}?{query}", self.path)).send().await.expect(200);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let start = |event: &Value| match event["allDay"] == true {
            true => text(&event["startDate"]).chars().skip(8).collect::<String>(),
            false => text(&event["start"]).chars().skip(8).take(8).collect::<String>(),
        };
        let all = page["data"].as_array().expect("a list").iter();
        let mine = all.filter(|event| event["iCalUid"] == uid);
        let mut found = BTreeMap::new();
        for event in mine {
            let before = found.insert(start(event), text(&event["title"]));
            assert_eq!(before, None, "two instances at {}", start(event));
        }
        found
    }

    fn event(&self, id: &Value) -> String {
        format!("{}/{}", self.path, id.as_str().expect("an id"))
    }

    async fn end(self) {
        let id = self.calendar["id"].as_str().expect("an id").to_owned();
        self.api.delete(format!("/v1/calendars/{id}")).send().await.expect(204);
    }
}

const ZONE: &str = "BEGIN:VTIMEZONE\nTZID:Europe/Berlin\nBEGIN:STANDARD\nDTSTART:19701025T030000\nTZOFFSETFROM:+0200\n\
    TZOFFSETTO:+0100\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:19700329T020000\n\
    TZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nEND:DAYLIGHT\nEND:VTIMEZONE\n";

const DAILY: &str = "DTSTART;TZID=Europe/Berlin:20261201T100000|DTEND;TZID=Europe/Berlin:20261201T110000|\
    RRULE:FREQ=DAILY;COUNT=8|EXDATE;TZID=Europe/Berlin:20261203T100000|RDATE;TZID=Europe/Berlin:20261220T150000|SUMMARY:Daily";
const ONCE: &str = "RECURRENCE-ID;TZID=Europe/Berlin:20261205T100000|DTSTART;TZID=Europe/Berlin:20261205T100000|\
    DTEND;TZID=Europe/Berlin:20261205T110000|SUMMARY:Once";
const AWAY: &str = "RECURRENCE-ID;TZID=Europe/Berlin:20261206T100000|DTSTART;TZID=Europe/Berlin:20261206T160000|\
    DTEND;TZID=Europe/Berlin:20261206T170000|SUMMARY:Away";

/// Daily at ten, not on the 3rd, also on the 20th, changed on the 5th and the 6th: half an hour later everything is half an hour later,
/// by a change of the series and by one of an instance with the scope `all`.
async fn half_an_hour_later(place: &Place<'_>) {
    let later = [
        ("01T09:30", "Daily"),
        ("02T09:30", "Daily"),
        ("04T09:30", "Daily"),
        ("05T09:30", "Once"),
        ("06T15:30", "Away"),
        ("07T09:30", "Daily"),
        ("08T09:30", "Daily"),
        ("20T14:30", "Daily"),
    ];
    let later: BTreeMap<String, String> = later.map(|(at, title)| (at.to_owned(), title.to_owned())).into();
    for (uid, scope) in [("whole", None), ("all", Some("all"))] {
        let series = place.series(uid, &[DAILY, ONCE, AWAY]).await;
        let (event, body) = match scope {
            None => (
                place.event(&series["id"]),
                json!({ "start": "2026-12-01T09:30:00Z", "end": "2026-12-01T10:30:00Z" }),
            ),
            Some(scope) => (
                format!("{}_20261204T090000Z", place.event(&series["id"])),
                json!({ "start": "2026-12-04T09:30:00Z", "end": "2026-12-04T10:30:00Z", "recurrenceScope": scope }),
            ),
        };
        let changed = place.api.patch(event, body).send().await.expect(200);
        assert_eq!(changed["warnings"], json!([]), "{uid}");
        assert_eq!(place.december(uid).await, later, "{uid}");
        let href = format!("{}{uid}.ics", place.calendar["externalId"].as_str().expect("a path"));
        let text = got(place.url, place.user, &href).await;
        assert!(text.contains("20261203T103000") && !text.contains("20261203T100000"), "{text}");
    }
}

/// The same from the 4th on: earlier instances stay.
async fn split(place: &Place<'_>) {
    let series = place.series("split", &[DAILY, ONCE, AWAY]).await;
    let with_hole = "20261207T090000Z";
    place.api.delete(format!("{}_{with_hole}", place.event(&series["id"]))).send().await.expect(204);
    let body = json!({
        "start": "2026-12-04T09:30:00Z", "end": "2026-12-04T10:30:00Z", "recurrenceScope": "thisAndFollowing",
    });
    let event = format!("{}_20261204T090000Z", place.event(&series["id"]));
    let changed = place.api.patch(event, body).send().await.expect(200);
    assert_eq!(changed["warnings"], json!([]));
    let old: Vec<String> = place.december("split").await.into_keys().collect();
    assert_eq!(old, ["01T09:00", "02T09:00"]);
    let new = place.december(changed["iCalUid"].as_str().expect("a uid")).await;
    let new: Vec<(&str, &str)> = new.iter().map(|(at, title)| (at.as_str(), title.as_str())).collect();
    let expected = [
        ("04T09:30", "Daily"),
        ("05T09:30", "Once"),
        ("06T15:30", "Away"),
        ("08T09:30", "Daily"),
        ("20T14:30", "Daily"),
    ];
    assert_eq!(new, expected);
}

/// From Tuesday to Wednesday, with and without the weekday in the rule, timed and as days.
async fn another_weekday(place: &Place<'_>) {
    let timed = "DTSTART;TZID=Europe/Berlin:20261201T100000|DTEND;TZID=Europe/Berlin:20261201T110000|\
        EXDATE;TZID=Europe/Berlin:20261215T100000|SUMMARY:Weekly";
    let days = "DTSTART;VALUE=DATE:20261201|EXDATE;VALUE=DATE:20261215|SUMMARY:Weekly";
    let to_wednesday = json!({ "start": "2026-12-02T09:00:00Z", "end": "2026-12-02T10:00:00Z" });
    let day = json!({ "startDate": "2026-12-02", "endDate": "2026-12-03" });
    let with_rule = json!({
        "start": "2026-12-02T09:00:00Z", "end": "2026-12-02T10:00:00Z",
        "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=WE", "EXDATE;TZID=Europe/Berlin:20261215T100000"],
    });
    let cases = [
        ("implied", timed, "FREQ=WEEKLY", &to_wednesday),
        ("named", timed, "FREQ=WEEKLY;BYDAY=TU", &to_wednesday),
        ("written", timed, "FREQ=WEEKLY;BYDAY=TU", &with_rule),
        ("days", days, "FREQ=WEEKLY;BYDAY=TU", &day),
    ];
    for (uid, lines, rule, body) in cases {
        let series = place.series(uid, &[&format!("{lines}|RRULE:{rule}")]).await;
        let changed = place.api.patch(place.event(&series["id"]), body.clone()).send().await.expect(200);
        assert_eq!(changed["warnings"], json!([]), "{uid}");
        let starts: Vec<String> = place.december(uid).await.into_keys().collect();
        let hour = if uid == "days" { "" } else { "T09:00" };
        assert_eq!(starts, ["02", "09", "23", "30"].map(|day| format!("{day}{hour}")), "{uid}");
    }
}

/// Another rule at another time: instances cannot be matched, so lost ones are reported.
async fn another_rule(place: &Place<'_>) {
    let series = place.series("other", &[DAILY, ONCE]).await;
    let body = json!({
        "start": "2026-12-01T11:00:00Z", "end": "2026-12-01T12:00:00Z",
        "recurrence": ["RRULE:FREQ=MONTHLY", "EXDATE;TZID=Europe/Berlin:20261203T100000"],
    });
    let changed = place.api.patch(place.event(&series["id"]), body).send().await.expect(200);
    let told = changed["warnings"].as_array().expect("a list");
    let told: Vec<(&Value, &Value)> = told.iter().map(|one| (&one["code"], &one["target"])).collect();
    let gone = json!("exception_dropped");
    let (hole, once) = (json!("2026-12-03T10:00:00"), json!("2026-12-05T10:00:00"));
    assert_eq!(told, [(&gone, &hole), (&gone, &once)]);
    assert_eq!(place.december("other").await.into_keys().collect::<Vec<_>>(), ["01T11:00"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_moved_series_keeps_what_is_said_of_its_instances() {
    for (name, url) in servers() {
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &url, "t11").await;
        println!("{name}");
        let place = Place::new(&api, &connection, (url.as_str(), "t11"), "Moved").await;
        half_an_hour_later(&place).await;
        split(&place).await;
        another_weekday(&place).await;
        another_rule(&place).await;
        place.end().await;
    }
}
