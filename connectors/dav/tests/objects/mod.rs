//! Objects as other programs write them: in every form of time, with rules, dates, changed instances, alarms and people, and with lines
//! and parameters that no field of the model says.

use connector_dav::text::fold;
use jiff::Span;
use jiff::civil::{Date, DateTime};
use model::Instant;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use recurrence::{Length, Occurrence, Occurrences, Series, Start};

/// The calendar's zone: of days and floating times.
pub const HOME: &str = "Europe/Berlin";
/// The UID of every object.
pub const UID: &str = "written@example.com";
const HOUR_MS: i64 = 3_600_000;

/// How an object says its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Day,
    Utc,
    Floating,
    /// With this TZID.
    Zoned(&'static str),
}

pub const FORMS: [Form; 7] = [
    Form::Day,
    Form::Utc,
    Form::Floating,
    Form::Zoned("Europe/Berlin"),
    Form::Zoned("America/New_York"),
    Form::Zoned("W. Europe Standard Time"),
    Form::Zoned("Office: Berlin"),
];

impl Form {
    pub fn zone(self) -> &'static str {
        match self {
            Form::Utc => "UTC",
            Form::Zoned("America/New_York") => "America/New_York",
            Form::Day | Form::Floating | Form::Zoned(_) => HOME,
        }
    }

    /// The parameters of a time.
    fn params(self) -> String {
        match self {
            Form::Day => ";VALUE=DATE".into(),
            Form::Zoned(tzid) if tzid.contains(':') => format!(";TZID=\"{tzid}\""),
            Form::Zoned(tzid) => format!(";TZID={tzid}"),
            Form::Utc | Form::Floating => String::new(),
        }
    }

    /// A time of its zone.
    pub fn value(self, local: DateTime) -> String {
        match self {
            Form::Day => local.strftime("%Y%m%d").to_string(),
            Form::Utc => format!("{}Z", basic(local)),
            Form::Floating | Form::Zoned(_) => basic(local),
        }
    }

    /// The VTIMEZONE that it needs.
    fn definition(self) -> String {
        let Form::Zoned(tzid) = self else { return String::new() };
        let (daylight, standard) = match self.zone() {
            HOME => (
                "DTSTART:19700329T020000|RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU|TZOFFSETFROM:+0100|TZOFFSETTO:+0200",
                "DTSTART:19701025T030000|RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU|TZOFFSETFROM:+0200|TZOFFSETTO:+0100",
            ),
            _ => (
                "DTSTART:20070311T020000|RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU|TZOFFSETFROM:-0500|TZOFFSETTO:-0400",
                "DTSTART:20071104T020000|RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU|TZOFFSETFROM:-0400|TZOFFSETTO:-0500",
            ),
        };
        format!(
            "BEGIN:VTIMEZONE|TZID:{tzid}|BEGIN:DAYLIGHT|{daylight}|END:DAYLIGHT|BEGIN:STANDARD|{standard}|END:STANDARD|END:VTIMEZONE|"
        )
        .replace('|', "\r\n")
    }
}

pub fn basic(at: DateTime) -> String {
    at.strftime("%Y%m%dT%H%M%S").to_string()
}

pub fn instant(text: &str) -> Instant {
    text.parse().unwrap()
}

/// The instant as RFC 5545 writes it.
pub fn utc(at: Instant) -> String {
    recurrence::instance_suffix(at)
}

/// The local time that a recurrence id names.
pub fn named(id: &str) -> DateTime {
    match id.parse::<Date>() {
        Ok(day) if id.len() == 10 => day.to_datetime(jiff::civil::Time::midnight()),
        _ => id.parse().unwrap(),
    }
}

pub fn later(local: DateTime, minutes: i64) -> DateTime {
    local.checked_add(Span::new().minutes(minutes)).unwrap()
}

const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
/// Rules that [`rule`] knows.
const RULES: usize = 13;
/// From this on they are of hours and minutes: only in UTC, because dateutil has instances in gaps of local time.
pub const FINE: usize = 11;

/// A rule that generates this start.
fn rule(number: usize, start: DateTime) -> String {
    let weekday = usize::try_from(start.weekday().to_monday_zero_offset()).unwrap();
    let (day, other) = (WEEKDAYS[weekday], WEEKDAYS[(weekday + 2) % 7]);
    let nth = (start.day() - 1) / 7 + 1;
    match number {
        0 => "FREQ=DAILY".into(),
        1 => "FREQ=DAILY;INTERVAL=3".into(),
        2 => format!("FREQ=WEEKLY;BYDAY={day}"),
        3 => format!("FREQ=WEEKLY;INTERVAL=2;BYDAY={day},{other};WKST=SU"),
        4 => format!("FREQ=MONTHLY;BYMONTHDAY={}", start.day()),
        5 => format!("FREQ=MONTHLY;BYDAY={nth}{day}"),
        6 => "FREQ=MONTHLY".into(),
        7 => format!("FREQ=YEARLY;BYMONTH={}", start.month()),
        8 => "FREQ=YEARLY;INTERVAL=2".into(),
        9 => "FREQ=WEEKLY".into(),
        10 => format!("FREQ=MONTHLY;BYDAY={day};BYSETPOS={nth}"),
        FINE => "FREQ=HOURLY;INTERVAL=5".into(),
        _ => "FREQ=MINUTELY;INTERVAL=45".into(),
    }
}

