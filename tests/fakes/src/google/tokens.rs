//! Sync tokens and page tokens: opaque to clients, bound to the parameters of their walk.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::google::errors::ApiError;
use crate::google::facts;

/// A sync token: everything up to the change with this number was answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncToken {
    pub number: u64,
    /// The parameters of the walk that are the same in all its requests.
    pub parameters: String,
}

/// A page token.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageToken {
    /// The number of the latest change when the walk began.
    pub upper: u64,
    /// The number of the last change on the pages so far, or the number of items on them.
    pub after: u64,
    /// The page before had no items though there are some.
    pub is_empty: bool,
}

fn parse<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_slice(&BASE64_URL_SAFE.decode(text).ok()?).ok()
}

fn write(token: &impl Serialize) -> String {
    BASE64_URL_SAFE.encode(serde_json::to_vec(token).expect("a token can be written"))
}

impl SyncToken {
    /// Parses a token.
    ///
    /// # Errors
    /// It is none of the fake's: 400.
    pub fn parse(text: &str) -> Result<SyncToken, ApiError> {
        let error = || ApiError::invalid("Invalid sync token value.").at("parameter", "syncToken");
        parse(text).ok_or_else(error)
    }

    pub fn to_text(&self) -> String {
        write(self)
    }

    /// Checks that a walk has the parameters of the one that gave the token.
    ///
    /// # Errors
    /// They differ: 400. Google calls its behaviour then undefined.
    pub fn check_parameters(&self, parameters: &str) -> Result<(), ApiError> {
        match self.parameters == parameters {
            true => Ok(()),
            false => {
                Err(ApiError::invalid("The parameters differ from those of the initial synchronization."))
            }
        }
    }
}

impl PageToken {
    /// Parses a token.
    ///
    /// # Errors
    /// It is none of the fake's: 400.
    pub fn parse(text: &str) -> Result<PageToken, ApiError> {
        let error = || ApiError::invalid("Invalid page token value.").at("parameter", "pageToken");
        parse(text).ok_or_else(error)
    }

    pub fn to_text(&self) -> String {
        write(self)
    }
}

/// The parameters that are the same in each request of a walk, and with the sync token that it gives.
pub fn fixed_parameters(of: &str, query: &[(String, String)]) -> String {
    let is_fixed = |name: &String| !facts::has("sync", "free_with_token", name);
    let mut fixed: Vec<String> = query
        .iter()
        .filter(|(name, _)| is_fixed(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    fixed.sort();
    format!("{of}?{}", fixed.join("&"))
}

/// The error of a sync token beside parameters that it forbids.
pub fn restricted() -> ApiError {
    let message =
        "Sync token cannot be used with minimum time, maximum time, updated minimum or query restrictions.";
    ApiError::new(400, "syncTokenWithRequestRestrictions", message).at("parameter", "syncToken")
}
