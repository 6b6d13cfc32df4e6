//! Recurrence rules as Graph's patterns, and back.

use connector_microsoft::{PatternedRecurrence, SeriesStart, rule_from, rule_to};
use connector_sdk::{Failure, code};
use io_msgraph::v1::rest::users::events::MsgraphEvent;
use jiff::civil::{Date, DateTime, date};
use jiff::{Timestamp, ToSpan};
use model::Instant;
use proptest::prelude::*;
use recurrence::{Caps, Length, Series, Start, expand};
use serde_json::{Value, json};

const BERLIN: &str = "Europe/Berlin";
const HOUR_MS: i64 = 3_600_000;
const CAPS: Caps = Caps { max_instances: 10_000, max_steps: 5_000_000 };

fn timed(local: &str) -> SeriesStart {
    SeriesStart { local: local.parse().expect("a local time"), is_all_day: false, zone: BERLIN.to_owned() }
}

fn written(rule: &str, start: &SeriesStart) -> Value {
    let recurrence = rule_to(&[format!("RRULE:{rule}")], start);
    json!(recurrence.unwrap_or_else(|refusal| panic!("{rule}: {}", refusal.reason)))
}

fn refusal(lines: &[&str], start: &SeriesStart) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    match rule_to(&lines, start) {
        Err(refusal) => refusal.reason,
        Ok(recurrence) => panic!("{lines:?} is taken: {}", json!(recurrence)),
    }
}

fn read(recurrence: Value, start: &SeriesStart) -> String {
    let recurrence: PatternedRecurrence = serde_json::from_value(recurrence).expect("a recurrence");
    let lines = rule_from(&recurrence, start).expect("a rule");
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    line.strip_prefix("RRULE:").expect("a rule").to_owned()
}

#[test]
fn a_rule_has_the_pattern_of_its_days() {
    // A Tuesday, the second one of the month.
    let start = timed("2026-03-10T09:00:00");
    let rows = [
        ("FREQ=DAILY;INTERVAL=3", json!({ "type": "daily", "interval": 3 })),
        (
            "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR",
            json!({ "type": "weekly", "interval": 1, "firstDayOfWeek": "monday",
                "daysOfWeek": ["monday", "tuesday", "wednesday", "thursday", "friday"] }),
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR,TU;WKST=SU",
            json!({ "type": "weekly", "interval": 2, "daysOfWeek": ["tuesday", "friday"], "firstDayOfWeek": "sunday" }),
        ),
        (
            "FREQ=WEEKLY",
            json!({ "type": "weekly", "interval": 1, "daysOfWeek": ["tuesday"], "firstDayOfWeek": "monday" }),
        ),
        ("FREQ=MONTHLY", json!({ "type": "absoluteMonthly", "interval": 1, "dayOfMonth": 10 })),
        ("FREQ=MONTHLY;BYMONTHDAY=10", json!({ "type": "absoluteMonthly", "interval": 1, "dayOfMonth": 10 })),
        (
            "FREQ=MONTHLY;BYDAY=2TU",
            json!({ "type": "relativeMonthly", "interval": 1, "daysOfWeek": ["tuesday"], "index": "second" }),
        ),
        (
            "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2",
            json!({ "type": "relativeMonthly", "interval": 1, "daysOfWeek": ["tuesday"], "index": "second" }),
        ),
        ("FREQ=YEARLY", json!({ "type": "absoluteYearly", "interval": 1, "month": 3, "dayOfMonth": 10 })),
        (
            "FREQ=YEARLY;INTERVAL=2;BYMONTH=3;BYDAY=2TU",
            json!({ "type": "relativeYearly", "interval": 2, "month": 3, "daysOfWeek": ["tuesday"], "index": "second" }),
        ),
    ];
    for (rule, pattern) in rows {
        let written = written(rule, &start);
        assert_eq!(written["pattern"], pattern, "{rule}");
        let range = json!({ "type": "noEnd", "startDate": "2026-03-10", "recurrenceTimeZone": "W. Europe Standard Time" });
        assert_eq!(written["range"], range, "{rule}");
    }
}