/// Properties of people as other programs write them.
const PEOPLE: [&str; 4] = [
    "ATTENDEE;CN=\"Doe, Jane\";PARTSTAT=ACCEPTED;X-NUM-GUESTS=0;ROLE=CHAIR:mailto:jane@example.com",
    "ATTENDEE;CUTYPE=ROOM;X-A=\"b;c\":MAILTO:Room@Example.com",
    "ATTENDEE;RSVP=TRUE;PARTSTAT=NEEDS-ACTION;SCHEDULE-STATUS=\"2.0\";CN=M^'e^':mailto:ME@example.com",
    "ATTENDEE;MEMBER=\"mailto:a@example.com\",\"mailto:b@example.com\";DIR=\"ldap://example.com/x\":mailto:group@example.com",
];

const ALARMS: [&str; 4] = [
    "BEGIN:VALARM|UID:alarm-1|ACTION:DISPLAY|DESCRIPTION:Soon|TRIGGER;RELATED=START;X-A=1:-PT10M|X-WR-ALARMUID:x|END:VALARM",
    "BEGIN:VALARM|ACTION:DISPLAY|DESCRIPTION:Then|TRIGGER;VALUE=DATE-TIME;X-A=1:20260101T080000Z|END:VALARM",
    "BEGIN:VALARM|ACTION:AUDIO|TRIGGER;RELATED=END:PT15M|ATTACH;VALUE=URI:Chord|END:VALARM",
    "BEGIN:VALARM|ACTION:EMAIL|TRIGGER:-P1D|SUMMARY:Mail|DESCRIPTION:Mail|ATTENDEE;X-B=2:mailto:me@example.com|END:VALARM",
];

/// Lines that no edit is about.
const EXTRAS: [&str; 10] = [
    "X-LONG;X-P=\"a:b;c,d\":0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789",
    "X-FOLDED:one\r\n  two\r\n\tthree",
    "CATEGORIES:a\\,b,c",
    "COMMENT;LANGUAGE=de:Grüße\\, alle\\nzusammen und noch viel mehr, damit die Zeile zu lang für eine ist",
    "DESCRIPTION;ALTREP=\"cid:1@example.com\";X-Q=1:Text\\; more",
    "X-APPLE-TRAVEL-ADVISORY-BEHAVIOR;ACKNOWLEDGED=20260101T000000Z:AUTOMATIC",
    "RELATED-TO;RELTYPE=SIBLING:other@example.com",
    "URL;X-A=b:https://example.com/?a=b",
    "CLASS:X-FAMILY",
    "GEO:48.1;11.5",
];

/// An object before an edit.
#[derive(Clone, Debug)]
pub struct Base {
    pub form: Form,
    pub start: DateTime,
    /// None: a single event.
    pub rule: Option<usize>,
    /// 0: endless, 1: COUNT, 2: UNTIL.
    bound: usize,
    count: usize,
    /// The form of the end.
    end: usize,
    /// Instances that are taken out.
    holes: Vec<usize>,
    /// Instances that are added, hours after the start.
    added: Vec<i64>,
    /// Instances that are changed, and how much later they are, minutes.
    changed: Vec<(usize, i64)>,
    people: Vec<&'static str>,
    alarms: Vec<&'static str>,
    extras: Vec<&'static str>,
}

pub fn base() -> impl Strategy<Value = Base> {
    let start = (select(&FORMS[..]), 1..=12_i8, 1..=28_i8, 5..=20_i8, select(vec![0_i8, 15, 30])).prop_map(
        |(form, month, day, hour, minute)| {
            let (hour, minute) = if form == Form::Day { (0, 0) } else { (hour, minute) };
            (form, DateTime::new(2026, month, day, hour, minute, 0, 0).unwrap())
        },
    );
    let rule = (prop::option::weighted(0.9, 0..RULES), 0..3_usize, 3..15_usize, 0..4_usize);
    let dates = (
        prop::collection::vec(1..6_usize, 0..3),
        prop::collection::vec(7..900_i64, 0..3),
        prop::collection::vec((0..8_usize, -300..300_i64), 0..3),
    );
    let more =
        (subsequence(&PEOPLE[..], 0..=4), subsequence(&ALARMS[..], 0..=4), subsequence(&EXTRAS[..], 0..=10));
    (start, rule, dates, more).prop_map(
        |((form, start), (rule, bound, count, end), (holes, added, changed), (people, alarms, extras))| {
            let rule = rule.filter(|rule| form == Form::Utc || *rule < FINE);
            Base { form, start, rule, bound, count, end, holes, added, changed, people, alarms, extras }
        },
    )
}

