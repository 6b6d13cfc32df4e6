//! Changes of one instance, of all from one on, and of the whole series.

use model::wire::Source;
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, body, ensure, failed};
use crate::cases::calendar::events::{EVENTS, Instance, read_series, series};
use crate::surface_bench::{Collection, ItemChange, merged, supported, written_source};

/// Each Tuesday at 9:00 from 2 June 2026 on.
const START: &str = "2026-06-02T07:00:00.000Z";
const END: &str = "2026-06-02T08:00:00.000Z";

const SECOND: Instance = Instance {
    local: "2026-06-09T09:00:00",
    start: "2026-06-09T07:00:00.000Z",
    end: "2026-06-09T08:00:00.000Z",
};
const THIRD: Instance = Instance {
    local: "2026-06-16T09:00:00",
    start: "2026-06-16T07:00:00.000Z",
    end: "2026-06-16T08:00:00.000Z",
};
const SIXTH: Instance = Instance {
    local: "2026-07-07T09:00:00",
    start: "2026-07-07T07:00:00.000Z",
    end: "2026-07-07T08:00:00.000Z",
};

/// `K3`: one instance, all from one on, and the whole series can be changed.
pub async fn scopes(bench: &mut Bench) -> Outcome {
    let features = bench.features(&EVENTS).await?;
    bench.needs_feature(&EVENTS, "recurrence").await?;
    let calendar = bench.collection(&EVENTS).await?;
    let fields = series(&EVENTS.label("K3"), START, END, &["RRULE:FREQ=WEEKLY;COUNT=8"]);
    let (source, _) = bench.create_item(&EVENTS, &calendar, fields, &EVENTS.key("K3")).await?;
    let id = source.external_id;
    one(bench, &calendar, &id).await?;
    without_one(bench, &calendar, &id).await?;
    all(bench, &calendar, &id).await?;
    match features["thisAndFollowing"] == true {
        true => following(bench, &calendar, &id).await,
        false => Ok(()),
    }
}

/// The second instance gets its own title and hour.
async fn one(bench: &mut Bench, calendar: &Collection, id: &str) -> Outcome {
    const HELP: &str = "with the scope this only the instance changes: it becomes an exception, and the series stays as it is";
    let source = bench.read_item(&EVENTS, calendar, id).await?;
    let (title, start) = (EVENTS.label("K3-one"), "2026-06-09T12:00:00.000Z");
    let fields = json!({ "title": title, "start": start, "end": "2026-06-09T13:00:00.000Z" });
    SECOND.change(bench, calendar, &source, &fields, &EVENTS.key("K3-one")).await?;
    let source = read_series(bench, calendar, id, &SECOND).await?;
    let (_, event) = SECOND.exception(&source)?;
    ensure(
        event["title"] == title.as_str() && event["start"] == start,
        || format!("the changed instance is {}, at {}", event["title"], event["start"]),
        HELP,
    )?;
    let series = body::<Value>(&source).unwrap_or_default();
    ensure(
        series["title"] == EVENTS.label("K3").as_str() && series["start"] == START,
        || {
            format!(
                "a change of one instance changed the series: it is {}, at {}",
                series["title"], series["start"]
            )
        },
        HELP,
    )
}

/// The third instance is deleted.
async fn without_one(bench: &mut Bench, calendar: &Collection, id: &str) -> Outcome {
    const HELP: &str =
        "a deleted instance is an EXDATE of the series, or an exception with the status cancelled";
    let args = THIRD.target((EVENTS.delete)(calendar, id), "this");
    let key = EVENTS.key("K3-without");
    let deleted = bench.calls.mutate(EVENTS.surface, EVENTS.delete_op, &args, &key).await;
    supported(deleted, "a deletion of one instance")?;
    let source = read_series(bench, calendar, id, &SECOND).await?;
    let exception = THIRD.find_exception(&source);
    let is_cancelled = exception.as_ref().is_some_and(|(_, event)| event["status"] == "cancelled");
    let recurrence = body::<Value>(&source).unwrap_or_default()["recurrence"].clone();
    let mut lines = recurrence.as_array().into_iter().flatten().filter_map(Value::as_str);
    let is_excluded = lines.any(|line| line.starts_with("EXDATE") && line.contains("20260616T"));
    ensure(
        is_cancelled || is_excluded && exception.is_none(),
        || format!("the instance {} was deleted, and is still in the series: {recurrence}", THIRD.local),
        HELP,
    )?;
    ensure(
        SECOND.find_exception(&source).is_some(),
        || "deleting one instance also removed a changed one".to_owned(),
        HELP,
    )
}

