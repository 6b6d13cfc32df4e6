//! Random event types over HTTP: each start that is listed can be booked, no other start can, and cancelled slots are free again.
//!
//! `BOOKING_CASES=1000 cargo xtask test -- -p switchboard-tests --test api configurations::` tries more of them.

use std::collections::BTreeSet;

use futures::future::join_all;
use harness::{Actor, TestServer};
use jiff::Span;
use jiff::civil::Date;
use model::Instant;
use serde_json::{Value, json};

use super::{BOOKINGS, Desk, EVENT_TYPES, SLOTS, checker, text};

/// How many event types are tried, where `BOOKING_CASES` does not say another number.
const CASES: i64 = 15;
/// Most starts of an event type that are booked and given back, and as many that are refused.
const STARTS: usize = 20;
/// Most bookings of an event type that stay.
const KEPT: usize = 6;
const SEED: u64 = 20_261_014;
const MINUTE_MS: i64 = 60_000;
const DAY: i64 = 24 * 60;
const DAY_MS: i64 = DAY * MINUTE_MS;
const EVERY_DAY: [i64; 7] = [1, 2, 3, 4, 5, 6, 7];

/// Zones, each with a day on which its clocks change, or with any day where they do not.
const DAYS: [(&str, &str); 19] = [
    ("UTC", "2026-04-01"),
    ("Asia/Kathmandu", "2026-03-20"),
    ("Pacific/Apia", "2026-06-01"),
    ("America/Sao_Paulo", "2026-05-31"),
    ("Asia/Tehran", "2026-03-22"),
    ("Australia/Lord_Howe", "2026-04-05"),
    ("Australia/Lord_Howe", "2026-10-04"),
    ("America/St_Johns", "2026-03-08"),
    ("America/St_Johns", "2026-11-01"),
    ("Africa/Casablanca", "2026-03-22"),
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"),
    ("Europe/Berlin", "2026-03-29"),
    ("Europe/Berlin", "2026-10-25"),
    ("Pacific/Chatham", "2026-09-27"),
    ("Africa/Cairo", "2026-04-24"),
    ("Africa/Cairo", "2026-10-29"),
    ("Antarctica/Troll", "2026-03-29"),
    ("Pacific/Easter", "2026-09-05"),
];

/// SplitMix64: repeatable, and good enough to choose test cases.
pub struct Dice(pub u64);

impl Dice {
    /// `from` to `to`, both included.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        from + i64::try_from((z ^ (z >> 31)) >> 16).expect("48 bits") % (to - from + 1)
    }

    pub fn chance(&mut self, percent: i64) -> bool {
        self.between(1, 100) <= percent
    }

    pub fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        let index = self.between(0, list.len() as i64 - 1);
        list[usize::try_from(index).expect("an index")].clone()
    }

    /// A number, or null.
    fn some(&mut self, percent: i64, from: i64, to: i64) -> Value {
        if self.chance(percent) { json!(self.between(from, to)) } else { Value::Null }
    }
}

/// An event type, and its queries.
struct Configuration {
    event_type: Value,
    /// The duration that is asked for.
    minutes: i64,
    from_ms: i64,
    to_ms: i64,
}

fn instant(ms: i64) -> String {
    Instant::from_millis(ms).to_string()
}

fn ms(instant: &Value) -> i64 {
    text(instant).parse::<Instant>().expect("an instant").as_millis()
}

/// Midnight of a date in UTC.
fn midnight(day: Date) -> i64 {
    ms(&json!(format!("{day}T00:00:00Z")))
}

fn later(day: Date, days: i64) -> Date {
    day.saturating_add(Span::new().days(days))
}

fn clock(minutes: i64) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Hours, mostly of the day; some lie where clocks skip and repeat times, some reach into the next day.
fn hours(dice: &mut Dice) -> Value {
    let start = if dice.chance(30) { dice.between(0, 48) * 5 } else { dice.between(7, 13) * 60 };
    let end = start + dice.between(4, 56) * 15;
    json!({ "start": clock(start), "end": clock(if end > DAY { end % DAY } else { end }) })
}

fn schedule(dice: &mut Dice, zone: &str, day: Date) -> Value {
    let mut weekly = Vec::new();
    for _ in 0..dice.between(1, 2) {
        let mut row = hours(dice);
        let days: Vec<i64> = EVERY_DAY.into_iter().filter(|_| dice.chance(85)).collect();
        row["days"] = if days.is_empty() { json!(EVERY_DAY) } else { json!(days) };
        weekly.push(row);
    }
    let mut overrides = Vec::new();
    for offset in -1..4 {
        if dice.chance(12) {
            let windows: Vec<Value> = (0..dice.between(0, 2)).map(|_| hours(dice)).collect();
            let date = later(day, offset).to_string();
            overrides.push(json!({ "date": date, "available": !windows.is_empty(), "windows": windows }));
        }
    }
    json!({ "timeZone": zone, "weekly": weekly, "overrides": overrides })
}

