//! Objects that the API stores on servers, as other programs read them: series of every form of time, created, changed, cut and with
//! changed and deleted instances, as Radicale (vobject) and Cyrus (libical) give them back, read by icalendar, vobject and
//! python-dateutil.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use harness::Actor;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::dav::{connect, got, put, server, servers};

const CALENDAR: &str = "text/calendar; charset=utf-8";
const USER: &str = "t20";
const UNTIL: &str = "2027-04-01T00:00:00Z";

const ZONE: &str = "BEGIN:VTIMEZONE\nTZID:Europe/Berlin\nBEGIN:STANDARD\nDTSTART:19701025T030000\nTZOFFSETFROM:+0200\n\
    TZOFFSETTO:+0100\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:19700329T020000\n\
    TZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nEND:DAYLIGHT\nEND:VTIMEZONE\n";

/// How other programs say times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Floating,
    Zoned,
    Utc,
    Days,
}

const FORMS: [Form; 4] = [Form::Floating, Form::Zoned, Form::Utc, Form::Days];

impl Form {
    /// A property at nine on a day of March, in Berlin where it is neither of days nor in UTC.
    fn at(self, name: &str, day: u8, hour: u8) -> String {
        match self {
            Form::Floating => format!("{name}:202703{day:02}T{hour:02}0000"),
            Form::Zoned => format!("{name};TZID=Europe/Berlin:202703{day:02}T{hour:02}0000"),
            Form::Utc => format!("{name}:202703{day:02}T{hour:02}0000Z"),
            Form::Days => format!("{name};VALUE=DATE:202703{:02}", day + u8::from(hour > 9)),
        }
    }

    fn until(self) -> &'static str {
        match self {
            Form::Floating => "20270310T090000",
            Form::Zoned => "20270310T080000Z",
            Form::Utc => "20270310T090000Z",
            Form::Days => "20270310",
        }
    }

    /// A daily series from the 1st to the 10th without the 3rd, changed on the 5th.
    fn object(self, uid: &str) -> String {
        let (zone, until) = (if self == Form::Zoned { ZONE } else { "" }, self.until());
        let (start, end) = (self.at("DTSTART", 1, 9), self.at("DTEND", 1, 10));
        let (hole, id) = (self.at("EXDATE", 3, 9), self.at("RECURRENCE-ID", 5, 9));
        let (moved, moved_end) = (self.at("DTSTART", 15, 9), self.at("DTEND", 15, 10));
        format!(
            "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Other//EN\n{zone}BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\n{start}\n\
             {end}\nRRULE:FREQ=DAILY;UNTIL={until}\n{hole}\nSUMMARY:Series\nX-KEPT;X-P=\"a:b\":c\nBEGIN:VALARM\nACTION:DISPLAY\n\
             DESCRIPTION:Soon\nTRIGGER;X-A=1:-PT10M\nEND:VALARM\nEND:VEVENT\nBEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\n{id}\n\
             {moved}\n{moved_end}\nSUMMARY:Moved\nEND:VEVENT\nEND:VCALENDAR\n"
        )
    }

    /// Returns the suffix that the id of an instance on a day has after the id of its series.
    fn suffix(self, day: u8) -> String {
        match self {
            Form::Floating | Form::Zoned => format!("202703{day:02}T080000Z"),
            Form::Utc => format!("202703{day:02}T090000Z"),
            Form::Days => format!("202703{day:02}"),
        }
    }
}

/// A change of a series or of one of its instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Moved,
    OtherRule,
    OtherInstance,
    NoInstance,
    Split,
}

const CHANGES: [Change; 5] =
    [Change::Moved, Change::OtherRule, Change::OtherInstance, Change::NoInstance, Change::Split];

impl Change {
    /// The body of the request; none for a deletion.
    fn body(self, form: Form) -> Option<Value> {
        let is_days = form == Form::Days;
        match self {
            Change::Moved if is_days => Some(json!({ "startDate": "2027-03-02", "endDate": "2027-03-03" })),
            Change::Moved if form == Form::Utc => {
                Some(json!({ "start": "2027-03-01T09:30:00Z", "end": "2027-03-01T10:30:00Z" }))
            }
            Change::Moved => Some(json!({ "start": "2027-03-01T08:30:00Z", "end": "2027-03-01T09:30:00Z" })),
            // Dates without VALUE=DATE, and a time without a zone: the API takes both.
            Change::OtherRule if is_days => {
                Some(json!({ "recurrence": ["RRULE:FREQ=DAILY;UNTIL=20270308", "EXDATE:20270304"] }))
            }
            Change::OtherRule => Some(json!({
                "recurrence": ["RRULE:FREQ=DAILY;UNTIL=20270308T220000Z", "EXDATE:20270304T090000"],
            })),
            Change::OtherInstance => Some(json!({ "title": "Once" })),
            Change::NoInstance => None,
            Change::Split => Some(json!({ "title": "Later", "recurrenceScope": "thisAndFollowing" })),
        }
    }

    /// The day of March of the instance that it is about.
    fn day(self) -> Option<u8> {
        match self {
            Change::Moved | Change::OtherRule => None,
            Change::OtherInstance => Some(4),
            Change::NoInstance => Some(6),
            Change::Split => Some(7),
        }
    }
}

