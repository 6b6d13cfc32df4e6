//! The provider's whole state, in memory. Live requests and the journal's replay share one `apply`, so that a restart restores the
//! acknowledged state.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use serde::Serialize;

use crate::authorization_server::grants::Grants;
use crate::calendar::types::Event;
use crate::contacts::Card;
use crate::kind::Kind;
use crate::mail::types::Entry;
use crate::ops::{Copy, DeletedRecord, Op, Put, PutHead, Receipt};
use crate::push::watches::Watches;
use crate::record::{Account, Folder, Head, Record, Slot};
use crate::tasks::Todo;

/// Maximum records of one account, including tombstones.
pub const MAX_RECORDS_PER_ACCOUNT: usize = 100_000;
/// Maximum records of all accounts together.
const MAX_RECORDS: usize = 400_000;
/// Maximum bytes of their JSON and of messages, for one account and for all.
const MAX_BYTES_PER_ACCOUNT: usize = 192 << 20;
const MAX_BYTES: usize = 512 << 20;
/// Maximum accounts.
pub const MAX_ACCOUNTS: usize = 1_000;
/// Maximum folders of one kind in one account.
pub const MAX_FOLDERS: usize = 100;
/// Maximum stored results of one account.
const MAX_RECEIPTS: usize = 2_000;
/// Maximum tombstones of one folder; when older ones are dropped, the sync tokens before them expire.
const MAX_TOMBSTONES: usize = 2_000;

/// All accounts, and the changes of the current request that are not yet in the journal.
#[derive(Debug, Default)]
pub struct State {
    pub accounts: BTreeMap<String, Account>,
    /// Grants of the accounts to clients. A reset of an account keeps them.
    pub grants: Grants,
    /// The accounts' watches. A reset of an account keeps them.
    pub watches: Watches,
    /// Number of changes over all accounts, from which etags and sync tokens are made.
    pub seq: u64,
    pending: Vec<Op>,
}

impl State {
    /// The account, whose existence the login layer ensures.
    pub fn account(&self, mail: &str) -> Option<&Account> {
        self.accounts.get(mail)
    }

    pub fn folder<R: Record>(&self, mail: &str, id: &str) -> Option<&Folder<R>> {
        R::folders(self.accounts.get(mail)?).get(id)
    }

    /// Applies a change and adds it to the pending changes for the journal.
    pub fn commit(&mut self, op: Op) {
        self.pending.push(op.clone());
        self.apply(op);
    }

    /// Stores a record as the newest change. Returns its seq.
    pub fn put<R: Record>(&mut self, mail: &str, folder: &str, at_ms: i64, record: Arc<R>) -> u64 {
        let seq = self.seq + 1;
        let (mail, folder) = (mail.to_owned(), folder.to_owned());
        self.commit(R::put_op(Put { mail, folder, seq, at_ms, record }));
        seq
    }

    /// Leaves a tombstone, and deletes the oldest ones when there are too many.
    pub fn remove<R: Record>(&mut self, mail: &str, folder: &str, at_ms: i64, id: &str) {
        let (kind, seq) = (R::KIND, self.seq + 1);
        let (mail, folder) = (mail.to_owned(), folder.to_owned());
        self.commit(Op::DropRecord(DeletedRecord {
            kind,
            mail: mail.clone(),
            folder: folder.clone(),
            seq,
            at_ms,
            id: id.to_owned(),
            is_silent: false,
        }));
        let Some(left) = self.folder::<R>(&mail, &folder).filter(|f| f.tombstones() > MAX_TOMBSTONES) else {
            return;
        };
        // Half of them at once: removing them one by one would walk the folder at every delete.
        if let Some(upto) = left.tombstone(MAX_TOMBSTONES / 2) {
            self.commit(Op::Forget { kind, mail, folder, upto });
        }
    }

    /// Removes a record without a tombstone.
    pub fn erase<R: Record>(&mut self, mail: &str, folder: &str, at_ms: i64, id: &str) {
        let (kind, seq, is_silent) = (R::KIND, self.seq + 1, true);
        let (mail, folder, id) = (mail.to_owned(), folder.to_owned(), id.to_owned());
        self.commit(Op::DropRecord(DeletedRecord { kind, mail, folder, seq, at_ms, id, is_silent }));
    }

    pub fn put_head<R: Record>(&mut self, mail: &str, head: R::Head) -> u64 {
        let seq = self.seq + 1;
        let floor = self.folder::<R>(mail, head.id()).map_or(seq, |f| f.floor);
        self.commit(R::head_op(PutHead { mail: mail.to_owned(), seq, floor, head: Arc::new(head) }));
        seq
    }

    /// Stores the bytes of a message for all recipients; its entries follow.
    pub fn put_raw_message(&mut self, copies: Vec<Copy>, bytes: Bytes) {
        self.commit(Op::RawMessage { copies, bytes });
    }

