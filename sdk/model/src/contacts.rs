//! Contact, ContactBook, ContactGroup, MergeSuggestion. Names follow JSContact (RFC 9553) and vCard (RFC 6350) where they have
//! the notion. Ids of other resources are ours in the API and the provider's in a connector's answer.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::resource::{Body, Nothing, Resource};

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
    pub given_name: Option<String>,
    pub middle_name: Option<String>,
    pub family_name: Option<String>,
    pub prefix: Option<String>,
    pub suffix: Option<String>,
    pub nickname: Option<String>,
    pub phonetic_given_name: Option<String>,
    pub phonetic_family_name: Option<String>,
    pub emails: Vec<ContactEmail>,
    pub phones: Vec<ContactPhone>,
    pub addresses: Vec<PostalAddress>,
    pub organizations: Vec<Organization>,
    pub urls: Vec<ContactUrl>,
    pub im_addresses: Vec<ImAddress>,
    pub relations: Vec<Relation>,
    pub birthday: Option<PartialDate>,
    pub anniversaries: Vec<Anniversary>,
    pub notes: Option<String>,
    pub photo: Option<Photo>,
    /// The groups of the same book that the contact is a member of.
    pub group_ids: Vec<String>,
    pub source: ContactSource,
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

/// The use of an address or number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ContactKind {
    Home,
    Work,
    #[default]
    Other,
    /// `label` says what.
    Custom,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactEmail {
    pub value: String,
    #[serde(rename = "type")]
    pub kind: ContactKind,
    pub label: Option<String>,
    pub primary: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactPhone {
    /// As written.
    pub value: String,
    /// ITU E.164, where the number can be parsed: `+4930901820`.
    pub e164: Option<String>,
    #[serde(rename = "type")]
    pub kind: PhoneKind,
    pub label: Option<String>,
    pub primary: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PhoneKind {
    Mobile,
    Home,
    Work,
    HomeFax,
    WorkFax,
    Pager,
    #[default]
    Other,
    /// `label` says what.
    Custom,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PostalAddress {
    #[serde(rename = "type")]
    pub kind: ContactKind,
    pub label: Option<String>,
    /// The whole address as it is written on an envelope.
    pub formatted: Option<String>,
    pub street: Option<String>,
    pub extended: Option<String>,
    pub po_box: Option<String>,
    pub locality: Option<String>,
    pub region: Option<String>,
    pub postal_code: Option<String>,
    pub country: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country_code: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Organization {
    pub name: Option<String>,
    pub title: Option<String>,
    pub department: Option<String>,
    /// Whether the contact is in the organization now; true if absent.
    pub current: bool,
}

impl Default for Organization {
    fn default() -> Self {
        Organization { name: None, title: None, department: None, current: true }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactUrl {
    pub value: String,
    #[serde(rename = "type")]
    pub kind: ContactKind,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ImAddress {
    /// As the provider names it: `xmpp`, `matrix`.
    pub protocol: Option<String>,
    pub handle: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Relation {
    pub name: String,
    /// As the provider names it: `spouse`, `assistant`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// A day of a year, or of every year.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PartialDate {
    pub year: Option<i64>,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Anniversary {
    /// As the provider names it: `wedding`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub date: PartialDate,
}

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
    pub content_base64: String,
}

/// The part of the provider's account that the contact comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ContactSource {
    #[default]
    AddressBook,
    Suggested,
    Directory,
}

/// An address book.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactBook {
    pub name: String,
    pub description: Option<String>,
    pub is_default: bool,
    pub read_only: bool,
    pub contact_count: Option<i64>,
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
    pub read: bool,
    pub write: bool,
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
    pub name: String,
    pub kind: GroupKind,
    /// Null where there are more than 500: then they are listed with `group_id`.
    pub contact_ids: Option<Vec<String>>,
    pub member_count: i64,
    pub read_only: bool,
}

impl Body for ContactGroup {
    const NAME: &'static str = "ContactGroup";
    const REQUIRED: &'static [&'static str] = &["name"];
    const READ_ONLY: &'static [&'static str] = &["kind", "memberCount", "readOnly"];
    type Extra = Nothing;
    type Options = Nothing;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum GroupKind {
    #[default]
    User,
    System,
}

/// The contacts to search for duplicates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeSuggestionQuery {
    pub connection_id: Option<String>,
    pub book_ids: Vec<String>,
    pub contact_ids: Vec<String>,
    /// 0 to 1.
    pub min_score: f64,
    /// Default 50, at most 200.
    pub limit: Option<i64>,
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
    pub reasons: Vec<MergeReason>,
    /// The contact that a merge would result in.
    pub proposed: Resource<Contact>,
    pub conflicts: Vec<MergeConflict>,
    pub suggested_primary_id: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeReason {
    pub kind: MergeReasonKind,
    pub values: Vec<String>,
    /// 0 to 1.
    pub weight: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MergeReasonKind {
    #[default]
    SameEmail,
    SamePhone,
    SameExternalProfile,
    SimilarName,
    SameOrgAndName,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeConflict {
    pub field: String,
    pub values: Vec<String>,
}
