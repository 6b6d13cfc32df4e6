//! Written objects are read by other programs. Objects of every form (days, UTC, floating, zones by several names), edited in every way:
//! icalendar, vobject and python-dateutil read the results, and find the same instances in them as the connector. Lines that an edit does
//! not touch keep their bytes.
//!
//! The interpreter comes from `ORACLE_PYTHON` (a venv with tests/peers/oracle.txt). Without it the tests that need it say that they
//! did not run, and fail where `SWITCHBOARD_REQUIRE_PEERS=1`. `WRITTEN_CASES` sets the number of edits, `WRITTEN_SEED` the seed.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod objects;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use connector_dav::collection::changed::FieldSet;
use connector_dav::ical::lines::set_text;
use connector_dav::ical::people::Selves;
use connector_dav::ical::read::Reader;
use connector_dav::ical::resource::{self, define_zones, parse, print, touch};
use connector_dav::ical::series::{Editor, Update};
use connector_dav::ical::write::Writer;
use connector_sdk::Outcome;
use ical::tree::cst::IcalCst;
use jiff::Span;
use jiff::civil::{Date, DateTime};
use model::Instant;
use model::calendar::{Attendee, Event, EventType, Reminder, ReminderMethod, Reminders, ResponseStatus};
use model::wire::calendar::RecurrenceScope;
use objects::{Base, FINE, FORMS, Form, HOME, UID, base, basic, instant, later, utc};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use recurrence::{Caps, Occurrence, instances};
use serde_json::{Value, json};

/// The last instance that is looked at starts before this.
const TO: &str = "2027-02-01T00:00:00Z";
const MINUTE_MS: i64 = 60_000;

/// The edit of an object.
#[derive(Clone, Debug)]
enum Edit {
    Title,
    /// Minutes; days of an all-day event.
    Move(i64),
    Lengthen,
    Zone(&'static str),
    /// From times to days or back.
    Kind,
    /// Other lines, as callers of the API spell them.
    Rule(usize),
    Clear,
    Split(usize, i64),
    Cap(usize),
    /// One instance: its title, or how much later it is, minutes.
    One(usize, Option<i64>),
    Delete(usize),
    Reminders,
    Invite,
    /// Jane is not invited any more.
    Uninvite,
    /// An answer to the invitation, for an instance or for all.
    Answer(Option<usize>),
    /// A new event that says the same.
    Create,
}

fn edit() -> impl Strategy<Value = Edit> {
    let minutes = || select(vec![-1440_i64, -600, -30, 15, 60, 210, 1440, 4320, 10_080]);
    prop_oneof![
        1 => Just(Edit::Title),
        4 => minutes().prop_map(Edit::Move),
        1 => Just(Edit::Lengthen),
        3 => select(vec!["America/New_York", "Europe/Berlin", "Asia/Tokyo", "UTC"]).prop_map(Edit::Zone),
        2 => Just(Edit::Kind),
        4 => (0..4_usize).prop_map(Edit::Rule),
        1 => Just(Edit::Clear),
        4 => (1..7_usize, select(vec![0_i64, 30, -90, 1440])).prop_map(|(at, by)| Edit::Split(at, by)),
        2 => (1..7_usize).prop_map(Edit::Cap),
        3 => (0..7_usize, prop::option::of(minutes())).prop_map(|(at, by)| Edit::One(at, by)),
        3 => (0..7_usize).prop_map(Edit::Delete),
        1 => Just(Edit::Reminders),
        1 => Just(Edit::Invite),
        1 => Just(Edit::Uninvite),
        2 => prop::option::of(0..7_usize).prop_map(Edit::Answer),
        3 => Just(Edit::Create),
    ]
}

fn reader() -> Reader {
    Reader::new(Selves::new(["me@example.com"]), Some(HOME))
}

fn read(text: &str) -> Vec<Event> {
    let items = reader().items("/x.ics", text).unwrap_or_else(|error| panic!("{}\n{text}", error.message));
    items.into_iter().map(|item| item.body.read().unwrap()).collect()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Moves an event; the names of the fields that say so.
fn shift(event: &mut Event, minutes: i64) -> &'static [&'static str] {
    if event.all_day {
        let days = Span::new().days(if minutes < 0 { -1 } else { 2 });
        for date in [&mut event.start_date, &mut event.end_date] {
            let moved = date.as_deref().unwrap().parse::<Date>().unwrap().checked_add(days).unwrap();
            *date = Some(moved.to_string());
        }
        return &["startDate", "endDate"];
    }
    event.start = Instant::from_millis(event.start.as_millis() + minutes * MINUTE_MS);
    event.end = Instant::from_millis(event.end.as_millis() + minutes * MINUTE_MS);
    &["start", "end"]
}

/// Puts the body of a series where one of its instances is.
fn place(event: &mut Event, occurrence: &Occurrence) {
    let length = event.end.as_millis() - event.start.as_millis();
    event.start = occurrence.start;
    event.end = Instant::from_millis(occurrence.start.as_millis() + length);
    event.start_date.clone_from(&occurrence.start_date);
    event.end_date.clone_from(&occurrence.end_date);
}

/// From times to days or back; the names of the fields that say so.
fn change_kind(event: &mut Event, start: DateTime) -> &'static [&'static str] {
    event.all_day = !event.all_day;
    if event.all_day {
        event.start_date = Some(start.date().to_string());
        event.end_date = Some(start.date().tomorrow().unwrap().to_string());
        return &["allDay", "startDate", "endDate"];
    }
    event.start = Instant::from_millis(event.start.as_millis() + 9 * 60 * MINUTE_MS);
    event.end = Instant::from_millis(event.start.as_millis() + 60 * MINUTE_MS);
    event.time_zone = HOME.into();
    &["allDay", "start", "end", "timeZone"]
}