    pub fn put_receipt(&mut self, mail: &str, key: &str, receipt: Receipt) {
        self.commit(Op::Receipt { mail: mail.to_owned(), key: key.to_owned(), receipt });
    }

    /// The changes since the last call.
    pub fn take_pending(&mut self) -> Vec<Op> {
        std::mem::take(&mut self.pending)
    }

    /// Whether `more` records fit into the account.
    pub fn has_room(&self, mail: &str, more: usize) -> bool {
        let (records, bytes) = self.accounts.get(mail).map_or((0, 0), Account::size);
        let all = self.accounts.values().map(Account::size);
        let (all_records, all_bytes) = all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        records + more <= MAX_RECORDS_PER_ACCOUNT
            && all_records + more <= MAX_RECORDS
            && bytes < MAX_BYTES_PER_ACCOUNT
            && all_bytes < MAX_BYTES
    }

    /// Applies a change. One that names something unknown is ignored; `commit` never writes such a change to the journal.
    pub fn apply(&mut self, op: Op) {
        match op {
            Op::Account { mail, name, zone } => {
                self.accounts.insert(mail.clone(), Account { mail, name, zone, ..Account::default() });
            }
            Op::Calendar(put) => self.apply_head::<Event>(put),
            Op::Event(put) => self.apply_put(put),
            Op::Book(put) => self.apply_head::<Card>(put),
            Op::Card(put) => self.apply_put(put),
            Op::List(put) => self.apply_head::<Todo>(put),
            Op::Todo(put) => self.apply_put(put),
            Op::Mailbox(put) => self.apply_head::<Entry>(put),
            Op::Entry(put) => self.apply_entry(put),
            Op::RawMessage { copies, bytes } => self.apply_raw_message(copies, &bytes),
            Op::DropFolder { kind, mail, id } => self.apply_drop_folder(kind, &mail, &id),
            Op::DropRecord(gone) => match gone.kind {
                Kind::Event => self.apply_drop::<Event>(&gone),
                Kind::Card => self.apply_drop::<Card>(&gone),
                Kind::Todo => self.apply_drop::<Todo>(&gone),
                Kind::Mail => self.apply_drop_entry(&gone),
            },
            Op::Forget { kind, mail, folder, upto } => match kind {
                Kind::Event => self.apply_forget::<Event>(&mail, &folder, upto),
                Kind::Card => self.apply_forget::<Card>(&mail, &folder, upto),
                Kind::Todo => self.apply_forget::<Todo>(&mail, &folder, upto),
                Kind::Mail => self.apply_forget::<Entry>(&mail, &folder, upto),
            },
            Op::Receipt { mail, key, receipt } => self.apply_receipt(&mail, key, receipt),
            Op::Grant(change) => self.grants.apply(change),
            Op::Watch(change) => self.watches.apply(change),
            Op::Counter { seq } => self.seq = self.seq.max(seq),
        }
    }

    fn apply_head<R: Record>(&mut self, put: PutHead<R::Head>) {
        self.seq = self.seq.max(put.seq);
        let Some(account) = self.accounts.get_mut(&put.mail) else { return };
        let folder = R::folders_mut(account)
            .entry(put.head.id().to_owned())
            .or_insert_with(|| Folder::new(put.head.clone(), put.seq, put.floor));
        folder.head = put.head;
        folder.seq = put.seq;
    }

    fn apply_put<R: Record>(&mut self, put: Put<R>) {
        self.seq = self.seq.max(put.seq);
        let Some(folder) = self.folder_mut::<R>(&put.mail, &put.folder) else { return };
        let (id, bytes) = (put.record.id().to_owned(), json_len(&put.record));
        folder.put(&id, Slot { seq: put.seq, at_ms: put.at_ms, record: Some(put.record), bytes });
    }

    fn apply_drop<R: Record>(&mut self, gone: &DeletedRecord) {
        self.seq = self.seq.max(gone.seq);
        let Some(folder) = self.folder_mut::<R>(&gone.mail, &gone.folder) else { return };
        if gone.is_silent {
            folder.erase(&gone.id);
        } else {
            folder.put(&gone.id, Slot { seq: gone.seq, at_ms: gone.at_ms, record: None, bytes: 0 });
        }
    }

    fn apply_entry(&mut self, put: Put<Entry>) {
        if let (Some(account), Entry::Message(message)) = (self.accounts.get_mut(&put.mail), &*put.record) {
            let mailbox = account.mailboxes.get(&put.folder);
            let is_new = mailbox.is_none_or(|mailbox| mailbox.record(&message.id).is_none());
            account.raw_messages.record_thread(message, is_new);
        }
        self.apply_put(put);
    }

    fn apply_raw_message(&mut self, copies: Vec<Copy>, bytes: &Bytes) {
        for copy in copies {
            if let Some(account) = self.accounts.get_mut(&copy.mail) {
                account.raw_messages.insert(copy.id, bytes.clone());
            }
        }
    }

