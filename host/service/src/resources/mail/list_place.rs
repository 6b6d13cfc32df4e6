//! The place in a list of messages, its rows, and the connections that it reads.

use serde::{Deserialize, Serialize};
use storage::connections::Connection;

use crate::writes::provider_records::MessageToFetch;

/// A place in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MailListPosition {
    /// After the message that was received then (ms) and has this id; with an empty id, before that time.
    #[serde(rename = "t")]
    Before(i64, String),
    /// Of a search at the provider: the connector's cursor.
    #[serde(rename = "s")]
    Search(String),
    /// In a page of a search at the provider that had no room on one of ours: after the message with this id, which was its `at`th, of the
    /// page of at most `limit` that the connector's cursor, or none, leads to.
    #[serde(rename = "w")]
    Within { cursor: Option<String>, id: String, at: usize, limit: i64 },
}

/// A message of a page.
pub struct MailRow {
    pub id: String,
    pub at: i64,
    pub text: String,
    /// The fields to ask the provider for; none where the list shows stored fields alone.
    pub wanted: Option<MessageToFetch>,
    /// Where the list goes on after it.
    pub place: MailListPosition,
}

/// Whose mail is listed.
pub struct MailAccounts {
    /// One, or all that the key may use.
    pub connections: Vec<Connection>,
    /// The narrowest place that the query names.
    pub place_id: String,
}