fn window(dice: &mut Dice, day: Date, now_ms: i64) -> Value {
    let ahead = (midnight(day) - now_ms) / DAY_MS;
    match dice.between(1, 6) {
        1 => json!({ "kind": "rolling", "days": ahead + dice.between(-1, 3), "businessDays": false }),
        2 => json!({ "kind": "rolling", "days": ahead * 5 / 7 + dice.between(0, 3), "businessDays": true }),
        3 => {
            let (first, last) = (later(day, dice.between(-2, 0)), later(day, dice.between(0, 2)));
            json!({ "kind": "range", "startDate": first.to_string(), "endDate": last.to_string() })
        }
        _ => json!({ "kind": "unlimited" }),
    }
}

/// One to three hosts, in roles that suit the assignment.
fn hosts(dice: &mut Dice, desks: &[Desk], assignment: &str, day: Date) -> Vec<Value> {
    let most = desks.len() as i64;
    let least = if assignment == "fixed" { 1 } else { 2 };
    let (count, first) = (dice.between(least, most), dice.between(0, most));
    let takes_turns = assignment == "roundRobin" || assignment == "priority";
    let mut hosts = Vec::new();
    for n in 0..count {
        let desk = &desks[usize::try_from((first + n) % most).expect("an index")];
        let role = match (takes_turns, n) {
            (true, 0) if dice.chance(30) => "required",
            (true, _) => "rotation",
            (false, 2) if dice.chance(40) => "optional",
            (false, _) => "required",
        };
        let mut host = json!({
            "connectionId": desk.connection, "calendarId": desk.calendar,
            "conflictCalendarIds": [desk.calendar], "role": role,
            "weight": dice.between(1, 3), "priority": dice.between(0, 2),
        });
        if dice.chance(25) {
            let (zone, _) = dice.pick(&DAYS);
            host["schedule"] = schedule(dice, zone, day);
        }
        hosts.push(host);
    }
    hosts
}

fn configuration(dice: &mut Dice, n: i64, desks: &[Desk], now_ms: i64) -> Configuration {
    let (zone, day) = dice.pick(&DAYS);
    let day: Date = day.parse().expect("a date");
    let from_ms = midnight(day) - dice.between(0, 36 * 60) * MINUTE_MS;
    let duration = dice.pick(&[15, 20, 30, 45, 60, 90]);
    let longer = if dice.chance(30) { vec![duration + 15] } else { Vec::new() };
    let assignment = dice.pick(&["fixed", "fixed", "collective", "roundRobin", "priority"]);
    let notice = match dice.between(1, 4) {
        1 => (from_ms - now_ms) / MINUTE_MS + dice.between(0, DAY),
        2 => 0,
        _ => 120,
    };
    let event_type = json!({
        "slug": format!("case-{n}"),
        "title": "Call",
        "durationMinutes": duration,
        "durationOptions": longer,
        "slotIntervalMinutes": dice.pick(&[Value::Null, json!(10), json!(15), json!(30), json!(50)]),
        "slotOffsetMinutes": dice.pick(&[0, 0, 5, 20]),
        "bufferBeforeMinutes": dice.pick(&[0, 0, 5, 15]),
        "bufferAfterMinutes": dice.pick(&[0, 0, 10, 45]),
        "minNoticeMinutes": notice,
        "bookingWindow": window(dice, day, now_ms),
        "schedule": schedule(dice, zone, day),
        "hosts": hosts(dice, desks, assignment, day),
        "assignment": assignment,
        "roundRobinStrategy": dice.pick(&["leastLoaded", "weighted", "soonest"]),
        "seatsPerSlot": dice.pick(&[Value::Null, Value::Null, json!(1), json!(3)]),
        "limits": {
            "perDay": dice.some(15, 1, 3), "perWeek": dice.some(10, 2, 6), "perMonth": dice.some(10, 2, 8),
            "perYear": dice.some(5, 3, 9), "minutesPerDay": dice.some(10, 60, 300),
            "activePerInvitee": dice.some(20, 1, 2),
        },
    });
    let to_ms = from_ms + dice.between(2, 4) * DAY_MS;
    Configuration { event_type, minutes: longer.first().copied().unwrap_or(duration), from_ms, to_ms }
}