    fn apply_drop_entry(&mut self, gone: &DeletedRecord) {
        if let Some(account) = self.accounts.get_mut(&gone.mail) {
            let known = account.mailboxes.get(&gone.folder).and_then(|mailbox| mailbox.record(&gone.id));
            if let Some(Entry::Message(message)) = known.map(|(entry, _)| &**entry) {
                account.raw_messages.remove(message);
            }
        }
        self.apply_drop::<Entry>(gone);
    }

    fn apply_forget<R: Record>(&mut self, mail: &str, folder: &str, upto: u64) {
        if let Some(folder) = self.folder_mut::<R>(mail, folder) {
            folder.forget(upto);
        }
    }

    fn apply_drop_folder(&mut self, kind: Kind, mail: &str, id: &str) {
        let Some(account) = self.accounts.get_mut(mail) else { return };
        match kind {
            Kind::Event => drop(account.calendars.remove(id)),
            Kind::Card => drop(account.books.remove(id)),
            Kind::Todo => drop(account.lists.remove(id)),
            Kind::Mail => drop(account.mailboxes.remove(id)),
        }
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

    fn folder_mut<R: Record>(&mut self, mail: &str, id: &str) -> Option<&mut Folder<R>> {
        R::folders_mut(self.accounts.get_mut(mail)?).get_mut(id)
    }

    /// The changes that build this state from an empty one: the first lines of a rewritten journal.
    pub fn snapshot(&self) -> impl Iterator<Item = Op> + '_ {
        let accounts = self.accounts.values().flat_map(|a| {
            let account = Op::Account { mail: a.mail.clone(), name: a.name.clone(), zone: a.zone.clone() };
            let receipts = a.receipt_order.iter().filter_map(|key| {
                let receipt = a.receipts.get(key)?.clone();
                Some(Op::Receipt { mail: a.mail.clone(), key: key.clone(), receipt })
            });
            let folders = folders_ops::<Event>(a).chain(folders_ops::<Card>(a)).chain(folders_ops::<Todo>(a));
            let raw_messages = a.raw_messages.all().map(|(id, bytes)| Op::RawMessage {
                copies: vec![Copy { mail: a.mail.clone(), id: id.clone() }],
                bytes: bytes.clone(),
            });
            let mail = folders_ops::<Entry>(a).chain(raw_messages);
            std::iter::once(account).chain(folders).chain(mail).chain(receipts)
        });
        let grants = self.grants.snapshot().map(Op::Grant);
        let watches = self.watches.snapshot().map(Op::Watch);
        accounts.chain(grants).chain(watches).chain(std::iter::once(Op::Counter { seq: self.seq }))
    }
}

fn folders_ops<R: Record>(account: &Account) -> impl Iterator<Item = Op> + '_ {
    R::folders(account).values().flat_map(|folder| folder_ops(&account.mail, folder))
}

fn folder_ops<'a, R: Record>(mail: &'a str, folder: &'a Folder<R>) -> impl Iterator<Item = Op> + 'a {
    let (seq, floor, head) = (folder.seq, folder.floor, folder.head.clone());
    let head = R::head_op(PutHead { mail: mail.to_owned(), seq, floor, head });
    let records = folder.order.values().filter_map(move |id| {
        let slot = folder.records.get(id)?;
        let (mail, folder, seq, at_ms) = (mail.to_owned(), folder.head.id().to_owned(), slot.seq, slot.at_ms);
        Some(match &slot.record {
            Some(record) => R::put_op(Put { mail, folder, seq, at_ms, record: record.clone() }),
            None => {
                let (kind, id, is_silent) = (R::KIND, id.clone(), false);
                Op::DropRecord(DeletedRecord { kind, mail, folder, seq, at_ms, id, is_silent })
            }
        })
    });
    std::iter::once(head).chain(records)
}

/// The length of a value as JSON.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::contacts::Contact;

    use crate::contacts::{Card, CardBody};
    use crate::document::Document;
    use crate::ops::Op;
    use crate::state::State;

    /// A very large address book fits into one account.
    #[test]
    fn room() {
        let mut state = State::default();
        let mail = "a@sandbox.test";
        state.commit(Op::Account { mail: mail.into(), name: "A".into(), zone: "UTC".into() });
        state.put_head::<Card>(mail, Document { id: "contacts".into(), ..Document::default() });
        let notes = Some("n".repeat(1_500));
        for number in 0..60_000 {
            assert!(state.has_room(mail, 1), "card {number}");
            let contact = Contact { notes: notes.clone(), ..Contact::default() };
            let body = CardBody::Contact(Box::new(contact));
            let card: Card = Document::new(&format!("card-{number}"), body, "");
            state.put(mail, "contacts", 1, Arc::new(card));
            state.take_pending();
        }
        assert!(state.has_room(mail, 1) && !state.has_room(mail, 60_000));
    }
}
