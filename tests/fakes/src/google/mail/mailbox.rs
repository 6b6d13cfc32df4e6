//! A mailbox: raw messages with sets of labels, drafts, and the history of what changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::google::facts;
use crate::google::mail::headers::MailHead;
use crate::google::mail::history::{HistoryRecord, MailChange};
use crate::google::mail::labels::{self, LabelRecord};
use crate::google::mail::pubsub::MailboxWatch;
use crate::google::mail::units::UnitLedger;

/// The first history id of a mailbox.
const FIRST_HISTORY_ID: u64 = 4_100;
/// The distance of two history ids: they are no plain numbering.
const HISTORY_STEP: u64 = 7;
/// The base of the ids of messages, which are hexadecimal numbers.
const MESSAGE_ID_BASE: u64 = 0x19c0_0000_0000_0000;

/// A user's mailbox.
pub struct Mailbox {
    pub messages: BTreeMap<String, MailRecord>,
    /// Message ids by draft id.
    pub drafts: BTreeMap<String, String>,
    pub labels: BTreeMap<String, LabelRecord>,
    pub history: Vec<HistoryRecord>,
    /// The id of the latest record of the history.
    pub history_id: u64,
    /// The history reaches back to this id.
    pub history_floor: u64,
    /// Addresses that the user sends as, beside the account's own.
    pub aliases: Vec<SendAsAddress>,
    pub units: UnitLedger,
    /// By the project of the topic.
    pub watches: BTreeMap<String, MailboxWatch>,
    /// Ids of attachments that were handed out, each with its message and its part.
    pub(super) attachment_ids: BTreeMap<String, (String, String)>,
    numbers: u64,
}

/// A message.
#[derive(Clone, Debug)]
pub struct MailRecord {
    pub id: String,
    pub thread_id: String,
    pub raw: Vec<u8>,
    pub labels: BTreeSet<String>,
    pub internal_ms: i64,
    /// The record of the history that changed the message last.
    pub history_id: u64,
    /// From this time on the message can be read, and is in lists.
    pub readable_ms: i64,
    /// From this time on a search finds it by its Message-ID.
    pub indexed_ms: i64,
    /// Reads answer no `payload`.
    pub lacks_payload: bool,
}

/// A message that a mailbox is to take.
#[derive(Clone, Debug, Default)]
pub struct NewMail {
    pub raw: Vec<u8>,
    pub labels: Vec<String>,
    /// Its thread; one of its own, or the one that its References name, where it is none.
    pub thread_id: Option<String>,
    pub internal_ms: i64,
    pub readable_ms: i64,
    pub indexed_ms: i64,
    /// References put the message into the thread that they name.
    pub follows_references: bool,
}

/// An address that a user sends as.
#[derive(Clone, Debug)]
pub struct SendAsAddress {
    pub email: String,
    pub name: String,
    /// `accepted` or `pending`.
    pub status: String,
}

impl Default for Mailbox {
    fn default() -> Mailbox {
        let limit = u32::try_from(facts::number("mail_limits", "units_per_minute")).unwrap_or(u32::MAX);
        Mailbox {
            messages: BTreeMap::new(),
            drafts: BTreeMap::new(),
            labels: labels::system_labels(),
            history: Vec::new(),
            history_id: FIRST_HISTORY_ID,
            history_floor: FIRST_HISTORY_ID,
            aliases: Vec::new(),
            units: UnitLedger::new(limit),
            watches: BTreeMap::new(),
            attachment_ids: BTreeMap::new(),
            numbers: 0,
        }
    }
}

impl Mailbox {
    /// A number that was not given before.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Adds a message; its id.
    pub fn add(&mut self, mail: NewMail) -> String {
        let id = format!("{:016x}", MESSAGE_ID_BASE + self.number() * 0x1_0001);
        let found = mail.follows_references.then(|| self.find_thread(&MailHead::parse(&mail.raw))).flatten();
        let thread_id = mail.thread_id.or(found).unwrap_or_else(|| id.clone());
        let record = MailRecord {
            id: id.clone(),
            thread_id,
            raw: mail.raw,
            labels: mail.labels.into_iter().collect(),
            internal_ms: mail.internal_ms,
            history_id: 0,
            readable_ms: mail.readable_ms,
            indexed_ms: mail.indexed_ms,
            lacks_payload: false,
        };
        self.messages.insert(id.clone(), record);
        self.record(&id, MailChange::Bare);
        self.record(&id, MailChange::Added);
        id
    }

