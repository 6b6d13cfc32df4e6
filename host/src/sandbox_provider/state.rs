//! Everything that the provider knows, in memory, and the changes (`Op`) that it is made of. Live requests and the journal's
//! replay go through the same `apply`, so a restart arrives at the state that was acknowledged.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::sandbox_provider::types::{Calendar, Event};

/// Events, tombstones included, that one account may hold.
pub const MAX_EVENTS_PER_ACCOUNT: usize = 20_000;
/// Events of all accounts together.
pub const MAX_EVENTS: usize = 200_000;
/// Their JSON, for one account and for all.
const MAX_BYTES_PER_ACCOUNT: usize = 64 << 20;
const MAX_BYTES: usize = 512 << 20;
/// Accounts.
pub const MAX_ACCOUNTS: usize = 1_000;
/// Calendars of one account.
pub const MAX_CALENDARS: usize = 100;
/// Remembered answers of one account.
const MAX_RECEIPTS: usize = 2_000;
/// Deleted events that one calendar remembers; older ones make the sync tokens before them expire.
const MAX_TOMBSTONES: usize = 2_000;

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
    Calendar {
        mail: String,
        seq: u64,
        floor: u64,
        calendar: Arc<Calendar>,
    },
    /// Sync tokens before `upto` have expired; tombstones up to there are forgotten.
    Forget {
        mail: String,
        calendar: String,
        upto: u64,
    },
    DropCalendar {
        mail: String,
        id: String,
    },
    Event {
        mail: String,
        calendar: String,
        seq: u64,
        at_ms: i64,
        event: Arc<Event>,
    },
    DropEvent {
        mail: String,
        calendar: String,
        seq: u64,
        at_ms: i64,
        id: String,
    },
    Receipt {
        mail: String,
        key: String,
        receipt: Receipt,
    },
    /// The counter of changes; stands in snapshots.
    Counter {
        seq: u64,
    },
}

/// What a request with an `Idempotency-Key` did, so that its repetition answers the same without doing it again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Receipt {
    /// SHA-256 of method, path, query and body, hex: another request with the same key is refused.
    pub print: String,
    pub at_ms: i64,
    pub status: u16,
    pub calendar: String,
    /// The event that the answer is about.
    pub event: Option<String>,
    /// Others that changed with it.
    pub others: Vec<String>,
    pub dropped: Vec<String>,
}

/// One version of an event, or the fact that it is gone.
#[derive(Clone, Debug)]
pub struct Slot {
    pub seq: u64,
    pub at_ms: i64,
    /// None: deleted.
    pub event: Option<Arc<Event>>,
    /// Length of its JSON.
    bytes: usize,
}

/// A calendar with its events.
#[derive(Clone, Debug)]
pub struct Folder {
    pub calendar: Arc<Calendar>,
    pub seq: u64,
    /// Sync tokens below this have expired.
    pub floor: u64,
    pub events: HashMap<String, Slot>,
    /// Event ids by the change that made their present version: the order of every listing.
    pub order: BTreeMap<u64, String>,
    tombstones: usize,
    /// Of all events.
    bytes: usize,
}

impl Folder {
    pub fn event(&self, id: &str) -> Option<(&Arc<Event>, &Slot)> {
        let slot = self.events.get(id)?;
        slot.event.as_ref().map(|e| (e, slot))
    }

    /// All events that are not deleted, in the order of their last change.
    pub fn live(&self) -> impl Iterator<Item = &Arc<Event>> {
        self.order.values().filter_map(|id| self.events.get(id)).filter_map(|s| s.event.as_ref())
    }

    fn put(&mut self, id: &str, slot: Slot) {
        self.order.insert(slot.seq, id.to_owned());
        self.tombstones += usize::from(slot.event.is_none());
        self.bytes += slot.bytes;
        if let Some(old) = self.events.insert(id.to_owned(), slot) {
            self.order.remove(&old.seq);
            self.tombstones -= usize::from(old.event.is_none());
            self.bytes -= old.bytes;
        }
    }

    fn forget(&mut self, upto: u64) {
        self.floor = self.floor.max(upto);
        let events = &mut self.events;
        let is_old =
            |seq: &u64, id: &String| *seq <= upto && events.get(id).is_some_and(|s| s.event.is_none());
        let old: Vec<(u64, String)> =
            self.order.iter().filter(|(s, i)| is_old(s, i)).map(|(s, i)| (*s, i.clone())).collect();
        for (seq, id) in old {
            self.order.remove(&seq);
            self.events.remove(&id);
            self.tombstones -= 1;
        }
    }
}

