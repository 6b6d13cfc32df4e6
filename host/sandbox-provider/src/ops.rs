//! The changes that everything in the provider is made of, as the journal writes them. Names that older journals use are read
//! as well.

use std::sync::Arc;

use axum::body::Bytes;
use serde::{Deserialize, Serialize};

use crate::authorization_server::grants::GrantChange;
use crate::calendar::types::{Calendar, Event};
use crate::contacts::types::{Book, Card};
use crate::kind::Kind;
use crate::mail::types::{Entry, Mailbox, Outcome};
use crate::push::watches::WatchChange;
use crate::tasks::types::{List, Todo};

/// One change. A line of the journal is a list of them: all of it happened, or nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Op {
    /// An account begins (or begins anew, empty).
    Account {
        mail: String,
        name: String,
        zone: String,
    },
    Calendar(PutHead<Calendar>),
    Event(Put<Event>),
    Book(PutHead<Book>),
    Card(Put<Card>),
    List(PutHead<List>),
    Todo(Put<Todo>),
    Mailbox(PutHead<Mailbox>),
    Entry(Put<Entry>),
    /// The bytes of a message, for all who have it.
    Letter {
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
    DropRecord(Dropped),
    /// Sync tokens before `upto` have expired; tombstones up to there are forgotten.
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
    /// The counter of changes; stands in snapshots.
    Counter {
        seq: u64,
    },
}

/// A folder begins, or is described anew.
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

/// Whose message it is, and its id there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    pub mail: String,
    pub id: String,
}

/// A record that is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dropped {
    #[serde(default)]
    pub kind: Kind,
    pub mail: String,
    #[serde(alias = "calendar")]
    pub folder: String,
    pub seq: u64,
    pub at_ms: i64,
    pub id: String,
    /// No list tells that it is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_silent: bool,
}

/// What a request with an `Idempotency-Key` did, so that its repetition answers the same without doing it again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Receipt {
    /// SHA-256 of method, path, query and body, hex: another request with the same key is refused.
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
    /// Others that changed with it.
    pub others: Vec<String>,
    /// What is gone with it.
    pub dropped: Vec<String>,
    /// What became of the recipients of a message.
    pub outcomes: Vec<Outcome>,
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

    /// Journals from when there were only calendars call folders and records by their kinds.
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
