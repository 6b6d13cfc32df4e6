//! Time zones that only the file knows: a VTIMEZONE that no IANA zone agrees with. A series is expanded and written by its rules (RFC 5545
//! section 3.6.5); where that fails, it is read, and a write that depends on its instances is refused.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use connector_dav::collection::changed::FieldSet;
use connector_dav::ical::people::Selves;
use connector_dav::ical::read::Reader;
use connector_dav::ical::resource::parse;
use connector_dav::ical::series::{Editor, Update};
use connector_dav::ical::todo::edit::TodoEditor;
use connector_dav::ical::todo::read::TodoReader;
use connector_sdk::Outcome;
use model::Instant;
use model::calendar::Event;
use model::tasks::Task;
use model::wire::Item;
use recurrence::{Caps, Series};
use serde_json::{Value, json};

fn reader() -> Reader {
    Reader::new(Selves::new(["me@example.com"]), Some("Europe/Berlin"))
}

/// An observance: its name, DTSTART, offsets, and other lines (`|` for the ends of lines).
fn observance(name: &str, start: &str, (from, to): (&str, &str), lines: &str) -> String {
    let lines: String =
        lines.split('|').filter(|line| !line.is_empty()).map(|line| format!("{line}\r\n")).collect();
    format!(
        "BEGIN:{name}\r\nDTSTART:{start}\r\nTZOFFSETFROM:{from}\r\nTZOFFSETTO:{to}\r\n{lines}END:{name}\r\n"
    )
}

/// One that comes every year.
fn yearly(name: &str, start: &str, offsets: (&str, &str), days: &str) -> String {
    observance(name, start, offsets, &format!("RRULE:FREQ=YEARLY;{days}"))
}

fn zone(tzid: &str, observances: &[String]) -> String {
    format!("BEGIN:VTIMEZONE\r\nTZID:{tzid}\r\n{}END:VTIMEZONE\r\n", observances.concat())
}

/// From five hours behind UTC to four, and back.
const FORTH: (&str, &str) = ("-0500", "-0400");
const BACK: (&str, &str) = ("-0400", "-0500");

/// Five hours behind UTC, four from the first Sunday of April to the last one of October: the United States had it so until 2006.
fn company() -> String {
    let winter = yearly("STANDARD", "16011025T020000", BACK, "BYDAY=-1SU;BYMONTH=10");
    zone("Company", &[winter, yearly("DAYLIGHT", "16010401T020000", FORTH, "BYDAY=1SU;BYMONTH=4")])
}

/// An object with this VTIMEZONE and these VEVENTs, `|` for the ends of lines.
fn resource(zone: &str, events: &[&str]) -> String {
    let one = |lines: &&str| {
        let lines: String = lines.split('|').map(|line| format!("{}\r\n", line.trim())).collect();
        format!("BEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\n{lines}END:VEVENT\r\n")
    };
    let events: String = events.iter().map(one).collect();
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Another//EN\r\n{zone}{events}END:VCALENDAR\r\n")
}

/// Mondays at eight in the evening, which is Tuesday in UTC.
const MONDAYS: &str = "DTSTART;TZID=Company:20260302T200000|DTEND;TZID=Company:20260302T210000|\
    RRULE:FREQ=WEEKLY;BYDAY=MO|EXDATE;TZID=Company:20260316T200000|SUMMARY:Monday";
const CHANGED: &str = "RECURRENCE-ID;TZID=Company:20260323T200000|DTSTART;TZID=Company:20260323T220000|\
    DTEND;TZID=Company:20260323T230000|SUMMARY:Late";

fn mondays() -> String {
    resource(&company(), &[MONDAYS, CHANGED])
}

fn items(text: &str) -> Vec<Item> {
    reader().items("/x.ics", text).unwrap()
}

