//! The mailbox as a folder of entries, and the JSON of entries.

use serde_json::{Value, json};

use crate::kind::Kind;
use crate::mail::types::{Entry, MAILBOX, MailFolder, MailLabel, Mailbox, Message};
use crate::ops::{Op, Put, PutHead, Receipt};
use crate::problem::Problem;
use crate::receipts::etag;
use crate::record::{Account, Folder, Folders, Head, Record};
use crate::state::State;
use crate::store::folder;
use crate::times::instant;

impl Head for Mailbox {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_main(&self) -> bool {
        true
    }

    fn is_locked(&self) -> bool {
        false
    }
}

impl Entry {
    /// The message that it is.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Entry::Message(message) => Some(message),
            _ => None,
        }
    }

    /// The folder that it is.
    pub fn folder(&self) -> Option<&MailFolder> {
        match self {
            Entry::Folder(folder) => Some(folder),
            _ => None,
        }
    }

    /// The label that it is.
    pub fn label(&self) -> Option<&MailLabel> {
        match self {
            Entry::Label(label) => Some(label),
            _ => None,
        }
    }
}

impl Record for Entry {
    type Head = Mailbox;
    const KIND: Kind = Kind::Mail;

    fn id(&self) -> &str {
        match self {
            Entry::Folder(folder) => &folder.id,
            Entry::Label(label) => &label.id,
            Entry::Message(message) => &message.id,
        }
    }

    fn folders(account: &Account) -> &Folders<Self> {
        &account.mailboxes
    }

    fn folders_mut(account: &mut Account) -> &mut Folders<Self> {
        &mut account.mailboxes
    }

    fn head_op(op: PutHead<Mailbox>) -> Op {
        Op::Mailbox(op)
    }

    fn put_op(op: Put<Self>) -> Op {
        Op::Entry(op)
    }

    fn show(&self, mailbox: &Folder<Self>, _: &str, seq: u64) -> Value {
        let mut document = match self {
            Entry::Message(message) => render_message(message),
            Entry::Folder(folder) => {
                let mut document = with_counts(json!(self), mailbox, |m| m.folders.contains(&folder.id));
                document["path"] = json!(path(folder, mailbox));
                document
            }
            Entry::Label(label) => with_counts(json!(self), mailbox, |m| m.labels.contains(&label.id)),
        };
        document["etag"] = json!(etag(seq));
        document
    }

    fn show_folder(mailbox: &Folder<Self>) -> Value {
        let mut document = json!(mailbox.head);
        document["etag"] = json!(etag(mailbox.seq));
        document
    }

    fn is_new_since(&self, after: u64) -> Option<bool> {
        self.message().map(|message| message.born > after)
    }
}

/// Titles from the outermost folder down.
fn path(folder: &MailFolder, mailbox: &Folder<Entry>) -> Vec<String> {
    let mut path = vec![folder.title.clone()];
    let mut above = folder.parent.as_ref();
    while let Some(parent) = above.and_then(|id| mailbox.record(id)).and_then(|(entry, _)| entry.folder()) {
        path.push(parent.title.clone());
        above = parent.parent.as_ref();
    }
    path.reverse();
    path
}

/// A message as the API shows it: the parsed content, and the mailbox's own data.
fn render_message(message: &Message) -> Value {
    let mut document = json!(message.content);
    document["kind"] = json!("message");
    document["id"] = json!(message.id);
    document["thread"] = json!(message.thread);
    document["replaces"] = json!(message.replaces);
    document["receivedAt"] = json!(instant(message.received_ms));
    document["folders"] = json!(message.folders);
    document["labels"] = json!(message.labels);
    document["flags"] = json!(message.flags);
    document["words"] = json!(message.words);
    document["weight"] = json!(message.weight);
    document["webLink"] = json!(format!("https://mail.sandbox.test/{}", message.id));
    document
}

fn with_counts(mut document: Value, mailbox: &Folder<Entry>, holds: impl Fn(&Message) -> bool) -> Value {
    let held = || mailbox.live().filter_map(|entry| entry.message()).filter(|message| holds(message));
    document["total"] = json!(held().count());
    document["unread"] = json!(held().filter(|message| !message.flags.seen).count());
    document
}

/// The account's mailbox.
pub fn mailbox<'a>(state: &'a State, mail: &str) -> Result<&'a Folder<Entry>, Problem> {
    folder(state, mail, MAILBOX)
}

/// An existing message, and the seq of its version.
pub fn find<'a>(mailbox: &'a Folder<Entry>, id: &str) -> Result<(&'a Message, u64), Problem> {
    let found = mailbox.record(id).and_then(|(entry, slot)| Some((entry.message()?, slot.seq)));
    found.ok_or_else(|| Problem::not_found("message", id))
}

/// The receipt of a change of a mailbox.
pub fn receipt(status: u16, entry: Option<String>) -> Receipt {
    Receipt { status, kind: Kind::Mail, folder: MAILBOX.to_owned(), record: entry, ..Receipt::default() }
}
