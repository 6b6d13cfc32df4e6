//! Parses connectors' answers and prepares them for storing: one function per kind of resource. Derived fields are filled in here, and
//! names that only the provider knows are moved out of the body: `bind` replaces them by our ids.

use std::panic::AssertUnwindSafe;

use model::Instant;
use model::calendar::{Calendar, Event, EventType};
use model::contacts::{Contact, ContactBook, ContactGroup};
use model::tasks::{Task, TaskList, TaskStatus};
use model::wire::{self, JsonText, Source};
use sha2::{Digest, Sha256};

use crate::app::resource_kind::ResourceKind;
use crate::app::supervise::panic_message;
use crate::local_copy::deduplicate::{name_it, unique};
use crate::local_copy::event_span::bounds;
use crate::local_copy::record::{MAX_NAME, NormalizedContent, NormalizedItem, NormalizedRecord};
use crate::local_copy::stored_warnings::warned;

/// Returns a connector's records, ready to be stored. A fault in one record is an error of that record alone.
pub fn prepared(kind: ResourceKind, sources: Vec<Source>) -> Vec<NormalizedRecord> {
    let prepared =
        sources.into_iter().map(|source| normalize_isolated(source, |source| prepare(kind, source)));
    unique(kind, prepared.collect())
}

/// Normalizes a record that may make the parser panic. That is a bug of this program, and must not affect the other records.
fn normalize_isolated(source: Source, prepare: impl FnOnce(Source) -> NormalizedRecord) -> NormalizedRecord {
    let (source_id, provider_etag) = (source.external_id.clone(), source.etag.clone());
    // The closure has no state besides the record.
    std::panic::catch_unwind(AssertUnwindSafe(|| prepare(source))).unwrap_or_else(|panic| {
        tracing::error!(source = %source_id, panic = %panic_message(panic), "an item panicked the host and is quarantined");
        let error = ("unreadable".to_owned(), "the item cannot be read by this service".to_owned());
        NormalizedRecord { provider_etag, error: Some(error), deleted: false, ..NormalizedRecord::gone(&source_id) }
    })
}

/// Parses a connector's record in a location of this kind. A record that does not fit the model becomes an error of that record alone.
pub fn prepare(kind: ResourceKind, source: Source) -> NormalizedRecord {
    let mut prepared = NormalizedRecord {
        source_id: source.external_id,
        provider_etag: source.etag,
        items: Vec::with_capacity(source.items.len()),
        error: source.error.map(|e| (e.code, e.message)),
        previous_id: source.previous_id,
        deleted: source.deleted,
        updated_at: source.updated_at.map(Instant::as_millis),
        is_from_feed: false,
    };
    name_it(&mut prepared);
    if source.deleted || prepared.error.is_some() {
        return prepared;
    }
    for item in source.items {
        match item_of(kind, &prepared.source_id, item) {
            Ok(item) => prepared.items.push(item),
            Err(e) => {
                prepared.error =
                    Some(("bad_output".into(), format!("the connector's answer does not fit: {e}")))
            }
        }
    }
    if prepared.error.is_some() {
        // Nothing of it is stored, so that it does not conflict with another record of the same item.
        prepared.items.clear();
    }
    prepared
}

/// Longest body of an item, bytes: no provider has longer ones, and they could not be shown.
const MAX_BODY: usize = 1 << 20;

/// Longest fingerprint, bytes: it is indexed together with the id of a connection.
const MAX_FINGERPRINT: usize = 1_000;

