//! The changes of the provider's whole state, as the journal stores them. Names from older journals are accepted as well.

use std::sync::Arc;

use axum::body::Bytes;
use serde::{Deserialize, Serialize};

use crate::authorization_server::grants::GrantChange;
use crate::calendar::types::{Calendar, Event};
use crate::contacts::{Book, Card};
use crate::kind::Kind;
use crate::mail::types::{Entry, Mailbox, RecipientReply};
use crate::push::watches::WatchChange;
use crate::tasks::{List, Todo};

/// One change. A line of the journal is a list of them, which happened all or not at all.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Op {
    /// An account is created, or reset to empty.
    Account {
        mail: String,
        name: String,
        zone: String,
    },
    #[serde(rename = "calendarHead")]
    Calendar(PutHead<Calendar>),
    #[serde(rename = "calendarEvent")]
    Event(Put<Event>),
    #[serde(rename = "contactBook")]
    Book(PutHead<Book>),
    #[serde(rename = "contact")]
    Card(Put<Card>),
    #[serde(rename = "taskList")]
    List(PutHead<List>),
    #[serde(rename = "task")]
    Todo(Put<Todo>),
    Mailbox(PutHead<Mailbox>),
    #[serde(rename = "mailEntry")]
    Entry(Put<Entry>),
    /// The bytes of a message, for all accounts that have it.
    #[serde(alias = "letter")]
    RawMessage {
        copies: Vec<Copy>,
        #[serde(with = "base64_bytes")]
        bytes: Bytes,
    },
    #[serde(alias = "dropCalendar")]
    DropFolder {
        #[serde(default)]
        kind: Kind,
        mail: String,
        id: String,
    },
    #[serde(alias = "dropEvent")]
    DropRecord(DeletedRecord),
    /// Sync tokens before `upto` have expired; tombstones up to there are deleted.
    Forget {
        #[serde(default)]
        kind: Kind,
        mail: String,
        #[serde(alias = "calendar")]
        folder: String,
        upto: u64,
    },
    Receipt {
        mail: String,
        key: String,
        receipt: Receipt,
    },
    /// A client, code or token of the authorization server.
    Grant(GrantChange),
    Watch(WatchChange),
    /// The counter of changes, in snapshots.
    Counter {
        seq: u64,
    },
}

/// A folder is created, or its properties change.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PutHead<H> {
    pub mail: String,
    pub seq: u64,
    pub floor: u64,
    #[serde(alias = "calendar")]
    pub head: Arc<H>,
}

/// A record in its newest version.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Put<R> {
    pub mail: String,
    #[serde(alias = "calendar")]
    pub folder: String,
    pub seq: u64,
    pub at_ms: i64,
    #[serde(alias = "event")]
    pub record: Arc<R>,
}

/// The account of a copy of a message, and its id there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    pub mail: String,
    pub id: String,
}

/// A deleted record.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedRecord {
    #[serde(default)]
    pub kind: Kind,
    pub mail: String,
    #[serde(alias = "calendar")]
    pub folder: String,
    pub seq: u64,
    pub at_ms: i64,
    pub id: String,
    /// Whether lists do not report that it is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_silent: bool,
}

/// The result of a request with an `Idempotency-Key`, so that its repetition gets the same answer without a second effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Receipt {
    /// SHA-256 of method, path, query and body, hex: another request with the same key is refused. Empty if the request had older names:
    /// then every request with the key counts as its repetition.
    pub print: String,
    pub at_ms: i64,
    pub status: u16,
    pub kind: Kind,
    #[serde(alias = "calendar")]
    pub folder: String,
    /// The answer is about the folder itself.
    pub is_folder: bool,
    /// The record that the answer is about.
    #[serde(alias = "event")]
    pub record: Option<String>,
    /// The part (step, link) of it.
    pub part: Option<String>,
    /// Records that changed with it.
    pub others: Vec<String>,
    /// Records that were deleted with it.
    pub dropped: Vec<String>,
    /// The server's replies to a sent message, one for each recipient.
    pub outcomes: Vec<RecipientReply>,
}

/// Bytes as base64 in JSON.
mod base64_bytes {
    use axum::body::Bytes;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(bytes: &Bytes, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Bytes, D::Error> {
        STANDARD.decode(String::deserialize(d)?).map(Bytes::from).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use crate::kind::Kind;
    use crate::ops::{Op, Receipt};

    /// Journals from the time when there were only calendars name folders and records by their kinds.
    #[test]
    fn older_names() {
        let old = json!({ "op": "receipt", "mail": "a", "key": "k", "receipt": {
            "print": "p", "atMs": 1, "status": 201, "calendar": "work", "event": "lunch", "others": ["o"], "dropped": [],
        } });
        let expected = Receipt {
            print: "p".into(),
            at_ms: 1,
            status: 201,
            folder: "work".into(),
            record: Some("lunch".into()),
            others: vec!["o".into()],
            ..Receipt::default()
        };
        let Op::Receipt { receipt, .. } = from_value(old).unwrap() else { panic!("another change") };
        assert_eq!(receipt, expected);
        assert_eq!(receipt.kind, Kind::Event);
        let old =
            json!({ "op": "dropEvent", "mail": "a", "calendar": "work", "seq": 2, "atMs": 1, "id": "lunch" });
        let Op::DropRecord(gone) = from_value(old).unwrap() else { panic!("another change") };
        assert_eq!((gone.kind, gone.folder.as_str()), (Kind::Event, "work"));
        let again = to_value(Op::DropRecord(gone)).unwrap();
        assert_eq!(
            (&again["op"], &again["kind"], &again["folder"]),
            (&json!("dropRecord"), &json!("event"), &json!("work"))
        );
    }
}
