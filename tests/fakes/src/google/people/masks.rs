//! Field masks: comma lists of fields that a request reads or writes.

use std::collections::BTreeSet;

use crate::google::call::Call;
use crate::google::errors::ApiError;
use crate::google::people::errors;
use crate::google::people::facts::PEOPLE;

/// The fields that a mask names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSet(BTreeSet<String>);

/// The sources of which a person is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceSet {
    pub has_contact: bool,
    pub has_profile: bool,
}

impl FieldSet {
    /// Parses the mask `parameter`, whose fields are those of the fact `masks.{allowed}`.
    ///
    /// # Errors
    /// It is missing, or names another field: 400.
    pub fn required(text: Option<&str>, parameter: &str, allowed: &str) -> Result<FieldSet, ApiError> {
        let set = FieldSet::optional(text, parameter, allowed)?;
        let message = format!(
            "{parameter} mask is required. Please specify one or more valid paths. Valid paths are documented at \
             https://developers.google.com/people/api/rest/v1/people/get."
        );
        set.ok_or_else(|| errors::invalid(&message))
    }

    /// The same where the mask may be missing or empty.
    ///
    /// # Errors
    /// It names another field: 400.
    pub fn optional(
        text: Option<&str>,
        parameter: &str,
        allowed: &str,
    ) -> Result<Option<FieldSet>, ApiError> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
        let fields: BTreeSet<String> = text.split(',').map(|field| field.trim().to_owned()).collect();
        match fields.iter().find(|field| !PEOPLE.has("masks", allowed, field)) {
            Some(unknown) => Err(errors::invalid(&format!(
                "Invalid {parameter} mask path: \"{unknown}\". Valid paths are documented at \
                 https://developers.google.com/people/api/rest/v1/people/get."
            ))),
            None => Ok(Some(FieldSet(fields))),
        }
    }

    /// All fields of the fact `masks.{allowed}`.
    pub fn all(allowed: &str) -> FieldSet {
        FieldSet(PEOPLE.list("masks", allowed).into_iter().map(str::to_owned).collect())
    }

    pub fn has(&self, field: &str) -> bool {
        self.0.contains(field)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl SourceSet {
    /// Both sources, which is what most methods read unless a request names them.
    pub const BOTH: SourceSet = SourceSet { has_contact: true, has_profile: true };
    /// The contact alone.
    pub const CONTACT: SourceSet = SourceSet { has_contact: true, has_profile: false };

    /// The sources that a request names; `usual` where it names none.
    pub fn from_call(call: &Call, usual: SourceSet) -> SourceSet {
        let given: Vec<&str> = call
            .query
            .iter()
            .filter(|(name, _)| name == "sources")
            .map(|(_, value)| value.as_str())
            .collect();
        match given.is_empty() {
            true => usual,
            false => SourceSet {
                has_contact: given.contains(&"READ_SOURCE_TYPE_CONTACT"),
                has_profile: given.contains(&"READ_SOURCE_TYPE_PROFILE"),
            },
        }
    }
}