/// Several days in one rule have one instance: the position among them all, not one of each.
#[test]
fn several_days_are_one_position() {
    // The last weekday of the month, and its last day.
    let start = timed("2026-03-31T09:00:00");
    let pattern = &written("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", &start)["pattern"];
    let weekdays = json!(["monday", "tuesday", "wednesday", "thursday", "friday"]);
    assert_eq!((&pattern["daysOfWeek"], &pattern["index"]), (&weekdays, &json!("last")));
    let pattern = &written("FREQ=MONTHLY;BYMONTHDAY=-1", &start)["pattern"];
    assert_eq!(
        (pattern["type"].as_str(), pattern["index"].as_str(), pattern["daysOfWeek"].as_array().map(Vec::len)),
        (Some("relativeMonthly"), Some("last"), Some(7))
    );
    assert_eq!(
        refusal(&["RRULE:FREQ=MONTHLY;BYDAY=2MO,2TU"], &start),
        "BYDAY is one day with a position, or several with BYSETPOS"
    );
}

#[test]
fn an_end_is_the_day_of_the_last_start() {
    let start = timed("2026-03-10T09:00:00");
    let end = |rule: &str| written(rule, &start)["range"]["endDate"].clone();
    // 08:00 UTC is 09:00 in Berlin, and after the change of clocks 10:00.
    assert_eq!(end("FREQ=DAILY;UNTIL=20260320T080000Z"), "2026-03-20");
    assert_eq!(end("FREQ=DAILY;UNTIL=20260320T075959Z"), "2026-03-19");
    assert_eq!(end("FREQ=DAILY;UNTIL=20260420T070000Z"), "2026-04-20");
    assert_eq!(end("FREQ=DAILY;UNTIL=20260420"), "2026-04-20");
    // Late in the evening the day is another one in UTC.
    let late = timed("2026-03-10T00:30:00");
    assert_eq!(written("FREQ=DAILY;UNTIL=20260319T233000Z", &late)["range"]["endDate"], "2026-03-20");
    let range = &written("FREQ=DAILY;COUNT=5", &start)["range"];
    assert_eq!((&range["type"], &range["numberOfOccurrences"]), (&json!("numbered"), &json!(5)));
    let day =
        SeriesStart { local: date(2026, 3, 10).at(0, 0, 0, 0), is_all_day: true, zone: BERLIN.to_owned() };
    assert_eq!(written("FREQ=DAILY;UNTIL=20260320", &day)["range"]["endDate"], "2026-03-20");
}

/// A day that some months lack is read as a rule that takes their last day, and is written back as it was.
#[test]
fn a_day_that_months_lack_is_written_back() {
    let month = |rule: &str, start: &str| written(rule, &timed(start))["pattern"].clone();
    let rule = "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1";
    let pattern = json!({ "type": "absoluteMonthly", "interval": 1, "dayOfMonth": 31 });
    for start in ["2026-03-31T09:00:00", "2026-04-30T09:00:00", "2026-02-28T09:00:00"] {
        assert_eq!(month(rule, start), pattern, "{start}");
    }
    let leap = month("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1", "2028-02-29T09:00:00");
    assert_eq!(leap, json!({ "type": "absoluteYearly", "interval": 1, "month": 2, "dayOfMonth": 29 }));
    let refused = |rule: &str| refusal(&[&format!("RRULE:{rule}")], &timed("2026-03-30T09:00:00"));
    assert_eq!(refused(rule), "the start is no instance of the rule");
    let other = "BYSETPOS is not supported here with FREQ=MONTHLY";
    assert_eq!(refused("FREQ=MONTHLY;BYMONTHDAY=28,30;BYSETPOS=-1"), other);
    assert_eq!(refused("FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=1"), other);
}

