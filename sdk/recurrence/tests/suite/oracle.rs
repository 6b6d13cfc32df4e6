//! python-dateutil as a second opinion on thousands of random series. Every difference must be one of the named faults of the
//! oracle, and there the literal reading of RFC 5545 must side with the library.
//!
//! The interpreter comes from `ORACLE_PYTHON` (a venv with tests/oracle/requirements.txt). Without it the test says that it did
//! not run, and fails where `SWITCHBOARD_REQUIRE_PEERS=1`. `ORACLE_RULES` sets the number of series, `ORACLE_SEED` the seed.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use model::Instant;
use model::calendar::{Event, EventStatus, EventType};
use recurrence::{Caps, Series, Start, expand, instances};
use serde_json::{Value, json};

use crate::generator::{Case, Dice, case};
use crate::literal::{self, Parts};
use crate::support::{HOUR, oracle_python};

const CAPS: Caps = Caps { max_instances: 100_000, max_steps: 2_000_000 };
const DAY: i64 = 86_400;
/// Share of all series that the excuses may cover, percent.
const MAX_EXCUSED: usize = 8;

/// One series with all input of both sides.
struct Question {
    case: Case,
    /// RRULE and EXRULE lines beside the case's own.
    more: Vec<String>,
    rdates: Vec<String>,
    exdates: Vec<String>,
    /// Recurrence id (basic form) and the new start, or None for a cancellation.
    overrides: Vec<(String, Option<i64>)>,
    from: i64,
    to: i64,
}

/// The cases in which the oracle is known to be wrong, or to answer another question, each with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Excuse {
    /// dateutil drops a DTSTART that the rule does not generate. RFC 5545 §3.8.5.3: DTSTART "defines the first instance in the
    /// recurrence set"; RFC 8984 §4.3.3: it is the first occurrence and counts, even if it does not match.
    UnmatchedStart,
    /// dateutil lets hourly and finer instances happen in a gap, twice at one instant. RFC 5545 §3.3.10: instances at a nonexistent
    /// local time "MUST be ignored and MUST NOT be counted".
    GapOfHours,
    /// The same for a day that the zone skipped as a whole.
    SkippedDay,
    /// dateutil takes `BYDAY=5SU,TH` (plain and counted weekdays together) for an intersection. RFC 5545 §3.3.10: a list, each entry of
    /// which names days.
    MixedOrdinals,
    /// dateutil begins the first week of a WEEKLY rule at DTSTART, so BYSETPOS counts from there. RFC 5545 §3.3.10: BYSETPOS counts in
    /// the whole set of the interval.
    SetPosInFirstWeek,
    /// dateutil takes the whole week where BYWEEKNO stands without a weekday. RFC 5545 §3.3.10: what the rule does not say comes from
    /// DTSTART (RFC 8984 §4.3.3 spells it out: the weekday).
    WeekWithoutDay,
    /// dateutil knows the week that New Year cuts only as 1 and -1, not by its other numbers (52, 53, -52, -53), and counts its days to
    /// the calendar year, which matters to INTERVAL and BYSETPOS. RFC 5545 §3.3.10: the week belongs to one year, that of its fourth day.
    WeekCutAtNewYear,
}

impl Excuse {
    fn all(question: &Question, parts: &Parts) -> Vec<Excuse> {
        let case = &question.case;
        let gaps = gaps(question);
        let counted = parts.by_day.iter().filter(|(n, _)| *n != 0).count();
        let weeks = !parts.by_week_no.is_empty();
        let at_new_year = parts.by_week_no.iter().any(|week| week.abs() == 1 || week.abs() >= 52);
        let no_day = parts.by_day.is_empty() && parts.by_month_day.is_empty() && parts.by_year_day.is_empty();
        [
            (Excuse::UnmatchedStart, !literal::generates_start(case)),
            (Excuse::GapOfHours, sub_daily(case) && !gaps.is_empty() && !case.all_day),
            (Excuse::SkippedDay, gaps.iter().any(|gap| *gap >= DAY)),
            (Excuse::MixedOrdinals, counted > 0 && counted < parts.by_day.len()),
            (Excuse::SetPosInFirstWeek, parts.freq == "WEEKLY" && !parts.by_set_pos.is_empty()),
            (Excuse::WeekWithoutDay, weeks && no_day),
            (
                Excuse::WeekCutAtNewYear,
                weeks && (parts.interval > 1 || !parts.by_set_pos.is_empty() || at_new_year),
            ),
        ]
        .into_iter()
        .filter_map(|(excuse, applies)| applies.then_some(excuse))
        .collect()
    }
}

