//! Contact, ContactBook, ContactGroup, MergeSuggestion. Names follow JSContact (RFC 9553) and vCard (RFC 6350) where they have
//! the notion. Ids of other resources are ours in the API and the provider's in a connector's answer.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::{Body, Nothing, Resource};

pub use crate::contact_details::{
    Anniversary, ContactEmail, ContactKind, ContactPhone, ContactUrl, ImAddress, Organization, PartialDate,
    PhoneKind, PostalAddress, Relation,
};

/// A person or an organization in an address book. It has at least one of a name, an email address, a phone number and an organization.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Contact {
    /// The contact book that holds the contact. It cannot be changed later. A create without it uses the default book of `connectionId`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book_id: Option<String>,
    /// The name under which the contact is shown and sorted. Absent or null on a write: the service composes it from the other names, else
    /// from the nickname, the organization, an email address or a phone number.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub display_name: Option<String>,
    /// The given name (vCard N); null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub given_name: Option<String>,
    /// Further given names, separated by spaces; null if there are none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub middle_name: Option<String>,
    /// The family name (vCard N); null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub family_name: Option<String>,
    /// The title before the name, such as `Dr.`; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub prefix: Option<String>,
    /// The title or generation after the name, such as `Jr.`; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub suffix: Option<String>,
    /// The nickname; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub nickname: Option<String>,
    /// The pronunciation of the given name; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub phonetic_given_name: Option<String>,
    /// The pronunciation of the family name; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub phonetic_family_name: Option<String>,
    /// The contact's email addresses. At most one of them is `primary`.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_ENTRIES)))]
    pub emails: Vec<ContactEmail>,
    /// The contact's phone numbers. At most one of them is `primary`.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_ENTRIES)))]
    pub phones: Vec<ContactPhone>,
    /// The contact's postal addresses.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_ENTRIES)))]
    pub addresses: Vec<PostalAddress>,
    /// The organizations that the contact belongs or belonged to, with the contact's position in each.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_ENTRIES)))]
    pub organizations: Vec<Organization>,
    /// The contact's web addresses.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_ENTRIES)))]
    pub urls: Vec<ContactUrl>,
    /// The contact's addresses for instant messages.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_ENTRIES)))]
    pub im_addresses: Vec<ImAddress>,
    /// The people who are related to the contact.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_ENTRIES)))]
    pub relations: Vec<Relation>,
    /// The date of birth; null if it is unknown.
    pub birthday: Option<PartialDate>,
    /// The contact's yearly dates other than the birthday.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_ENTRIES)))]
    pub anniversaries: Vec<Anniversary>,
    /// The user's notes on the contact, plain text; null if there are none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_TEXT)))]
    pub notes: Option<String>,
    /// The contact's picture; null if there is none. A write of null deletes the picture.
    pub photo: Option<Photo>,
    /// The ids of the contact's groups, which all belong to the contact's own book. A write replaces the memberships.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::contact::MAX_GROUPS)))]
    pub group_ids: Vec<String>,
    /// The part of the provider's account that the contact comes from.
    pub source: ContactSource,
    /// Whether the contact is starred (marked as a favourite). Not every provider can store it.
    pub starred: bool,
    /// The id of the contact that this contact was merged into, set by the service; null if it was not merged. The old id keeps working.
    pub merged_into: Option<String>,
}

impl Body for Contact {
    const NAME: &'static str = "Contact";
    const READ_ONLY: &'static [&'static str] = &["source", "mergedInto"];
    const CREATE_ONLY: &'static [&'static str] = &["bookId"];
    type Extra = Nothing;
    type Options = Nothing;
}

/// The picture of a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Photo {
    /// The address of the picture. Null beside an `etag`: the record holds the picture itself, and `GET /v1/contacts/{contactId}/photo`
    /// returns it. A write takes an `http` or `https` URL, or a `data:` URL (RFC 2397) with an image of at most 512 KiB, which is stored in
    /// the record.
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = r"^([Hh][Tt][Tt][Pp][Ss]?:|data:image/[^;,]*;base64,)"))
    )]
    pub url: Option<String>,
    /// The version of the picture: it changes with the picture. Null for a picture at a `url`. A client does not set it.
    #[cfg_attr(feature = "schema", schemars(extend("readOnly" = true)))]
    pub etag: Option<String>,
}

/// The picture that a contact's record holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactPicture {
    /// The media type of the picture, such as `image/jpeg`; `application/octet-stream` if the record names no known image type.
    pub content_type: String,
    /// The size of the picture in bytes.
    pub size: i64,
    /// The version of the picture, as in the contact's `photo.etag`.
    pub etag: Option<String>,
    /// The bytes of the picture in base64 (RFC 4648 section 4).
    pub content_base64: String,
}

