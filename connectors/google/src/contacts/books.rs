//! The account's address books. Google has none: there are the contacts, and people whom the account has written to.

use connector_sdk::{Context, Failure, Outcome};
use model::contacts::{BookRights, ContactBook};
use model::wire::{Item, JsonText, Source, Sources};
use serde_json::Value;

/// The setting that says whether the account lets other contacts be read, as `check` found it.
pub const OTHER_SETTING: &str = "otherContacts";

/// The id of the book with the contacts.
const CONTACTS: &str = "contacts";
/// The id of the book with the other contacts.
const OTHER: &str = "other";

/// An address book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Book {
    Contacts,
    /// People whom the account has written to and who are no contacts; nothing in it can be changed.
    Other,
}

/// Returns the book of this id. Fails with `not-found` where there is none.
pub fn book(id: &str) -> Outcome<Book> {
    match id {
        CONTACTS => Ok(Book::Contacts),
        OTHER => Ok(Book::Other),
        _ => Err(Failure::not_found("the account has no such address book")),
    }
}

/// Fails unless the book's contacts can be changed.
pub fn ensure_writable(id: &str) -> Outcome<()> {
    match book(id)? {
        Book::Contacts => Ok(()),
        Book::Other => Err(Failure::unsupported("changing other contacts")),
    }
}

/// Returns the books; an enumeration.
pub fn list(context: &Context) -> Outcome<Sources> {
    let own = ContactBook {
        name: "Contacts".to_owned(),
        is_default: true,
        rights: BookRights { read: true, write: true, delete: false },
        ..ContactBook::default()
    };
    let other = ContactBook {
        name: "Other contacts".to_owned(),
        description: Some(
            "People whom the account has exchanged mail with, and who are no contacts".to_owned(),
        ),
        read_only: true,
        rights: BookRights { read: true, write: false, delete: false },
        ..ContactBook::default()
    };
    let mut sources = vec![book_source(CONTACTS, &own)?];
    if context.connection.settings.get(OTHER_SETTING) != Some(&Value::Bool(false)) {
        sources.push(book_source(OTHER, &other)?);
    }
    Ok(Sources { sources, enumeration: true, ..Sources::default() })
}

fn book_source(id: &str, book: &ContactBook) -> Outcome<Source> {
    let body = JsonText::of(book)
        .map_err(|e| Failure::unavailable(format!("the address book cannot be written as JSON: {e}")))?;
    let item = Item { external_id: id.to_owned(), body, ..Item::default() };
    Ok(Source { external_id: id.to_owned(), items: vec![item], ..Source::default() })
}
