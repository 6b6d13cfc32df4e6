//! Position in a list of messages, its rows, and the connections that it reads.

use serde::{Deserialize, Serialize};
use storage::connections::Connection;

use crate::writes::provider_records::MessageToFetch;

/// A position in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MailListPosition {
    /// After the message with this time of receipt (Unix ms) and id; with an empty id, before that time.
    #[serde(rename = "t")]
    Before(i64, String),
    /// A position in a search at the provider: the connector's cursor.
    #[serde(rename = "s")]
    Search(String),
    /// A position within a page of a search at the provider that did not fit on one of ours: after the message with this id, which was
    /// number `at` of the page of at most `limit` messages at the connector's cursor (none: the first page).
    #[serde(rename = "w")]
    Within { cursor: Option<String>, id: String, at: usize, limit: i64 },
}

/// A message of a page.
pub struct MailRow {
    pub id: String,
    pub at: i64,
    pub text: String,
    /// The fields to fetch from the provider; none if the list shows stored fields only.
    pub wanted: Option<MessageToFetch>,
    /// The position after this row.
    pub place: MailListPosition,
}

/// The mailboxes of a list.
pub struct MailAccounts {
    /// The given one, or all that the key may use.
    pub connections: Vec<Connection>,
    /// The id by which rows are selected: of the thread, label or folder, else of the connection or application.
    pub place_id: String,
}
