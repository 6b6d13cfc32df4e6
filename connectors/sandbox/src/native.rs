//! The provider's JSON, as far as it is mapped: what all kinds of records have in common. Everything is optional when read: a
//! missing field is its default.

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

/// An enumeration of the provider and the model's word for each of its values.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident = $ours:ty { $($theirs:ident = $our:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub enum $name { #[default] $($theirs,)+ }

        impl From<$ours> for $name {
            fn from(word: $ours) -> Self {
                match word { $(<$ours>::$our => $name::$theirs,)+ }
            }
        }

        impl From<$name> for $ours {
            fn from(word: $name) -> Self {
                match word { $($name::$theirs => <$ours>::$our,)+ }
            }
        }
    };
}

pub(crate) use object;
pub(crate) use words;

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
    #[serde(alias = "event", alias = "card", alias = "todo")]
    pub record: Option<Box<RawValue>>,
    pub others: Vec<Box<RawValue>>,
    pub dropped: Vec<String>,
    pub part: Option<String>,
}

/// A page of records, each read for itself.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Page {
    #[serde(alias = "events", alias = "cards", alias = "todos", alias = "entries")]
    pub records: Vec<Box<RawValue>>,
    pub next_page_token: Option<String>,
    pub next_sync_token: Option<String>,
}

/// All folders of one kind.
#[derive(Debug, Deserialize)]
pub struct FolderList {
    #[serde(alias = "calendars", alias = "books", alias = "lists")]
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
