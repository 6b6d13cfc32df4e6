//! Calendars with `apart`, which store each changed instance of a series as a separate record, `{series}@{original}`, as other
//! providers do. A series has no `overrides` there. Code that changes series works on a series with all of its changed instances,
//! which are assembled and split again here.

use std::collections::HashMap;
use std::sync::Arc;

use model::Instant;
use serde_json::{Map, Value};

use crate::calendar::series::original_ms;
use crate::calendar::types::Event;
use crate::ops::Receipt;
use crate::problem::Problem;
use crate::record::Folder;
use crate::state::State;
use crate::store::find;
use crate::times::parse_instant;

/// The id of the record of a changed instance.
pub fn id_of(series: &str, original: &str) -> String {
    format!("{series}@{original}")
}

/// The changed instances of a series that are separate records.
fn changed<'f>(folder: &'f Folder<Event>, series: &'f str) -> impl Iterator<Item = &'f Arc<Event>> {
    folder.live().filter(move |event| event.series.as_deref() == Some(series))
}

fn has_series(folder: &Folder<Event>, id: &str) -> bool {
    folder.record(id).is_some_and(|(event, _)| event.is_series())
}

/// A series with all of its changed instances.
fn join_instances<'f>(series: &Event, changed: impl Iterator<Item = &'f Arc<Event>>) -> Event {
    let mut whole = series.clone();
    for one in changed {
        let mut instance = Event { id: series.id.clone(), series: None, ..(**one).clone() };
        instance.body.original_start = None;
        let Some(original) = instance.body.recurrence_id.take() else { continue };
        whole.overrides.insert(original, instance);
    }
    whole
}

/// An existing event, a series with all of its changed instances, and the seq of its version.
pub fn whole(folder: &Folder<Event>, id: &str) -> Result<(Arc<Event>, u64), Problem> {
    let (event, seq) = find(folder, id)?;
    if !(folder.head.apart && event.is_series()) {
        return Ok((event, seq));
    }
    Ok((Arc::new(join_instances(&event, changed(folder, id))), seq))
}

/// All events of a calendar, series with all of their changed instances. If its series is missing, such an instance is an event
/// by itself.
pub fn all(folder: &Folder<Event>) -> Vec<Arc<Event>> {
    if !folder.head.apart {
        return folder.live().cloned().collect();
    }
    let mut by_series: HashMap<&str, Vec<&Arc<Event>>> = HashMap::new();
    for event in folder.live() {
        if let Some(series) = event.series.as_deref().filter(|id| has_series(folder, id)) {
            by_series.entry(series).or_default().push(event);
        }
    }
    let is_whole =
        |event: &&Arc<Event>| event.series.as_deref().is_none_or(|series| !by_series.contains_key(series));
    let join = |event: &Arc<Event>| match by_series.get(event.id.as_str()) {
        Some(changed) => Arc::new(join_instances(event, changed.iter().copied())),
        None => event.clone(),
    };
    folder.live().filter(is_whole).map(join).collect()
}

/// Stores an event. For a series in a calendar with `apart` only those records that differ are written, its changed instances
/// first.
pub fn store_event(state: &mut State, mail: &str, calendar: &str, now_ms: i64, mut event: Event) {
    let Some(folder) = state.folder::<Event>(mail, calendar).filter(|folder| folder.head.apart) else {
        state.put(mail, calendar, now_ms, Arc::new(event));
        return;
    };
    let zone = folder.head.zone();
    let mut records = Vec::new();
    for (original, instance) in std::mem::take(&mut event.overrides) {
        let (id, series) = (id_of(&event.id, &original), Some(event.id.clone()));
        let mut record = Event { id, series, ..instance };
        record.body.original_start = original_ms(&event, &original, &zone).map(Instant::from_millis);
        record.body.recurrence_id = Some(original);
        records.push(record);
    }
    // Instances that arrived before their series wait for it.
    let dropped: Vec<String> = changed(folder, &event.id)
        .filter(|_| has_series(folder, &event.id))
        .map(|one| one.id.clone())
        .filter(|id| records.iter().all(|r| r.id != *id))
        .collect();
    let is_stored = |record: &Event| folder.record(&record.id).is_some_and(|(stored, _)| **stored == *record);
    records.retain(|record| !is_stored(record));
    // A changed instance does not change the series.
    let is_same = folder.record(&event.id).is_some_and(|(stored, _)| {
        let mut same = Event { updated_at: stored.updated_at.clone(), ..event.clone() };
        same.body.sequence = stored.body.sequence;
        same == **stored
    });
    if !is_same {
        records.push(event);
    }
    for record in records {
        state.put(mail, calendar, now_ms, Arc::new(record));
    }
    for id in dropped {
        state.remove::<Event>(mail, calendar, now_ms, &id);
    }
}

/// Removes a series' changed instances with it. Sends no notices about them: they are gone because the series is.
pub fn erase(state: &mut State, mail: &str, calendar: &str, now_ms: i64, series: &str) {
    let Some(folder) = state.folder::<Event>(mail, calendar) else { return };
    let ids: Vec<String> = changed(folder, series).map(|one| one.id.clone()).collect();
    for id in ids {
        state.erase::<Event>(mail, calendar, now_ms, &id);
    }
}

/// The series and the original start of a changed instance.
pub struct InstanceName {
    pub series: String,
    /// Local: `YYYY-MM-DDTHH:MM:SS`, all-day `YYYY-MM-DD`.
    pub original: String,
    pub start: Option<Instant>,
}

/// Reads from the body of a new record which instance it is, if it is one. The series may come later.
pub fn parse_name(body: &Map<String, Value>) -> Result<Option<InstanceName>, Problem> {
    let given = |name: &str| body.get(name).filter(|value| !value.is_null());
    let (Some(series), Some(original)) = (given("seriesId"), given("recurrenceId")) else { return Ok(None) };
    let series = series.as_str().filter(|series| !series.is_empty() && !series.contains('@'));
    let series = series.ok_or_else(|| Problem::field("seriesId", "seriesId must be the id of an event"))?;
    let original = original.as_str().filter(|original| !original.is_empty());
    let original = original
        .ok_or_else(|| Problem::field("recurrenceId", "recurrenceId must be the original local start"))?;
    let start = given("originalStart").and_then(Value::as_str);
    let start_ms = start.map(|start| parse_instant(start, "originalStart")).transpose()?;
    Ok(Some(InstanceName {
        series: series.to_owned(),
        original: original.to_owned(),
        start: start_ms.map(Instant::from_millis),
    }))
}

/// The response to a change, with the records of changed instances that were written or removed after this seq.
pub fn with_instance_records(state: &State, mail: &str, since: u64, mut receipt: Receipt) -> Receipt {
    let folder = state.folder::<Event>(mail, &receipt.folder).filter(|folder| folder.head.apart);
    let written = folder.into_iter().flat_map(|folder| {
        folder.order.range(since + 1..).map(move |(_, id)| (id, folder.record(id).is_some()))
    });
    for (id, is_live) in written.filter(|(id, _)| id.contains('@') && receipt.record.as_ref() != Some(*id)) {
        let list = if is_live { &mut receipt.others } else { &mut receipt.dropped };
        list.push(id.clone());
    }
    receipt
}
