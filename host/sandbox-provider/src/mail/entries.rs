//! The mailbox as a folder of entries, and the JSON of entries.

use serde_json::{Value, json};

use crate::kind::Kind;
use crate::mail::types::{Entry, MAILBOX, MailFolder, Mailbox, Message};
use crate::ops::{Op, Put, PutHead, Receipt};
use crate::problem::Problem;
use crate::receipts::etag;
use crate::record::{Account, Folder, Folders, Head, Record};
use crate::resource::render;
use crate::state::State;
use crate::store::folder;

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
        let (kind, mut shown) = match self {
            Entry::Folder(folder) => {
                let mut shown = render(folder, json!(folder.body), seq);
                shown["path"] = json!(path(folder, mailbox));
                ("email_folder", shown)
            }
            Entry::Label(label) => ("email_label", render(label, json!(label.body), seq)),
            Entry::Message(message) => ("email_message", render_message(message, seq)),
        };
        shown["type"] = json!(kind);
        shown
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

/// The names of the folders from the root down to this one.
fn path(folder: &MailFolder, mailbox: &Folder<Entry>) -> Vec<String> {
    let mut path = vec![folder.body.name.clone()];
    let mut above = folder.body.parent_id.as_ref();
    while let Some(parent) = above.and_then(|id| mailbox.record(id)).and_then(|(entry, _)| entry.folder()) {
        path.push(parent.body.name.clone());
        above = parent.body.parent_id.as_ref();
    }
    path.reverse();
    path
}

fn render_message(message: &Message, seq: u64) -> Value {
    let mut shown = json!(message.body);
    shown["id"] = json!(message.id);
    shown["etag"] = json!(etag(seq));
    shown["previousId"] = json!(message.previous_id);
    shown["webLink"] = json!(format!("https://mail.sandbox.test/{}", message.id));
    shown
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