/// Lengths of the gaps of the zone between the start and the end of the range.
fn gaps(question: &Question) -> Vec<i64> {
    let zone = recurrence::zone(question.case.zone).expect("a zone");
    let at = |seconds: i64| jiff::Timestamp::from_second(seconds).expect("a near instant");
    let start = zone.to_ambiguous_timestamp(question.case.local).compatible().expect("an instant");
    let changes =
        zone.following(at(start.as_second() - 1)).take_while(|t| t.timestamp() < at(question.to + DAY));
    let lengths = changes.map(|t| {
        let before = zone.to_offset(at(t.timestamp().as_second() - 1));
        i64::from(t.offset().seconds() - before.seconds())
    });
    lengths.filter(|length| *length > 0).collect()
}

/// The event that the case stores.
fn event(case: &Case, lines: Vec<String>) -> Event {
    let start = timestamp(case).as_millisecond();
    let date = case.local.date();
    Event {
        event_type: EventType::Series,
        all_day: case.all_day,
        start: Instant::from_millis(start),
        end: Instant::from_millis(start + HOUR),
        start_date: case.all_day.then(|| date.to_string()),
        end_date: case.all_day.then(|| date.tomorrow().expect("a date").to_string()),
        time_zone: case.zone.into(),
        recurrence: lines,
        ..Event::default()
    }
}

/// A case whose start the rule generates, but for a few; as the model stores it, so never at a local time that does not exist.
fn matched_case(dice: &mut Dice) -> Case {
    loop {
        let mut case = case(dice);
        let zone = recurrence::zone(case.zone).expect("a zone");
        let stored = zone.to_datetime(timestamp(&case));
        if !case.all_day {
            case.local = stored;
        }
        if literal::generates_start(&case) || dice.chance(2) {
            return case;
        }
        if let Some(next) = starts(&case, 900).get(1) {
            let id = &next.recurrence_id;
            case.local = if case.all_day { format!("{id}T00:00:00") } else { id.clone() }
                .parse()
                .expect("a local time");
            if literal::generates_start(&case) && literal::start_gap(&case) == 0 {
                return case;
            }
        }
    }
}

fn timestamp(case: &Case) -> jiff::Timestamp {
    let zone = recurrence::zone(case.zone).expect("a zone");
    zone.to_ambiguous_timestamp(case.local).compatible().expect("an instant")
}

fn sub_daily(case: &Case) -> bool {
    case.lines[0].contains("HOURLY") || case.lines[0].contains("MINUTELY")
}

/// The instances of the rule in its first days.
fn starts(case: &Case, days: i64) -> Vec<recurrence::Occurrence> {
    let start = if case.all_day {
        Start::AllDay { date: case.local.date(), zone: case.zone.into() }
    } else {
        Start::Timed { local: case.local, zone: case.zone.into() }
    };
    let series = Series::new(&start, recurrence::Length::Exact(0), &case.lines).expect("a readable series");
    let from = timestamp(case).as_millisecond();
    let days = if sub_daily(case) { 12 } else { days };
    expand(&series, Instant::from_millis(from), Instant::from_millis(from + days * DAY * 1000), CAPS)
        .expect("within the caps")
}

fn question(dice: &mut Dice) -> Question {
    let case = matched_case(dice);
    let zone = recurrence::zone(case.zone).expect("a zone");
    let epoch = |local| zone.to_ambiguous_timestamp(local).compatible().expect("an instant").as_second();
    let (mut rdates, mut exdates, mut overrides) = (Vec::new(), Vec::new(), Vec::new());
    let all = starts(&case, 900);
    let basic = |id: &str| {
        if case.all_day { format!("{}T000000", id.replace('-', "")) } else { id.replace(['-', ':'], "") }
    };
    let utc = |at: Instant| recurrence::instance_suffix(at);
    for occurrence in &all {
        if exdates.len() < 4 && dice.chance(6) {
            exdates.push(if !case.all_day && dice.chance(50) {
                utc(occurrence.start)
            } else {
                basic(&occurrence.recurrence_id)
            });
        } else if overrides.len() < 4 && dice.chance(5) {
            let moved = occurrence.start.as_millis() / 1000 + dice.between(-72, 72) * 3600;
            overrides.push((basic(&occurrence.recurrence_id), dice.chance(70).then_some(moved)));
        }
    }
    while !case.all_day && rdates.len() < 3 && dice.chance(25) {
        let later =
            case.local.checked_add(jiff::Span::new().minutes(15 * dice.between(1, 30_000))).expect("a time");
        let local = later.strftime("%Y%m%dT%H%M%S").to_string();
        rdates.push(if dice.chance(50) { local } else { utc(Instant::from_millis(epoch(later) * 1000)) });
    }
    let begin = epoch(case.local);
    let from = begin
        + if dice.chance(50) {
            -DAY
        } else {
            dice.between(0, if sub_daily(&case) { 6 } else { 400 }) * DAY + 1800
        };
    let to = from + dice.between(1, if sub_daily(&case) { 6 } else { 400 }) * DAY;
    Question { case, more: Vec::new(), rdates, exdates, overrides, from, to }
}

