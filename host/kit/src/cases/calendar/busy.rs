//! Busy times straight from the provider.

use model::Instant;
use model::calendar::BusyInterval;
use model::wire::calendar::FreeBusyAnswer;
use runtime::Error;
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, Verdict, ensure, failed};
use crate::cases::calendar::events::{EVENTS, ZONE};
use crate::surface_bench::supported;

/// The window that is asked for, on 6 May 2026.
const FROM: &str = "2026-05-06T08:00:00.000Z";
const TO: &str = "2026-05-06T12:00:00.000Z";

const WINDOW: &str = "freebusy.query returns the busy times that overlap the window, and no others; they need not be merged or cut";
const FREE: &str = "an event with showAs free takes no time, neither does a cancelled one";

/// An event of this case: its name, its times, and how it is shown.
const PLANNED: [(&str, &str, &str, &str); 3] = [
    ("busy", "2026-05-06T09:00:00.000Z", "2026-05-06T10:00:00.000Z", "busy"),
    ("free", "2026-05-06T11:00:00.000Z", "2026-05-06T11:30:00.000Z", "free"),
    ("later", "2026-05-07T09:00:00.000Z", "2026-05-07T10:00:00.000Z", "busy"),
];

/// `K6`: busy times are those of the window.
pub async fn window(bench: &mut Bench) -> Outcome {
    bench.needs_feature(&EVENTS, "freeBusy").await?;
    let calendar = bench.collection(&EVENTS).await?;
    if calendar.body["includeInAvailability"] == "none" {
        return Err(Verdict::NotApplicable("nothing in the calendar counts as busy".to_owned()));
    }
    let mut has_free = true;
    for (of, start, end, show_as) in PLANNED {
        let of = format!("K6-{of}");
        let fields = json!({
            "title": EVENTS.label(&of), "start": start, "end": end, "timeZone": ZONE, "showAs": show_as,
        });
        let (_, warned) = bench.create_item(&EVENTS, &calendar, fields, &EVENTS.key(&of)).await?;
        has_free &= !warned.iter().any(|field| field == "showAs");
    }
    let busy = supported(ask(bench, &calendar.id).await, "freebusy.query")?.busy;
    let overlaps = |interval: &BusyInterval, from: &str, to: &str| {
        instant(from).is_some_and(|from| interval.end > from)
            && instant(to).is_some_and(|to| interval.start < to)
    };
    let [(_, start, end, _), (_, free_start, free_end, _), _] = PLANNED;
    let covers = |interval: &BusyInterval| {
        instant(start).is_some_and(|start| interval.start <= start)
            && instant(end).is_some_and(|end| interval.end >= end)
    };
    ensure(
        busy.iter().any(covers),
        || {
            format!(
                "there is an event from {start} to {end}, and the busy times are {}",
                format_intervals(&busy)
            )
        },
        WINDOW,
    )?;
    ensure(
        busy.iter().all(|interval| overlaps(interval, FROM, TO)),
        || format!("asked for {FROM} to {TO}, the busy times are {}", format_intervals(&busy)),
        WINDOW,
    )?;
    ensure(
        !has_free || !busy.iter().any(|interval| overlaps(interval, free_start, free_end)),
        || {
            format!(
                "the time from {free_start} to {free_end} is free, and the busy times are {}",
                format_intervals(&busy)
            )
        },
        FREE,
    )?;
    match ask(bench, "swkit-is-not-there").await {
        Ok(_) => failed(
            "a calendar that does not exist has busy times",
            "a calendar that the provider does not know is failure not-found: it must not look free",
        ),
        Err(_) => Ok(()),
    }
}

async fn ask(bench: &mut Bench, calendar: &str) -> Result<FreeBusyAnswer, Error> {
    let args: Value = json!({ "collections": [calendar], "email": null, "start": FROM, "end": TO });
    bench.calls.fetch(EVENTS.surface, "freebusy.query", &args).await
}

fn instant(text: &str) -> Option<Instant> {
    text.parse().ok()
}

fn format_intervals(busy: &[BusyInterval]) -> String {
    let each: Vec<String> =
        busy.iter().map(|interval| format!("{} to {}", interval.start, interval.end)).collect();
    if each.is_empty() { "none".to_owned() } else { each.join(", ") }
}
