//! Google's people and groups as sources: one for each.

use connector_sdk::{Failure, Outcome};
use model::Instant;
use model::contacts::ContactSource;
use model::wire::{Item, ItemError, JsonText, Source};
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::contacts::native::{Person, PersonGroup, PersonHead};
use crate::contacts::person::{contact_from, group_from, person_data};

/// Former names of a person that are reported; a person has one or two.
const MAX_FORMER_NAMES: usize = 20;

/// Returns a source that is gone.
pub fn deleted_source(name: &str) -> Source {
    Source { external_id: name.to_owned(), deleted: true, ..Source::default() }
}

/// Returns the sources of a person: the person, and former names as gone.
pub fn person_sources(theirs: &Person, of: ContactSource) -> Outcome<Vec<Source>> {
    let head = PersonHead { resource_name: theirs.resource_name.clone(), metadata: theirs.metadata.clone() };
    let source = person_source(theirs, of)?;
    Ok(with_former_names(source, &head))
}

/// Returns the source of a person. Fails where the person has no name, or is no contact.
fn person_source(theirs: &Person, of: ContactSource) -> Outcome<Source> {
    if theirs.resource_name.is_empty() {
        return Err(Failure::unavailable("the provider's person has no resource name"));
    }
    if theirs.metadata.deleted {
        return Ok(deleted_source(&theirs.resource_name));
    }
    let body = JsonText::of(&contact_from(theirs, of))
        .map_err(|e| Failure::unavailable(format!("the contact cannot be written as JSON: {e}")))?;
    let item = Item {
        external_id: theirs.resource_name.clone(),
        kind: Some("contact".to_owned()),
        // It stays when the person gets another name.
        uid: theirs.contact_source().and_then(|source| source.id.clone()).filter(|id| !id.is_empty()),
        body,
        provider_data: person_data(theirs),
        ..Item::default()
    };
    // Other contacts cannot be written, and the read of a single one takes their whole list: their feed is taken as it comes.
    let of_book = theirs.contact_source().filter(|_| of == ContactSource::AddressBook);
    Ok(Source {
        external_id: theirs.resource_name.clone(),
        etag: theirs.etag().map(str::to_owned),
        items: vec![item],
        updated_at: of_book.and_then(|source| instant(source.update_time.as_ref())),
        ..Source::default()
    })
}

/// A time of Google's; none where it cannot be read.
fn instant(time: Option<&String>) -> Option<Instant> {
    time?.parse().ok()
}

/// The source and those of the names that the person had until now.
fn with_former_names(source: Source, head: &PersonHead) -> Vec<Source> {
    let former = head.metadata.previous_resource_names.iter().filter(|name| !name.is_empty());
    let former: Vec<&String> =
        former.filter(|name| **name != source.external_id).take(MAX_FORMER_NAMES).collect();
    let previous_id = former.last().map(|name| (*name).clone()).filter(|_| !source.deleted);
    let gone = former.into_iter().map(|name| deleted_source(name));
    gone.chain([Source { previous_id, ..source }]).collect()
}

/// Returns the name of a person and whether the person is there.
pub fn head_of(record: &RawValue) -> PersonHead {
    serde_json::from_str(record.get()).unwrap_or_default()
}

/// Returns the sources of a record of a page of people. One that cannot be read has an error, and its neighbours are read all the same.
pub fn listed_person(record: &RawValue, of: ContactSource) -> Vec<Source> {
    let person = read::<Person>(record, "person");
    let source = person.and_then(|person| person_source(&person.own(), of).map_err(|e| e.message));
    let head = head_of(record);
    let source = source.unwrap_or_else(|message| unreadable(bare_source(&head), message));
    with_former_names(source, &head)
}

/// Returns the names and the version of a record of a page of people, without its content.
pub fn named_person(record: &RawValue) -> Vec<Source> {
    let head = head_of(record);
    with_former_names(bare_source(&head), &head)
}

fn bare_source(head: &PersonHead) -> Source {
    let person = Person { metadata: head.metadata.clone(), ..Person::default() };
    Source {
        external_id: head.resource_name.clone(),
        etag: person.etag().map(str::to_owned).filter(|_| !head.metadata.deleted),
        deleted: head.metadata.deleted,
        ..Source::default()
    }
}

/// Returns the source of a group. Fails where the group has no name.
pub fn group_source(theirs: &PersonGroup) -> Outcome<Source> {
    if theirs.resource_name.is_empty() {
        return Err(Failure::unavailable("the provider's group has no resource name"));
    }
    if theirs.metadata.deleted {
        return Ok(deleted_source(&theirs.resource_name));
    }
    let body = JsonText::of(&group_from(theirs))
        .map_err(|e| Failure::unavailable(format!("the group cannot be written as JSON: {e}")))?;
    let updated = theirs.metadata.update_time.as_ref();
    let item = Item {
        external_id: theirs.resource_name.clone(),
        kind: Some("contact_group".to_owned()),
        body,
        provider_data: updated.map(|time| json!({ "updatedAt": time })),
        ..Item::default()
    };
    Ok(Source {
        external_id: theirs.resource_name.clone(),
        etag: theirs.etag.clone(),
        items: vec![item],
        updated_at: instant(updated),
        ..Source::default()
    })
}

/// Returns the source of a record of a page of groups.
pub fn listed_group(record: &RawValue) -> Source {
    let group = read::<PersonGroup>(record, "group");
    let source = group.and_then(|group| group_source(&group).map_err(|failure| failure.message));
    source.unwrap_or_else(|message| unreadable(named_group(record), message))
}

/// Returns the name and the version of a record of a page of groups, without its content.
pub fn named_group(record: &RawValue) -> Source {
    let group: PersonGroup = serde_json::from_str(record.get()).unwrap_or_default();
    let deleted = group.metadata.deleted;
    Source { external_id: group.resource_name, etag: group.etag, deleted, ..Source::default() }
}

fn read<T: DeserializeOwned>(record: &RawValue, what: &str) -> Result<T, String> {
    // serde_json's own text quotes the unexpected value, which may be personal.
    serde_json::from_str(record.get())
        .map_err(|error| format!("the provider's {what} cannot be read at column {}", error.column()))
}

fn unreadable(source: Source, message: String) -> Source {
    let error = Some(ItemError { code: "unreadable".to_owned(), message });
    Source { error, deleted: false, ..source }
}