/// Lines of recurrence that the API takes for this event.
fn new_lines(number: usize, event: &Event, start: DateTime) -> Vec<String> {
    let day = |days: i64| Form::Day.value(later(start, days * 1440));
    let at = |days: i64| Instant::from_millis(event.start.as_millis() + days * 1440 * MINUTE_MS);
    let local = |days: i64| basic(later(start, days * 1440));
    let lines = match (number, event.all_day) {
        (0, true) => vec![format!("RRULE:FREQ=WEEKLY;UNTIL={}", day(60))],
        (0, false) => vec![format!("RRULE:FREQ=WEEKLY;UNTIL={}", utc(at(60)))],
        // Without VALUE=DATE, and without TZID.
        (1, true) => vec!["RRULE:FREQ=DAILY;COUNT=9".into(), format!("EXDATE:{}", day(2))],
        (1, false) => vec!["RRULE:FREQ=DAILY;COUNT=9".into(), format!("EXDATE:{}", local(2))],
        (2, true) => vec![
            "RRULE:FREQ=DAILY;COUNT=9".into(),
            format!("EXDATE;VALUE=DATE:{}, {}", day(1), day(3)),
            format!("RDATE:{}", day(40)),
        ],
        (2, false) => {
            let tokyo = recurrence::zone("Asia/Tokyo").unwrap().to_datetime(at(2).timestamp());
            vec![
                "RRULE:FREQ=DAILY;COUNT=9".into(),
                format!("EXDATE;TZID=Asia/Tokyo:{}", basic(tokyo)),
                format!("RDATE;VALUE=DATE-TIME:{}, {}", utc(at(40)), utc(at(41))),
            ]
        }
        _ => vec!["rrule:freq=daily;count=5".into()],
    };
    recurrence::validate(&lines, event.all_day).unwrap_or_else(|error| panic!("{lines:?}: {error}"));
    lines
}

fn texts(edited: Update) -> Vec<String> {
    edited.text.into_iter().collect()
}

