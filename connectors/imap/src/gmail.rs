//! Differences of Gmail from other servers: messages are named by their UIDs in the mailbox of all mail (`imap::all_mail`), and their
//! folders are changed by their labels.

use std::collections::BTreeSet;

use connector_sdk::{Failure, Outcome, code};
use io_imap::types::fetch::MessageDataItemName;
use model::wire::Warning;

use crate::directory::{Directory, MessageLocation};
use crate::ids;
use crate::imap::all_mail::{is_fixed, is_kept};
use crate::imap::beyond;
use crate::imap::commands::{Items, uid_fetch};
use crate::imap::session::{Session, refused};
use crate::imap::uids::UidSet;
use crate::imap::visit::{Access, Visit, fetched, in_mailbox, search_uids};
use crate::message::MailboxRef;
use crate::transfer;

/// The place of the message that the host knows by this id: in the mailbox of all mail, if it was stored or found in the mailbox of a label.
/// None where it is gone. Everywhere but at Gmail: where it is.
pub fn resolve_place(
    session: &mut Session,
    place: &MailboxRef,
    uid: u32,
) -> Outcome<Option<(MailboxRef, u32)>> {
    let Some(all) = session.all_mail.clone().filter(|all| all.label(&place.folder).is_some()) else {
        return Ok(Some((place.clone(), uid)));
    };
    let items = Items::new([MessageDataItemName::Flags]).and_beyond(beyond::GMAIL_MESSAGE_ID);
    let fetch = uid_fetch(&UidSet::only(uid), items, None);
    let mut id = None;
    session.visit(&[Visit::new(&place.name, Access::Read, vec![fetch])], None, |_, _, _, response| {
        if let Some((found, fetched)) = fetched(response)
            && found == uid
        {
            id = fetched.email_id.or(id.take());
        }
    })?;
    let id = id.and_then(|id| id.parse::<u64>().ok());
    let Some(program) = id.map(beyond::gmail_message) else { return Ok(None) };
    let home = MailboxRef::for_session(session, &all.name, &all.id(), 0);
    let found = search_uids(session, &home.name, program, Access::Read)?;
    Ok(found.and_then(|(uid_validity, uids)| Some((MailboxRef { uid_validity, ..home }, uids.last()?))))
}

/// Puts a message into these folders and takes it out of all others: by its labels, or by a move into the trash or spam and back. Returns
/// where it is now; none where the server does not report it. Fails with "unsupported" for sets of folders that Gmail does not have.
pub fn refile(
    session: &mut Session,
    directory: &mut Directory,
    located: &MessageLocation,
    folders: &[String],
    warnings: &mut Vec<Warning>,
) -> Outcome<Option<MessageLocation>> {
    let Some(all) = session.all_mail.clone() else { return Ok(Some(located.clone())) };
    let mut located = located.clone();
    if let Some(apart) = folders.iter().find(|folder| all.is_apart(folder)) {
        if folders.iter().any(|folder| folder != apart && *folder != all.id()) {
            return Err(unsupported("a message in the trash or in spam is in no other folder"));
        }
        if located.place.folder == *apart {
            return Ok(Some(located));
        }
        let to = MailboxRef::for_session(session, ids::folder_name(apart).unwrap_or_default(), apart, 0);
        return transfer::relocate(session, &located, &to, warnings);
    }
    if located.place.all_mail.is_none() {
        let home = MailboxRef::for_session(session, &all.name, &all.id(), 0);
        match transfer::relocate(session, &located, &home, warnings)? {
            Some(moved) => located = moved,
            None => return Ok(None),
        }
    }
    relabel(session, directory, &located, folders)?;
    Ok(Some(located))
}

fn unsupported(message: &str) -> Failure {
    Failure::new(code::UNSUPPORTED, message)
}

/// Gives a message among all mail the labels of these folders, and takes away those of other folders that the account shows by IMAP.
fn relabel(
    session: &mut Session,
    directory: &mut Directory,
    located: &MessageLocation,
    folders: &[String],
) -> Outcome<()> {
    let Some(all) = session.all_mail.clone() else { return Ok(()) };
    let wanted: BTreeSet<String> = folders.iter().filter_map(|folder| all.label(folder)).collect();
    let mailboxes = directory.mailboxes(session)?;
    let is_shown = |folder: &String| mailboxes.by_id(folder).is_some();
    // As `label` spells them, so that they can be compared.
    let current: Vec<String> = fetch_labels(session, located)?;
    let current = current.iter().filter_map(|label| all.folder(label)).filter(is_shown);
    let current: BTreeSet<String> = current.filter_map(|folder| all.label(&folder)).collect();
    let added: Vec<String> = wanted.difference(&current).cloned().collect();
    if added.iter().any(|label| is_fixed(label)) {
        return Err(unsupported("Gmail alone puts messages into the folders of drafts and of sent messages"));
    }
    let removed: Vec<String> = current.difference(&wanted).filter(|label| !is_kept(label)).cloned().collect();
    let uid = UidSet::only(located.uid);
    let changes = [(true, added), (false, removed)].into_iter().filter(|(_, labels)| !labels.is_empty());
    let changes: Vec<_> = changes.map(|(adds, labels)| beyond::store_labels(&uid, adds, &labels)).collect();
    if changes.is_empty() {
        return Ok(());
    }
    let visited = in_mailbox(session, &located.place.name, changes)?;
    visited.refusal().map_or(Ok(()), |status| Err(refused(status, "changing the labels of the message")))
}

/// The labels of a message among all mail, as the server spells them.
fn fetch_labels(session: &mut Session, located: &MessageLocation) -> Outcome<Vec<String>> {
    let items = Items::new([MessageDataItemName::Flags]).and_beyond(beyond::LABELS);
    let fetch = uid_fetch(&UidSet::only(located.uid), items, None);
    let mut labels = None;
    let visit = Visit::new(&located.place.name, Access::Write, vec![fetch]);
    session.visit(&[visit], None, |_, _, _, response| {
        if let Some((uid, fetched)) = fetched(response)
            && uid == located.uid
        {
            labels = fetched.labels.or(labels.take());
        }
    })?;
    labels.ok_or_else(|| Failure::not_found("there is no such message"))
}
