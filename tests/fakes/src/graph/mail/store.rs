//! A mailbox: messages as raw MIME with their content, folders, categories, and the log of changes that deltas are made of.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::graph::mail::content::MailContent;
use crate::graph::mail::send::SentMessage;
use crate::graph::mail::tree::{FolderTree, RECOVERABLE, well_known};
use crate::graph::mail::upload::UploadSession;
use crate::graph::mail::walks::DeltaRound;

/// A user's mailbox.
pub struct MailStore {
    pub address: String,
    pub is_personal: bool,
    pub messages: BTreeMap<u64, MessageItem>,
    pub tree: FolderTree,
    /// Master categories as they are answered.
    pub categories: Vec<Value>,
    /// Messages that the user sent, the oldest first.
    pub sent: Vec<SentMessage>,
    /// Upload sessions by the token in their address.
    pub(super) uploads: BTreeMap<String, UploadSession>,
    /// Rounds of deltas by their numbers.
    pub(super) rounds: BTreeMap<u64, DeltaRound>,
    pub(super) changes: Vec<MessageChange>,
    /// Changes that the subscriptions did not get yet.
    pub(super) notes: Vec<MessageNote>,
    sequence: u64,
    numbers: u64,
}

/// A message.
#[derive(Clone, Debug)]
pub struct MessageItem {
    pub number: u64,
    /// Grows with each move.
    pub place: u64,
    /// The key of the folder.
    pub folder: String,
    pub raw: Vec<u8>,
    pub content: MailContent,
    pub received_ms: i64,
    pub created_ms: i64,
    pub modified_ms: i64,
    /// The number of its last change.
    pub changed: u64,
    pub is_read: bool,
    pub is_draft: bool,
    /// `notFlagged`, `flagged` or `complete`.
    pub flag: String,
    pub importance: String,
    pub categories: Vec<String>,
    pub conversation: u64,
    /// The property 0x1080: 261 answered, 262 forwarded.
    pub icon: Option<i64>,
    /// Reads that answer 404 before the message is there.
    pub late_reads: u32,
}

/// A message that a mailbox is to take.
#[derive(Clone, Debug, Default)]
pub struct NewMessage {
    pub raw: Vec<u8>,
    pub folder: String,
    pub received_ms: i64,
    pub now_ms: i64,
    pub is_read: bool,
    pub is_draft: bool,
}

/// A change of a message, as deltas of its folder see it.
#[derive(Clone, Debug)]
pub struct MessageChange {
    pub changed: u64,
    pub folder: String,
    pub number: u64,
    /// The place of the message before the change.
    pub place: u64,
    pub kind: MessageChangeKind,
}

/// The kinds of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageChangeKind {
    Arrival,
    /// The members that have other values now.
    Update(Vec<&'static str>),
    Departure,
}

/// A change for the subscriptions.
#[derive(Clone, Debug)]
pub struct MessageNote {
    /// `created`, `updated` or `deleted`.
    pub kind: &'static str,
    pub folder: String,
    pub number: u64,
    pub place: u64,
}

impl MessageItem {
    /// The key of which the ids are made.
    pub fn key(&self) -> String {
        format!("msg-{}", self.number)
    }
}

impl MailStore {
    pub fn new(address: &str, is_personal: bool) -> MailStore {
        MailStore {
            address: address.to_owned(),
            is_personal,
            messages: BTreeMap::new(),
            tree: FolderTree::new(is_personal),
            categories: Vec::new(),
            sent: Vec::new(),
            uploads: BTreeMap::new(),
            rounds: BTreeMap::new(),
            changes: Vec::new(),
            notes: Vec::new(),
            sequence: 0,
            numbers: 0,
        }
    }

    /// A number that was not given before.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// The number of the latest change.
    pub fn latest(&self) -> u64 {
        self.sequence
    }

