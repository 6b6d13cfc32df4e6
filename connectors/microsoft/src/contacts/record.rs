//! Graph's contacts and folders as sources: one for each.

use connector_sdk::{Failure, Outcome};
use model::contacts::{BookRights, Contact, ContactBook, Photo};
use model::wire::{Item, ItemError, JsonText, Source};
use serde::Serialize;
use serde_json::json;

use crate::contacts::mapping::{contact_data, contact_from};
use crate::contacts::native::{ContactFolder, FolderContact};

/// Returns a source that is gone.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}

/// Returns the source of a contact that cannot be read.
pub fn unreadable_source(id: &str, message: String) -> Source {
    let error = Some(ItemError { code: "unreadable".to_owned(), message });
    Source { external_id: id.to_owned(), error, ..Source::default() }
}

/// Returns the source of a contact with its picture. Fails where the contact has no id.
pub fn contact_source(theirs: &FolderContact, photo: Option<Photo>) -> Outcome<Source> {
    if theirs.id.is_empty() {
        return Err(Failure::unavailable("the provider's contact has no id"));
    }
    let item = Item {
        external_id: theirs.id.clone(),
        kind: Some("contact".to_owned()),
        body: body(&Contact { photo, ..contact_from(theirs) })?,
        provider_data: contact_data(theirs),
        ..Item::default()
    };
    Ok(Source {
        external_id: theirs.id.clone(),
        etag: theirs.version(),
        items: vec![item],
        ..Source::default()
    })
}

/// Returns the source of a folder. `id`: its external id, which of the default one is not Graph's own.
pub fn book_source(theirs: &ContactFolder, id: &str, is_default: bool) -> Outcome<Source> {
    if id.is_empty() {
        return Err(Failure::unavailable("the provider's folder has no id"));
    }
    let name = theirs.display_name.clone().filter(|name| !name.is_empty());
    let book = ContactBook {
        name: name.unwrap_or_else(|| "Contacts".to_owned()),
        is_default,
        rights: BookRights { read: true, write: true, delete: true },
        ..ContactBook::default()
    };
    let parent = theirs.parent_folder_id.as_ref().filter(|parent| !is_default && !parent.is_empty());
    let item = Item {
        external_id: id.to_owned(),
        body: body(&book)?,
        provider_data: parent.map(|parent| json!({ "parentFolderId": parent })),
        ..Item::default()
    };
    Ok(Source {
        external_id: id.to_owned(),
        etag: theirs.etag.clone(),
        items: vec![item],
        ..Source::default()
    })
}

fn body(resource: &impl Serialize) -> Outcome<JsonText> {
    JsonText::of(resource)
        .map_err(|error| Failure::unavailable(format!("the item cannot be written as JSON: {error}")))
}