/// Each with its reason, so that the caller can write another rule.
#[test]
fn a_rule_without_a_pattern_is_refused() {
    let start = timed("2026-03-10T09:00:00");
    let rows = [
        ("FREQ=HOURLY", "FREQ=HOURLY is not supported"),
        ("FREQ=YEARLY;BYWEEKNO=11", "BYWEEKNO is not supported"),
        ("FREQ=YEARLY;BYYEARDAY=69", "BYYEARDAY is not supported"),
        ("FREQ=DAILY;BYHOUR=9,10", "BYHOUR is not supported"),
        ("FREQ=DAILY;INTERVAL=2;BYDAY=TU", "BYDAY is not supported with FREQ=DAILY and an INTERVAL"),
        ("FREQ=DAILY;BYMONTH=3", "BYMONTH is not supported here with FREQ=DAILY"),
        ("FREQ=WEEKLY;BYDAY=2TU", "a day with a position is not supported here with FREQ=WEEKLY"),
        ("FREQ=MONTHLY;BYMONTHDAY=10,20", "BYMONTHDAY is one number, 1 to 31 or -1"),
        ("FREQ=MONTHLY;BYMONTHDAY=-2", "BYMONTHDAY is one number, 1 to 31 or -1"),
        ("FREQ=MONTHLY;BYMONTHDAY=31", "not every month has a day 31"),
        ("FREQ=MONTHLY;BYDAY=5TU", "the position of a day is 1 to 4, or -1 for the last one"),
        ("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1,2", "BYSETPOS is one number"),
        ("FREQ=MONTHLY;BYDAY=TU", "BYDAY is one day with a position, or several with BYSETPOS"),
        ("FREQ=MONTHLY;BYDAY=2TU;BYMONTHDAY=10", "BYMONTHDAY is not supported here with FREQ=MONTHLY"),
        ("FREQ=YEARLY;BYMONTH=3,9", "FREQ=YEARLY has one BYMONTH, 1 to 12"),
        ("FREQ=YEARLY;BYMONTHDAY=10", "FREQ=YEARLY with a day needs a BYMONTH"),
        ("FREQ=DAILY;INTERVAL=1000", "the INTERVAL is at most 999"),
        ("FREQ=DAILY;COUNT=2;UNTIL=20260320T080000Z", "a rule has a COUNT or an UNTIL, not both"),
        ("FREQ=DAILY;UNTIL=20260309T080000Z", "UNTIL is before the start"),
        ("FREQ=DAILY;UNTIL=soon", "UNTIL=SOON is no date or time"),
        ("FREQ=WEEKLY;BYDAY=WE", "the start is no instance of the rule"),
        ("FREQ=MONTHLY;BYMONTHDAY=11", "the start is no instance of the rule"),
        ("FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=10", "the start is no instance of the rule"),
        ("FREQ=MONTHLY;BYDAY=-1TU", "the start is no instance of the rule"),
    ];
    for (rule, reason) in rows {
        assert_eq!(refusal(&[&format!("RRULE:{rule}")], &start), reason, "{rule}");
    }
    assert_eq!(refusal(&["RRULE:FREQ=DAILY", "RDATE:20260312T080000Z"], &start), "RDATE is not supported");
    assert_eq!(refusal(&["RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY"], &start), "a series has exactly one RRULE");
    assert!(rule_to(&["RRULE:FREQ=DAILY".to_owned(), "EXDATE:20260312T080000Z".to_owned()], &start).is_ok());
    let failure = Failure::from(rule_to(&["RRULE:FREQ=HOURLY".to_owned()], &start).expect_err("a refusal"));
    assert_eq!(failure.code, code::UNSUPPORTED);
    assert_eq!(failure.message, "the provider cannot repeat an event so: FREQ=HOURLY is not supported");
    assert_eq!(failure.detail.expect("a detail")["field"], "recurrence");
}