    /// Puts labels on a message and takes others off, each kind as a record of its own. Returns whether that changed anything.
    pub fn relabel(&mut self, id: &str, add: &[&str], remove: &[&str]) -> bool {
        let Some(message) = self.messages.get(id) else { return false };
        let new = |label: &&str| !message.labels.contains(*label);
        let added: Vec<String> = add.iter().copied().filter(new).map(str::to_owned).collect();
        let old = |label: &&str| message.labels.contains(*label);
        let removed: Vec<String> = remove.iter().copied().filter(old).map(str::to_owned).collect();
        if added.is_empty() && removed.is_empty() {
            return false;
        }
        self.record(id, MailChange::Bare);
        if !added.is_empty() {
            if let Some(message) = self.messages.get_mut(id) {
                message.labels.extend(added.iter().cloned());
            }
            self.record(id, MailChange::LabelsAdded(added));
        }
        if !removed.is_empty() {
            if let Some(message) = self.messages.get_mut(id) {
                message.labels.retain(|label| !removed.contains(label));
            }
            self.record(id, MailChange::LabelsRemoved(removed));
        }
        true
    }

    /// Removes a message for good. Returns whether it was there.
    pub fn remove(&mut self, id: &str) -> bool {
        let is_there = self.messages.contains_key(id);
        if is_there {
            self.record(id, MailChange::Deleted);
            self.messages.remove(id);
            self.drafts.retain(|_, message| message != id);
        }
        is_there
    }

    fn record(&mut self, id: &str, change: MailChange) {
        self.history_id += HISTORY_STEP;
        let history_id = self.history_id;
        let Some(message) = self.messages.get_mut(id) else { return };
        message.history_id = history_id;
        self.history.push(HistoryRecord {
            id: history_id,
            message_id: message.id.clone(),
            thread_id: message.thread_id.clone(),
            labels: message.labels.iter().cloned().collect(),
            change,
        });
    }

    /// The thread of a message that this one answers, with the same subject.
    pub fn find_thread(&self, head: &MailHead) -> Option<String> {
        if head.references.is_empty() {
            return None;
        }
        self.messages.values().find_map(|message| {
            let other = MailHead::parse(&message.raw);
            head.answers(&other).then(|| message.thread_id.clone())
        })
    }

    /// The messages that can be read at this time, the newest first.
    pub fn readable(&self, now_ms: i64) -> Vec<&MailRecord> {
        let mut all: Vec<&MailRecord> =
            self.messages.values().filter(|message| message.readable_ms <= now_ms).collect();
        all.sort_by(|a, b| (b.internal_ms, &b.id).cmp(&(a.internal_ms, &a.id)));
        all
    }

    /// The message with this subject. Another program of the user's looks for it so.
    pub fn titled(&self, subject: &str) -> Option<&MailRecord> {
        self.messages.values().rev().find(|message| MailHead::parse(&message.raw).subject == subject)
    }

    /// Whether the user may write this address into From.
    pub fn sends_as(&self, account: &str, address: &str) -> bool {
        let mut aliases = self.aliases.iter().filter(|alias| alias.status == "accepted");
        address.eq_ignore_ascii_case(account)
            || aliases.any(|alias| alias.email.eq_ignore_ascii_case(address))
    }

    /// Forgets the history up to now.
    pub fn forget_history(&mut self) {
        self.history.clear();
        self.history_id += HISTORY_STEP;
        self.history_floor = self.history_id;
    }

    /// Lets all ids of attachments that were handed out expire.
    pub fn expire_attachment_ids(&mut self) {
        self.attachment_ids.clear();
    }
}

impl MailRecord {
    pub fn has_label(&self, label: &str) -> bool {
        self.labels.contains(label)
    }

    /// The labels, in order.
    pub fn label_list(&self) -> Vec<&str> {
        self.labels.iter().map(String::as_str).collect()
    }
}
