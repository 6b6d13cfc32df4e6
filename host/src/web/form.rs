//! Forms of pages: the fields of an `application/x-www-form-urlencoded` body.

use std::collections::BTreeMap;

use url::form_urlencoded;

/// Most fields that are read of a form; the largest form of the booking page has one for each option of 50 questions.
const MAX_FIELDS: usize = 6_000;

/// The values of a form, by field name.
#[derive(Clone, Debug, Default)]
pub struct FormFields(BTreeMap<String, Vec<String>>);

impl FormFields {
    /// Reads the body of a form of at most 6,000 fields; later ones are ignored. U+0000 is removed, because no database accepts it, and
    /// line ends become line feeds.
    pub fn read(body: &[u8]) -> FormFields {
        FormFields::read_at_most(body, MAX_FIELDS)
    }

    /// As `read`, with at most `max_fields` fields.
    pub fn read_at_most(body: &[u8], max_fields: usize) -> FormFields {
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(body).take(max_fields) {
            let value = value.replace('\0', "").replace("\r\n", "\n");
            fields.entry(name.into_owned()).or_default().push(value);
        }
        FormFields(fields)
    }

    /// The first value of a field; empty if it is absent.
    pub fn first(&self, name: &str) -> &str {
        self.all(name).first().map(String::as_str).unwrap_or_default()
    }

    /// The values of a field, in the order of the body.
    pub fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first value, trimmed; none if it is empty.
    pub fn filled(&self, name: &str) -> Option<String> {
        Some(self.first(name).trim()).filter(|text| !text.is_empty()).map(str::to_owned)
    }
}
