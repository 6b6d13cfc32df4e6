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

/// A contact to make or to change. `write.body.photo.url` may be a `data:` URL: the picture itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactWrite {
    /// The contact and its place.
    #[serde(flatten)]
    pub write: ItemWrite<Contact>,
    /// External ids of the sources of the groups that it shall become a member of.
    pub joins: Vec<String>,
    /// The same of the groups that it shall leave.
    pub leaves: Vec<String>,
}

/// A picture that is stored in the record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Picture {
    /// `image/jpeg`.
    pub content_type: String,
    /// RFC 4648 section 4.
    pub content_base64: String,
}

/// The features of this account's provider, for the capabilities operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactsFeatures {
    /// Books can be created.
    pub create_book: bool,
    /// Books can be changed.
    pub update_book: bool,
    /// Books can be deleted.
    pub delete_book: bool,
    /// Contacts can be created.
    pub create_contact: bool,
    /// Contacts can be in groups.
    pub groups: bool,
    /// Pictures can be stored in the record.
    pub photos: bool,
    /// Contacts can be starred.
    pub starred: bool,
    /// Whether the provider notifies of changes.
    pub push: bool,
    /// How changes are found: "syncToken", "deltaToken", "ctag", "scan".
    pub delta: String,
}
