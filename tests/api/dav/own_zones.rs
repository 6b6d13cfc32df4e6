//! Time zones that only the file defines, as Exchange and old programs write them: a series in one is listed, changed and busy by the
//! file's own rules, and other programs find the changes under the file's own name of the zone.

use harness::Actor;
use serde_json::{Value, json};

use crate::dav::{connect, got, put, server, servers};

const CALENDAR: &str = "text/calendar; charset=utf-8";

/// Five hours behind UTC, four from the first Sunday of April to the last one of October.
const COMPANY: &str = "BEGIN:STANDARD\nDTSTART:16011025T020000\nTZOFFSETFROM:-0400\nTZOFFSETTO:-0500\n\
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:16010401T020000\n\
    TZOFFSETFROM:-0500\nTZOFFSETTO:-0400\nRRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=4\nEND:DAYLIGHT\n";
/// A rule that no time zone has.
const NONE: &str = "BEGIN:STANDARD\nDTSTART:16010101T000000\nTZOFFSETFROM:-0400\nTZOFFSETTO:-0500\n\
    RRULE:FREQ=YEARLY;BYHOUR=1,2,3\nEND:STANDARD\n";

/// Mondays at eight in the evening, which is Tuesday in UTC.
const MONDAYS: &str = "DTSTART;TZID=Company:20270301T200000\nDTEND;TZID=Company:20270301T210000\n\
    RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=8\nEXDATE;TZID=Company:20270315T200000\nSUMMARY:Monday\n";
const LATE: &str = "RECURRENCE-ID;TZID=Company:20270322T200000\nDTSTART;TZID=Company:20270322T220000\n\
    DTEND;TZID=Company:20270322T230000\nSUMMARY:Late\n";

fn object(uid: &str, zone: &str, components: &[&str]) -> String {
    let one =
        |lines: &&str| format!("BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\n{lines}END:VEVENT\n");
    let all: String = components.iter().map(one).collect();
    let zone = format!("BEGIN:VTIMEZONE\nTZID:Company\n{zone}END:VTIMEZONE\n");
    format!("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Other//EN\n{zone}{all}END:VCALENDAR\n")
}

/// A separate calendar on a server.
struct Place<'a> {
    api: &'a Actor,
    peer: (&'a str, &'a str),
    calendar: Value,
    path: String,
}

