//! The folders themselves: new and changed ones, deleted ones, and those with messages to report.

use connector_sdk::Level;
use model::wire::Source;
use sha2::{Digest as _, Sha256};

use crate::changes::cursor::{ChangesCursor, FolderState};
use crate::folders::{Mailbox, Mailboxes};
use crate::imap::session::Session;

/// Takes folders that are gone out of the cursor, and new ones into it. Returns the external ids of the new ones.
pub fn compare_folders(cursor: &mut ChangesCursor, mailboxes: &Mailboxes) -> Vec<String> {
    let mut new = Vec::new();
    let gone: Vec<FolderState> =
        cursor.folders.extract_if(.., |known| mailboxes.by_id(&known.id).is_none()).collect();
    for mut known in gone {
        let messages = known.forget_messages();
        if !messages.uids.is_empty() {
            cursor.gone.push(messages);
        }
        cursor.gone_folders.push(known.id);
    }
    for mailbox in &mailboxes.all {
        let id = mailbox.id();
        let known = cursor.folders.iter_mut().position(|known| known.id == id);
        let known = match known.and_then(|at| cursor.folders.get_mut(at)) {
            Some(known) => known,
            None => {
                new.push(id.clone());
                cursor.add(id, mailbox.name.clone())
            }
        };
        known.name.clone_from(&mailbox.name);
    }
    new
}

/// Reports the folders that differ from their last report. It runs once the messages that are marked as deleted are known: they are not
/// counted.
pub fn tell_folders(cursor: &mut ChangesCursor, mailboxes: &Mailboxes, sources: &mut Vec<Source>) {
    for mailbox in &mailboxes.all {
        let id = mailbox.id();
        let Some(known) = cursor.folders.iter_mut().find(|known| known.id == id) else { continue };
        let source = mailboxes.source(mailbox, known.hidden.all.len(), known.hidden.unseen.len());
        let told = hash(&source);
        if known.told != told {
            known.told = told;
            sources.push(source);
        }
    }
}

fn hash(source: &Source) -> String {
    let body = source.items.first().map(|item| item.body.as_str()).unwrap_or_default();
    Sha256::digest(body).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// A mailbox that the server does not open is skipped: others are reported, and this one is tried again when its counts change.
pub fn unreadable(session: &Session, count: usize) {
    if count > 0 {
        session.cx.log(Level::Warn, "mailboxes that cannot be opened", &[("count", count.to_string())]);
    }
}

/// The mailboxes whose messages are reported, with their known state.
pub fn readable<'m>(session: &Session, mailboxes: &'m Mailboxes) -> impl Iterator<Item = &'m Mailbox> {
    let (has_labels, has_all_mail) = (session.capabilities.has_labels(), session.all_mail.is_some());
    let is_read = move |mailbox: &&Mailbox| mailbox.is_read(has_labels, has_all_mail);
    mailboxes.all.iter().filter(is_read).filter(|mailbox| mailbox.status.is_some())
}
