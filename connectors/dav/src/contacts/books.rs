//! Address books: listing, making, changing, deleting.

use connector_sdk::{Answer, Context, Failure, Outcome};
use model::contacts::{BookRights, ContactBook};
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, Source, Sources, Warning};
use serde_json::{Value, json};
use url::Url;

use crate::collection::changed::FieldSet;
use crate::collection::make::{Properties, collection_source, default_of};
use crate::contacts::{ContactsSession, VERSIONS};
use crate::webdav::multistatus::Member;
use crate::webdav::xml::{CARDDAV, DAV};
use crate::webdav::{Client, Name};

/// Properties that are requested of an address book.
const NAMES: [Name; 6] = [
    (DAV, "resourcetype"),
    (DAV, "displayname"),
    (DAV, "owner"),
    (DAV, "current-user-privilege-set"),
    (CARDDAV, "addressbook-description"),
    (CARDDAV, "supported-address-data"),
];

/// An address book as it was found.
struct AddressBook {
    id: String,
    book: ContactBook,
    owned: bool,
    /// The versions of vCard that the book takes; empty where the server does not list them.
    versions: Vec<String>,
}

impl AddressBook {
    fn source(self) -> Outcome<Source> {
        let data: Option<Value> = (!self.versions.is_empty()).then(|| json!({ VERSIONS: self.versions }));
        collection_source(self.id, &self.book, data)
    }
}

pub fn list(cx: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
    let session = ContactsSession::new(cx)?;
    let listed = session.listed(&NAMES)?;
    let mut found: Vec<AddressBook> =
        listed.iter().filter_map(|(home, member)| session.book(home, member)).collect();
    let default = default_book(&found);
    for found in &mut found {
        found.book.is_default = default.as_ref() == Some(&found.id);
    }
    let sources = found.into_iter().map(AddressBook::source).collect::<Outcome<Vec<Source>>>()?;
    Ok(Answer::whole(Sources { sources, enumeration: true, ..Sources::default() }))
}

/// CardDAV has no property for the default book: it is the only one that can be written, the one with a usual name, or the first.
fn default_book(found: &[AddressBook]) -> Option<String> {
    let writable = found.iter().filter(|found| found.owned && !found.book.read_only);
    default_of(
        writable.map(|found| found.id.as_str()),
        &["default", "personal", "contacts", "addressbook", "card"],
    )
}

pub fn create(cx: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
    let session = ContactsSession::new(cx)?;
    let properties = properties(&args.body, &FieldSet(&args.changed));
    let (url, warnings) = session.make("", &args.body.name, &properties)?;
    session.mutated_book(&url, warnings)
}

pub fn update(cx: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
    let session = ContactsSession::new(cx)?;
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let url = session.client.url(id)?;
    session.patch(&url, &properties(&args.body, &FieldSet(&args.changed)))?;
    session.mutated_book(&url, Vec::new())
}

pub fn delete(cx: &Context, args: CollectionDelete) -> Outcome<Mutated> {
    let session = ContactsSession::new(cx)?;
    if !args.force {
        session.insist_empty(&args.source)?;
    }
    session.remove(args)
}

fn properties(book: &ContactBook, changed: &FieldSet) -> Properties {
    let mut all = Properties::default();
    if changed.has("name") {
        all.text((DAV, "displayname"), Some(&book.name));
    }
    if changed.has("description") {
        all.text((CARDDAV, "addressbook-description"), book.description.as_deref());
    }
    all
}

impl ContactsSession<'_> {
    fn mutated_book(&self, url: &Url, warnings: Vec<Warning>) -> Outcome<Mutated> {
        // The default is found by comparing all of them.
        let mut home = url.clone();
        if let Ok(mut segments) = home.path_segments_mut() {
            segments.pop_if_empty().pop().push("");
        }
        let listed = self.client.propfind(&home, "1", &NAMES, "listing address books")?;
        let mut found: Vec<AddressBook> =
            listed.responses.iter().filter_map(|member| self.book(&home, member)).collect();
        let default = default_book(&found);
        let own = self.client.id(url);
        let at = found.iter().position(|found| found.id.trim_end_matches('/') == own.trim_end_matches('/'));
        let at = at.ok_or_else(|| Failure::not_found("there is no address book with this id"))?;
        let mut found = found.swap_remove(at);
        found.book.is_default = default.as_ref() == Some(&found.id);
        let item = Some(found.id.clone());
        Ok(Mutated { item, sources: vec![found.source()?], warnings, ..Mutated::default() })
    }

    /// A member of a home as an address book; none where it is something else.
    fn book(&self, at: &Url, member: &Member) -> Option<AddressBook> {
        if !self.is_collection(member) {
            return None;
        }
        let id = self.client.id_of(at, &member.href)?;
        let rights = self.rights(at, member);
        let book = ContactBook {
            name: member.text(DAV, "displayname").unwrap_or(ContactsSession::folder(&id)).to_owned(),
            description: member.text(CARDDAV, "addressbook-description").map(str::to_owned),
            read_only: !rights.write,
            rights: BookRights { read: rights.read, write: rights.write, delete: rights.delete },
            ..ContactBook::default()
        };
        Some(AddressBook { id, book, owned: rights.owned, versions: versions(member) })
    }
}

/// The versions of vCard that an address book takes (RFC 6352 section 6.2.2).
fn versions(member: &Member) -> Vec<String> {
    let all = member.property(CARDDAV, "supported-address-data");
    let types = all.into_iter().flat_map(|all| all.all(CARDDAV, "address-data-type"));
    let mut versions: Vec<String> = types
        .filter(|kind| {
            kind.attribute("content-type").is_none_or(|kind| kind.eq_ignore_ascii_case("text/vcard"))
        })
        .filter_map(|kind| kind.attribute("version").map(str::to_owned))
        .collect();
    versions.sort();
    versions.dedup();
    versions
}

/// The versions that all books of a home take, for the account's settings: a create only gets the id of its book, and asking for each
/// would double the requests of an import. Empty where no book lists them.
pub fn versions_at(client: &Client, home: &Url) -> Outcome<Vec<String>> {
    let listed = client.propfind(home, "1", &NAMES, "listing address books")?;
    let (namespace, name) = crate::webdav::discovery::CONTACTS.collection;
    let books = listed.responses.iter().filter(|member| {
        member.property(DAV, "resourcetype").is_some_and(|kind| kind.child(namespace, name).is_some())
    });
    let told = books.map(versions).filter(|versions| !versions.is_empty());
    Ok(told
        .reduce(|mut all, one| {
            all.retain(|version| one.contains(version));
            all
        })
        .unwrap_or_default())
}