fn item_of(kind: ResourceKind, source_id: &str, item: wire::Item) -> Result<NormalizedItem, String> {
    let names = [Some(&item.external_id), item.uid.as_ref(), item.series_external_id.as_ref()];
    if names.into_iter().flatten().any(|name| name.contains('\0')) {
        return Err("an id contains U+0000".to_owned());
    }
    if item.external_id.is_empty() {
        return Err("items.externalId is missing".to_owned());
    }
    if names.into_iter().flatten().any(|name| name.len() > MAX_NAME) {
        return Err(format!("an id has more than {MAX_NAME} bytes"));
    }
    if item.body.as_str().len() > MAX_BODY {
        return Err(format!("an item has more than {MAX_BODY} bytes"));
    }
    let kind = match &item.kind {
        None => kind,
        Some(name) => ResourceKind::parse(name)
            .filter(|k| k.family() == kind.family())
            .ok_or_else(|| format!("there are no items of kind {name:?} here"))?,
    };
    if kind.is_mail() {
        return crate::local_copy::mail::normalize::prepared(kind, item).map(storable);
    }
    let mut content = content(kind, &item.body).map_err(|e| e.to_string())?;
    content.body = warned(content.body, &item.warnings)?;
    let mut hasher = Sha256::new_with_prefix(&content.body);
    for name in &content.refs {
        hasher.update(b"\n");
        hasher.update(name);
    }
    Ok(storable(NormalizedItem {
        kind,
        fingerprint: fingerprint(kind, source_id, &item, &content),
        uid: uid(kind, &item),
        external_id: item.external_id,
        series_external_id: item.series_external_id,
        hash: hex::encode(&hasher.finalize()[..16]),
        provider_data: item.provider_data.filter(|d| !d.is_null()).map(|d| d.to_string()),
        content,
        aside: None,
        partial: None,
    }))
}

/// Removes characters that PostgreSQL cannot store from search and sort texts. In the body they are escaped.
fn storable(mut item: NormalizedItem) -> NormalizedItem {
    item.content.sort_text.retain(|c| c != '\0');
    item.content.search_text.retain(|c| c != '\0');
    item
}

/// Returns the values that stay when another program renames the item's object: the kind, the instance, the name inside the object (empty;
/// `#…` for an exception), and the UID. None without a UID, or for one that is no plausible UID. Must match
/// `migrations/0034_item_departures.*.sql`.
fn fingerprint(
    kind: ResourceKind,
    source_id: &str,
    item: &wire::Item,
    content: &NormalizedContent,
) -> Option<String> {
    let uid = match kind {
        ResourceKind::Event => content.i_cal_uid.as_deref(),
        ResourceKind::Contact | ResourceKind::ContactGroup | ResourceKind::Task => item.uid.as_deref(),
        _ => None,
    };
    let inner = item.external_id.strip_prefix(source_id)?;
    let instance = content.recurrence_id.as_deref().unwrap_or_default();
    joined_fingerprint(kind, instance, inner, uid?)
}

/// Returns the fingerprint of an event that is no instance of a series, by its iCalendar UID.
pub fn event_fingerprint(i_cal_uid: &str) -> Option<String> {
    joined_fingerprint(ResourceKind::Event, "", "", i_cal_uid)
}

fn joined_fingerprint(kind: ResourceKind, instance: &str, inner: &str, uid: &str) -> Option<String> {
    let print = format!("{}:{instance}{inner}\n{uid}", kind.as_str());
    (!uid.is_empty() && print.len() <= MAX_FINGERPRINT && !print.contains('\0')).then_some(print)
}

/// Returns the name by which other items refer to this one; events are not referred to.
fn uid(kind: ResourceKind, item: &wire::Item) -> Option<String> {
    matches!(kind, ResourceKind::Contact | ResourceKind::ContactGroup | ResourceKind::Task)
        .then(|| item.uid.clone().unwrap_or_else(|| item.external_id.clone()))
}

fn content(kind: ResourceKind, body: &JsonText) -> serde_json::Result<NormalizedContent> {
    match kind {
        ResourceKind::Calendar => {
            let calendar: Calendar = body.read()?;
            Ok(NormalizedContent { body: serde_json::to_string(&calendar)?, ..NormalizedContent::default() })
        }
        ResourceKind::Event => event(body.read()?),
        ResourceKind::ContactBook => {
            // Counted here, so that the count matches the lists.
            let book = ContactBook { contact_count: None, ..body.read()? };
            Ok(NormalizedContent { body: serde_json::to_string(&book)?, ..NormalizedContent::default() })
        }
        ResourceKind::Contact => contact(body.read()?),
        ResourceKind::ContactGroup => group(body.read()?),
        ResourceKind::TaskList => {
            let list = TaskList { task_count: None, open_count: None, ..body.read()? };
            Ok(NormalizedContent { body: serde_json::to_string(&list)?, ..NormalizedContent::default() })
        }
        ResourceKind::Task => task(body.read()?),
        // `mail::prepared`.
        ResourceKind::EmailFolder
        | ResourceKind::EmailLabel
        | ResourceKind::EmailMessage
        | ResourceKind::EmailDraft => Ok(NormalizedContent::default()),
    }
}