/// The objects after the edit. None where it is none of this object: an instance of a single event.
fn edited(base: &Base, text: &str, edit: &Edit) -> Option<Outcome<Vec<String>>> {
    let (calendar, reader) = (parse(text).unwrap(), reader());
    let editor = Editor {
        reader: &reader,
        original: &calendar,
        now: instant("2026-03-01T00:00:00Z"),
        server_tells: None,
    };
    let all = base.occurrences();
    let mut event = read(text).remove(0);
    let main =
        |event: &Event, names: &[&str]| Some(editor.update_main(event, &FieldSet(&owned(names))).map(texts));
    match edit {
        Edit::Title => {
            event.title = Some("New; title, with\nall".into());
            main(&event, &["title"])
        }
        Edit::Move(minutes) => {
            let names = shift(&mut event, *minutes);
            main(&event, names)
        }
        Edit::Lengthen => {
            let start = (event.start, event.start_date.clone());
            shift(&mut event, 30);
            (event.start, event.start_date) = start;
            main(&event, if event.all_day { &["endDate"] } else { &["end"] })
        }
        Edit::Zone(_) if event.all_day => None,
        Edit::Zone(zone) => {
            event.time_zone = (*zone).into();
            main(&event, &["timeZone"])
        }
        // Days have no hours.
        Edit::Kind if base.rule.is_some_and(|rule| rule >= FINE) => None,
        Edit::Kind => {
            let names = change_kind(&mut event, base.start);
            main(&event, names)
        }
        Edit::Rule(number) => {
            event.recurrence = new_lines(*number, &event, base.start);
            main(&event, &["recurrence"])
        }
        Edit::Clear => {
            event.recurrence.clear();
            main(&event, &["recurrence"])
        }
        Edit::Reminders => {
            let of = |method, minutes_before| Reminder { method, minutes_before };
            let (mail, popup) = (ReminderMethod::Email, ReminderMethod::Popup);
            let overrides = vec![of(popup, 10), of(mail, 1440), of(popup, 0), of(mail, 30)];
            event.reminders = Reminders { use_default: false, overrides };
            main(&event, &["reminders"])
        }
        Edit::Invite => {
            let (email, name) = ("new@example.com".into(), Some("New \"One\"; and, more".into()));
            event.attendees.push(Attendee { email, name, ..Attendee::default() });
            main(&event, &["attendees"])
        }
        Edit::Uninvite => {
            event.attendees.retain(|attendee| attendee.email != "jane@example.com");
            main(&event, &["attendees"])
        }
        Edit::Answer(at) => {
            let id = at.map(|at| all.get(at).map(|one| one.recurrence_id.as_str()));
            let (id, scope) = match id {
                Some(id) => (Some(id?), RecurrenceScope::This),
                None => (None, RecurrenceScope::All),
            };
            let said = Some("Late; see, you");
            Some(editor.respond(id, scope, ResponseStatus::Accepted, said).map(texts))
        }
        Edit::Split(at, minutes) => {
            let occurrence = all.get(*at)?;
            place(&mut event, occurrence);
            let names = if *minutes == 0 { &["title"][..] } else { shift(&mut event, *minutes) };
            let split =
                editor.split(&occurrence.recurrence_id, "new@example.com", &event, &FieldSet(&owned(names)));
            Some(split.map(|split| split.old.text.into_iter().chain([split.new]).collect()))
        }
        Edit::Cap(at) => Some(editor.cap(&all.get(*at)?.recurrence_id).map(texts)),
        Edit::One(at, minutes) => {
            let occurrence = all.get(*at)?;
            place(&mut event, occurrence);
            event.title = Some("Once".into());
            let names = minutes.map_or(&["title"][..], |minutes| shift(&mut event, minutes));
            Some(
                editor
                    .update_instance(&occurrence.recurrence_id, &event, &FieldSet(&owned(names)))
                    .map(texts),
            )
        }
        Edit::Delete(at) => Some(editor.delete_instance(&all.get(*at)?.recurrence_id).map(texts)),
        Edit::Create => Some(Ok(vec![created(&event)])),
    }
}

/// A new object for this event, as the connector makes one.
fn created(body: &Event) -> String {
    let (reader, now) = (reader(), instant("2026-03-01T00:00:00Z"));
    let mut calendar = resource::empty();
    let template = calendar.clone();
    let mut writer = Writer::new(&reader, &template, now);
    let mut event = IcalCst::empty("VEVENT");
    set_text(&mut event, "UID", Some(UID));
    touch(&mut event, now, false);
    let names = [
        "title",
        "description",
        "start",
        "end",
        "timeZone",
        "allDay",
        "startDate",
        "endDate",
        "recurrence",
        "attendees",
        "reminders",
    ];
    writer.apply(&mut event, body, &FieldSet(&owned(&names)));
    writer.match_start(&mut event, None);
    calendar.push_component(event);
    define_zones(&mut calendar, &writer.zones);
    print(&calendar)
}

/// An edit of an object and what came of it.
struct Case {
    base: Base,
    edit: Edit,
    before: String,
    after: Vec<String>,
}

impl Case {
    fn report(&self) -> String {
        format!("{:?} of\n{}\nleads to\n{}", self.edit, self.before, self.after.join("\n"))
    }
}

fn number(name: &str, default: u8) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(default))
}

