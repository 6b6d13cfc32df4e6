//! The provider's JSON around the model's: what all kinds of records have in common. Everything is optional when read: a missing field
//! is its default.

use model::wire::email::RecipientOutcome;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$attr])* pub $field: $kind,)+ }
    };
}

object! {
    /// `GET /v1/me`.
    Me {
        id: String,
        mail: String,
        name: Option<String>,
        zone: Option<String>,
        products: Vec<String>,
        grants: Vec<String>,
    }
}

object! {
    /// The members that all folders and records have beside their own.
    Envelope {
        id: String,
        etag: Option<String>,
        deleted: bool,
        created_at: Option<String>,
        updated_at: Option<String>,
    }
}

/// Answer of every change of a record.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WriteResponse {
    #[serde(alias = "event", alias = "card", alias = "todo", alias = "entry")]
    pub record: Option<Box<RawValue>>,
    pub others: Vec<Box<RawValue>>,
    pub dropped: Vec<String>,
    pub part: Option<String>,
    /// The outcomes of a sent message.
    pub recipients: Vec<RecipientOutcome>,
}

/// A page of records, each read for itself.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Page {
    #[serde(alias = "events", alias = "cards", alias = "todos", alias = "entries", alias = "messages")]
    pub records: Vec<Box<RawValue>>,
    pub next_page_token: Option<String>,
    pub next_sync_token: Option<String>,
}

/// All folders of one kind.
#[derive(Debug, Deserialize)]
pub struct FolderList {
    #[serde(alias = "calendars", alias = "books", alias = "lists", alias = "labels")]
    pub folders: Vec<Box<RawValue>>,
}

object! {
    /// `{"error": …}`, beside any status that is not a success.
    Refusal {
        error: RefusalError,
    }
}

object! {
    RefusalError {
        code: String,
        message: String,
        field: Option<String>,
    }
}
