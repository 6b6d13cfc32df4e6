//! Contact, ContactBook, ContactGroup, MergeSuggestion. Names follow JSContact (RFC 9553) and vCard (RFC 6350) where they have
//! the notion. Ids of other resources are ours in the API and the provider's in a connector's answer.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::resource::{Body, Nothing, Resource};

pub use crate::contact_details::{
    Anniversary, ContactEmail, ContactKind, ContactPhone, ContactUrl, ImAddress, Organization, PartialDate,
    PhoneKind, PostalAddress, Relation,
};

/// A person or an organization in an address book. It has at least one of a name, an e-mail address, a phone number and an
/// organization.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Contact {
    /// None on a create: the default book of `connectionId`. It stays the same for the contact's life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book_id: Option<String>,
    /// None on a create: composed of the other names, else of the organization, an address or a number.
    pub display_name: Option<String>,
    /// The given name (vCard N).
    pub given_name: Option<String>,
    /// Further given names.
    pub middle_name: Option<String>,
    /// The family name (vCard N).
    pub family_name: Option<String>,
    /// Words before the name, such as `Dr.`.
    pub prefix: Option<String>,
    /// Words after the name, such as `Jr.`.
    pub suffix: Option<String>,
    /// The nickname.
    pub nickname: Option<String>,
    /// The pronunciation of the given name.
    pub phonetic_given_name: Option<String>,
    /// The pronunciation of the family name.
    pub phonetic_family_name: Option<String>,
    /// Email addresses.
    pub emails: Vec<ContactEmail>,
    /// Phone numbers.
    pub phones: Vec<ContactPhone>,
    /// Postal addresses.
    pub addresses: Vec<PostalAddress>,
    /// Organizations and the contact's place in them.
    pub organizations: Vec<Organization>,
    /// Web addresses.
    pub urls: Vec<ContactUrl>,
    /// Addresses for instant messages.
    pub im_addresses: Vec<ImAddress>,
    /// Related people.
    pub relations: Vec<Relation>,
    /// The birthday.
    pub birthday: Option<PartialDate>,
    /// Other yearly dates.
    pub anniversaries: Vec<Anniversary>,
    /// Notes, plain text.
    pub notes: Option<String>,
    /// The picture.
    pub photo: Option<Photo>,
    /// The groups of the same book that the contact is a member of.
    pub group_ids: Vec<String>,
    /// The part of the provider's account that the contact comes from.
    pub source: ContactSource,
    /// Whether it is starred (flagged).
    pub starred: bool,
    /// The contact that this one was merged into; the old id keeps working.
    pub merged_into: Option<String>,
}

impl Body for Contact {
    const NAME: &'static str = "Contact";
    const READ_ONLY: &'static [&'static str] = &["source", "mergedInto"];
    type Extra = Nothing;
    type Options = Nothing;
}

/// The picture of a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Photo {
    /// The picture's address. Null beside an `etag`: it is stored in the record, and `GET /v1/contacts/{contactId}/photo` has it. On a
    /// write, a `data:` URL (RFC 2397) of an image, at most 512 KiB, stores the picture in the record.
    pub url: Option<String>,
    /// Changes with the picture.
    pub etag: Option<String>,
}

/// The picture that a contact's record holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactPicture {
    /// `image/jpeg`; `application/octet-stream` where the record says something that is no known picture.
    pub content_type: String,
    /// In bytes.
    pub size: i64,
    /// As in `photo.etag`.
    pub etag: Option<String>,
    /// The bytes in base64 (RFC 4648 section 4).
    pub content_base64: String,
}

/// The part of the provider's account that the contact comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ContactSource {
    /// An address book of the user.
    #[default]
    AddressBook,
    /// People that the provider collected from the user's mail.
    Suggested,
    /// The directory of the user's organization.
    Directory,
}

/// An address book.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactBook {
    /// The name.
    pub name: String,
    /// The description, plain text.
    pub description: Option<String>,
    /// Whether new contacts are stored here by default.
    pub is_default: bool,
    /// Whether the account cannot change it.
    pub read_only: bool,
    /// Contacts in the book; null if unknown.
    pub contact_count: Option<i64>,
    /// The account's rights in the book.
    pub rights: BookRights,
}