/// Values of a strategy, the same every time.
fn generated<T>(strategy: &impl Strategy<Value = T>, seed: u64, count: usize) -> Vec<T> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// Returns this many edits that are possible. Most of those that are generated are; the others are refused with a reason.
fn cases(seed: u64, count: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for (base, edit) in generated(&(base(), edit()), seed, count * 2) {
        let before = base.text();
        match edited(&base, &before, &edit) {
            Some(Ok(after)) => cases.push(Case { base, edit, before, after }),
            Some(Err(failure)) => {
                let is_refusal = ["invalid", "not-found"].contains(&failure.code.as_str());
                assert!(is_refusal, "{failure:?}: {edit:?} of\n{before}");
            }
            None => {}
        }
        if cases.len() == count {
            return cases;
        }
    }
    panic!("only {} of {count} edits are possible", cases.len());
}

/// The VEVENTs of an object as lines, each with its folds.
fn components(text: &str) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut is_inside = false;
    for line in text.split_inclusive("\r\n") {
        is_inside |= line == "BEGIN:VEVENT\r\n";
        if line == "BEGIN:VEVENT\r\n" {
            all.push(Vec::new());
        }
        if let Some(lines) = all.last_mut().filter(|_| is_inside) {
            match lines.last_mut().filter(|_| line.starts_with([' ', '\t'])) {
                Some(last) => last.push_str(line),
                None => lines.push(line.to_owned()),
            }
        }
        is_inside &= line != "END:VEVENT\r\n";
    }
    all
}

fn has(component: &[String], start: &str) -> bool {
    component.iter().any(|line| line.starts_with(start))
}

/// Whether the edit may be about this line of the series, or of a changed instance.
fn concerns(edit: &Edit, is_series: bool, line: &str) -> bool {
    const TIMES: [&str; 3] = ["DTSTART", "DTEND", "DURATION"];
    const DATES: [&str; 3] = ["RRULE", "EXDATE", "RDATE"];
    let name = line.split([':', ';']).next().unwrap();
    let is_date = is_series && DATES.contains(&name);
    let is_time = TIMES.contains(&name);
    let is_moved = is_time || is_date || (!is_series && name == "RECURRENCE-ID");
    match edit {
        _ if ["DTSTAMP", "LAST-MODIFIED", "SEQUENCE"].contains(&name) => true,
        Edit::Title => is_series && name == "SUMMARY",
        Edit::Move(_) | Edit::Zone(_) | Edit::Kind => is_moved,
        Edit::Lengthen => is_series && is_time,
        Edit::Rule(_) | Edit::Clear | Edit::Cap(_) => is_date,
        Edit::Split(..) => is_moved || name == "UID" || (is_series && name == "SUMMARY"),
        Edit::One(..) => !is_series && (is_time || name == "SUMMARY"),
        Edit::Uninvite => line.contains("jane@example.com"),
        Edit::Answer(_) => line.contains("ME@example.com"),
        Edit::Delete(_) | Edit::Reminders | Edit::Invite | Edit::Create => false,
    }
}

/// A line that the edit was not about and that is not there any more.
fn lost(case: &Case) -> Option<String> {
    let after: Vec<Vec<String>> = case.after.iter().flat_map(|text| components(text)).collect();
    for component in components(&case.before) {
        let is_series = !has(&component, "RECURRENCE-ID");
        let mark = component.iter().find(|line| line.starts_with("X-MARK:")).unwrap();
        let same = |other: &&Vec<String>| other.contains(mark) && is_series != has(other, "RECURRENCE-ID");
        let found: Vec<&Vec<String>> = after.iter().filter(same).collect();
        let may_go = match case.edit {
            Edit::Split(..) | Edit::Delete(_) => true,
            Edit::Move(_) | Edit::Zone(_) | Edit::Kind | Edit::Rule(_) | Edit::Clear | Edit::Cap(_) => {
                !is_series
            }
            _ => false,
        };
        if found.is_empty() && !may_go {
            return Some(mark.clone());
        }
        for other in found {
            let mut rest = other.iter();
            let mut kept = component.iter().filter(|line| !concerns(&case.edit, is_series, line));
            if let Some(line) = kept.find(|line| !rest.any(|other| other == *line)) {
                return Some(line.clone());
            }
        }
    }
    None
}