/// Makes events in the calendars of all hosts; their paths.
async fn events(dice: &mut Dice, desks: &[Desk], configuration: &Configuration) -> Vec<String> {
    let mut paths = Vec::new();
    for desk in desks {
        let calendar = format!("/v1/calendars/{}/events", desk.calendar);
        for _ in 0..dice.between(0, 3) {
            let length = (configuration.to_ms - configuration.from_ms) / MINUTE_MS;
            let start = configuration.from_ms + dice.between(0, length) * MINUTE_MS;
            let end = start + dice.between(10, 240) * MINUTE_MS;
            let shown = dice.pick(&["busy", "busy", "busy", "free"]);
            let (start, end) = (instant(start), instant(end));
            let event = json!({ "title": "Event", "start": start, "end": end, "showAs": shown });
            let made = desk.api.post(&calendar, event).send().await.expect(201);
            paths.push(format!("{calendar}/{}", text(&made["id"])));
        }
    }
    paths
}

/// An event type that is open, as it is asked about.
struct Open<'a> {
    api: &'a Actor,
    id: String,
    configuration: Configuration,
}

/// Counts of the attempts.
#[derive(Default)]
struct Tried {
    given_back: usize,
    refused: usize,
    kept: usize,
}

impl Open<'_> {
    /// All slots of the range, page by page.
    async fn slots(&self) -> Vec<Value> {
        let Configuration { minutes, from_ms, to_ms, .. } = &self.configuration;
        let mut query = json!({
            "eventTypeId": self.id, "start": instant(*from_ms), "end": instant(*to_ms),
            "durationMinutes": minutes, "limit": 200,
        });
        let mut slots = Vec::new();
        loop {
            let page = self.api.post(SLOTS, query.clone()).send().await.expect(200);
            assert_eq!(page["complete"], true, "{page:#}");
            slots.extend(page["data"].as_array().expect("a list").iter().cloned());
            if page["next_cursor"].is_null() {
                return slots;
            }
            query["cursor"] = page["next_cursor"].clone();
        }
    }

    fn booking(&self, start: &Value, invitee: &str) -> Value {
        json!({
            "eventTypeId": self.id, "start": start, "durationMinutes": self.configuration.minutes,
            "inviteeEmail": format!("{invitee}@example.org"),
        })
    }

    /// Books a slot as it was listed.
    async fn book(&self, slot: &Value, invitee: &str) -> Value {
        let mut body = self.booking(&slot["start"], invitee);
        body["slotToken"] = slot["slotToken"].clone();
        let booked = self.api.post(BOOKINGS, body).send().await.expect(201);
        let found = [&booked["start"], &booked["end"], &booked["status"]];
        assert_eq!(found, [&slot["start"], &slot["end"], &json!("confirmed")]);
        let offered = slot["hostIds"].as_array().expect("a list");
        let hosts = booked["hostIds"].as_array().expect("a list");
        assert!(!hosts.is_empty() && hosts.iter().all(|host| offered.contains(host)), "{slot} {booked:#}");
        booked
    }

    /// Books some of the slots, each while no other is, and gives each back; how many.
    async fn give_back(&self, slots: &[Value]) -> usize {
        let mut given_back = 0;
        for slot in slots.iter().step_by(slots.len() / STARTS + 1) {
            let booked = self.book(slot, "ada").await;
            let path = format!("{BOOKINGS}/{}/cancel", text(&booked["id"]));
            let cancelled = self.api.post(path, json!({})).send().await.expect(200);
            assert_eq!(cancelled["status"], "cancelled");
            given_back += 1;
        }
        assert_eq!(offers(&self.slots().await), offers(slots), "what was given back is offered again");
        given_back
    }

    /// Asks for starts that are not listed; how many.
    async fn refuse(&self, dice: &mut Dice, slots: &[Value]) -> usize {
        let listed: BTreeSet<i64> = slots.iter().map(|slot| ms(&slot["start"])).collect();
        let Configuration { from_ms, to_ms, .. } = self.configuration;
        let mut starts = Vec::new();
        while starts.len() < STARTS {
            // Most are whole minutes, some lie a millisecond beside one.
            let minute = dice.between(0, (to_ms - from_ms) / MINUTE_MS - 1);
            let start = from_ms + minute * MINUTE_MS + i64::from(dice.chance(10));
            if !listed.contains(&start) {
                starts.push(start);
            }
        }
        for some in starts.chunks(5) {
            let asked = some.iter().map(|start| {
                let body = self.booking(&json!(instant(*start)), "ada");
                self.api.post(BOOKINGS, body).send()
            });
            for answer in join_all(asked).await {
                answer.refused(409, "slot_unavailable");
            }
        }
        starts.len()
    }

    /// Books one listed slot after the other, which stay; how many.
    async fn keep(&self, dice: &mut Dice) -> usize {
        for kept in 0..KEPT {
            let slots = self.slots().await;
            if slots.is_empty() {
                return kept;
            }
            self.book(&dice.pick(&slots), &format!("guest{kept}")).await;
        }
        KEPT
    }
}