/// Graph's own words, as answers have them: numbers that a type does not use are 0.
#[test]
fn a_pattern_is_read_as_a_rule() {
    let start = timed("2026-03-10T09:00:00");
    let range = json!({ "type": "noEnd", "startDate": "2026-03-10", "endDate": "0001-01-01", "numberOfOccurrences": 0 });
    let all = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let rows = [
        (json!({ "type": "daily", "interval": 1, "month": 0, "dayOfMonth": 0 }), "FREQ=DAILY"),
        (
            json!({ "type": "weekly", "interval": 1, "daysOfWeek": ["friday", "monday"], "firstDayOfWeek": "sunday" }),
            "FREQ=WEEKLY;BYDAY=MO,FR",
        ),
        // Graph's weeks begin on Sunday, where nothing says otherwise.
        (
            json!({ "type": "weekly", "interval": 2, "daysOfWeek": ["tuesday"] }),
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;WKST=SU",
        ),
        (
            json!({ "type": "weekly", "interval": 2, "daysOfWeek": ["tuesday"], "firstDayOfWeek": "monday" }),
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
        ),
        (
            json!({ "type": "absoluteMonthly", "interval": 3, "dayOfMonth": 10 }),
            "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=10",
        ),
        // Outlook takes the last day of a shorter month.
        (
            json!({ "type": "absoluteMonthly", "interval": 1, "dayOfMonth": 31 }),
            "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1",
        ),
        (
            json!({ "type": "relativeMonthly", "interval": 1, "daysOfWeek": ["tuesday"], "index": "second" }),
            "FREQ=MONTHLY;BYDAY=2TU",
        ),
        (
            json!({ "type": "relativeMonthly", "interval": 1, "daysOfWeek": ["sunday", "saturday"], "index": "last" }),
            "FREQ=MONTHLY;BYDAY=SA,SU;BYSETPOS=-1",
        ),
        (
            json!({ "type": "relativeMonthly", "interval": 1, "daysOfWeek": all, "index": "last" }),
            "FREQ=MONTHLY;BYMONTHDAY=-1",
        ),
        (
            json!({ "type": "absoluteYearly", "interval": 1, "month": 2, "dayOfMonth": 29 }),
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1",
        ),
        (
            json!({ "type": "relativeYearly", "interval": 1, "month": 11, "daysOfWeek": ["thursday"], "index": "fourth" }),
            "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
        ),
    ];
    for (pattern, expected) in rows {
        assert_eq!(read(json!({ "pattern": pattern, "range": range }), &start), expected);
    }
    let unknown = json!({ "pattern": { "type": "lunar", "interval": 1 }, "range": range });
    let unknown: PatternedRecurrence = serde_json::from_value(unknown).expect("a recurrence");
    assert_eq!(rule_from(&unknown, &start).expect_err("a failure").code, code::UNAVAILABLE);
}

/// The end of a range is a day in its own zone: the rule goes on to the last start of that day.
#[test]
fn an_end_date_is_the_last_start_of_its_day() {
    let daily = json!({ "type": "daily", "interval": 1 });
    let end = |zone: &str, start: &SeriesStart| {
        let range = json!({ "type": "endDate", "startDate": "2026-03-10", "endDate": "2026-04-10", "recurrenceTimeZone": zone });
        read(json!({ "pattern": daily, "range": range }), start)
    };
    let morning = timed("2026-03-10T09:00:00");
    for zone in ["W. Europe Standard Time", "", "Europe/Berlin"] {
        assert_eq!(end(zone, &morning), "FREQ=DAILY;UNTIL=20260410T070000Z", "{zone}");
    }
    // 00:30 in Berlin is 19:30 of the day before in New York, where clocks had changed by then.
    let night = timed("2026-03-10T00:30:00");
    assert_eq!(end("W. Europe Standard Time", &night), "FREQ=DAILY;UNTIL=20260409T223000Z");
    assert_eq!(end("Eastern Standard Time", &night), "FREQ=DAILY;UNTIL=20260410T233000Z");
    let day =
        SeriesStart { local: date(2026, 3, 10).at(0, 0, 0, 0), is_all_day: true, zone: BERLIN.to_owned() };
    assert_eq!(end("W. Europe Standard Time", &day), "FREQ=DAILY;UNTIL=20260410");
    let numbered = json!({ "pattern": daily, "range": { "type": "numbered", "numberOfOccurrences": 4 } });
    assert_eq!(read(numbered, &morning), "FREQ=DAILY;COUNT=4");
}

/// A start and a rule, most of which Graph has a pattern for.
#[derive(Clone, Debug)]
struct RuleCase {
    start: SeriesStart,
    rule: String,
}

const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// Numbers that choose the parts of a rule.
#[derive(Clone, Copy, Debug)]
struct Choice {
    frequency: usize,
    variant: usize,
    interval: u32,
    /// A bit for each day of the week.
    days: u8,
    week_start: usize,
    end: usize,
    end_number: i64,
}