/// The whole series gets another title.
async fn all(bench: &mut Bench, calendar: &Collection, id: &str) -> Outcome {
    const HELP: &str = "with the scope all the series changes, in what `changed` names: its rule, its excluded and its changed instances stay";
    let source = bench.read_item(&EVENTS, calendar, id).await?;
    let before = body::<Value>(&source).unwrap_or_default();
    let title = EVENTS.label("K3-all");
    let mut args = (EVENTS.write)(calendar, ItemChange::update(&source, &EVENTS.renamed(&title)));
    args["target"]["scope"] = json!("all");
    let changed = bench.calls.mutate(EVENTS.surface, EVENTS.update_op, &args, &EVENTS.key("K3-all")).await;
    supported(changed, "a change of a series")?;
    let source = read_series(bench, calendar, id, &SECOND).await?;
    let after = body::<Value>(&source).unwrap_or_default();
    ensure(
        after["title"] == title.as_str() && after["recurrence"] == before["recurrence"],
        || {
            format!(
                "after a change of its title, the series has the title {} and the recurrence {}, which was {}",
                after["title"], after["recurrence"], before["recurrence"]
            )
        },
        HELP,
    )?;
    ensure(
        SECOND.find_exception(&source).is_some(),
        || "changing the series removed a changed instance".to_owned(),
        HELP,
    )
}

/// From the sixth instance on the series has another title.
async fn following(bench: &mut Bench, calendar: &Collection, id: &str) -> Outcome {
    const HELP: &str = "with the scope thisAndFollowing the old series ends before the instance (UNTIL or COUNT), and a new one begins with it; Mutated.sources holds both, Mutated.item the new one";
    let source = bench.read_item(&EVENTS, calendar, id).await?;
    let before = body::<Value>(&source).unwrap_or_default();
    let title = EVENTS.label("K3-following");
    let mut change = ItemChange::update(&source, &EVENTS.renamed(&title));
    change.body = merged(&change.body, &json!({ "start": SIXTH.start, "end": SIXTH.end }));
    let args = SIXTH.target((EVENTS.write)(calendar, change), "thisAndFollowing");
    let key = EVENTS.key("K3-following");
    let changed = bench.calls.mutate(EVENTS.surface, EVENTS.update_op, &args, &key).await;
    let new = written_source(&supported(changed, "a change of an instance and all later ones")?)?;
    let after = bench.read_body(&EVENTS, calendar, id).await?;
    ensure(
        after["title"] == before["title"] && after["recurrence"] != before["recurrence"],
        || {
            format!(
                "the old series has the title {} and the recurrence {}",
                after["title"], after["recurrence"]
            )
        },
        HELP,
    )?;
    let pages = bench.items(&EVENTS, calendar, 0, None).await?;
    let sources = pages.iter().flat_map(|page| &page.sources.sources);
    let is_new = |source: &&Source| EVENTS.name_of(source).as_deref() == Some(title.as_str());
    let found: Vec<&Source> = sources.filter(is_new).collect();
    let [found] = found.as_slice() else {
        return failed(format!("the new series is reported {} times instead of once", found.len()), HELP);
    };
    let event = body::<Value>(found).unwrap_or_default();
    ensure(
        found.external_id == new.external_id && event["start"] == SIXTH.start && event["type"] == "series",
        || {
            format!(
                "the answer is about \"{}\"; the new series \"{}\" is {}, from {}",
                new.external_id, found.external_id, event["type"], event["start"]
            )
        },
        HELP,
    )
}