#[test]
fn what_an_edit_is_not_about_keeps_its_bytes() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases(number("WRITTEN_SEED", 2), 400).iter().filter(|case| !matches!(case.edit, Edit::Create))
    {
        if let Some(line) = lost(case) {
            panic!("{line} is lost: {}", case.report());
        }
        let kind = format!("{:?}", case.edit);
        *kinds.entry(kind.split('(').next().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(kinds.len(), 15, "{kinds:?}");
}

/// The starts of all instances before [`TO`], as the connector reads the object; seconds since 1970.
fn starts(text: &str) -> Vec<i64> {
    let mut events = read(text);
    let seconds = |at: Instant| at.as_millis() / 1000;
    let exceptions = events.split_off(1);
    let Some(series) = events.first().filter(|event| event.event_type != EventType::Exception) else {
        return events.iter().chain(&exceptions).map(|event| seconds(event.start)).collect();
    };
    let caps = Caps { max_instances: 100_000, max_steps: 2_000_000 };
    let (from, to) = (instant("2020-01-01T00:00:00Z"), instant(TO));
    let all =
        instances(series, &exceptions, from, to, caps).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut starts: Vec<i64> = all.iter().map(|one| seconds(one.event.start)).collect();
    starts.sort_unstable();
    starts
}

/// The oracle's interpreter, where there is one.
fn python() -> Option<String> {
    let python = std::env::var("ORACLE_PYTHON").ok();
    if python.is_none() {
        let are_required = std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref() == Ok("1");
        assert!(!are_required, "ORACLE_PYTHON is not set");
        println!("did not run: ORACLE_PYTHON is not set");
    }
    python
}

/// Returns the reading of other programs of each of these objects.
fn ask(python: &str, objects: &[&str]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/written.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("ORACLE_PYTHON={python} does not start: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let to = instant(TO).as_millis() / 1000;
    let question = |text: &&str| format!("{}\n", json!({ "text": text, "home": HOME, "to": to }));
    let questions: String = objects.iter().map(question).collect();
    let writer = std::thread::spawn(move || stdin.write_all(questions.as_bytes()));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    println!("oracle: {}", lines.next().unwrap_or_default());
    let answers: Vec<Value> = lines.map(|line| serde_json::from_str(&line).unwrap()).collect();
    writer.join().unwrap().unwrap();
    assert!(child.wait().unwrap().success(), "the oracle failed");
    assert_eq!(answers.len(), objects.len(), "the oracle answers every question");
    answers
}

/// Asserts that others read these objects, and as the connector does. `report` tells where an object comes from.
fn assert_read_alike(python: &str, objects: &[&str], report: &dyn Fn(usize) -> String) {
    let (mut wrong, mut untold, mut found) = (Vec::new(), 0, 0);
    for (at, (text, answer)) in objects.iter().zip(ask(python, objects)).enumerate() {
        let ours = starts(text);
        found += ours.len();
        if answer["problems"] != json!([]) {
            wrong.push(format!("{:#}\n{text}\n{}", answer["problems"], report(at)));
        } else if answer["starts"].is_null() {
            untold += 1;
        } else if answer["starts"] != json!(ours) {
            wrong.push(format!("ours   {ours:?}\ntheirs {}\n{text}\n{}", answer["starts"], report(at)));
        }
    }
    println!("{} objects, {found} instances, {untold} that dateutil cannot tell", objects.len());
    // The shortest say it best.
    wrong.sort_by_key(String::len);
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        objects.len(),
        wrong[..wrong.len().min(4)].join("\n")
    );
    assert!(untold * 10 <= objects.len(), "{untold} of {} objects are not compared", objects.len());
    assert!(found > objects.len() * 5, "most objects have instances");
}

#[test]
fn others_read_what_is_written() {
    let Some(python) = python() else { return };
    let count = usize::try_from(number("WRITTEN_CASES", 150)).unwrap();
    let cases = cases(number("WRITTEN_SEED", 1), count);
    let objects: Vec<(&Case, &str)> =
        cases.iter().flat_map(|case| case.after.iter().map(move |text| (case, text.as_str()))).collect();
    let forms = FORMS.iter().filter(|form| cases.iter().any(|case| case.base.form == **form));
    assert_eq!(forms.count(), FORMS.len());
    let texts: Vec<&str> = objects.iter().map(|(_, text)| *text).collect();
    assert_read_alike(&python, &texts, &|at| objects[at].0.report());
}

/// Edits add no fault: a fault after an edit was there before it.
#[test]
fn others_read_what_is_edited() {
    let Some(python) = python() else { return };
    let objects: Vec<String> =
        generated(&base(), number("WRITTEN_SEED", 3), 40).iter().map(Base::text).collect();
    let texts: Vec<&str> = objects.iter().map(String::as_str).collect();
    assert_read_alike(&python, &texts, &|_| "an object as it is generated".to_owned());
}

/// The text of a single event or a series with these lines after a change of it.
fn changed(lines: &str, change: impl FnOnce(&mut Event), names: &[&str]) -> String {
    let lines = lines.replace('|', "\r\n");
    let text = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Others//EN\r\nBEGIN:VEVENT\r\nUID:{UID}\r\n\
         DTSTAMP:20260101T000000Z\r\n{lines}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    let (calendar, reader) = (parse(&text).unwrap(), reader());
    let now = instant("2026-03-01T00:00:00Z");
    let editor = Editor { reader: &reader, original: &calendar, now, server_tells: None };
    let mut event = read(&text).remove(0);
    change(&mut event);
    editor.update_main(&event, &FieldSet(&owned(names))).unwrap().text.unwrap()
}

/// 02:30 comes twice on 25 October 2026 in Berlin: the second one is not written as the first.
#[test]
fn the_second_of_a_doubled_time_is_kept() {
    for start in ["DTSTART;TZID=Europe/Berlin:20261001T090000", "DTSTART:20261001T090000"] {
        let to_second = |event: &mut Event| {
            event.start = instant("2026-10-25T01:30:00Z");
            event.end = instant("2026-10-25T03:00:00Z");
        };
        let new = changed(start, to_second, &["start", "end"]);
        let event = read(&new).remove(0);
        assert_eq!(
            (event.start, event.end),
            (instant("2026-10-25T01:30:00Z"), instant("2026-10-25T03:00:00Z"))
        );
        assert!(!new.contains("DTEND:20261025T040000\r\n"), "no floating end beside a start in UTC: {new}");
    }
}

/// A floating start has no end in a zone: the start is in the calendar's then.
#[test]
fn a_start_does_not_float_beside_an_end_in_a_zone() {
    let new = changed(
        "DTSTART:20260302T090000|DTEND:20260302T100000",
        |event| event.end_time_zone = Some("America/New_York".into()),
        &["endTimeZone"],
    );
    for line in [
        "DTSTART;TZID=Europe/Berlin:20260302T090000",
        "DTEND;TZID=America/New_York:20260302T040000",
        "TZID:Europe/Berlin",
        "TZID:America/New_York",
    ] {
        assert!(new.contains(&format!("{line}\r\n")), "{line}: {new}");
    }
}

/// Days that do not change keep their lines, and what says how long it takes goes on saying so.
#[test]
fn days_are_written_where_they_change() {
    let last = |event: &mut Event| event.end_date = Some("2026-03-05".into());
    let new = changed("DTSTART;X-A=1;VALUE=DATE:20260302|DTEND;VALUE=DATE:20260303", last, &["endDate"]);
    assert!(new.contains("DTSTART;X-A=1;VALUE=DATE:20260302\r\nDTEND;VALUE=DATE:20260305\r\n"), "{new}");
    let both = |event: &mut Event| {
        event.start_date = Some("2026-03-09".into());
        event.end_date = Some("2026-03-11".into());
    };
    let new = changed("DTSTART;VALUE=DATE:20260302|DURATION;X-L=1:P2D", both, &["startDate", "endDate"]);
    assert!(new.contains("DTSTART;VALUE=DATE:20260309\r\nDURATION;X-L=1:P2D\r\n"), "{new}");
}

/// An organizer who stays keeps the line.
#[test]
fn the_same_organizer_keeps_its_line() {
    let line = "ORGANIZER;X-O=1;SENT-BY=\"mailto:desk@example.com\";CN=Me:MAILTO:Me@example.com";
    let new = changed(&format!("DTSTART:20260302T090000Z|{line}"), |_| (), &["organizer"]);
    assert!(new.replace("\r\n ", "").contains(line), "{new}");
}

/// The API has the end of a rule in UTC, a floating object has it floating: what was sent is what is read.
#[test]
fn the_end_of_a_floating_rule_is_read_as_it_was_sent() {
    let sent = vec!["RRULE:FREQ=DAILY;UNTIL=20260401T070000Z".to_owned()];
    let new = changed("DTSTART:20260302T090000", |event| event.recurrence.clone_from(&sent), &["recurrence"]);
    assert!(new.contains("\r\nRRULE:FREQ=DAILY;UNTIL=20260401T090000\r\n"), "{new}");
    assert_eq!(read(&new)[0].recurrence, sent);
}
