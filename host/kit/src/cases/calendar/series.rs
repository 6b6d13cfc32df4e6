//! Series: their rules, their changed instances, and their cost.

use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, ensure, must};
use crate::cases::calendar::events::{EVENTS, Instance, read_series, series};
use crate::surface_bench::main_item;

/// Each Tuesday at 9:00 from 7 April 2026 on, without the third one.
const START: &str = "2026-04-07T07:00:00.000Z";
const END: &str = "2026-04-07T08:00:00.000Z";
const RULE: &str = "RRULE:FREQ=WEEKLY;COUNT=8";
const EXCLUDED: &str = "EXDATE;TZID=Europe/Berlin:20260421T090000";
/// The excluded start as EXDATE may spell it: local, and in UTC.
const EXCLUDED_STARTS: [&str; 2] = ["20260421T090000", "20260421T070000Z"];

/// The fifth instance.
const FIFTH: Instance = Instance {
    local: "2026-05-05T09:00:00",
    start: "2026-05-05T07:00:00.000Z",
    end: "2026-05-05T08:00:00.000Z",
};

const RULES: &str = "recurrence holds the provider's RFC 5545 lines without DTSTART, all of them: RRULE, and each EXDATE in the zone of the series";

/// `K2`: a series comes back with its rule, its excluded and its changed instances.
pub async fn rules(bench: &mut Bench) -> Outcome {
    bench.needs_feature(&EVENTS, "recurrence").await?;
    let calendar = bench.collection(&EVENTS).await?;
    let title = EVENTS.label("K2");
    let fields = series(&title, START, END, &[RULE, EXCLUDED]);
    let (source, _) = bench.create_item(&EVENTS, &calendar, fields, &EVENTS.key("K2")).await?;
    let source = bench.read_item(&EVENTS, &calendar, &source.external_id).await?;
    let read = bench.read_body(&EVENTS, &calendar, &source.external_id).await?;
    ensure(
        read["type"] == "series",
        || format!("an event with a rule has the type {}", read["type"]),
        "type is series for an event with recurrence, exception for a changed instance of one",
    )?;
    ensure_rules(&read)?;
    let changed = EVENTS.label("K2-changed");
    let fields = EVENTS.renamed(&changed);
    FIFTH.change(bench, &calendar, &source, &fields, &EVENTS.key("K2-changed")).await?;
    let source = read_series(bench, &calendar, &source.external_id, &FIFTH).await?;
    let (exception, event) = FIFTH.exception(&source)?;
    ensure(
        event["title"] == changed.as_str() && event["type"] == "exception",
        || format!("the changed instance is {}, with the title {}", event["type"], event["title"]),
        "a changed instance is an item of the type exception, with the fields that it has instead of the series'",
    )?;
    let own_id = main_item(&source).map(|item| item.external_id.as_str());
    ensure(
        exception.series_external_id.as_deref() == own_id,
        || {
            let (named, own) = (json!(exception.series_external_id), json!(own_id));
            format!("seriesExternalId is {named}, and the externalId of the series is {own}")
        },
        "seriesExternalId of an exception is the externalId of the series' item",
    )?;
    let read = bench.read_body(&EVENTS, &calendar, &source.external_id).await?;
    ensure(
        read["title"] == title.as_str(),
        || format!("a change of one instance changed the title of the series to {}", read["title"]),
        "with the scope this only the instance changes",
    )?;
    ensure_rules(&read)
}

/// Ensures that the series has its rule and the excluded instance.
fn ensure_rules(series: &Value) -> Outcome {
    let lines: Vec<&str> =
        series["recurrence"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let wanted = rule_parts(&[RULE]);
    let found = rule_parts(&lines);
    ensure(
        wanted.iter().all(|part| found.contains(part)),
        || format!("the rule {RULE} was written, and recurrence is {lines:?}"),
        RULES,
    )?;
    let excluded = lines.iter().filter(|line| line.starts_with("EXDATE"));
    let mut starts = excluded.filter_map(|line| line.split_once(':')).flat_map(|(_, dates)| dates.split(','));
    ensure(
        starts.any(|start| EXCLUDED_STARTS.contains(&start)),
        || format!("the line {EXCLUDED} was written, and recurrence is {lines:?}"),
        RULES,
    )
}

/// The parts of the rules among these lines.
fn rule_parts<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines.iter().filter_map(|line| line.strip_prefix("RRULE:")).flat_map(|rule| rule.split(';')).collect()
}

/// A long series, and its last instance but nine.
const LONG_RULE: &str = "RRULE:FREQ=DAILY;COUNT=400";
const LATE: Instance = Instance {
    local: "2027-04-25T09:00:00",
    start: "2027-04-25T07:00:00.000Z",
    end: "2027-04-25T08:00:00.000Z",
};

/// `K9`: a series of 400 instances stays in the budgets.
pub async fn budgets(bench: &mut Bench) -> Outcome {
    bench.needs_feature(&EVENTS, "recurrence").await?;
    let calendar = bench.collection(&EVENTS).await?;
    let (start, end) = ("2026-04-01T07:00:00.000Z", "2026-04-01T08:00:00.000Z");
    let fields = series(&EVENTS.label("K9"), start, end, &[LONG_RULE]);
    let (source, _) = bench.create_item(&EVENTS, &calendar, fields, &EVENTS.key("K9")).await?;
    ensure_cheap(bench, "making it")?;
    let source = bench.read_item(&EVENTS, &calendar, &source.external_id).await?;
    ensure_cheap(bench, "reading it")?;
    must(bench.page_of(&EVENTS, &calendar, 0, None).await, "a page with the series")?;
    ensure_cheap(bench, "a page with it")?;
    let fields = EVENTS.renamed(&EVENTS.label("K9-changed"));
    LATE.change(bench, &calendar, &source, &fields, &EVENTS.key("K9-changed")).await?;
    ensure_cheap(bench, "a change of a late instance")?;
    let source = read_series(bench, &calendar, &source.external_id, &LATE).await?;
    LATE.exception(&source).map(|_| ())
}

/// Ensures that the last call took at most a quarter of the processor time and half of the memory.
fn ensure_cheap(bench: &Bench, what: &str) -> Outcome {
    const HELP: &str = "a series is one item and its changed instances, not one item per instance: the host computes those; stop looking for an instance once it is found";
    let stats = bench.calls.last.clone().unwrap_or_default();
    let (cpu_ms, memory_mib) = (stats.cpu_us / 1_000, stats.peak_memory >> 20);
    let (most_cpu, most_memory) = (bench.cpu_ms / 4, bench.memory_mib / 2);
    ensure(
        cpu_ms <= most_cpu && memory_mib <= most_memory,
        || {
            format!(
                "a series of 400 instances: {what} takes {cpu_ms} ms of processor time and {memory_mib} MiB; a quarter of the budget is {most_cpu} ms, half is {most_memory} MiB"
            )
        },
        HELP,
    )
}