/// New series, as callers may spell their lines.
fn new_series() -> [Value; 3] {
    let reminders = json!({ "overrides": [{ "minutesBefore": 30 }, { "minutesBefore": 0 }] });
    [
        json!({
            "title": "Zoned", "start": "2027-03-01T14:00:00Z", "end": "2027-03-01T15:00:00Z", "timeZone": "America/New_York",
            "reminders": reminders,
            "recurrence": [
                "RRULE:FREQ=DAILY;UNTIL=20270310T230000Z", "EXDATE;TZID=Asia/Tokyo:20270303T230000", "RDATE:20270320T150000Z",
            ],
        }),
        json!({
            "title": "UTC", "start": "2027-03-01T14:00:00Z", "end": "2027-03-01T15:00:00Z", "timeZone": "UTC",
            "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=3", "EXDATE;TZID=Europe/Berlin:20270308T150000"],
        }),
        json!({
            "title": "Days", "allDay": true, "startDate": "2027-03-01", "endDate": "2027-03-02", "reminders": reminders,
            "recurrence": ["RRULE:FREQ=DAILY;UNTIL=20270310", "EXDATE:20270303,20270304"],
        }),
    ]
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value:#}"))
}

/// The oracle's interpreter, where there is one.
fn python() -> Option<String> {
    let python = std::env::var("ORACLE_PYTHON").ok();
    if python.is_none() {
        assert_ne!(
            std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(),
            Ok("1"),
            "ORACLE_PYTHON is not set"
        );
        println!("NOT RUN: ORACLE_PYTHON is not set; `cargo xtask test` sets it");
    }
    python
}

/// Returns what other programs read in each of these objects.
fn ask(python: &str, objects: &[(String, String)]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../connectors/dav/tests/oracle/written.py");
    let to = UNTIL.parse::<Timestamp>().expect("an instant").as_second();
    let question = |(_, text): &(String, String)| {
        format!("{}\n", json!({ "text": text, "home": "Europe/Berlin", "to": to, "stored": true }))
    };
    let questions: String = objects.iter().map(question).collect();
    let mut command = Command::new(python);
    let mut child =
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the oracle starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(questions.as_bytes()));
    let output = child.wait_with_output().expect("the oracle ends");
    writer.join().expect("no panic").expect("the oracle reads to the end");
    assert!(output.status.success(), "the oracle failed");
    let answers = String::from_utf8(output.stdout).expect("text");
    answers.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The starts of all instances of March by the UID of their series, seconds since 1970, as the API has them.
async fn instances(api: &Actor, path: &str) -> BTreeMap<String, Vec<i64>> {
    let query = format!("{path}?expand=true&start=2027-02-01T00:00:00Z&end={UNTIL}");
    let mut found: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for instance in api.all(&query).await {
        let start = text(&instance, "start").parse::<Timestamp>().expect("an instant").as_second();
        found.entry(text(&instance, "iCalUid").to_owned()).or_default().push(start);
    }
    found.values_mut().for_each(|starts| starts.sort_unstable());
    found
}

/// Makes each change of a separate series in each form; returns the UIDs and paths of the results.
async fn change_all(api: &Actor, url: &str, folder: &str, path: &str) -> Vec<(String, String)> {
    let mut cases = Vec::new();
    for form in FORMS {
        for change in CHANGES {
            let uid = format!("{form:?}-{change:?}").to_lowercase();
            put(url, USER, folder, &format!("{uid}.ics"), (CALENDAR, &form.object(&uid))).await;
            cases.push((form, change, uid));
        }
    }
    let page =
        api.get(format!("{path}?limit=100")).header("cache-control", "no-cache").send().await.expect(200);
    let stored = page["data"].as_array().expect("a list");
    let mut written = Vec::new();
    for (form, change, uid) in cases {
        let is_it = |event: &&Value| event["iCalUid"] == uid.as_str() && event["type"] == "series";
        let series = stored.iter().find(is_it).unwrap_or_else(|| panic!("no {uid}"));
        let mut target = format!("{path}/{}", text(series, "id"));
        if let Some(day) = change.day() {
            target = format!("{target}_{}", form.suffix(day));
        }
        match change.body(form) {
            None => drop(api.delete(target).send().await.expect(204)),
            Some(body) => {
                let changed = api.patch(target, body).send().await.expect(200);
                assert_eq!(changed["warnings"], json!([]), "{uid}");
                if change == Change::Split {
                    written.push((
                        text(&changed, "iCalUid").to_owned(),
                        text(&changed, "externalId").to_owned(),
                    ));
                }
            }
        }
        written.push((uid, text(series, "externalId").to_owned()));
    }
    written
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_read_what_servers_store() {
    let Some(python) = python() else { return };
    for (name, url) in servers() {
        println!("{name}");
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &url, USER).await;
        let body =
            json!({ "connectionId": connection["id"], "name": "Written", "timeZone": "Europe/Berlin" });
        let calendar = api.post("/v1/calendars", body).send().await.expect(201);
        let path = format!("/v1/calendars/{}/events", text(&calendar, "id"));
        let mut written = change_all(&api, &url, text(&calendar, "externalId"), &path).await;
        for body in new_series() {
            let made = api.post(&path, body).send().await.expect(201);
            written.push((text(&made, "iCalUid").to_owned(), text(&made, "externalId").to_owned()));
        }
        let instances = instances(&api, &path).await;
        let mut objects = Vec::new();
        for (uid, href) in written {
            let object = got(&url, USER, &href).await;
            objects.push((uid, object));
        }
        let answers = ask(&python, &objects);
        assert_eq!((answers.len(), objects.len()), (27, 27));
        for ((uid, object), answer) in objects.iter().zip(answers) {
            assert_eq!(answer["problems"], json!([]), "{name}: {uid}\n{object}");
            assert_eq!(answer["starts"], json!(instances[uid]), "{name}: {uid}\n{object}");
        }
        api.delete(format!("/v1/calendars/{}", text(&calendar, "id"))).send().await.expect(204);
    }
}
