//! The answers of the standard methods (RFC 8620 section 5). io-jmap keeps its own forms of these private, and the errors' types it does
//! not know by name it drops; here every type keeps its name, and a field that a server may leave out is optional.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// `Foo/get`. Objects are read one by one, so that one that cannot be read does not take the page with it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetResponse {
    pub state: String,
    pub list: Vec<Box<RawValue>>,
}

/// `Foo/query`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QueryResponse {
    pub ids: Vec<String>,
    /// The server's own limit, where it is lower than the one that was asked for.
    pub limit: Option<u64>,
}

/// `Foo/changes`; the last field is of `Mailbox/changes` alone (RFC 8621 section 2.2).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangesResponse {
    #[serde(default)]
    pub old_state: Option<String>,
    pub new_state: String,
    pub has_more_changes: bool,
    #[serde(default)]
    pub created: Vec<String>,
    #[serde(default)]
    pub updated: Vec<String>,
    #[serde(default)]
    pub destroyed: Vec<String>,
    #[serde(default)]
    pub updated_properties: Option<Vec<String>>,
}

/// `Foo/set` and `Email/import`. Some servers write null for empty, some leave it out.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Set {
    pub created: Option<BTreeMap<String, CreatedObject>>,
    pub updated: Option<BTreeMap<String, Value>>,
    pub destroyed: Option<Vec<String>>,
    pub not_created: Option<BTreeMap<String, Box<SetError>>>,
    pub not_updated: Option<BTreeMap<String, Box<SetError>>>,
    pub not_destroyed: Option<BTreeMap<String, Box<SetError>>>,
}

/// The server's answer for an object that it created.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CreatedObject {
    pub id: String,
}

/// Why one object could not be made, changed or destroyed (RFC 8620 section 5.3, RFC 8621 sections 4.6, 4.8 and 7.5).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SetError {
    #[serde(rename = "type")]
    pub kind: String,
    pub description: Option<String>,
    /// `invalidProperties`.
    pub properties: Option<Vec<String>>,
    /// `alreadyExists`.
    pub existing_id: Option<String>,
    /// `invalidRecipients`.
    pub invalid_recipients: Option<Vec<String>>,
    /// `tooLarge`, in octets.
    pub max_size: Option<u64>,
    /// `tooManyRecipients`.
    pub max_recipients: Option<u64>,
}

/// Why a method did nothing (RFC 8620 section 3.6.2).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MethodError {
    #[serde(rename = "type")]
    pub kind: String,
    pub description: Option<String>,
}

impl Set {
    /// The id of the object that was made under this creation id, or why there is none.
    pub fn created(&mut self, creation_id: &str) -> Result<String, Box<SetError>> {
        match self.created.as_mut().and_then(|all| all.remove(creation_id)) {
            Some(created) => Ok(created.id),
            None => Err(refusal(&mut self.not_created, creation_id)),
        }
    }

    /// Whether the object was changed, or why not.
    pub fn updated(&mut self, id: &str) -> Result<(), Box<SetError>> {
        match self.updated.as_ref().is_some_and(|all| all.contains_key(id)) {
            true => Ok(()),
            false => Err(refusal(&mut self.not_updated, id)),
        }
    }

    /// Whether the object is gone, or why not.
    pub fn destroyed(&mut self, id: &str) -> Result<(), Box<SetError>> {
        match self.destroyed.as_ref().is_some_and(|all| all.iter().any(|one| one == id)) {
            true => Ok(()),
            false => Err(refusal(&mut self.not_destroyed, id)),
        }
    }
}

fn refusal(refused: &mut Option<BTreeMap<String, Box<SetError>>>, id: &str) -> Box<SetError> {
    refused.as_mut().and_then(|all| all.remove(id)).unwrap_or_default()
}