impl<'a> Place<'a> {
    async fn new(api: &'a Actor, connection: &Value, peer: (&'a str, &'a str)) -> Place<'a> {
        let body =
            json!({ "connectionId": connection["id"], "name": "Own zones", "timeZone": "Europe/Berlin" });
        let calendar = api.post("/v1/calendars", body).send().await.expect(201);
        let path = format!("/v1/calendars/{}/events", calendar["id"].as_str().expect("an id"));
        Place { api, peer, calendar, path }
    }

    fn href(&self) -> &str {
        self.calendar["externalId"].as_str().expect("a path")
    }

    /// Stores a series as another program, and returns it as the API has it.
    async fn series(&self, uid: &str, text: &str) -> Value {
        let (url, user) = self.peer;
        put(url, user, self.href(), &format!("{uid}.ics"), (CALENDAR, text)).await;
        let page = self.api.get(&self.path).header("cache-control", "no-cache").send().await.expect(200);
        let mut all = page["data"].as_array().expect("a list").iter();
        all.find(|event| event["iCalUid"] == uid && event["type"] == "series").expect("a series").clone()
    }

    /// The object as another program finds it.
    async fn text(&self, uid: &str) -> String {
        let (url, user) = self.peer;
        got(url, user, &format!("{}{uid}.ics", self.href())).await.replace("\r\n", "\n").replace("\n ", "")
    }

    /// Starts and titles of the instances of March and April 2027.
    async fn spring(&self, uid: &str) -> Vec<String> {
        let query = "expand=true&limit=100&start=2027-03-01T00:00:00Z&end=2027-05-01T00:00:00Z";
        let page = self.api.get(format!("{}?{query}", self.path)).send().await.expect(200);
        let own = page["data"].as_array().expect("a list").iter().filter(|event| event["iCalUid"] == uid);
        own.map(|event| {
            let start: String = event["start"].as_str().expect("a start").chars().skip(5).take(11).collect();
            format!("{start} {}", event["title"].as_str().unwrap_or_default())
        })
        .collect()
    }

    fn instance(&self, series: &Value, suffix: &str) -> String {
        format!("{}/{}_{suffix}", self.path, series["id"].as_str().expect("an id"))
    }
}

/// The wall clock of the file, on both sides of its change of clocks on 4 April 2027.
async fn read(place: &Place<'_>, series: &Value) {
    assert_eq!(
        place.spring("own-zone").await,
        [
            "03-02T01:00 Monday",
            "03-09T01:00 Monday",
            "03-23T03:00 Late",
            "03-30T01:00 Monday",
            "04-06T00:00 Monday",
            "04-13T00:00 Monday",
            "04-20T00:00 Monday",
        ]
    );
    assert_eq!(series["timeZone"], "UTC");
    assert_eq!(series["timeZoneRules"]["posix"], "STD5DST4,M4.1.0/2,M10.5.0/2");
    let told = series["warnings"].as_array().expect("a list");
    let told: Vec<&Value> = told.iter().filter(|one| one["code"] == "custom_time_zone").collect();
    assert_eq!(told.len(), 1, "{series}");
    assert!(told[0]["message"].as_str().expect("a text").contains("\"Company\""), "{}", told[0]);
    let calendar = &place.calendar;
    let query = json!({
        "start": "2027-04-05T00:00:00Z", "end": "2027-04-08T00:00:00Z",
        "targets": [{ "connectionId": calendar["connectionId"], "calendarIds": [calendar["id"]] }],
    });
    let answer = place.api.post("/v1/calendars/freebusy/query", query).send().await.expect(200);
    let busy = answer["data"][0]["busy"].as_array().expect("a list");
    assert_eq!(busy.len(), 1, "{answer}");
    assert_eq!(busy[0]["start"], "2027-04-06T00:00:00.000Z");
}

/// A title of one instance, one instance out, the rules refused: what other programs find.
async fn change_instances(place: &Place<'_>, series: &Value) {
    let sixth = place.instance(series, "20270406T000000Z");
    let renamed = place.api.patch(&sixth, json!({ "title": "Renamed" })).send().await.expect(200);
    assert_eq!(renamed["start"], "2027-04-06T00:00:00.000Z");
    assert_eq!(renamed["end"], "2027-04-06T01:00:00.000Z");
    assert_eq!(renamed["recurrenceId"], "2027-04-05T20:00:00");
    place.api.delete(place.instance(series, "20270413T000000Z")).send().await.expect(204);
    let text = place.text("own-zone").await;
    for line in [
        "DTSTART;TZID=Company:20270301T200000\n",
        "EXDATE;TZID=Company:20270315T200000\n",
        "EXDATE;TZID=Company:20270412T200000\n",
        "RECURRENCE-ID;TZID=Company:20270405T200000\n",
        "DTSTART;TZID=Company:20270405T200000\n",
        "DTEND;TZID=Company:20270405T210000\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    assert_eq!(
        place.spring("own-zone").await,
        [
            "03-02T01:00 Monday",
            "03-09T01:00 Monday",
            "03-23T03:00 Late",
            "03-30T01:00 Monday",
            "04-06T00:00 Renamed",
            "04-20T00:00 Monday",
        ]
    );
    let refused = json!({ "timeZoneRules": { "posix": "STD5" } });
    let series = format!("{}/{}", place.path, series["id"].as_str().expect("an id"));
    let error = place.api.patch(series, refused).send().await.expect(400);
    assert_eq!(error["error"]["param"], "timeZoneRules", "{error}");
}

/// From eight to half past nine, by an instance with the scope `all`, after the change of clocks.
async fn move_all(place: &Place<'_>, series: &Value) {
    let last = place.instance(series, "20270420T000000Z");
    let body = json!({
        "start": "2027-04-20T01:30:00Z", "end": "2027-04-20T02:30:00Z", "recurrenceScope": "all",
    });
    place.api.patch(last, body).send().await.expect(200);
    assert_eq!(
        place.spring("own-zone").await,
        [
            "03-02T02:30 Monday",
            "03-09T02:30 Monday",
            "03-23T04:30 Late",
            "03-30T02:30 Monday",
            "04-06T01:30 Renamed",
            "04-20T01:30 Monday",
        ]
    );
    let text = place.text("own-zone").await;
    assert!(text.contains("DTSTART;TZID=Company:20270301T213000\n"), "{text}");
    assert!(text.contains("EXDATE;TZID=Company:20270315T213000\n"), "{text}");
}

/// A series with an unusable time zone is listed, renamed and deleted as a whole; its instances are left alone.
async fn unusable(place: &Place<'_>) {
    let series = place.series("no-zone", &object("no-zone", NONE, &[MONDAYS])).await;
    let told = series["warnings"].as_array().expect("a list");
    assert!(told.iter().any(|one| one["code"] == "unreadable_time_zone"), "{series}");
    let before = place.text("no-zone").await;
    let page = place.spring("no-zone").await;
    assert_eq!(page.len(), 7, "{page:?}");
    let instance = place.instance(&series, "20270308T200000Z");
    let refused = place.api.patch(&instance, json!({ "title": "One" })).send().await;
    assert!((400..500).contains(&refused.status), "{refused:?}");
    let refused = place.api.delete(&instance).send().await;
    assert!((400..500).contains(&refused.status), "{refused:?}");
    assert_eq!(place.text("no-zone").await, before);
    let whole = format!("{}/{}", place.path, series["id"].as_str().expect("an id"));
    place.api.patch(&whole, json!({ "title": "All" })).send().await.expect(200);
    let after = place.text("no-zone").await;
    assert!(after.contains("SUMMARY:All\n"), "{after}");
    assert!(after.contains("DTSTART;TZID=Company:20270301T200000\n"), "{after}");
    place.api.delete(whole).send().await.expect(204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_that_only_the_file_knows_is_kept_to() {
    for (name, url) in servers() {
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &url, "t12").await;
        println!("{name}");
        let place = Place::new(&api, &connection, (url.as_str(), "t12")).await;
        let series = place.series("own-zone", &object("own-zone", COMPANY, &[MONDAYS, LATE])).await;
        read(&place, &series).await;
        change_instances(&place, &series).await;
        move_all(&place, &series).await;
        unusable(&place).await;
        let id = place.calendar["id"].as_str().expect("an id");
        api.delete(format!("/v1/calendars/{id}")).send().await.expect(204);
    }
}