impl Base {
    /// The first instances of the rule without its end; none of a single event.
    pub fn occurrences(&self) -> Vec<Occurrence> {
        let Some(number) = self.rule else { return Vec::new() };
        let lines = [format!("RRULE:{}", rule(number, self.start))];
        let (start, length) = match self.form {
            Form::Day => (Start::AllDay { date: self.start.date(), zone: HOME.into() }, Length::Days(1)),
            form => (Start::Timed { local: self.start, zone: form.zone().into() }, Length::Exact(HOUR_MS)),
        };
        let series = Series::new(&start, length, &lines).unwrap();
        let (from, to) = (instant("2025-01-01T00:00:00Z"), instant("2080-01-01T00:00:00Z"));
        Occurrences::starting(&series, from, to, 2_000_000).map(Result::unwrap).take(16).collect()
    }

    /// The rule with its end.
    fn bounded(&self, all: &[Occurrence]) -> Option<String> {
        let number = self.rule?;
        let plain = rule(number, self.start);
        let last = &all[self.count.min(all.len() - 1)];
        Some(match self.bound {
            0 if number < FINE => plain,
            0 | 1 => format!("{plain};COUNT={}", self.count),
            _ => {
                let until = match self.form {
                    Form::Utc | Form::Zoned(_) => utc(last.start),
                    form => form.value(named(&last.recurrence_id)),
                };
                format!("{plain};UNTIL={until}")
            }
        })
    }

    /// The lines of a component from DTSTART on.
    fn times(&self, start: DateTime) -> Vec<String> {
        let (params, is_day) = (self.form.params(), self.form == Form::Day);
        let time = |name: &str, more: &str, at| format!("{name}{more}{params}:{}", self.form.value(at));
        let mut lines = vec![time("DTSTART", "", start)];
        match self.end {
            0 => lines.push(time("DTEND", "", later(start, if is_day { 1440 } else { 60 }))),
            1 => lines.push(if is_day { "DURATION:P2D" } else { "DURATION;X-L=1:PT45M" }.to_owned()),
            2 => lines.push(time("DTEND", ";X-END=\"1:2\"", later(start, if is_day { 2880 } else { 90 }))),
            _ => {}
        }
        lines
    }

    pub fn text(&self) -> String {
        let mut all = self.occurrences();
        let rule = self.bounded(&all);
        if rule.as_ref().is_some_and(|rule| rule.contains("COUNT=") || rule.contains("UNTIL=")) {
            all.truncate(self.count);
        }
        let params = self.form.params();
        let common = format!("UID:{UID}|DTSTAMP:20260101T000000Z|LAST-MODIFIED:20260101T000000Z|SEQUENCE:3");
        let mut lines = vec![format!("BEGIN:VEVENT|{common}|X-MARK:0")];
        lines.extend(self.times(self.start));
        lines.extend(rule.map(|rule| format!("RRULE:{rule}")));
        let value = |occurrence: &Occurrence| self.form.value(named(&occurrence.recurrence_id));
        let holes: Vec<String> = self.holes.iter().filter_map(|at| all.get(*at)).map(value).collect();
        if let [first, rest @ ..] = &holes[..] {
            lines.push(format!("EXDATE;X-BY=me{params}:{first}"));
            lines.extend((!rest.is_empty()).then(|| format!("EXDATE{params}:{}", rest.join(","))));
        }
        if !self.added.is_empty() && !all.is_empty() {
            let of = |hours: &i64| self.form.value(later(self.start, hours * 60 + 7));
            let dates: Vec<String> = self.added.iter().map(of).collect();
            lines.push(format!("RDATE{params}:{}", dates.join(",")));
        }
        lines.push("SUMMARY;LANGUAGE=en:Planning\\, with all".to_owned());
        if !self.people.is_empty() {
            lines.push("ORGANIZER;X-O=1;CN=\"Boss; the\":mailto:boss@example.com".to_owned());
        }
        lines.extend(
            self.people.iter().chain(&self.extras).chain(&self.alarms).map(|line| (*line).to_owned()),
        );
        lines.push("END:VEVENT".to_owned());
        let mut seen = self.holes.clone();
        for (at, minutes) in &self.changed {
            let Some(occurrence) = all.get(*at).filter(|_| !seen.contains(at)) else { continue };
            seen.push(*at);
            let minutes = if self.form == Form::Day { minutes.signum() * 1440 } else { *minutes };
            lines.push(format!("BEGIN:VEVENT|{common}|X-MARK:{}", seen.len()));
            lines.push(format!("RECURRENCE-ID{params}:{}", value(occurrence)));
            lines.extend(self.times(later(named(&occurrence.recurrence_id), minutes)));
            lines.push(format!("SUMMARY:Changed {at}|X-KEPT;X-P=\"a;b\":c|END:VEVENT"));
        }
        // Lines that the case folds itself stay so.
        let folded = |line: &str| if line.contains('\r') { line.to_owned() } else { fold(line) };
        let lines: String = lines
            .iter()
            .flat_map(|line| line.split('|'))
            .map(|line| format!("{}\r\n", folded(line)))
            .collect();
        let head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Others//EN\r\nX-WR-CALNAME:a\\,b\r\n";
        format!("{head}{}{lines}END:VCALENDAR\r\n", self.form.definition())
    }
}