/// A person with an account here.
#[derive(Clone, Debug, Default)]
pub struct Account {
    pub mail: String,
    pub name: String,
    /// IANA name.
    pub zone: String,
    pub calendars: BTreeMap<String, Folder>,
    receipts: HashMap<String, Receipt>,
    receipt_order: VecDeque<String>,
}

impl Account {
    pub fn event_count(&self) -> usize {
        self.calendars.values().map(|f| f.events.len()).sum()
    }

    fn bytes(&self) -> usize {
        self.calendars.values().map(|f| f.bytes).sum()
    }

    pub fn receipt(&self, key: &str) -> Option<&Receipt> {
        self.receipts.get(key)
    }

    /// The calendar that invitations go to.
    pub fn main(&self) -> Option<&Folder> {
        self.calendars.values().find(|f| f.calendar.main)
    }
}

/// All accounts, and the changes of the running request that the journal has not got yet.
#[derive(Debug, Default)]
pub struct State {
    pub accounts: BTreeMap<String, Account>,
    /// Counts changes over all accounts; etags and sync tokens are made of it.
    pub seq: u64,
    pending: Vec<Op>,
}

impl State {
    /// The account, which the login layer has made sure of.
    pub fn account(&self, mail: &str) -> Option<&Account> {
        self.accounts.get(mail)
    }

    pub fn folder(&self, mail: &str, calendar: &str) -> Option<&Folder> {
        self.accounts.get(mail)?.calendars.get(calendar)
    }

    /// Makes a change and notes it for the journal.
    pub fn commit(&mut self, op: Op) {
        self.pending.push(op.clone());
        self.apply(op);
    }

    /// Stores an event as the newest change; its seq.
    pub fn put_event(&mut self, mail: &str, calendar: &str, at_ms: i64, event: Arc<Event>) -> u64 {
        let seq = self.seq + 1;
        self.commit(Op::Event { mail: mail.to_owned(), calendar: calendar.to_owned(), seq, at_ms, event });
        seq
    }

    /// Leaves a tombstone, and forgets the oldest ones when there are too many.
    pub fn drop_event(&mut self, mail: &str, calendar: &str, at_ms: i64, id: &str) {
        let seq = self.seq + 1;
        let (mail, calendar) = (mail.to_owned(), calendar.to_owned());
        self.commit(Op::DropEvent {
            mail: mail.clone(),
            calendar: calendar.clone(),
            seq,
            at_ms,
            id: id.to_owned(),
        });
        let Some(folder) = self.folder(&mail, &calendar) else { return };
        if folder.tombstones <= MAX_TOMBSTONES {
            return;
        }
        // Half of them at once: forgetting one by one would walk the calendar at every delete.
        let is_gone = |id: &String| folder.events.get(id).is_some_and(|s| s.event.is_none());
        let gone = folder.order.iter().filter(|(_, id)| is_gone(id)).map(|(seq, _)| *seq);
        if let Some(upto) = gone.take(MAX_TOMBSTONES / 2).last() {
            self.commit(Op::Forget { mail, calendar, upto });
        }
    }

    pub fn put_calendar(&mut self, mail: &str, calendar: Calendar) -> u64 {
        let seq = self.seq + 1;
        let floor = self.folder(mail, &calendar.id).map_or(seq, |f| f.floor);
        self.commit(Op::Calendar { mail: mail.to_owned(), seq, floor, calendar: Arc::new(calendar) });
        seq
    }

    pub fn put_receipt(&mut self, mail: &str, key: &str, receipt: Receipt) {
        self.commit(Op::Receipt { mail: mail.to_owned(), key: key.to_owned(), receipt });
    }

    /// The changes since the last call.
    pub fn take_pending(&mut self) -> Vec<Op> {
        std::mem::take(&mut self.pending)
    }

    /// Whether `more` events fit into the account.
    pub fn has_room(&self, mail: &str, more: usize) -> bool {
        let sizes = |account: &Account| (account.event_count(), account.bytes());
        let (events, bytes) = self.accounts.get(mail).map_or((0, 0), sizes);
        let all = self.accounts.values().map(sizes);
        let (all_events, all_bytes) = all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        events + more <= MAX_EVENTS_PER_ACCOUNT
            && all_events + more <= MAX_EVENTS
            && bytes < MAX_BYTES_PER_ACCOUNT
            && all_bytes < MAX_BYTES
    }