/// The part of the provider's account that a contact comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ContactSource {
    /// An address book of the user.
    #[default]
    AddressBook,
    /// People whom the provider collected from the user's mail.
    Suggested,
    /// The directory of the user's organization.
    Directory,
}

/// An address book of a connected account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactBook {
    /// The name of the book.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LABEL), regex(pattern = r"\S")))]
    pub name: String,
    /// The description of the book, plain text; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub description: Option<String>,
    /// Whether the provider stores new contacts in this book by default.
    pub is_default: bool,
    /// Whether the account can read this book but not change it.
    pub read_only: bool,
    /// The number of contacts in the book; null if it is unknown.
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

/// The account's rights in a contact book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookRights {
    /// Whether the account can read the book's contacts.
    pub read: bool,
    /// Whether the account can create and change contacts in the book.
    pub write: bool,
    /// Whether the account can delete contacts of the book.
    pub delete: bool,
}

/// A named set of contacts of one contact book.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactGroup {
    /// The contact book that holds the group and its members. It cannot be changed later. A create without it uses the default book of
    /// `connectionId`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book_id: Option<String>,
    /// The name of the group.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LABEL), regex(pattern = r"\S")))]
    pub name: String,
    /// The owner of the group: the user or the provider.
    pub kind: GroupKind,
    /// The ids of the members. Null in an answer if there are more than 500: list the contacts with `group_id` instead. A write replaces
    /// the members; null removes them all.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::Id>>", length(max = bounds::contact::MAX_MEMBERS), extend("uniqueItems" = true)))]
    pub contact_ids: Option<Vec<String>>,
    /// The number of contacts in the group.
    pub member_count: i64,
    /// Whether the account can read this group but not change it.
    pub read_only: bool,
}

impl Body for ContactGroup {
    const NAME: &'static str = "ContactGroup";
    const REQUIRED: &'static [&'static str] = &["name"];
    const READ_ONLY: &'static [&'static str] = &["kind", "memberCount", "readOnly"];
    const CREATE_ONLY: &'static [&'static str] = &["bookId"];
    type Extra = Nothing;
    type Options = Nothing;
}

/// The owner of a contact group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum GroupKind {
    /// The user created the group.
    #[default]
    User,
    /// The provider created the group and keeps it.
    System,
}

/// The contacts to search for duplicates, and the page to return.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeSuggestionQuery {
    /// The connection whose contacts are searched; absent or null: all connections that the key may use.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub connection_id: Option<String>,
    /// The contact books whose contacts are searched; empty: all books.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::contact::MAX_NAMED)))]
    pub book_ids: Vec<String>,
    /// The contacts of which each suggestion must name at least one; empty: no such condition.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::contact::MAX_NAMED)))]
    pub contact_ids: Vec<String>,
    /// The lowest score of a suggestion that is returned, from 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub min_score: f64,
    /// The number of suggestions on a page, at most 200; absent or null: 50.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub limit: Option<i64>,
    /// The `next_cursor` of the previous page; absent or null for the first page.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Cursor>"))]
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

/// Contacts that seem to be the same person or organization. A suggestion changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeSuggestion {
    /// The id of the suggestion. The same contacts have the same id in every query.
    pub id: String,
    /// The ids of the contacts that seem to be the same: two or more, in ascending order.
    pub contact_ids: Vec<String>,
    /// The confidence from 0 to 1. An equal email address, phone number or profile gives at least 0.9, an equal name alone at most 0.6. A
    /// role address such as `info@`, a number on more than 3 contacts, and values shared by contacts whose names contradict each other (a
    /// household, an office) do not count.
    pub score: f64,
    /// The reasons for the suggestion, the heaviest first.
    pub reasons: Vec<MergeReason>,
    /// The contact that a merge would result in. It is a preview and is not stored.
    pub proposed: Resource<Contact>,
    /// The single-valued fields in which the contacts differ.
    pub conflicts: Vec<MergeConflict>,
    /// The id of the contact that the others would be merged into: the most complete one, then the most recent one.
    pub suggested_primary_id: Option<String>,
}

/// A reason for a merge suggestion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeReason {
    /// The kind of the reason.
    pub kind: MergeReasonKind,
    /// The values that the contacts share. Addresses, numbers and profiles are in the form in which they are compared, names as written.
    pub values: Vec<String>,
    /// The weight of the reason from 0 to 1.
    pub weight: f64,
}

/// The kind of a reason for a merge suggestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MergeReasonKind {
    /// An equal email address.
    #[default]
    SameEmail,
    /// An equal phone number.
    SamePhone,
    /// An equal web address or instant-messaging address.
    SameExternalProfile,
    /// A similar name.
    SimilarName,
    /// An equal name at the same organization.
    SameOrgAndName,
}

/// A field in which the contacts of a merge suggestion differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MergeConflict {
    /// The name of the field, such as `familyName`.
    pub field: String,
    /// The different values, the suggested primary contact's first.
    pub values: Vec<String>,
}
