//! Folders of records, the same for everything that an account keeps: calendars of events, address books of cards, lists of
//! todos. A folder remembers in which order its records changed, and for a while which ones are gone.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ops::{Op, Put, PutHead};
use crate::problem::Problem;
use crate::state::{Account, State};

/// What a record is; the journal, sync tokens and remembered answers name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    #[default]
    Event,
    Card,
    Todo,
    Mail,
}

impl Kind {
    /// The record in answers and messages.
    pub fn record(self) -> &'static str {
        match self {
            Kind::Event => "event",
            Kind::Card => "card",
            Kind::Todo => "todo",
            Kind::Mail => "entry",
        }
    }

    /// Many of them.
    pub fn records(self) -> &'static str {
        match self {
            Kind::Event => "events",
            Kind::Card => "cards",
            Kind::Todo => "todos",
            Kind::Mail => "entries",
        }
    }

    /// What it lies in.
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Event => "calendar",
            Kind::Card => "book",
            Kind::Todo => "list",
            Kind::Mail => "mailbox",
        }
    }

    /// Many of those.
    pub fn folders(self) -> &'static str {
        match self {
            Kind::Event => "calendars",
            Kind::Card => "books",
            Kind::Todo => "lists",
            Kind::Mail => "mailboxes",
        }
    }
}

/// What a folder says of itself.
pub trait Head: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    fn id(&self) -> &str;
    /// The one that an account always has.
    fn is_main(&self) -> bool;
    /// Nothing in it can be changed through the API.
    fn is_locked(&self) -> bool;
}

/// What a folder holds.
pub trait Record: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    type Head: Head;
    const KIND: Kind;

    fn id(&self) -> &str;
    fn folders(account: &Account) -> &Folders<Self>;
    fn folders_mut(account: &mut Account) -> &mut Folders<Self>;
    fn head_op(op: PutHead<Self::Head>) -> Op;
    fn put_op(op: Put<Self>) -> Op;

    /// What the record looks like to the account `mail`, in this version.
    fn show(&self, folder: &Folder<Self>, mail: &str, seq: u64) -> Value;

    /// Whether it came after this change; none where lists do not tell.
    fn is_new_since(&self, after: u64) -> Option<bool> {
        let _ = after;
        None
    }

    /// What the folder looks like.
    fn show_folder(folder: &Folder<Self>) -> Value;
}

/// An account's folders of one kind, by id.
pub type Folders<R> = BTreeMap<String, Folder<R>>;

/// One version of a record, or the fact that it is gone.
#[derive(Debug)]
pub struct Slot<R> {
    pub seq: u64,
    pub at_ms: i64,
    /// None: deleted.
    pub record: Option<Arc<R>>,
    /// Length of its JSON.
    pub bytes: usize,
}

/// A folder with its records.
#[derive(Debug)]
pub struct Folder<R: Record> {
    pub head: Arc<R::Head>,
    pub seq: u64,
    /// Sync tokens below this have expired.
    pub floor: u64,
    pub records: HashMap<String, Slot<R>>,
    /// Ids by the change that made their present version: the order of every listing.
    pub order: BTreeMap<u64, String>,
    tombstones: usize,
    /// Of all records.
    bytes: usize,
}

impl<R: Record> Folder<R> {
    pub fn new(head: Arc<R::Head>, seq: u64, floor: u64) -> Self {
        let (records, order) = (HashMap::new(), BTreeMap::new());
        Folder { head, seq, floor, records, order, tombstones: 0, bytes: 0 }
    }

    pub fn record(&self, id: &str) -> Option<(&Arc<R>, &Slot<R>)> {
        let slot = self.records.get(id)?;
        slot.record.as_ref().map(|r| (r, slot))
    }

    /// All records that are not deleted, in the order of their last change.
    pub fn live(&self) -> impl Iterator<Item = &Arc<R>> {
        self.order.values().filter_map(|id| self.records.get(id)).filter_map(|s| s.record.as_ref())
    }

    pub fn tombstones(&self) -> usize {
        self.tombstones
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn put(&mut self, id: &str, slot: Slot<R>) {
        self.order.insert(slot.seq, id.to_owned());
        self.tombstones += usize::from(slot.record.is_none());
        self.bytes += slot.bytes;
        if let Some(old) = self.records.insert(id.to_owned(), slot) {
            self.order.remove(&old.seq);
            self.tombstones -= usize::from(old.record.is_none());
            self.bytes -= old.bytes;
        }
    }

    /// The change of the `count`th tombstone from the oldest.
    pub fn tombstone(&self, count: usize) -> Option<u64> {
        let is_gone = |id: &String| self.records.get(id).is_some_and(|s| s.record.is_none());
        self.order.iter().filter(|(_, id)| is_gone(id)).map(|(seq, _)| *seq).take(count).last()
    }

    /// Sync tokens before `upto` expire; tombstones up to there are forgotten.
    pub fn forget(&mut self, upto: u64) {
        self.floor = self.floor.max(upto);
        let records = &mut self.records;
        let is_old =
            |seq: &u64, id: &String| *seq <= upto && records.get(id).is_some_and(|s| s.record.is_none());
        let old: Vec<(u64, String)> =
            self.order.iter().filter(|(s, i)| is_old(s, i)).map(|(s, i)| (*s, i.clone())).collect();
        for (seq, id) in old {
            self.order.remove(&seq);
            self.records.remove(&id);
            self.tombstones -= 1;
        }
    }
}

/// The folder, which the account must have.
pub fn folder<'a, R: Record>(state: &'a State, mail: &str, id: &str) -> Result<&'a Folder<R>, Problem> {
    state.folder(mail, id).ok_or_else(|| Problem::not_found(R::KIND.folder(), id))
}

/// The same, for a change of what is in it.
pub fn open_folder<'a, R: Record>(state: &'a State, mail: &str, id: &str) -> Result<&'a Folder<R>, Problem> {
    let folder = folder::<R>(state, mail, id)?;
    if folder.head.is_locked() {
        return Err(Problem::forbidden("locked", format!("the {} is read-only", R::KIND.folder())));
    }
    Ok(folder)
}

/// A record that is there, and the seq of its version.
pub fn find<R: Record>(folder: &Folder<R>, id: &str) -> Result<(Arc<R>, u64), Problem> {
    let found = folder.record(id).map(|(r, s)| (r.clone(), s.seq));
    found.ok_or_else(|| Problem::not_found(R::KIND.record(), id))
}
