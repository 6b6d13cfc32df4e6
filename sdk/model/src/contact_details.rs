//! The details of a contact: addresses, numbers, organizations, relations and dates.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;

/// The use of an email address, a postal address or a web address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ContactKind {
    /// Private use.
    Home,
    /// Use at work.
    Work,
    /// Another or an unknown use.
    #[default]
    Other,
    /// A use that `label` names.
    Custom,
}

/// An email address of a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["value"])))]
pub struct ContactEmail {
    /// The email address.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Email"))]
    pub value: String,
    /// The use of the address.
    #[serde(rename = "type")]
    pub kind: ContactKind,
    /// The user's own name for the address; required with `type` `custom`, else null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub label: Option<String>,
    /// Whether it is the contact's preferred address. At most one address is.
    pub primary: bool,
}

/// A phone number of a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["value"])))]
pub struct ContactPhone {
    /// The phone number as the user wrote it. It has at least one letter or digit.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::contact::MAX_PHONE)))]
    pub value: String,
    /// The number in the form of ITU E.164, such as `+4930901820`, set by the service; null if the number cannot be parsed. A value that a
    /// client sends is ignored.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^\+[0-9]{2,15}$"), extend("readOnly" = true)))]
    pub e164: Option<String>,
    /// The use of the number.
    #[serde(rename = "type")]
    pub kind: PhoneKind,
    /// The user's own name for the number; required with `type` `custom`, else null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub label: Option<String>,
    /// Whether it is the contact's preferred number. At most one number is.
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
    /// A private fax machine.
    HomeFax,
    /// A fax machine at work.
    WorkFax,
    /// A pager.
    Pager,
    /// Another or an unknown use.
    #[default]
    Other,
    /// A use that `label` names.
    Custom,
}

/// A postal address of a contact (vCard ADR). It has at least one part or `formatted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PostalAddress {
    /// The use of the address.
    #[serde(rename = "type")]
    pub kind: ContactKind,
    /// The user's own name for the address; required with `type` `custom`, else null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub label: Option<String>,
    /// The whole address as written on an envelope, with line breaks; null if only its parts are known.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub formatted: Option<String>,
    /// The street with the house number; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub street: Option<String>,
    /// An addition to the street, such as the apartment; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub extended: Option<String>,
    /// The post office box; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub po_box: Option<String>,
    /// The town or city; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub locality: Option<String>,
    /// The state or province; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub region: Option<String>,
    /// The postal code; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub postal_code: Option<String>,
    /// The name of the country, in any language; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub country: Option<String>,
    /// The country as two capital letters (ISO 3166-1 alpha-2), such as `DE`; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::CountryCode>"))]
    pub country_code: Option<String>,
}

/// An organization of a contact. It has at least one of `name`, `title` and `department`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Organization {
    /// The name of the organization; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub name: Option<String>,
    /// The contact's job title there; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub title: Option<String>,
    /// The contact's department there; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub department: Option<String>,
    /// Whether the contact belongs to the organization now; true if absent.
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
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["value"])))]
pub struct ContactUrl {
    /// The absolute URL.
    #[cfg_attr(feature = "schema", schemars(with = "formats::AbsoluteUrl"))]
    pub value: String,
    /// The use of the address.
    #[serde(rename = "type")]
    pub kind: ContactKind,
}

/// An address of a contact for instant messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["handle"])))]
pub struct ImAddress {
    /// The service, in the provider's own spelling, such as `xmpp` or `matrix`; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_KIND)))]
    pub protocol: Option<String>,
    /// The contact's user name in the service.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LINE), regex(pattern = r"\S")))]
    pub handle: String,
}

/// A person who is related to a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["name"])))]
pub struct Relation {
    /// The name of the person.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LINE), regex(pattern = r"\S")))]
    pub name: String,
    /// The person's relation to the contact, in the provider's own spelling, such as `spouse` or `assistant`; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_KIND)))]
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// A day of one year, or of every year.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["month", "day"])))]
pub struct PartialDate {
    /// The year; null if it is unknown: the day of every year.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::contact::MAX_YEAR)))]
    pub year: Option<i64>,
    /// The month, from 1 (January) to 12.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 12)))]
    pub month: i64,
    /// The day of the month, from 1 to 31.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 31)))]
    pub day: i64,
}

/// A yearly date of a contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["date"])))]
pub struct Anniversary {
    /// The occasion, in the provider's own spelling, such as `wedding`; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::contact::MAX_KIND)))]
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The day of the occasion.
    pub date: PartialDate,
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};

    use super::ContactEmail;

    /// Answers have every field; a request needs the address alone.
    #[test]
    fn a_request_needs_fewer_fields_than_an_answer_has() {
        let required = |settings: SchemaSettings| -> Value {
            settings.into_generator().into_root_schema_for::<ContactEmail>().to_value()["required"].clone()
        };
        let settings = SchemaSettings::draft2020_12;
        assert_eq!(required(settings().for_deserialize()), json!(["value"]));
        assert_eq!(required(settings().for_serialize()), json!(["value", "type", "label", "primary"]));
    }
}