/// A timed series of two rules, or of one and an EXRULE; each alone is one that the oracle reads as we do.
fn set(dice: &mut Dice) -> Question {
    loop {
        let mut question = question(dice);
        let Case { all_day, mut lines, .. } = case(dice);
        let other = lines.remove(0);
        let case = Case { lines: vec![other.clone()], ..question.case.clone() };
        let alone = Question { case, more: Vec::new(), ..plain(&question) };
        let is_clear =
            |question: &Question| Excuse::all(question, &literal::parts(&question.case.lines[0])).is_empty();
        // Days have no hours; and a rule that does not match the start counts it (RFC 8984 §4.3.3), which dateutil does not.
        if all_day || question.case.all_day || !is_clear(&question) {
            continue;
        }
        let is_even = is_clear(&alone);
        let is_unmatched = !literal::generates_start(&alone.case) && !other.contains("COUNT");
        let others = Excuse::all(&alone, &literal::parts(&other));
        if is_even || (is_unmatched && others == [Excuse::UnmatchedStart]) {
            question.more.push(if dice.chance(50) { other.replace("RRULE", "EXRULE") } else { other });
            return question;
        }
    }
}

/// The same range and start without added and excluded dates.
fn plain(question: &Question) -> Question {
    Question {
        case: question.case.clone(),
        more: Vec::new(),
        rdates: Vec::new(),
        exdates: Vec::new(),
        overrides: Vec::new(),
        from: question.from,
        to: question.to,
    }
}

impl Question {
    fn lines(&self) -> Vec<String> {
        let mut lines = self.case.lines.clone();
        lines.extend(self.more.clone());
        for (name, dates) in [("RDATE", &self.rdates), ("EXDATE", &self.exdates)] {
            for date in dates {
                let zone = self.case.zone;
                lines.push(match (self.case.all_day, date.ends_with('Z')) {
                    (true, _) => format!("{name};VALUE=DATE:{}", &date[..8]),
                    (_, true) => format!("{name}:{date}"),
                    _ => format!("{name};TZID={zone}:{date}"),
                });
            }
        }
        lines
    }

    /// The library's answer: the starts of everything that happens in the range.
    fn ours(&self) -> Vec<i64> {
        let exceptions: Vec<Event> =
            self.overrides.iter().map(|(id, start)| self.exception(id, *start)).collect();
        let range = (Instant::from_millis(self.from * 1000), Instant::from_millis(self.to * 1000));
        let series = event(&self.case, self.lines());
        let found = instances(&series, &exceptions, range.0, range.1, CAPS).expect("within the caps");
        let happening = found.iter().filter(|i| i.event.status != EventStatus::Cancelled);
        happening.map(|i| i.event.start.as_millis() / 1000).collect()
    }

    fn exception(&self, id: &str, start: Option<i64>) -> Event {
        let day = format!("{}-{}-{}", &id[..4], &id[4..6], &id[6..8]);
        let time = format!("{}:{}:{}", &id[9..11], &id[11..13], &id[13..15]);
        let mut exception = Event {
            recurrence_id: Some(if self.case.all_day { day } else { format!("{day}T{time}") }),
            all_day: self.case.all_day,
            status: if start.is_none() { EventStatus::Cancelled } else { EventStatus::Confirmed },
            ..event(&self.case, Vec::new())
        };
        if let Some(start) = start {
            let zone = recurrence::zone(self.case.zone).expect("a zone");
            let end = if self.case.all_day {
                let local = zone.to_datetime(jiff::Timestamp::from_second(start).expect("a near instant"));
                let next = local.checked_add(jiff::Span::new().days(1)).expect("a time");
                zone.to_ambiguous_timestamp(next).compatible().expect("an instant").as_second()
            } else {
                start + 3600
            };
            exception.start = Instant::from_millis(start * 1000);
            exception.end = Instant::from_millis(end * 1000);
        }
        exception
    }

    /// Whether a literal reading of the RFC gives the same instances for the rule alone, to judge a difference by.
    fn literal_agrees(&self) -> bool {
        let plain = event(&self.case, self.case.lines.clone());
        let to = jiff::Timestamp::from_second(self.to).expect("a near instant");
        let read = literal::instances(&self.case, to);
        let found = instances(&plain, &[], plain.start, Instant::from(to), CAPS).expect("within the caps");
        found.iter().map(|i| i.event.start.timestamp()).eq(read)
    }

