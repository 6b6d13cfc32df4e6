//! The provider's own JSON: address books and cards. The rules of `calendar::types` for names and added fields apply here as
//! well.

use serde::{Deserialize, Serialize};

/// An address book of an account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Book {
    pub id: String,
    pub title: String,
    pub notes: Option<String>,
    /// The account's main book. Exactly one; it cannot be deleted.
    pub main: bool,
    /// Whether the API refuses all changes in it.
    pub locked: bool,
    pub created_at: String,
    pub updated_at: String,
}

/// A person, or a circle of persons: a circle has only a label and members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Card {
    pub id: String,
    pub kind: CardKind,
    /// The display name. If none is given, it is derived from the names, else from a company, an address or a number.
    pub label: String,
    pub name: Name,
    pub mails: Vec<Mail>,
    pub phones: Vec<Phone>,
    pub postal: Vec<Postal>,
    pub jobs: Vec<Job>,
    pub pages: Vec<Page>,
    pub chats: Vec<Chat>,
    pub relatives: Vec<Relative>,
    pub birthday: Option<Day>,
    pub days: Vec<SpecialDay>,
    pub notes: Option<String>,
    pub picture: Option<Picture>,
    pub starred: bool,
    pub origin: CardOrigin,
    /// Circles: ids of persons in the same book.
    pub members: Vec<String>,
    /// Circles: the provider's own, which cannot be changed.
    pub built_in: bool,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CardKind {
    #[default]
    Person,
    Circle,
}

/// The origin of a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CardOrigin {
    #[default]
    Entered,
    Noticed,
    Directory,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Name {
    pub first: Option<String>,
    pub middle: Option<String>,
    pub last: Option<String>,
    /// Prefix of the name: a title.
    pub before: Option<String>,
    /// Behind all of it.
    pub after: Option<String>,
    pub nick: Option<String>,
    /// How it is spoken.
    pub first_sound: Option<String>,
    pub last_sound: Option<String>,
}

/// The use of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Use {
    Private,
    Office,
    #[default]
    Any,
    /// The use that `called` names.
    Own,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Mail {
    pub address: String,
    #[serde(rename = "use")]
    pub used_for: Use,
    pub called: Option<String>,
    pub main: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Phone {
    /// As written.
    pub number: String,
    /// ITU E.164.
    pub international: Option<String>,
    pub line: Line,
    pub called: Option<String>,
    pub main: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Line {
    Mobile,
    Private,
    Office,
    PrivateFax,
    OfficeFax,
    Pager,
    #[default]
    Any,
    /// The use that `called` names.
    Own,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Postal {
    #[serde(rename = "use")]
    pub used_for: Use,
    pub called: Option<String>,
    /// The address as it is written on an envelope.
    pub whole: Option<String>,
    pub street: Option<String>,
    pub second_line: Option<String>,
    pub po_box: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub zip: Option<String>,
    pub country: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country_code: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Job {
    pub company: Option<String>,
    pub role: Option<String>,
    pub unit: Option<String>,
    pub now: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Page {
    pub url: String,
    #[serde(rename = "use")]
    pub used_for: Use,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Chat {
    pub network: Option<String>,
    pub handle: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Relative {
    pub label: String,
    pub relation: Option<String>,
}

/// A day of a year, or of every year.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Day {
    pub year: Option<i64>,
    pub month: i64,
    pub day: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpecialDay {
    pub occasion: Option<String>,
    pub on: Day,
}

/// A picture elsewhere (`url`) or stored in the card (`bytes`). Responses have the fingerprint instead of the bytes; a body with
/// the fingerprint of the present picture keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Picture {
    pub url: Option<String>,
    /// RFC 4648 section 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// `image/png`; with `bytes`.
    #[serde(rename = "type")]
    pub media_type: Option<String>,
    /// Changes with the picture.
    pub fingerprint: Option<String>,
}