fn event(mut event: Event) -> serde_json::Result<NormalizedContent> {
    event.busy = event.derived_busy();
    let (sort_at, until_at) = bounds(&event);
    Ok(NormalizedContent {
        is_series: event.event_type == EventType::Series,
        revision: event.sequence,
        instance: event.original_start.map(Instant::as_millis),
        i_cal_uid: event.i_cal_uid.clone(),
        recurrence_id: event.recurrence_id.clone(),
        sort_at,
        until_at,
        body: serde_json::to_string(&event)?,
        ..NormalizedContent::default()
    })
}

fn contact(mut contact: Contact) -> serde_json::Result<NormalizedContent> {
    crate::local_copy::contact::derive(&mut contact);
    let refs = std::mem::take(&mut contact.group_ids);
    contact.book_id = None;
    Ok(NormalizedContent {
        sort_text: crate::local_copy::contact::sort_text(contact.display_name.as_deref()),
        search_text: crate::local_copy::contact::search_text(&contact),
        keys: crate::local_copy::contact::keys(&contact),
        body: serde_json::to_string(&contact)?,
        refs,
        ..NormalizedContent::default()
    })
}

fn group(mut group: ContactGroup) -> serde_json::Result<NormalizedContent> {
    let refs = group.contact_ids.take().unwrap_or_default();
    group.contact_ids = Some(Vec::new());
    group.book_id = None;
    group.member_count = 0;
    Ok(NormalizedContent {
        sort_text: crate::local_copy::contact::sort_text(Some(&group.name)),
        search_text: crate::local_copy::contact::group_search_text(&group),
        body: serde_json::to_string(&group)?,
        refs,
        ..NormalizedContent::default()
    })
}

fn task(mut task: Task) -> serde_json::Result<NormalizedContent> {
    let refs = task.parent_id.take().into_iter().collect();
    task.task_list_id = None;
    Ok(NormalizedContent {
        sort_text: crate::local_copy::task::sort_text(task.position.as_deref()),
        search_text: crate::local_copy::task::search_text(&task),
        is_open: !matches!(task.status, TaskStatus::Completed | TaskStatus::Cancelled),
        body: serde_json::to_string(&task)?,
        refs,
        ..NormalizedContent::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_panics_is_an_error_of_its_own() {
        let source = Source { external_id: "a".into(), etag: Some("1".into()), ..Source::default() };
        let hostile = |source: Source| -> NormalizedRecord {
            panic!("{}", "202é0301".get(..source.external_id.len() + 3).expect("whole characters"))
        };
        let prepared = normalize_isolated(source, hostile);
        assert_eq!((prepared.source_id.as_str(), prepared.provider_etag.as_deref()), ("a", Some("1")));
        assert_eq!(prepared.error.expect("an error").0, "unreadable");
        assert!(!prepared.deleted, "what was read of it earlier stays");
    }

    #[test]
    fn an_event_is_found_by_its_uid_whatever_its_name() {
        for name in ["a", "/cal/b.ics"] {
            let body = serde_json::json!({
                "iCalUid": "u@example.org", "timeZone": "UTC",
                "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T11:00:00Z",
            });
            let body = JsonText::of(&body).unwrap();
            let item = wire::Item { external_id: name.into(), body, ..wire::Item::default() };
            let source = Source { external_id: name.into(), items: vec![item], ..Source::default() };
            let all = prepared(ResourceKind::Event, vec![source]);
            assert!(all[0].error.is_none());
            assert_eq!(all[0].items[0].fingerprint, event_fingerprint("u@example.org"));
        }
        assert_eq!(event_fingerprint(""), None);
    }
}