impl Body for ContactBook {
    const NAME: &'static str = "ContactBook";
    const REQUIRED: &'static [&'static str] = &["connectionId", "name"];
    const READ_ONLY: &'static [&'static str] = &["isDefault", "readOnly", "contactCount", "rights"];
    type Extra = Nothing;
    type Options = Nothing;
}

/// The account's rights in a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookRights {
    /// Whether contacts can be read.
    pub read: bool,
    /// Whether contacts can be created and changed.
    pub write: bool,
    /// Whether contacts can be deleted.
    pub delete: bool,
}

/// A named set of contacts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactGroup {
    /// None on a create: the default book of `connectionId`. It stays the same for the group's life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book_id: Option<String>,
    /// The name.
    pub name: String,
    /// Whether the user or the provider owns the group.
    pub kind: GroupKind,
    /// Null where there are more than 500: then they are listed with `group_id`.
    pub contact_ids: Option<Vec<String>>,
    /// Contacts in the group.
    pub member_count: i64,
    /// Whether the account cannot change it.
    pub read_only: bool,
}

impl Body for ContactGroup {
    const NAME: &'static str = "ContactGroup";
    const REQUIRED: &'static [&'static str] = &["name"];
    const READ_ONLY: &'static [&'static str] = &["kind", "memberCount", "readOnly"];
    type Extra = Nothing;
    type Options = Nothing;
}

/// The owner of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum GroupKind {
    /// The user made it.
    #[default]
    User,
    /// The provider made it.
    System,
}

/// The contacts to search for duplicates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeSuggestionQuery {
    /// Only contacts of this connection; absent: of all.
    pub connection_id: Option<String>,
    /// Only contacts of these books; empty: of all.
    pub book_ids: Vec<String>,
    /// Only groups of duplicates with one of these contacts; empty: all.
    pub contact_ids: Vec<String>,
    /// 0 to 1.
    pub min_score: f64,
    /// Default 50, at most 200.
    pub limit: Option<i64>,
    /// The `nextCursor` of the page before; absent: the first page.
    pub cursor: Option<String>,
}

impl Default for MergeSuggestionQuery {
    fn default() -> Self {
        MergeSuggestionQuery {
            connection_id: None,
            book_ids: Vec::new(),
            contact_ids: Vec::new(),
            min_score: 0.6,
            limit: None,
            cursor: None,
        }
    }
}

/// Contacts that seem to be the same. Only a suggestion: nothing is changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeSuggestion {
    /// The same for the same contacts.
    pub id: String,
    /// Two or more.
    pub contact_ids: Vec<String>,
    /// 0 to 1. An equal address or number gives at least 0.9, a name alone at most 0.6. A role address, a number on more than 3
    /// contacts, and values shared by contacts whose names contradict each other (a household, an office) count for nothing.
    pub score: f64,
    /// The reasons for the suggestion.
    pub reasons: Vec<MergeReason>,
    /// The contact that a merge would result in.
    pub proposed: Resource<Contact>,
    /// Fields whose values differ.
    pub conflicts: Vec<MergeConflict>,
    /// The contact that the others would be merged into.
    pub suggested_primary_id: Option<String>,
}

/// A reason for a merge suggestion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeReason {
    /// The kind of reason.
    pub kind: MergeReasonKind,
    /// The values that the contacts share.
    pub values: Vec<String>,
    /// 0 to 1.
    pub weight: f64,
}

/// The kind of reason for a merge suggestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MergeReasonKind {
    /// An equal email address.
    #[default]
    SameEmail,
    /// An equal phone number.
    SamePhone,
    /// The same profile elsewhere.
    SameExternalProfile,
    /// A similar name.
    SimilarName,
    /// An equal name at the same organization.
    SameOrgAndName,
}

/// A field whose values differ between contacts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeConflict {
    /// The field's name.
    pub field: String,
    /// The different values.
    pub values: Vec<String>,
}
