//! The contacts surface over CardDAV (RFC 6352). One file per concern; this one has their common parts.

pub mod books;
pub mod cards;
pub mod groups;

use connector_sdk::{Context, Outcome};
use model::wire::contacts::ContactsFeatures;
use model::wire::{Item, ItemError};

use crate::collection;
use crate::collection::{Content, ServiceKind, list_setting};
use crate::vcard::group::uid;
use crate::vcard::lines::{Version, View, parse};
use crate::vcard::read;
use crate::webdav::discovery::CONTACTS;
use crate::webdav::xml::CARDDAV;

/// The setting with the versions of vCard that the server takes, as `check` found them.
pub const VERSIONS: &str = "vcardVersions";

/// How cards are read and written.
pub struct Cards {
    /// The vCard version that is requested of the server, and that new cards are written in.
    pub version: Version,
}

/// One call: the server, and how its cards are read.
pub type ContactsSession<'a> = collection::Session<'a, Cards>;

impl<'a> ContactsSession<'a> {
    /// vCard 4.0 where the server says that it takes it. 3.0 is what every server takes (RFC 6352 section 5.1.1), and all that
    /// clients expect of a server that names no other.
    pub fn new(cx: &'a Context<'a>) -> Outcome<Self> {
        let has_new = list_setting(cx, VERSIONS).any(|version| version == "4.0");
        ContactsSession::with(cx, Cards { version: if has_new { Version::V4 } else { Version::V3 } })
    }
}

/// The attributes of `address-data` that ask for a version (RFC 6352 section 10.4).
pub fn attributes(version: Version) -> &'static str {
    match version {
        // The version that servers return by default.
        Version::V3 => "",
        Version::V4 => " content-type=\"text/vcard\" version=\"4.0\"",
    }
}

impl Content for Cards {
    const KIND: ServiceKind = ServiceKind {
        service: CONTACTS,
        data: (CARDDAV, "address-data"),
        multiget: (CARDDAV, "addressbook-multiget"),
        media_type: "text/vcard; charset=utf-8",
        suffix: "vcf",
        trusts_etag: true,
        collection: "address book",
        a_collection: "an address book",
        collections: "address books",
        item: "contact",
        an_item: "a contact",
        items: "contacts",
        uid: "UID",
    };

    /// A server that keeps both versions turns one into the other; on the way from 4.0 to 3.0 more gets lost.
    fn data_attributes(&self) -> &'static str {
        attributes(self.version)
    }

    fn items(&self, external_id: &str, data: &str) -> Result<Vec<Item>, ItemError> {
        read::items(external_id, data)
    }

    fn uid(&self, data: &str) -> Option<String> {
        uid(&View::from_card(&parse(data).ok()?))
    }
}

/// Returns the features of CardDAV; they are the same with every server.
pub fn features() -> ContactsFeatures {
    ContactsFeatures {
        create_book: true,
        update_book: true,
        delete_book: true,
        create_contact: true,
        groups: true,
        photos: true,
        starred: false,
        push: false,
        delta: "syncToken".into(),
    }
}