    pub fn next_change(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Adds a message; its number.
    pub fn add(&mut self, new: NewMessage) -> u64 {
        let content = MailContent::parse(&new.raw);
        let number = self.number();
        let conversation = self.find_conversation(&content).unwrap_or(number);
        let item = MessageItem {
            number,
            place: 1,
            folder: new.folder,
            raw: new.raw,
            received_ms: new.received_ms,
            created_ms: new.now_ms,
            modified_ms: new.now_ms,
            changed: 0,
            is_read: new.is_read,
            is_draft: new.is_draft,
            flag: "notFlagged".to_owned(),
            importance: content.importance().to_owned(),
            categories: Vec::new(),
            conversation,
            icon: None,
            late_reads: 0,
            content,
        };
        self.insert(item, new.now_ms)
    }

    fn insert(&mut self, item: MessageItem, now_ms: i64) -> u64 {
        let number = item.number;
        self.messages.insert(number, item);
        self.record(number, MessageChangeKind::Arrival, now_ms);
        number
    }

    /// The conversation of a message that this one refers to.
    fn find_conversation(&self, content: &MailContent) -> Option<u64> {
        let is_named = |item: &&MessageItem| {
            let id = item.content.message_id.trim_matches(['<', '>']);
            !id.is_empty() && content.references.iter().any(|one| one == id)
        };
        self.messages.values().find(is_named).map(|item| item.conversation)
    }

    /// Logs a change of a message in the folder where it is.
    fn record(&mut self, number: u64, kind: MessageChangeKind, now_ms: i64) {
        let changed = self.next_change();
        let Some(item) = self.messages.get_mut(&number) else { return };
        item.changed = changed;
        item.modified_ms = now_ms;
        let (folder, place) = (item.folder.clone(), item.place);
        if let Some(node) = self.tree.nodes.get_mut(&folder) {
            node.changed_ms = now_ms;
        }
        let note = match kind {
            MessageChangeKind::Arrival => "created",
            MessageChangeKind::Update(_) => "updated",
            MessageChangeKind::Departure => "deleted",
        };
        self.notes.push(MessageNote { kind: note, folder: folder.clone(), number, place });
        self.changes.push(MessageChange { changed, folder, number, place, kind });
    }

    /// Logs that these members of a message have other values.
    pub fn record_update(&mut self, number: u64, members: Vec<&'static str>, now_ms: i64) {
        self.record(number, MessageChangeKind::Update(members), now_ms);
    }

    /// Moves a message into a folder, where it has another mutable id.
    pub fn move_to(&mut self, number: u64, folder: &str, now_ms: i64) {
        self.record(number, MessageChangeKind::Departure, now_ms);
        if let Some(item) = self.messages.get_mut(&number) {
            item.place += 1;
            item.folder = folder.to_owned();
        }
        self.record(number, MessageChangeKind::Arrival, now_ms);
    }

    /// Copies a message into a folder; the number of the copy.
    pub fn copy_to(&mut self, number: u64, folder: &str, now_ms: i64) -> Option<u64> {
        let mut copy = self.messages.get(&number)?.clone();
        copy.number = self.number();
        copy.place = 1;
        copy.created_ms = now_ms;
        folder.clone_into(&mut copy.folder);
        Some(self.insert(copy, now_ms))
    }

    /// Removes a message for good.
    pub fn purge(&mut self, number: u64, now_ms: i64) {
        self.record(number, MessageChangeKind::Departure, now_ms);
        self.messages.remove(&number);
    }

    /// Changes the content of a draft, and its MIME with it.
    pub fn put_content(&mut self, number: u64, content: MailContent, raw: Vec<u8>) {
        if let Some(item) = self.messages.get_mut(&number) {
            item.content = content;
            item.raw = raw;
        }
    }

    /// Removes a folder with all below it; their messages go to the recoverable ones.
    pub fn remove_folder(&mut self, key: &str, now_ms: i64) {
        let changed = self.next_change();
        let keys = self.tree.remove(key, changed);
        let inside = self.messages.values().filter(|item| keys.contains(&item.folder));
        let inside: Vec<u64> = inside.map(|item| item.number).collect();
        for number in inside {
            self.move_to(number, RECOVERABLE, now_ms);
        }
    }

    /// Adds a folder; its key.
    pub fn add_folder(&mut self, parent: &str, name: &str) -> String {
        let (key, changed) = (format!("folder-{}", self.number()), self.next_change());
        self.tree.add(&key, parent, name, changed);
        key
    }

    /// The messages of a folder, or of all but the recoverable ones, the newest first.
    pub fn newest_first(&self, folder: Option<&str>) -> Vec<&MessageItem> {
        let is_in = |item: &&MessageItem| match folder {
            Some(folder) => item.folder == folder,
            None => item.folder != RECOVERABLE,
        };
        let mut all: Vec<&MessageItem> = self.messages.values().filter(is_in).collect();
        all.sort_by_key(|item| std::cmp::Reverse((item.received_ms, item.number)));
        all
    }

    /// The message with this subject. Another program of the user's looks for it so.
    pub fn titled(&self, subject: &str) -> Option<&MessageItem> {
        self.messages.values().rev().find(|item| item.content.subject == subject)
    }

    /// The name of the well-known folder in which a message is, else the key of its folder.
    pub fn folder_of(&self, number: u64) -> Option<&str> {
        let folder = &self.messages.get(&number)?.folder;
        Some(folder.strip_prefix("folder-").unwrap_or(folder))
    }
}

impl NewMessage {
    /// A message for a well-known folder, received now.
    pub fn now(raw: Vec<u8>, folder: &str, now_ms: i64) -> NewMessage {
        NewMessage {
            raw,
            folder: well_known(folder),
            received_ms: now_ms,
            now_ms,
            is_read: false,
            is_draft: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MailStore, MessageChangeKind, NewMessage};

    #[test]
    fn a_move_is_a_departure_and_an_arrival_and_a_reply_joins_its_conversation() {
        let mut store = MailStore::new("a@x.test", false);
        let first = store.add(NewMessage::now(b"Message-ID: <1@x.test>\r\n\r\n".to_vec(), "inbox", 1));
        let reply = store.add(NewMessage::now(b"In-Reply-To: <1@x.test>\r\n\r\n".to_vec(), "inbox", 2));
        store.move_to(first, "folder-archive", 3);
        let kinds: Vec<_> = store
            .changes
            .iter()
            .map(|change| (change.folder.as_str(), change.number, change.kind.clone()))
            .collect();
        assert_eq!(
            kinds,
            [
                ("folder-inbox", first, MessageChangeKind::Arrival),
                ("folder-inbox", reply, MessageChangeKind::Arrival),
                ("folder-inbox", first, MessageChangeKind::Departure),
                ("folder-archive", first, MessageChangeKind::Arrival),
            ]
        );
        let (first, reply) = (&store.messages[&first], &store.messages[&reply]);
        assert_eq!((first.place, first.conversation), (2, reply.conversation));
    }
}