    fn json(&self) -> Value {
        let overrides: Vec<Value> =
            self.overrides.iter().map(|(id, start)| json!({ "id": id, "start": start })).collect();
        let more = |name: &str| -> Vec<&str> {
            self.more.iter().filter_map(|line| line.strip_prefix(name)).collect()
        };
        json!({
            "rules": more("RRULE:"),
            "exrules": more("EXRULE:"),
            "zone": self.case.zone,
            "local": self.case.local.strftime("%Y%m%dT%H%M%S").to_string(),
            "allDay": self.case.all_day,
            "rule": self.case.lines[0].trim_start_matches("RRULE:"),
            "rdate": self.rdates,
            "exdate": self.exdates,
            "length": if self.case.all_day { 1 } else { 3600 },
            "overrides": overrides,
            "from": self.from,
            "to": self.to,
        })
    }
}

/// All answers of the oracle, in order.
fn ask(python: &str, questions: &[Question]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/oracle.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("ORACLE_PYTHON={python} does not start: {e}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    let text: String = questions.iter().map(|q| format!("{}\n", q.json())).collect();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"))
        .lines()
        .map(|line| line.expect("a line of text"));
    println!("oracle: {}", lines.next().unwrap_or_default());
    let answers: Vec<Value> = lines.map(|line| serde_json::from_str(&line).expect("JSON")).collect();
    writer.join().expect("no panic").expect("the oracle reads to the end");
    assert!(child.wait().expect("an exit status").success(), "the oracle failed");
    assert_eq!(answers.len(), questions.len(), "the oracle answers every question");
    answers
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn python_dateutil_reads_sets_of_rules_alike() {
    let Some(python) = oracle_python() else { return };
    let count = usize::try_from(number("ORACLE_RULES", 6_000) / 4).expect("a number of rules");
    let mut dice = Dice::new(number("ORACLE_SEED", 20_260_302));
    let questions: Vec<Question> = (0..count).map(|_| set(&mut dice)).collect();
    let differs = |(question, theirs): (&Question, &Value)| {
        let ours = question.ours();
        (*theirs != json!(ours)).then(|| format!("{}\n  ours   {ours:?}\n  theirs {theirs}", question.json()))
    };
    let different: Vec<String> =
        questions.iter().zip(&ask(&python, &questions)).filter_map(differs).collect();
    let shown = &different[..different.len().min(6)];
    assert!(different.is_empty(), "{} of {count} differ:\n{}", different.len(), shown.join("\n"));
    assert!(questions.iter().map(|question| question.ours().len()).sum::<usize>() > count * 5);
}

#[test]
fn python_dateutil_says_the_same_but_for_its_named_faults() {
    let Some(python) = oracle_python() else { return };
    let count = usize::try_from(number("ORACLE_RULES", 6_000)).expect("a number of rules");
    let mut dice = Dice::new(number("ORACLE_SEED", 20_260_301));
    let questions: Vec<Question> = (0..count).map(|_| question(&mut dice)).collect();
    let answers = ask(&python, &questions);
    let (mut excused, mut unexplained, mut instances) = (BTreeMap::new(), Vec::new(), 0);
    for (question, theirs) in questions.iter().zip(&answers) {
        let ours = question.ours();
        instances += ours.len();
        if *theirs == json!(ours) {
            continue;
        }
        let excuses = Excuse::all(question, &literal::parts(&question.case.lines[0]));
        match excuses.first() {
            Some(excuse) if question.literal_agrees() => *excused.entry(*excuse).or_insert(0_usize) += 1,
            _ => unexplained
                .push(format!("{}\n  ours   {ours:?}\n  theirs {theirs} {excuses:?}", question.json())),
        }
    }
    let total: usize = excused.values().sum();
    println!(
        "{count} series, {instances} instances; differences by named fault: {excused:?}, together {total}"
    );
    assert!(
        unexplained.is_empty(),
        "{} unexplained:\n{}",
        unexplained.len(),
        unexplained[..unexplained.len().min(12)].join("\n")
    );
    assert!(total * 100 <= count * MAX_EXCUSED, "the excuses cover more than {MAX_EXCUSED} %");
    assert!(instances > count * 5, "most series have instances in their range");
}

#[test]
fn the_generator_is_the_same_every_time() {
    let lines = |seed| (0..5).map(|_| question(&mut Dice::new(seed)).lines().join(" ")).collect::<Vec<_>>();
    assert_eq!(lines(1), lines(1));
    assert_ne!(lines(1), lines(2));
}
