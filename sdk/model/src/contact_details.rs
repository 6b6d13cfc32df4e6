//! The details of a contact: addresses, numbers, organizations, relations and dates.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The use of an address or number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ContactKind {
    /// Private.
    Home,
    /// At work.
    Work,
    /// Unknown, or another use.
    #[default]
    Other,
    /// `label` says what.
    Custom,
}

/// An email address of a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactEmail {
    /// The address.
    pub value: String,
    /// The use of the address.
    #[serde(rename = "type")]
    pub kind: ContactKind,
    /// A name of the user's own for it.
    pub label: Option<String>,
    /// Whether it is the preferred one.
    pub primary: bool,
}

/// A phone number of a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactPhone {
    /// As written.
    pub value: String,
    /// ITU E.164, where the number can be parsed: `+4930901820`.
    pub e164: Option<String>,
    /// The use of the number.
    #[serde(rename = "type")]
    pub kind: PhoneKind,
    /// A name of the user's own for it.
    pub label: Option<String>,
    /// Whether it is the preferred one.
    pub primary: bool,
}

/// The use of a phone number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PhoneKind {
    /// A mobile phone.
    Mobile,
    /// A private phone.
    Home,
    /// A phone at work.
    Work,
    /// A private fax.
    HomeFax,
    /// A fax at work.
    WorkFax,
    /// A pager.
    Pager,
    /// Unknown, or another use.
    #[default]
    Other,
    /// `label` says what.
    Custom,
}

/// A postal address (vCard ADR).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PostalAddress {
    /// The use of the address.
    #[serde(rename = "type")]
    pub kind: ContactKind,
    /// A name of the user's own for it.
    pub label: Option<String>,
    /// The whole address as it is written on an envelope.
    pub formatted: Option<String>,
    /// The street and the number.
    pub street: Option<String>,
    /// An addition, such as the apartment.
    pub extended: Option<String>,
    /// The post office box.
    pub po_box: Option<String>,
    /// The town.
    pub locality: Option<String>,
    /// The state or province.
    pub region: Option<String>,
    /// The postal code.
    pub postal_code: Option<String>,
    /// The name of the country.
    pub country: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country_code: Option<String>,
}

/// An organization of a contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Organization {
    /// The organization's name.
    pub name: Option<String>,
    /// The contact's job title.
    pub title: Option<String>,
    /// The department.
    pub department: Option<String>,
    /// Whether the contact is in the organization now; true if absent.
    pub current: bool,
}

impl Default for Organization {
    fn default() -> Self {
        Organization { name: None, title: None, department: None, current: true }
    }
}

/// A web address of a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContactUrl {
    /// The address.
    pub value: String,
    /// The use of the address.
    #[serde(rename = "type")]
    pub kind: ContactKind,
}

/// An address for instant messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ImAddress {
    /// As the provider names it: `xmpp`, `matrix`.
    pub protocol: Option<String>,
    /// The user's name there.
    pub handle: String,
}

/// A person who is related to a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Relation {
    /// The person's name.
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
    /// The year; null: every year.
    pub year: Option<i64>,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
}

/// A yearly date of a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Anniversary {
    /// As the provider names it: `wedding`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The day.
    pub date: PartialDate,
}
