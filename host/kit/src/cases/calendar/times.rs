//! Times of events: whole days, times with a zone, and changes of the clocks.

use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, ensure};
use crate::cases::calendar::events::{EVENTS, Instance, ZONE, read_series, series};

const FORMS_HELP: &str = "a day is not a time (startDate and endDate are written and read unchanged, endDate is the day after the last), and a time keeps its zone beside its instant; for what the provider cannot keep answer with a warning field_not_supported";

/// The forms of times: what a finding calls them, and their fields.
fn forms(home: &str) -> [(&'static str, Value); 5] {
    let days = |first: &str, end: &str| {
        json!({
            "allDay": true,
            "startDate": first,
            "endDate": end,
            "start": format!("{first}T00:00:00.000Z"),
            "end": format!("{end}T00:00:00.000Z"),
            "timeZone": home,
        })
    };
    let times = |start: &str, end: &str, zone: &str| json!({ "start": start, "end": end, "timeZone": zone });
    let mut flight = times("2026-03-12T09:00:00.000Z", "2026-03-12T18:00:00.000Z", ZONE);
    flight["endTimeZone"] = json!("America/New_York");
    [
        ("of one day", days("2026-03-11", "2026-03-12")),
        ("of three days", days("2026-03-11", "2026-03-14")),
        ("with a zone", times("2026-03-11T09:00:00.000Z", "2026-03-11T10:30:00.000Z", ZONE)),
        ("in UTC", times("2026-03-11T09:00:00.000Z", "2026-03-11T10:30:00.000Z", "UTC")),
        ("that ends in another zone", flight),
    ]
}

/// `K1`: all-day, zoned and UTC events come back unchanged.
pub async fn round_trip(bench: &mut Bench) -> Outcome {
    let calendar = bench.collection(&EVENTS).await?;
    let home = calendar.body["timeZone"].as_str().unwrap_or("UTC").to_owned();
    for (number, (form, mut fields)) in forms(&home).into_iter().enumerate() {
        let of = format!("K1-{number}");
        fields["title"] = json!(EVENTS.label(&of));
        let made = bench.create_item(&EVENTS, &calendar, fields.clone(), &EVENTS.key(&of)).await;
        let (source, warned) = made?;
        let read = bench.read_body(&EVENTS, &calendar, &source.external_id).await?;
        // The calendar chooses at which instants its days begin.
        let compared: &[&str] = match fields["allDay"] == true {
            true => &["allDay", "startDate", "endDate"],
            false => &["allDay", "start", "end", "timeZone", "endTimeZone"],
        };
        // A field that is left out has its default.
        let value = |event: &Value, field: &str| match event[field].is_null() && field == "allDay" {
            true => json!(false),
            false => event[field].clone(),
        };
        let (asked, seen) = (|field: &str| value(&fields, field), |field: &str| value(&read, field));
        let differ: Vec<String> = compared
            .iter()
            .filter(|field| !is_same(&asked(field), &seen(field)))
            .filter(|field| !warned.iter().any(|name| name == **field))
            .map(|field| format!("{field} was {}, and is {}", asked(field), seen(field)))
            .collect();
        ensure(differ.is_empty(), || format!("of an event {form}: {}", differ.join("; ")), FORMS_HELP)?;
    }
    Ok(())
}

/// Returns whether two values of a field are equivalent. UTC has several names.
fn is_same(one: &Value, other: &Value) -> bool {
    let is_utc =
        |value: &Value| value.as_str().is_some_and(|name| ["UTC", "Etc/UTC", "Etc/GMT"].contains(&name));
    one == other || is_utc(one) && is_utc(other)
}

/// A Sunday at 9:00, the day on which the clocks have gone forward: an hour earlier in UTC than the week before.
const AFTER_STEP: Instance = Instance {
    local: "2026-03-29T09:00:00",
    start: "2026-03-29T07:00:00.000Z",
    end: "2026-03-29T08:00:00.000Z",
};

/// `K7`: an event over a change of clocks keeps its local time.
pub async fn over_clock_change(bench: &mut Bench) -> Outcome {
    const SINGLE: &str = "start and end are instants: an event over a change of clocks ends as many hours later as they say, not as the clock shows";
    const SERIES: &str = "the instances of a series are at the same local time in timeZone: compute an original start in that zone, never by adding days of 24 hours, and never in UTC";
    let calendar = bench.collection(&EVENTS).await?;
    let (start, end) = ("2026-03-28T22:00:00.000Z", "2026-03-29T06:00:00.000Z");
    let night = json!({ "title": EVENTS.label("K7"), "start": start, "end": end, "timeZone": ZONE });
    let (source, _) = bench.create_item(&EVENTS, &calendar, night, &EVENTS.key("K7")).await?;
    let read = bench.read_body(&EVENTS, &calendar, &source.external_id).await?;
    ensure(
        read["start"] == start && read["end"] == end,
        || format!("an event from {start} to {end} is from {} to {}", read["start"], read["end"]),
        SINGLE,
    )?;
    if bench.features(&EVENTS).await?["recurrence"] != true {
        return Ok(());
    }
    let (first, last) = ("2026-03-22T08:00:00.000Z", "2026-03-22T09:00:00.000Z");
    let weekly = series(&EVENTS.label("K7-weekly"), first, last, &["RRULE:FREQ=WEEKLY;COUNT=4"]);
    let (source, _) = bench.create_item(&EVENTS, &calendar, weekly, &EVENTS.key("K7-weekly")).await?;
    let source = bench.read_item(&EVENTS, &calendar, &source.external_id).await?;
    let read = bench.read_body(&EVENTS, &calendar, &source.external_id).await?;
    ensure(
        read["start"] == first && read["timeZone"] == ZONE,
        || format!("a series from {first} in {ZONE} is from {} in {}", read["start"], read["timeZone"]),
        SERIES,
    )?;
    let title = EVENTS.renamed(&EVENTS.label("K7-changed"));
    AFTER_STEP.change(bench, &calendar, &source, &title, &EVENTS.key("K7-changed")).await?;
    let source = read_series(bench, &calendar, &source.external_id, &AFTER_STEP).await?;
    let (_, changed) = AFTER_STEP.exception(&source)?;
    ensure(
        changed["start"] == AFTER_STEP.start && changed["originalStart"] == AFTER_STEP.start,
        || {
            format!(
                "the instance at {} in {ZONE} starts {}, and originally {}; it is {}",
                AFTER_STEP.local, changed["start"], changed["originalStart"], AFTER_STEP.start
            )
        },
        SERIES,
    )
}