fn rule_of(start: &SeriesStart, choice: Choice) -> String {
    let date = start.local.date();
    let own = usize::from(date.weekday().to_monday_zero_offset().unsigned_abs());
    let code = DAYS[own];
    let days: Vec<&str> = DAYS
        .iter()
        .enumerate()
        .filter(|(at, _)| *at == own || (choice.days >> at) & 1 == 1)
        .map(|(_, day)| *day)
        .collect();
    let (days, position, month) = (days.join(","), (date.day() - 1) / 7 + 1, date.month());
    let within = match choice.variant {
        0 => String::new(),
        1 => format!(";BYMONTHDAY={}", date.day()),
        2 => format!(";BYDAY={position}{code}"),
        3 => format!(";BYDAY=-1{code}"),
        4 => format!(";BYDAY={days};BYSETPOS=1"),
        5 => format!(";BYDAY={days};BYSETPOS=-1"),
        6 => format!(";BYDAY={days};BYSETPOS={position}"),
        _ => ";BYMONTHDAY=-1".to_owned(),
    };
    let parts = match choice.frequency {
        0 if choice.variant.is_multiple_of(2) => "DAILY".to_owned(),
        0 => format!("DAILY;BYDAY={days}"),
        1 => format!("WEEKLY;BYDAY={days};WKST={}", DAYS[choice.week_start]),
        2 => format!("MONTHLY{within}"),
        _ if choice.variant == 0 => "YEARLY".to_owned(),
        _ => format!("YEARLY;BYMONTH={month}{within}"),
    };
    let last = date.checked_add(choice.end_number.days()).expect("a date").at(11, 30, 0, 0);
    let end = match choice.end {
        0 => String::new(),
        1 => format!(";COUNT={}", choice.end_number % 60 + 1),
        _ if start.is_all_day => format!(";UNTIL={}", last.strftime("%Y%m%d")),
        _ => format!(";UNTIL={}", last.strftime("%Y%m%dT%H%M%SZ")),
    };
    format!("FREQ={parts};INTERVAL={}{end}", choice.interval)
}

fn rule_cases() -> impl Strategy<Value = RuleCase> {
    let zones = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"];
    let start = (0..3_650_i64, 0..48_i8, any::<bool>(), 0..zones.len()).prop_map(
        move |(day, half, is_all_day, zone)| {
            let first: Date = date(2024, 1, 1).checked_add(day.days()).expect("a date");
            let local: DateTime =
                if is_all_day { first.at(0, 0, 0, 0) } else { first.at(half / 2, half % 2 * 30, 0, 0) };
            SeriesStart { local, is_all_day, zone: zones[zone].to_owned() }
        },
    );
    let choice = (0..4_usize, 0..8_usize, 1..5_u32, any::<u8>(), 0..7_usize, 0..3_usize, 1..3_000_i64);
    (start, choice).prop_map(|(start, (frequency, variant, interval, days, week_start, end, end_number))| {
        let choice = Choice { frequency, variant, interval, days, week_start, end, end_number };
        let rule = rule_of(&start, choice);
        RuleCase { start, rule }
    })
}

/// The starts of ten years.
fn starts(start: &SeriesStart, lines: &[String]) -> Vec<Instant> {
    let (first, length) = match start.is_all_day {
        true => (Start::AllDay { date: start.local.date(), zone: start.zone.clone() }, Length::Days(1)),
        false => (Start::Timed { local: start.local, zone: start.zone.clone() }, Length::Exact(HOUR_MS)),
    };
    let series = Series::new(&first, length, lines).expect("a series");
    let midnight: Timestamp = "2023-12-30T00:00:00Z".parse().expect("an instant");
    let until = start.local.date().year() + 10;
    let until: Timestamp = format!("{until}-12-31T00:00:00Z").parse().expect("an instant");
    let all = expand(&series, midnight.into(), until.into(), CAPS).expect("instances");
    all.into_iter().map(|one| one.start).collect()
}

