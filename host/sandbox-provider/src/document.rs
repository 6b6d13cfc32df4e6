//! Documents: resources of the model under the provider's ids.

use serde::{Deserialize, Serialize};

/// A resource of the model, with the id and the times that the provider gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document<B> {
    pub id: String,
    pub body: B,
    pub created_at: String,
    pub updated_at: String,
}

impl<B> Document<B> {
    pub fn new(id: &str, body: B, now: &str) -> Self {
        Document { id: id.to_owned(), body, created_at: now.to_owned(), updated_at: now.to_owned() }
    }
}