/// Returns the slots without their tokens.
fn offers(slots: &[Value]) -> Vec<[&Value; 3]> {
    slots.iter().map(|slot| [&slot["start"], &slot["hostIds"], &slot["seatsRemaining"]]).collect()
}

/// The event types share three hosts, so that each has the bookings of those before it in its way.
#[tokio::test]
async fn a_thousand_configurations_over_http() {
    let cases = std::env::var("BOOKING_CASES")
        .map_or(CASES, |n| n.parse().expect("BOOKING_CASES is a number of event types"));
    let server = TestServer::start().await;
    let mut desks = Vec::new();
    for account in ["alice", "bob", "carol"] {
        desks.push(Desk::of(&server, account).await);
    }
    let api = &desks[0].api;
    let mut all = Tried::default();
    for n in 0..cases {
        let mut dice = Dice(SEED.wrapping_add_signed(n));
        let configuration = configuration(&mut dice, n, &desks, server.clock.now_ms());
        println!("case {n}, {} minutes: {}", configuration.minutes, configuration.event_type);
        let events = events(&mut dice, &desks, &configuration).await;
        let made = api.post(EVENT_TYPES, configuration.event_type.clone()).send().await.expect(201);
        let open = Open { api, id: text(&made["id"]), configuration };
        let slots = open.slots().await;
        all.given_back += open.give_back(&slots).await;
        all.refused += open.refuse(&mut dice, &slots).await;
        all.kept += open.keep(&mut dice).await;
        for path in events {
            api.delete(path).send().await.expect(204);
        }
    }
    let checked = checker::check(&server.app.db).await;
    let Tried { given_back, refused, kept } = all;
    println!("{cases} event types: {given_back} given back, {refused} refused, {kept} kept; {checked}");
    assert_eq!(checked.bookings, given_back + kept);
    assert!(given_back as i64 >= cases && refused as i64 >= cases, "most event types offer something");
}

/// The starts in New York that are offered from one instant to another, with their offsets.
async fn local_starts(api: &Actor, event_type: &str, (start, end): (&str, &str)) -> Vec<String> {
    let zone = "America/New_York";
    let query = json!({ "eventTypeId": event_type, "start": start, "end": end, "timeZone": zone });
    let answer = api.post(SLOTS, query).send().await.expect(200);
    let slots = answer["data"].as_array().expect("a list").iter();
    slots.map(|slot| text(&slot["localStart"])).collect()
}

/// 09:00 to 17:00 in New York begins at 09:00 local time on each day around both changes of the clocks, and a day lasts as long as it does.
#[tokio::test]
async fn nine_to_five_in_new_york_is_nine_to_five_every_day() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let open = |start: &str, end: &str| {
        let weekly = json!([{ "days": EVERY_DAY, "start": start, "end": end }]);
        let schedule = json!({ "timeZone": "America/New_York", "weekly": weekly });
        json!({ "durationMinutes": 60, "schedule": schedule })
    };
    let office = desk.open("office", open("09:00", "17:00")).await;
    let night = desk.open("night", open("00:00", "24:00")).await;
    // Whole local days; how many of them have each offset.
    let ranges = [
        ("2026-03-02T05:00:00Z", "2026-04-15T04:00:00Z", [("-05:00", 6), ("-04:00", 38)]),
        ("2026-10-10T04:00:00Z", "2026-11-30T05:00:00Z", [("-04:00", 22), ("-05:00", 29)]),
    ];
    for (start, end, days) in ranges {
        let found = local_starts(&desk.api, &office, (start, end)).await;
        let of_days: Vec<&[String]> = found.chunks(8).collect();
        let count = |offset: &str| of_days.iter().filter(|of_day| of_day[0].ends_with(offset)).count();
        assert_eq!(days.map(|(offset, _)| (offset, count(offset))), days);
        for of_day in of_days {
            let times: Vec<bool> = (9..17)
                .zip(of_day)
                .map(|(hour, local)| local.contains(&format!("T{hour:02}:00:00")))
                .collect();
            assert_eq!(times, [true; 8], "{of_day:?}");
        }
    }
    let spring = ("2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z");
    let spring = local_starts(&desk.api, &night, spring).await;
    assert!(spring.len() == 23 && !spring.iter().any(|local| local.contains("T02:")), "{spring:?}");
    let autumn = ("2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z");
    let autumn = local_starts(&desk.api, &night, autumn).await;
    let twice = autumn.iter().filter(|local| local.contains("T01:")).count();
    assert_eq!((autumn.len(), twice), (25, 2), "{autumn:?}");
}