fn events(text: &str) -> Vec<Event> {
    items(text).iter().map(|item| item.body.read().unwrap()).collect()
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

/// Starts and titles of the instances in `[from, to)`, days and minutes in UTC.
fn instances(text: &str, from: &str, to: &str) -> Vec<String> {
    let all = events(text);
    let (from, to) = (at(&format!("{from}T00:00:00Z")), at(&format!("{to}T00:00:00Z")));
    let found = recurrence::instances(&all[0], &all[1..], from, to, Caps::default()).unwrap();
    found
        .into_iter()
        .map(|one| {
            let start: String = one.event.start.to_string().chars().take(16).collect();
            format!("{start} {}", one.event.title.unwrap_or_default())
        })
        .collect()
}

fn edit<T>(text: &str, run: impl FnOnce(&Editor) -> T) -> T {
    let calendar = parse(text).unwrap();
    let reader = reader();
    run(&Editor { reader: &reader, original: &calendar, now: at("2026-03-01T00:00:00Z"), server_tells: None })
}

fn fields(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn text_of(edited: Outcome<Update>) -> String {
    let edited = edited.unwrap();
    assert!(edited.warnings.is_empty(), "{:?}", edited.warnings);
    edited.text.unwrap()
}

/// The lines of a text that the other has not, without the bookkeeping of each write.
fn new_lines(old: &str, new: &str) -> Vec<String> {
    let is_new = |line: &&str| {
        !["DTSTAMP:", "LAST-MODIFIED:", "SEQUENCE:"].iter().any(|name| line.starts_with(name))
            && !old.lines().any(|other| other == *line)
    };
    new.lines().filter(is_new).map(str::to_owned).collect()
}

#[test]
fn a_series_is_expanded_on_the_clock_of_the_file() {
    let text = mondays();
    assert_eq!(
        instances(&text, "2026-03-01", "2026-04-15"),
        [
            "2026-03-03T01:00 Monday",
            "2026-03-10T01:00 Monday",
            "2026-03-24T03:00 Late",
            "2026-03-31T01:00 Monday",
            "2026-04-07T00:00 Monday",
            "2026-04-14T00:00 Monday",
        ]
    );
    // Clocks go back on 31 October 2049.
    assert_eq!(
        instances(&text, "2049-10-25", "2049-11-10"),
        ["2049-10-26T00:00 Monday", "2049-11-02T01:00 Monday", "2049-11-09T01:00 Monday"]
    );
}

/// Times are in UTC, with the rules of the zone, never with the file's name for it, which a warning quotes.
#[test]
fn times_are_told_in_utc_with_the_rules_of_the_zone() {
    let all = items(&mondays());
    let series: Event = all[0].body.read().unwrap();
    assert_eq!((series.time_zone.as_str(), series.end_time_zone.as_deref()), ("UTC", None));
    let rules = series.time_zone_rules.unwrap();
    assert_eq!(rules.posix.as_deref(), Some("STD5DST4,M4.1.0/2,M10.5.0/2"));
    assert!(rules.transitions.is_empty());
    assert_eq!(series.recurrence, ["RRULE:FREQ=WEEKLY;BYDAY=MO", "EXDATE:20260317T010000Z"]);
    let changed: Event = all[1].body.read().unwrap();
    assert_eq!(changed.recurrence_id.as_deref(), Some("2026-03-23T20:00:00"));
    assert_eq!(changed.original_start, Some(at("2026-03-24T01:00:00Z")));
    assert_eq!(changed.time_zone_rules, None);
    for item in &all {
        let told: Vec<(&str, Option<&str>)> =
            item.warnings.iter().map(|one| (one.code.as_str(), one.target.as_deref())).collect();
        assert_eq!(told, [("custom_time_zone", Some("timeZone"))]);
        assert!(item.warnings[0].message.contains("\"Company\""), "{}", item.warnings[0].message);
    }
    let single = events(&resource(&company(), &["DTSTART;TZID=Company:20260302T200000"]));
    assert_eq!(single[0].start, at("2026-03-03T01:00:00Z"));
    assert_eq!(single[0].time_zone_rules, None, "of a single event the instant is enough");
}

#[test]
fn a_new_title_changes_no_time() {
    let text = mondays();
    let event = Event { title: Some("New".into()), ..Event::default() };
    let title = fields(&["title"]);
    let series = text_of(edit(&text, |editor| editor.update_main(&event, &FieldSet(&title))));
    assert_eq!(new_lines(&text, &series), ["SUMMARY:New"]);
    let id = "2026-04-06T20:00:00";
    let one = text_of(edit(&text, |editor| editor.update_instance(id, &event, &FieldSet(&title))));
    assert_eq!(
        new_lines(&text, &one),
        [
            "DTSTART;TZID=Company:20260406T200000",
            "DTEND;TZID=Company:20260406T210000",
            "SUMMARY:New",
            "RECURRENCE-ID;TZID=Company:20260406T200000"
        ]
    );
    assert_eq!(instances(&one, "2026-04-05", "2026-04-08"), ["2026-04-07T00:00 New"]);
    let again = "2026-03-23T20:00:00";
    let late = text_of(edit(&text, |editor| editor.update_instance(again, &event, &FieldSet(&title))));
    assert_eq!(new_lines(&text, &late), ["SUMMARY:New"]);
}

#[test]
fn an_instance_is_moved_and_taken_out_on_the_clock_of_the_file() {
    let text = mondays();
    let moved = Event {
        start: at("2026-04-07T02:00:00Z"),
        end: at("2026-04-07T03:00:00Z"),
        time_zone: "UTC".into(),
        ..Event::default()
    };
    let changed = fields(&["start", "end"]);
    let id = "2026-04-06T20:00:00";
    let one = text_of(edit(&text, |editor| editor.update_instance(id, &moved, &FieldSet(&changed))));
    assert_eq!(
        new_lines(&text, &one),
        [
            "DTSTART;TZID=Company:20260406T220000",
            "DTEND;TZID=Company:20260406T230000",
            "RECURRENCE-ID;TZID=Company:20260406T200000"
        ]
    );
    assert_eq!(instances(&one, "2026-04-05", "2026-04-08"), ["2026-04-07T02:00 Monday"]);
    for (from, id) in [(&text, id), (&one, id), (&text, "2026-03-23T20:00:00")] {
        let gone = text_of(edit(from, |editor| editor.delete_instance(id)));
        let digits = id.replace(['-', ':'], "");
        assert!(gone.contains(&format!("EXDATE;TZID=Company:{digits}\r\n")), "{gone}");
        assert!(!gone.contains(&format!("RECURRENCE-ID;TZID=Company:{digits}")), "{gone}");
        let left = instances(&gone, "2026-03-01", "2026-04-15").len();
        assert_eq!(left, instances(from, "2026-03-01", "2026-04-15").len() - 1, "{gone}");
    }
    let nothing = edit(&text, |editor| editor.delete_instance("2026-04-07T00:00:00"));
    assert!(nothing.is_err(), "instances are named on the clock of the file");
}

#[test]
fn a_series_is_moved_on_the_clock_of_the_file() {
    let text = mondays();
    let mut series = events(&text).remove(0);
    (series.start, series.end) = (at("2026-03-03T01:30:00Z"), at("2026-03-03T02:30:00Z"));
    let changed = fields(&["start", "end"]);
    let later = text_of(edit(&text, |editor| editor.update_main(&series, &FieldSet(&changed))));
    assert_eq!(
        new_lines(&text, &later),
        [
            "DTSTART;TZID=Company:20260302T203000",
            "DTEND;TZID=Company:20260302T213000",
            "EXDATE;TZID=Company:20260316T203000",
            "RECURRENCE-ID;TZID=Company:20260323T203000",
            "DTSTART;TZID=Company:20260323T223000",
            "DTEND;TZID=Company:20260323T233000",
        ]
    );
    assert_eq!(
        instances(&later, "2026-03-15", "2026-04-08"),
        ["2026-03-24T03:30 Late", "2026-03-31T01:30 Monday", "2026-04-07T00:30 Monday"]
    );
}

#[test]
fn a_series_is_cut_on_the_clock_of_the_file() {
    let text = mondays();
    let event = Event { title: Some("New".into()), ..Event::default() };
    let id = "2026-04-06T20:00:00";
    let title = fields(&["title"]);
    let split = edit(&text, |editor| editor.split(id, "b", &event, &FieldSet(&title))).unwrap();
    let old = split.old.text.unwrap();
    assert_eq!(instances(&old, "2026-03-25", "2026-05-01"), ["2026-03-31T01:00 Monday"]);
    assert!(split.new.contains("TZID:Company\r\n"), "{}", split.new);
    assert!(split.new.contains("DTSTART;TZID=Company:20260406T200000\r\n"), "{}", split.new);
    assert_eq!(
        instances(&split.new, "2026-03-01", "2026-04-20"),
        ["2026-04-07T00:00 New", "2026-04-14T00:00 New"]
    );
}

#[test]
fn a_change_of_all_later_instances_is_on_the_clock_of_the_file() {
    let later = CHANGED.replace("RECURRENCE-ID;", "RECURRENCE-ID;RANGE=THISANDFUTURE;");
    let text = resource(&company(), &[MONDAYS, &later]);
    let expected = ["2026-03-24T03:00 Late", "2026-03-31T03:00 Late", "2026-04-07T02:00 Late"];
    assert_eq!(instances(&text, "2026-03-20", "2026-04-08"), expected);
    let event = Event { title: Some("New".into()), ..Event::default() };
    let id = "2026-04-06T20:00:00";
    let title = fields(&["title"]);
    let one = text_of(edit(&text, |editor| editor.update_instance(id, &event, &FieldSet(&title))));
    assert!(one.contains("RECURRENCE-ID;TZID=Company:20260406T200000\r\n"), "{one}");
    assert!(one.contains("DTSTART;TZID=Company:20260406T220000\r\n"), "{one}");
    assert_eq!(instances(&one, "2026-04-05", "2026-04-08"), ["2026-04-07T02:00 New"]);
}

/// Some programs write no rules, only when clocks change in the years around the event: what they do not say does not happen.
#[test]
fn a_zone_may_have_the_transitions_of_one_year() {
    let observances = [
        observance("STANDARD", "20251102T020000", BACK, ""),
        observance("DAYLIGHT", "20260405T020000", FORTH, ""),
        observance("STANDARD", "20261025T020000", BACK, ""),
    ];
    let daily = "DTSTART;TZID=Here:20260330T090000|RRULE:FREQ=DAILY|SUMMARY:x";
    let text = resource(&zone("Here", &observances), &[daily]);
    for (from, to, expected) in [
        ("2026-04-04", "2026-04-06", ["2026-04-04T14:00 x", "2026-04-05T13:00 x"]),
        ("2026-10-24", "2026-10-26", ["2026-10-24T13:00 x", "2026-10-25T14:00 x"]),
        ("2027-07-01", "2027-07-03", ["2027-07-01T14:00 x", "2027-07-02T14:00 x"]),
    ] {
        assert_eq!(instances(&text, from, to), expected);
    }
    let rules = events(&text)[0].time_zone_rules.clone().unwrap();
    assert_eq!((rules.posix, rules.offset, rules.transitions.len()), (None, -14_400, 3));
}

/// The last Sunday but one has no place in a POSIX TZ string: the changes of a hundred years are listed.
#[test]
fn a_rule_that_posix_has_no_word_for_is_listed() {
    let observances = [
        yearly("DAYLIGHT", "20000416T020000", FORTH, "BYMONTH=4;BYDAY=-2SU"),
        yearly("STANDARD", "20001022T020000", BACK, "BYMONTH=10;BYDAY=-2SU"),
    ];
    let daily = "DTSTART;TZID=Odd:20260101T090000|RRULE:FREQ=DAILY|SUMMARY:x";
    let text = resource(&zone("Odd", &observances), &[daily]);
    assert_eq!(instances(&text, "2027-04-17", "2027-04-19"), ["2027-04-17T14:00 x", "2027-04-18T13:00 x"]);
    // 25 April 2100 is a Sunday, and the last one.
    assert_eq!(instances(&text, "2100-04-17", "2100-04-19"), ["2100-04-17T14:00 x", "2100-04-18T13:00 x"]);
    let rules = events(&text)[0].time_zone_rules.clone().unwrap();
    assert!(rules.posix.is_none() && (200..=206).contains(&rules.transitions.len()), "{rules:?}");
}

/// A history of rules before the ones that go on is a list, too, and a series across the change is right on both sides.
#[test]
fn a_zone_may_change_its_rules() {
    let observances = [
        yearly("DAYLIGHT", "20000402T020000", FORTH, "BYMONTH=4;BYDAY=1SU;UNTIL=20270404T070000Z"),
        yearly("STANDARD", "20001029T020000", BACK, "BYMONTH=10;BYDAY=-1SU"),
        yearly("DAYLIGHT", "20280507T020000", FORTH, "BYMONTH=5;BYDAY=1SU"),
    ];
    let daily = "DTSTART;TZID=Two:20260101T090000|RRULE:FREQ=DAILY|SUMMARY:x";
    let text = resource(&zone("Two", &observances), &[daily]);
    for (day, hour) in
        [("2027-04-20", 13), ("2028-04-20", 14), ("2028-05-20", 13), ("2050-04-20", 14), ("2050-12-01", 14)]
    {
        let next: jiff::civil::Date = day.parse().unwrap();
        let next = next.tomorrow().unwrap().to_string();
        assert_eq!(instances(&text, day, &next), [format!("{day}T{hour}:00 x")]);
    }
}

/// Under any name and in any form: the rules of an IANA zone are that zone.
#[test]
fn a_definition_that_agrees_with_iana_is_iana() {
    let last_of_march = "BYMONTH=3;BYDAY=SU;BYMONTHDAY=25,26,27,28,29,30,31";
    let observances = [
        yearly("DAYLIGHT", "20100328T020000", ("+0100", "+0200"), last_of_march),
        yearly("STANDARD", "16011028T030000", ("+0200", "+0100"), "BYMONTH=10;BYDAY=-1SU"),
    ];
    let text = resource(&zone("Company", &observances), &[MONDAYS, CHANGED]);
    let all = items(&text);
    let series: Event = all[0].body.read().unwrap();
    assert_eq!(series.time_zone, "Europe/Berlin");
    assert_eq!(series.recurrence[1], "EXDATE;TZID=Europe/Berlin:20260316T200000");
    assert!(series.time_zone_rules.is_none() && all.iter().all(|item| item.warnings.is_empty()));
}

#[test]
fn added_and_excluded_dates_are_told_in_utc() {
    let dates = "RDATE;VALUE=PERIOD;TZID=Company:20260404T200000/P1DT1H,20260502T200000/20260502T213000|\
        RDATE;TZID=Company:20260501T120000,soon|EXDATE;TZID=Company;VALUE=DATE:20260309|EXDATE:20260331T010000Z";
    let text = resource(&company(), &[&format!("{MONDAYS}|{dates}")]);
    assert_eq!(
        events(&text)[0].recurrence,
        [
            "RRULE:FREQ=WEEKLY;BYDAY=MO",
            // A day later by a clock that went forward meanwhile.
            "RDATE;VALUE=PERIOD:20260405T010000Z/20260406T010000Z,20260503T000000Z/20260503T013000Z",
            "RDATE:20260501T160000Z,soon",
            "EXDATE:20260317T010000Z",
            "EXDATE;VALUE=DATE:20260309",
            "EXDATE:20260331T010000Z",
        ]
    );
    // What is written back as it was read keeps its bytes.
    let series = events(&text).remove(0);
    let changed = fields(&["recurrence"]);
    let kept = edit(&text, |editor| editor.update_main(&series, &FieldSet(&changed))).unwrap();
    assert_eq!(new_lines(&text, &kept.text.unwrap()), Vec::<String>::new());
}

/// Definitions that no time zone has, or that are too long to walk through.
fn hostile() -> Vec<(&'static str, String)> {
    let odd = ("+0017", "+0117");
    let one = |start: &str, lines: &str| zone("Company", &[observance("STANDARD", start, odd, lines)]);
    let years = (1..=5_000).map(|year| observance("DAYLIGHT", &format!("{year:04}0101T000000"), odd, ""));
    let weekdays = (0..350).map(|_| yearly("STANDARD", "16010101T000000", odd, "BYDAY=MO,TU,WE,TH,FR"));
    let never = "BYMONTH=2;BYMONTHDAY=30;UNTIL=99991231T000000Z";
    let never: Vec<String> = (0..390).map(|_| yearly("STANDARD", "16010101T000000", odd, never)).collect();
    let long = format!("RRULE:FREQ=YEARLY;BYMONTHDAY={}", vec!["1"; 500].join(","));
    let day = |n: usize| format!("{:04}{:02}{:02}T000000", 2000 + n / 336, 1 + n / 28 % 12, 1 + n % 28);
    let days: Vec<String> = (0..6_000).map(day).collect();
    let hours: Vec<String> = (0..24).map(|hour| format!("20260101T{hour:02}0000")).collect();
    let hours = format!("RDATE:{}", hours.join(","));
    let forth = observance("STANDARD", "20260101T000000", odd, &hours);
    let back = observance("DAYLIGHT", "20260101T003000", ("+0117", "+0017"), &hours);
    let far = observance("STANDARD", "20000101T000000", ("+9900", "-9900"), "");
    let bare = "BEGIN:STANDARD\r\nDTSTART:20000101T000000\r\nEND:STANDARD\r\n".to_owned();
    let inner = observance("STANDARD", "20000101T000000", odd, "");
    let nested = format!("BEGIN:STANDARD\r\n{inner}END:STANDARD\r\n");
    vec![
        ("no observance", zone("Company", &[])),
        ("every second", one("16010101T000000", "RRULE:FREQ=SECONDLY")),
        ("seconds of each year", one("16010101T000000", "RRULE:FREQ=YEARLY;BYSECOND=1,2,3")),
        ("a second rule", one("16010101T000000", "RRULE:FREQ=YEARLY|RRULE:FREQ=SECONDLY")),
        ("a second frequency", one("16010101T000000", "RRULE:FREQ=YEARLY;FREQ=SECONDLY;BYSETPOS=2")),
        ("no second of any year", one("16010101T000000", "RRULE:FREQ=YEARLY|EXRULE:FREQ=SECONDLY")),
        ("a long rule", one("16010101T000000", &long)),
        ("days that never come", zone("Company", &never)),
        ("a rule that is none", one("16010101T000000", "RRULE:often")),
        ("all years", one("00010101T000000", "RRULE:FREQ=YEARLY;UNTIL=99991231T000000Z")),
        ("thousands of observances", zone("Company", &years.collect::<Vec<_>>())),
        ("most days of most years", zone("Company", &weekdays.collect::<Vec<_>>())),
        ("thousands of dates", one("20000101T000000", &format!("RDATE:{}", days.join(",")))),
        ("every hour", zone("Company", &[forth, back])),
        ("ninety-nine hours", zone("Company", &[far])),
        ("no offset", zone("Company", &[bare])),
        ("an observance in an observance", zone("Company", &[nested])),
    ]
}

/// No write happens that depends on when the instances of such a series are; all others do.
#[test]
fn a_zone_that_nobody_can_use_is_read_and_its_instances_are_left_alone() {
    for (name, zone) in hostile() {
        let text = resource(&zone, &[MONDAYS, CHANGED]);
        let all = items(&text);
        assert_eq!(all.len(), 2, "{name}");
        assert!(all.iter().all(|item| item.warnings[0].code == "unreadable_time_zone"), "{name}");
        let series: Event = all[0].body.read().unwrap();
        assert_eq!((series.time_zone.as_str(), &series.time_zone_rules), ("UTC", &None), "{name}");
        let event = Event { title: Some("New".into()), ..series.clone() };
        let title = fields(&["title"]);
        let id = "2026-04-06T20:00:00";
        let renamed = text_of(edit(&text, |editor| editor.update_main(&event, &FieldSet(&title))));
        assert_eq!(new_lines(&text, &renamed), ["SUMMARY:New"], "{name}");
        let late = "2026-03-23T20:00:00";
        let renamed = text_of(edit(&text, |editor| editor.update_instance(late, &event, &FieldSet(&title))));
        assert_eq!(new_lines(&text, &renamed), ["SUMMARY:New"], "{name}");
        let start = fields(&["start"]);
        let refused: [Outcome<Update>; 5] = [
            edit(&text, |editor| editor.update_instance(id, &event, &FieldSet(&title))),
            edit(&text, |editor| editor.delete_instance(id)),
            edit(&text, |editor| editor.cap(id)),
            edit(&text, |editor| editor.split(id, "b", &event, &FieldSet(&title)).map(|split| split.old)),
            edit(&text, |editor| editor.update_main(&event, &FieldSet(&start))),
        ];
        for refused in refused {
            let failure = refused.unwrap_err();
            let is_said = failure.message.contains("time zone at the provider cannot be used");
            assert!(is_said, "{name}: {failure:?}");
        }
    }
}

/// A single event in such a zone is moved all the same: in UTC.
#[test]
fn a_single_event_is_moved_out_of_a_zone_that_nobody_can_use() {
    let text = resource(&zone("Company", &[]), &["DTSTART;TZID=Company:20260302T200000|SUMMARY:x"]);
    let mut event = events(&text).remove(0);
    (event.start, event.end) = (at("2026-03-05T10:00:00Z"), at("2026-03-05T10:00:00Z"));
    let changed = fields(&["start", "end"]);
    let moved = text_of(edit(&text, |editor| editor.update_main(&event, &FieldSet(&changed))));
    assert_eq!(new_lines(&text, &moved), ["DTSTART:20260305T100000Z"]);
}

#[test]
fn a_to_do_is_written_on_the_clock_of_the_file() {
    let todo = "BEGIN:VTODO\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;TZID=Company:20260302T080000\r\n\
        DUE;TZID=Company:20260302T200000\r\nRRULE:FREQ=WEEKLY\r\nEXDATE;TZID=Company:20260309T080000\r\nSUMMARY:x\r\nEND:VTODO\r\n";
    let head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Another//EN\r\n";
    let text = format!("{head}{}{todo}END:VCALENDAR\r\n", company());
    let reader = TodoReader::new(Selves::new(["me@example.com"]), Some("Europe/Berlin"));
    let item = reader.items("/x.ics", &text).unwrap().remove(0);
    assert_eq!(item.warnings[0].code, "custom_time_zone");
    let mut task: Task = item.body.read().unwrap();
    assert_eq!((task.due_date.as_deref(), task.due_time.as_deref()), (Some("2026-03-03"), Some("01:00")));
    assert_eq!(task.recurrence, ["RRULE:FREQ=WEEKLY", "EXDATE:20260309T130000Z"]);
    let editor = TodoEditor { reader: &reader, now: at("2026-03-01T00:00:00Z"), strict: true };
    task.title = "New".into();
    let renamed = editor.update(&text, &task, &fields(&["title"])).unwrap().text;
    assert_eq!(new_lines(&text, &renamed), ["SUMMARY:New"]);
    // Clocks have gone forward.
    task.due_date = Some("2026-04-07".into());
    let later = editor.update(&text, &task, &fields(&["dueDate"])).unwrap().text;
    assert_eq!(new_lines(&text, &later), ["DUE;TZID=Company:20260406T210000"]);
}

/// A small generator of numbers: the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// A zone with daylight saving time at any time of the year.
fn any_zone(dice: &mut Dice) -> String {
    let offsets =
        [("-0930", "-0830"), ("-0500", "-0400"), ("+0017", "+0117"), ("+0100", "+0200"), ("+1030", "+1100")];
    let (winter, summer) = offsets[dice.below(offsets.len())];
    let first = 1 + dice.below(6);
    let last = first + 3 + dice.below(4);
    let mut one = |name: &str, offsets: (&str, &str), month: usize| {
        let day = dice.one(&["1SU", "2SU", "3SA", "-1SU", "-1FR", "-2SU", "4TH"]);
        let time = dice.one(&["000000", "010000", "023000", "030000"]);
        yearly(name, &format!("1990{month:02}15T{time}"), offsets, &format!("BYMONTH={month};BYDAY={day}"))
    };
    let observances = [one("DAYLIGHT", (winter, summer), first), one("STANDARD", (summer, winter), last)];
    zone("Company", &observances)
}

/// Months of a series that the oracle is asked for.
const MONTHS: usize = 400;

/// The oracle's answers: the starts of a monthly series in each of these zones, seconds since 1970.
fn ask(python: &str, zones: &[String]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/zones.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("ORACLE_PYTHON={python} does not start: {e}"));
    let mut stdin = child.stdin.take().unwrap();
    let one = |zone: &String| format!("{}\n", json!({ "zone": zone, "tzid": "Company", "months": MONTHS }));
    let text: String = zones.iter().map(one).collect();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answers: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    writer.join().unwrap().unwrap();
    assert!(child.wait().unwrap().success(), "the oracle failed");
    answers
}

/// python-dateutil reads VTIMEZONEs too. The interpreter comes from `ORACLE_PYTHON` (a venv with tests/peers/oracle.txt). Without it the
/// test says that it did not run, and fails where `SWITCHBOARD_REQUIRE_PEERS=1`.
#[test]
fn python_dateutil_has_the_same_clock() {
    let Ok(python) = std::env::var("ORACLE_PYTHON") else {
        let are_required = std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref() == Ok("1");
        assert!(!are_required, "ORACLE_PYTHON is not set");
        println!("did not run: ORACLE_PYTHON is not set");
        return;
    };
    let mut dice = Dice(20_260_302);
    let zones: Vec<String> = (0..60).map(|_| any_zone(&mut dice)).collect();
    let answers = ask(&python, &zones);
    assert_eq!(answers.len(), zones.len(), "the oracle answers every question");
    let mut own = 0;
    for (zone, theirs) in zones.iter().zip(&answers) {
        let monthly = format!("DTSTART;TZID=Company:20260115T120000|RRULE:FREQ=MONTHLY;COUNT={MONTHS}");
        let event = events(&resource(zone, &[&monthly])).remove(0);
        own += usize::from(event.time_zone_rules.is_some());
        let series = Series::parse(&event).unwrap();
        let range = (at("2026-01-01T00:00:00Z"), at("2070-01-01T00:00:00Z"));
        let all = recurrence::expand(&series, range.0, range.1, Caps::default()).unwrap();
        let ours: Vec<i64> = all.iter().map(|one| one.start.as_millis() / 1000).collect();
        assert_eq!(ours.len(), MONTHS);
        assert_eq!(json!(ours), *theirs, "{zone}");
    }
    assert!(own > 50, "{own} zones are none of IANA's");
}