/// An event of an hour, or of a day, as iCalendar with the rule.
fn calendar_with(case: &RuleCase) -> String {
    let (start, zone) = (case.start.local, &case.start.zone);
    let end = end_of(&case.start);
    let value = |at: DateTime| match case.start.is_all_day {
        true => format!(";VALUE=DATE:{}", at.strftime("%Y%m%d")),
        false => format!(";TZID={zone}:{}", at.strftime("%Y%m%dT%H%M%S")),
    };
    let (start, end, rule) = (value(start), value(end), &case.rule);
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20240101T000000Z\r\n\
         DTSTART{start}\r\nDTEND{end}\r\nRRULE:{rule}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

fn end_of(start: &SeriesStart) -> DateTime {
    let length = if start.is_all_day { 1.day() } else { 1.hour() };
    start.local.checked_add(length).expect("an end")
}

/// The rule that io-msgraph reads in one of Graph's series with this recurrence.
fn read_by_io_msgraph(start: &SeriesStart, recurrence: &PatternedRecurrence) -> String {
    let recurrence = json!(recurrence);
    let zone = match start.is_all_day {
        true => json!("UTC"),
        false => recurrence["range"]["recurrenceTimeZone"].clone(),
    };
    let time =
        |at: DateTime| json!({ "dateTime": at.strftime("%Y-%m-%dT%H:%M:%S").to_string(), "timeZone": zone });
    let event = json!({
        "id": "a", "type": "seriesMaster", "subject": "A", "isAllDay": start.is_all_day, "start": time(start.local),
        "end": time(end_of(start)), "recurrence": recurrence,
    });
    let event: MsgraphEvent = serde_json::from_value(event).expect("an event");
    // Zones have rules too, and lines are folded.
    let text = event.to_ical().replace("\r\n ", "");
    let (_, text) = text.split_once("BEGIN:VEVENT").expect("an event");
    let rule = text.lines().find(|line| line.starts_with("RRULE:"));
    rule.unwrap_or_else(|| panic!("no rule: {text}")).to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Both read the same instances out of a pattern, and write the same pattern for a rule that both take. Of an end io-msgraph takes the
    /// day in UTC as it is written, and not that of the last start: ends are compared where they are days.
    #[test]
    fn io_msgraph_agrees(case in rule_cases()) {
        let lines = [format!("RRULE:{}", case.rule)];
        if let Ok(ours) = rule_to(&lines, &case.start) {
            let read = read_by_io_msgraph(&case.start, &ours);
            prop_assert_eq!(starts(&case.start, std::slice::from_ref(&read)), starts(&case.start, &lines), "{}", read);
            if let Ok(event) = MsgraphEvent::create_from_ical(calendar_with(&case).as_bytes()) {
                let (ours, event) = (json!(ours), json!(event));
                let theirs = &event["recurrence"];
                prop_assert_eq!(&ours["pattern"], &theirs["pattern"], "{}", case.rule);
                let with_end: &[&str] = if case.start.is_all_day { &["endDate"] } else { &[] };
                for name in ["type", "startDate", "numberOfOccurrences"].iter().chain(with_end) {
                    prop_assert_eq!(&ours["range"][name], &theirs["range"][name], "{} of {}", name, case.rule);
                }
            }
        }
    }

    #[test]
    fn a_rule_that_is_taken_comes_back_with_the_same_instances(case in rule_cases()) {
        let lines = [format!("RRULE:{}", case.rule)];
        if let Ok(recurrence) = rule_to(&lines, &case.start) {
            let text = serde_json::to_string(&recurrence).expect("JSON");
            let answered: PatternedRecurrence = serde_json::from_str(&text).expect("a recurrence");
            prop_assert_eq!(&answered, &recurrence);
            let back = rule_from(&answered, &case.start).expect("a rule");
            prop_assert_eq!(starts(&case.start, &back), starts(&case.start, &lines), "{:?}", back);
        }
    }

    /// Each case has the start among its instances, so that most are taken: the others say why not.
    #[test]
    fn a_rule_is_taken_or_refused_for_a_known_reason(case in rule_cases()) {
        if let Err(refusal) = rule_to(&[format!("RRULE:{}", case.rule)], &case.start) {
            let known = ["not every month", "the start is no instance", "the position of a day", "with FREQ=DAILY and",
                "UNTIL is before"];
            prop_assert!(known.iter().any(|one| refusal.reason.contains(one)), "{}: {}", case.rule, refusal.reason);
        }
    }
}
