//! Changed instances that the provider keeps as records of their own.

use std::collections::{BTreeMap, BTreeSet};

use model::wire::{Item, Source};
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, Verdict, failed};
use crate::cases::calendar::events::{EVENTS, Instance, series};

/// Each Thursday at 9:00 from 4 June 2026 on.
const START: &str = "2026-06-04T07:00:00.000Z";
const END: &str = "2026-06-04T08:00:00.000Z";

const SECOND: Instance = Instance {
    local: "2026-06-11T09:00:00",
    start: "2026-06-11T07:00:00.000Z",
    end: "2026-06-11T08:00:00.000Z",
};

/// `K10`: a changed instance that is a source of its own names its series and the instance.
pub async fn own_sources(bench: &mut Bench) -> Outcome {
    const HELP: &str = "an exception in a source of its own has the type exception, recurrenceId and originalStart, and names in seriesExternalId the externalId of a series of the calendar, in whatever order the two come; an instance has one exception";
    bench.needs_feature(&EVENTS, "recurrence").await?;
    let calendar = bench.collection(&EVENTS).await?;
    let fields = series(&EVENTS.label("K10"), START, END, &["RRULE:FREQ=WEEKLY;COUNT=4"]);
    let (source, _) = bench.create_item(&EVENTS, &calendar, fields, &EVENTS.key("K10")).await?;
    let fields = EVENTS.renamed(&EVENTS.label("K10-changed"));
    SECOND.change(bench, &calendar, &source, &fields, &EVENTS.key("K10-changed")).await?;
    let pages = bench.items(&EVENTS, &calendar, 0, None).await?;
    let all = latest(pages.iter().flat_map(|page| &page.sources.sources));
    let exceptions: Vec<&Item> = all.iter().flat_map(|source| foreign_exceptions(source)).collect();
    if exceptions.is_empty() {
        let why = "changed instances are in the sources of their series".to_owned();
        return Err(Verdict::NotApplicable(why));
    }
    match find_fault(&all, &exceptions) {
        Some(fault) => failed(fault, HELP),
        None => Ok(()),
    }
}

/// Returns the last version of each source, without deleted ones.
fn latest<'s>(sources: impl Iterator<Item = &'s Source>) -> Vec<&'s Source> {
    let mut by_id: BTreeMap<&str, &Source> = BTreeMap::new();
    for source in sources {
        by_id.insert(&source.external_id, source);
    }
    by_id.into_values().filter(|source| !source.deleted && source.error.is_none()).collect()
}

/// The items of a source whose series is not in it.
fn foreign_exceptions(source: &Source) -> impl Iterator<Item = &Item> {
    let has = move |name: &str| source.items.iter().any(|item| item.external_id == name);
    source.items.iter().filter(move |item| item.series_external_id.as_deref().is_some_and(|name| !has(name)))
}

/// The first exception that does not say which instance of which series it is.
fn find_fault(all: &[&Source], exceptions: &[&Item]) -> Option<String> {
    let body = |item: &Item| item.body.read::<Value>().unwrap_or_default();
    let items = || all.iter().flat_map(|source| &source.items);
    let is_series = |item: &&Item| body(item)["type"] == "series";
    let series: BTreeSet<&str> = items().filter(is_series).map(|item| item.external_id.as_str()).collect();
    for item in exceptions {
        let (id, name, event) = (&item.external_id, item.series_external_id.as_deref()?, body(item));
        if !series.contains(name) {
            return Some(format!(
                "\"{id}\" names the series \"{name}\", and the calendar has no such series"
            ));
        }
        if event["type"] != "exception" {
            return Some(format!("\"{id}\" names a series, and its type is {}", event["type"]));
        }
        for field in ["recurrenceId", "originalStart"] {
            if event[field].as_str().is_none_or(str::is_empty) {
                return Some(format!("the exception \"{id}\" has no {field}"));
            }
        }
    }
    let mut instances = BTreeSet::new();
    for item in items() {
        let Some(name) = item.series_external_id.as_deref() else { continue };
        let instance = body(item)["recurrenceId"].as_str().unwrap_or_default().to_owned();
        if !instances.insert((name, instance.clone())) {
            return Some(format!("the series \"{name}\" has two exceptions for {}", json!(instance)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use model::wire::JsonText;

    use super::*;

    fn source(id: &str, series: Option<&str>, body: Value) -> Source {
        let body = JsonText::of(&body).unwrap();
        let series_external_id = series.map(str::to_owned);
        let item = Item { external_id: id.into(), series_external_id, body, ..Item::default() };
        Source { external_id: id.into(), items: vec![item], ..Source::default() }
    }

    fn exception(id: &str, series: &str) -> Source {
        let start = "2026-06-11T07:00:00.000Z";
        let body =
            json!({ "type": "exception", "recurrenceId": "2026-06-11T09:00:00", "originalStart": start });
        source(id, Some(series), body)
    }

    fn fault(sources: &[Source]) -> Option<String> {
        let all = latest(sources.iter());
        let exceptions: Vec<&Item> = all.iter().flat_map(|source| foreign_exceptions(source)).collect();
        find_fault(&all, &exceptions)
    }

    #[test]
    fn an_exception_in_its_own_source_says_which_instance_it_is() {
        let whole = || source("s", None, json!({ "type": "series" }));
        assert_eq!(fault(&[exception("e", "s"), whole()]), None, "in any order");
        assert_eq!(fault(&[whole(), exception("e", "s")]), None);
        let without = |field: &str| {
            let start = "2026-06-11T07:00:00.000Z";
            let mut body =
                json!({ "type": "exception", "recurrenceId": "2026-06-11T09:00:00", "originalStart": start });
            body[field] = Value::Null;
            vec![whole(), source("e", Some("s"), body)]
        };
        let gone = Source { external_id: "s".into(), deleted: true, ..Source::default() };
        let single = source("s", None, json!({ "type": "single" }));
        for (wrong, said) in [
            (vec![exception("e", "s")], "no such series"),
            (vec![exception("e", "s"), single], "no such series"),
            (vec![whole(), exception("e", "s"), gone], "no such series"),
            (without("type"), "its type is null"),
            (without("recurrenceId"), "no recurrenceId"),
            (without("originalStart"), "no originalStart"),
            (vec![whole(), exception("e", "s"), exception("f", "s")], "two exceptions"),
        ] {
            let fault = fault(&wrong).unwrap_or_default();
            assert!(fault.contains(said), "{said}: {fault}");
        }
    }
}
