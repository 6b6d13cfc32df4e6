//! Operations of the contacts surface. Contacts and groups of a book are listed together, because providers keep them together
//! (a group is a card): `Item.kind` is `contact` or `contact_group`.
//!
//! | verb | op | args | answer |
//! |---|---|---|---|
//! | fetch | `books.list` | `ChangesRequest` | `Sources` of `ContactBook`, `enumeration: true` |
//! | fetch | `contacts.get` | `SourceRef` | `Sources` (one), contact or group |
//! | fetch | `contacts.batchGet` | `SourcesGet` | `Sources` |
//! | fetch | `contacts.photo` | `SourceRef` | `Picture` |
//! | fetch | `capabilities` | `{}` | `ContactsFeatures` |
//! | mutate | `books.create` `.update` | `CollectionWrite<ContactBook>` | `Mutated` |
//! | mutate | `books.delete` | `CollectionDelete` | `Mutated` |
//! | mutate | `contacts.create` `.update` | `ContactWrite` | `Mutated` |
//! | mutate | `contacts.delete` | `ItemDelete` | `Mutated` |
//! | mutate | `groups.create` `.update` | `ItemWrite<ContactGroup>` | `Mutated` |
//! | mutate | `groups.delete` | `ItemDelete` | `Mutated` |
//! | changes | `contacts` | `ChangesRequest` | `Sources` of `Contact` and `ContactGroup` |
//!
//! Membership is given on the side on which the provider keeps it: a group names its members in `contactIds`, or a contact its
//! groups in `groupIds`; the host fills in the other side.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contacts::Contact;
use crate::wire::ItemWrite;

/// A contact to create or to change. `body.photo.url` may be a `data:` URL that holds the picture itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactWrite {
    /// The contact, its book and its source.
    #[serde(flatten)]
    pub write: ItemWrite<Contact>,
    /// The external ids of the sources of the groups that the contact joins.
    pub joins: Vec<String>,
    /// The external ids of the sources of the groups that the contact leaves.
    pub leaves: Vec<String>,
}

/// A picture that a contact's record holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Picture {
    /// The media type of the picture, such as `image/jpeg`.
    pub content_type: String,
    /// The bytes of the picture in base64 (RFC 4648 section 4).
    pub content_base64: String,
}

/// The contact features of this account at its provider, for the capabilities operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactsFeatures {
    /// Whether books can be created.
    pub create_book: bool,
    /// Whether books can be changed.
    pub update_book: bool,
    /// Whether books can be deleted.
    pub delete_book: bool,
    /// Whether contacts can be created, changed and deleted.
    pub create_contact: bool,
    /// Whether contacts can be in groups.
    pub groups: bool,
    /// Whether pictures can be stored in the record.
    pub photos: bool,
    /// Whether contacts can be starred.
    pub starred: bool,
    /// Whether the provider notifies the service of changes.
    pub push: bool,
    /// The way in which changes are found: `syncToken`, `deltaToken`, `ctag` or `scan`.
    pub delta: String,
}
