//! Paper's cards, and what they are as contacts for Switchboard.

use connector_sdk::model::contacts::{
    BookRights, Contact, ContactBook, ContactEmail, ContactKind, ContactPhone, PhoneKind,
};
use connector_sdk::model::wire::Source;
use connector_sdk::model::wire::contacts::ContactWrite;
use connector_sdk::{Failure, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::paper::{self, Collection, Names, Record};

#[derive(Deserialize)]
pub struct PaperCard {
    id: String,
    etag: String,
    name: String,
    given: Option<String>,
    family: Option<String>,
    note: Option<String>,
    emails: Vec<PaperValue<ContactKind>>,
    phones: Vec<PaperValue<PhoneKind>>,
}

/// An address or a number. Paper's kinds are those of the model.
#[derive(Serialize, Deserialize)]
struct PaperValue<K> {
    value: String,
    kind: K,
    label: Option<String>,
    first: bool,
}

pub fn book(book: &Collection) -> ContactBook {
    let rights = BookRights { read: true, write: true, delete: true };
    ContactBook { name: book.title.clone(), rights, ..ContactBook::default() }
}

impl Record for PaperCard {
    const NAMES: Names = Names { collections: "books", records: "cards" };

    fn source(&self) -> Outcome<Source> {
        // The order of the values is the user's.
        let emails = self.emails.iter().map(|email| ContactEmail {
            value: email.value.clone(),
            kind: email.kind,
            label: email.label.clone(),
            primary: email.first,
        });
        let phones = self.phones.iter().map(|phone| ContactPhone {
            value: phone.value.clone(),
            kind: phone.kind,
            label: phone.label.clone(),
            primary: phone.first,
            ..ContactPhone::default()
        });
        let contact = Contact {
            display_name: Some(self.name.clone()),
            given_name: self.given.clone(),
            family_name: self.family.clone(),
            notes: self.note.clone(),
            emails: emails.collect(),
            phones: phones.collect(),
            ..Contact::default()
        };
        paper::source(&self.id, &self.etag, &contact)
    }
}

/// Returns the fields to write to Paper: all fields, or the changed ones alone, so that the others stay as they are.
pub fn fields(contact: &Contact, changed: Option<&[String]>) -> Map<String, Value> {
    let emails: Vec<PaperValue<ContactKind>> = contact
        .emails
        .iter()
        .map(|email| PaperValue {
            value: email.value.clone(),
            kind: email.kind,
            label: email.label.clone(),
            first: email.primary,
        })
        .collect();
    let phones: Vec<PaperValue<PhoneKind>> = contact
        .phones
        .iter()
        .map(|phone| PaperValue {
            value: phone.value.clone(),
            kind: phone.kind,
            label: phone.label.clone(),
            first: phone.primary,
        })
        .collect();
    let values = [
        ("displayName", "name", json!(contact.display_name.as_deref().unwrap_or_default())),
        ("givenName", "given", json!(contact.given_name)),
        ("familyName", "family", json!(contact.family_name)),
        ("notes", "note", json!(contact.notes)),
        ("emails", "emails", json!(emails)),
        ("phones", "phones", json!(phones)),
    ];
    let is_changed = |ours: &str| changed.is_none_or(|names| names.iter().any(|name| name == ours));
    let written = values.into_iter().filter(|(ours, ..)| is_changed(ours));
    written.map(|(_, theirs, value)| (theirs.to_owned(), value)).collect()
}

const KEPT: [&str; 6] = ["displayName", "givenName", "familyName", "notes", "emails", "phones"];

/// Fields that the caller changed and that Paper does not keep.
pub fn unkept(write: &ContactWrite) -> impl Iterator<Item = &String> {
    write.write.changed.iter().filter(|field| !KEPT.contains(&field.as_str()))
}

/// A strict caller wants all or nothing.
pub fn refuse_unkept(write: &ContactWrite) -> Outcome<()> {
    match unkept(write).next().filter(|_| write.write.strict) {
        Some(field) => Err(Failure::unsupported(&format!("the field {field}")).with_detail(json!({ "field": field }))),
        None => Ok(()),
    }
}