    /// Makes a change. One that names something unknown is ignored: the journal is written by `commit`, which never makes such.
    pub fn apply(&mut self, op: Op) {
        match op {
            Op::Account { mail, name, zone } => {
                self.accounts.insert(mail.clone(), Account { mail, name, zone, ..Account::default() });
            }
            Op::Calendar { mail, seq, floor, calendar } => self.apply_calendar(&mail, seq, floor, calendar),
            Op::Forget { mail, calendar, upto } => {
                if let Some(folder) = self.folder_mut(&mail, &calendar) {
                    folder.forget(upto);
                }
            }
            Op::DropCalendar { mail, id } => {
                if let Some(account) = self.accounts.get_mut(&mail) {
                    account.calendars.remove(&id);
                }
            }
            Op::Event { mail, calendar, seq, at_ms, event } => {
                self.seq = self.seq.max(seq);
                let id = event.id.clone();
                if let Some(folder) = self.folder_mut(&mail, &calendar) {
                    let bytes = json_len(&event);
                    folder.put(&id, Slot { seq, at_ms, event: Some(event), bytes });
                }
            }
            Op::DropEvent { mail, calendar, seq, at_ms, id } => {
                self.seq = self.seq.max(seq);
                if let Some(folder) = self.folder_mut(&mail, &calendar) {
                    folder.put(&id, Slot { seq, at_ms, event: None, bytes: 0 });
                }
            }
            Op::Receipt { mail, key, receipt } => self.apply_receipt(&mail, key, receipt),
            Op::Counter { seq } => self.seq = self.seq.max(seq),
        }
    }

    fn apply_calendar(&mut self, mail: &str, seq: u64, floor: u64, calendar: Arc<Calendar>) {
        self.seq = self.seq.max(seq);
        let Some(account) = self.accounts.get_mut(mail) else { return };
        let id = calendar.id.clone();
        let folder = account.calendars.entry(id).or_insert_with(|| Folder {
            calendar: calendar.clone(),
            seq,
            floor,
            events: HashMap::new(),
            order: BTreeMap::new(),
            tombstones: 0,
            bytes: 0,
        });
        folder.calendar = calendar;
        folder.seq = seq;
    }

    fn apply_receipt(&mut self, mail: &str, key: String, receipt: Receipt) {
        let Some(account) = self.accounts.get_mut(mail) else { return };
        if account.receipts.insert(key.clone(), receipt).is_none() {
            account.receipt_order.push_back(key);
        }
        while account.receipt_order.len() > MAX_RECEIPTS {
            if let Some(oldest) = account.receipt_order.pop_front() {
                account.receipts.remove(&oldest);
            }
        }
    }

    fn folder_mut(&mut self, mail: &str, calendar: &str) -> Option<&mut Folder> {
        self.accounts.get_mut(mail)?.calendars.get_mut(calendar)
    }

    /// The changes that make this state out of nothing: the journal starts anew with them.
    pub fn snapshot(&self) -> impl Iterator<Item = Op> + '_ {
        let accounts = self.accounts.values().flat_map(|a| {
            let mail = a.mail.clone();
            let account = Op::Account { mail: mail.clone(), name: a.name.clone(), zone: a.zone.clone() };
            let folders = a.calendars.values().flat_map(move |f| folder_ops(mail.clone(), f));
            let receipts = a.receipt_order.iter().filter_map(|key| {
                let receipt = a.receipts.get(key)?.clone();
                Some(Op::Receipt { mail: a.mail.clone(), key: key.clone(), receipt })
            });
            std::iter::once(account).chain(folders).chain(receipts)
        });
        accounts.chain(std::iter::once(Op::Counter { seq: self.seq }))
    }
}

/// How long a value is as JSON.
pub fn json_len(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

fn folder_ops(mail: String, folder: &Folder) -> impl Iterator<Item = Op> + '_ {
    let calendar = folder.calendar.id.clone();
    let (seq, floor) = (folder.seq, folder.floor);
    let head = Op::Calendar { mail: mail.clone(), seq, floor, calendar: folder.calendar.clone() };
    let events = folder.order.values().filter_map(move |id| {
        let slot = folder.events.get(id)?;
        let (mail, calendar, seq, at_ms) = (mail.clone(), calendar.clone(), slot.seq, slot.at_ms);
        Some(match &slot.event {
            Some(event) => Op::Event { mail, calendar, seq, at_ms, event: event.clone() },
            None => Op::DropEvent { mail, calendar, seq, at_ms, id: id.clone() },
        })
    });
    std::iter::once(head).chain(events)
}
