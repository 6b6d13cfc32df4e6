//! Graph's records as sources: one for each single event, and one for a series with its changed instances.

use connector_sdk::{Failure, Outcome};
use model::calendar::Event;
use model::wire::{Item, ItemError, JsonText, Source, Warning};
use serde::Serialize;

use crate::calendar::files::{lacks_files, unread_warning};
use crate::calendar::info::MailboxInfo;
use crate::calendar::mapping::{calendar_data, calendar_from, event_data, event_from, exception_from};
use crate::calendar::native::{CalendarEntry, Event as NativeEvent};

/// Returns a source that is gone.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}

/// Returns the source of an event that cannot be read.
pub fn unreadable_source(id: &str, message: String) -> Source {
    let error = Some(ItemError { code: "unreadable".to_owned(), message });
    Source { external_id: id.to_owned(), error, ..Source::default() }
}

/// Returns the source of a single event, or of a series with its changed instances. An instance is no source: Graph lists some as stubs,
/// without a title, and their series has them in full. Fails where the event cannot be read, or has no id.
pub fn event_source(theirs: &NativeEvent, mailbox: &MailboxInfo) -> Outcome<Source> {
    if theirs.id.is_empty() {
        return Err(Failure::unavailable("the provider's event has no id"));
    }
    if theirs.is_instance() {
        return Ok(deleted_source(&theirs.id));
    }
    let mut items = vec![item(theirs, &event_from(theirs, mailbox)?)?];
    let mut nameless = 0_usize;
    for exception in theirs.exception_occurrences.iter().flatten() {
        match exception_from(exception, theirs, mailbox)? {
            Some(event) => {
                let series_external_id = Some(theirs.id.clone());
                items.push(Item { series_external_id, ..item(exception, &event)? });
            }
            None => nameless += 1,
        }
    }
    if let Some(series) = items.first_mut().filter(|_| nameless > 0) {
        series.warnings.push(nameless_warning(nameless));
    }
    Ok(Source { external_id: theirs.id.clone(), etag: theirs.version(), items, ..Source::default() })
}

/// Returns the source of a series of which one instance was written, and the id of that instance. One that the series does not
/// list, because it is as the rule has it or is gone by now, stands beside the others until the series is read again.
pub fn instance_source(
    series: &NativeEvent,
    instance: &NativeEvent,
    mailbox: &MailboxInfo,
) -> Outcome<(Source, String)> {
    let mut source = event_source(series, mailbox)?;
    let original = instance.original_start.as_ref().filter(|text| !text.is_empty());
    let is_same = |one: &&NativeEvent| {
        one.id == instance.id || original.is_some() && one.original_start.as_ref() == original
    };
    if let Some(listed) = series.exception_occurrences.iter().flatten().find(is_same) {
        return Ok((source, listed.id.clone()));
    }
    if let Some(event) = exception_from(instance, series, mailbox)?.filter(|_| !source.deleted) {
        let series_external_id = Some(series.id.clone());
        source.items.push(Item { series_external_id, ..item(instance, &event)? });
    }
    Ok((source, instance.id.clone()))
}

fn nameless_warning(count: usize) -> Warning {
    Warning {
        code: "exception_unreadable".to_owned(),
        message: format!(
            "the provider does not say which instances {count} changes of this series belong to: they are left out"
        ),
        target: None,
    }
}

fn item(theirs: &NativeEvent, event: &Event) -> Outcome<Item> {
    Ok(Item {
        external_id: theirs.id.clone(),
        body: body(event)?,
        provider_data: event_data(theirs),
        warnings: lacks_files(theirs).then(unread_warning).into_iter().collect(),
        ..Item::default()
    })
}

/// Returns the source of a calendar of the account's own.
pub fn calendar_source(theirs: &CalendarEntry, mailbox: &MailboxInfo) -> Outcome<Source> {
    if theirs.id.is_empty() {
        return Err(Failure::unavailable("the provider's calendar has no id"));
    }
    let item = Item {
        external_id: theirs.id.clone(),
        body: body(&calendar_from(theirs, mailbox, true))?,
        provider_data: Some(calendar_data(theirs)),
        ..Item::default()
    };
    Ok(Source {
        external_id: theirs.id.clone(),
        etag: theirs.version(),
        items: vec![item],
        ..Source::default()
    })
}

fn body(resource: &impl Serialize) -> Outcome<JsonText> {
    JsonText::of(resource)
        .map_err(|error| Failure::unavailable(format!("the item cannot be written as JSON: {error}")))
}
