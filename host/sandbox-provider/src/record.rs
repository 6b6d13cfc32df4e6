//! Folders of records, the same for all kinds of data: calendars of events, address books of cards, lists of todos. A folder
//! stores the order in which its records changed, and for a while the deleted ones.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::calendar::types::Event;
use crate::contacts::Card;
use crate::kind::Kind;
use crate::mail::raw_messages::RawMessages;
use crate::mail::types::Entry;
use crate::ops::{Op, Put, PutHead, Receipt};
use crate::tasks::Todo;

/// The properties of a folder.
pub trait Head: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    fn id(&self) -> &str;
    /// Whether it is the folder that an account always has.
    fn is_main(&self) -> bool;
    /// Whether the API refuses all changes in it.
    fn is_locked(&self) -> bool;
}

/// A record in a folder.
pub trait Record: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    type Head: Head;
    const KIND: Kind;

    fn id(&self) -> &str;
    fn folders(account: &Account) -> &Folders<Self>;
    fn folders_mut(account: &mut Account) -> &mut Folders<Self>;
    fn head_op(op: PutHead<Self::Head>) -> Op;
    fn put_op(op: Put<Self>) -> Op;

    /// The JSON of the record as the account `mail` sees it, in this version.
    fn show(&self, folder: &Folder<Self>, mail: &str, seq: u64) -> Value;

    /// Whether the record was created after this change; none where lists do not show that.
    fn is_new_since(&self, after: u64) -> Option<bool> {
        let _ = after;
        None
    }

    /// The JSON of the folder.
    fn show_folder(folder: &Folder<Self>) -> Value;
}

/// An account's folders of one kind, by id.
pub type Folders<R> = BTreeMap<String, Folder<R>>;

/// One version of a record, or its tombstone.
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
    /// The size of all records.
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

    /// Deletes a record without a trace.
    pub fn erase(&mut self, id: &str) {
        if let Some(old) = self.records.remove(id) {
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

    /// Expires sync tokens before `upto`, and deletes tombstones up to there.
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

/// A person with an account here.
#[derive(Debug, Default)]
pub struct Account {
    pub mail: String,
    pub name: String,
    /// IANA name.
    pub zone: String,
    pub calendars: Folders<Event>,
    pub books: Folders<Card>,
    pub lists: Folders<Todo>,
    /// One at most.
    pub mailboxes: Folders<Entry>,
    pub raw_messages: RawMessages,
    pub receipts: HashMap<String, Receipt>,
    /// Their keys, the oldest first.
    pub receipt_order: VecDeque<String>,
}

impl Account {
    /// Records, and the bytes that they take.
    pub fn size(&self) -> (usize, usize) {
        fn of<R: Record>(folders: &Folders<R>) -> (usize, usize) {
            folders.values().fold((0, 0), |sum, f| (sum.0 + f.records.len(), sum.1 + f.bytes()))
        }
        let raw_messages = (0, self.raw_messages.bytes());
        [of(&self.calendars), of(&self.books), of(&self.lists), of(&self.mailboxes), raw_messages]
            .iter()
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    pub fn receipt(&self, key: &str) -> Option<&Receipt> {
        self.receipts.get(key)
    }

    /// The calendar that invitations go to.
    pub fn main(&self) -> Option<&Folder<Event>> {
        self.calendars.values().find(|f| f.head.body.is_primary)
    }
}
