//! Messages that go to another folder, or away for good, on servers of every age.

use connector_sdk::Outcome;
use io_imap::types::extensions::uidplus::UidElement;
use io_imap::types::flag::{Flag, StoreType};
use io_imap::types::response::Code;
use io_imap::types::search::SearchKey;
use model::wire::Warning;

use crate::directory::MessageLocation;
use crate::ids;
use crate::imap::commands::{self, Items, fields, uid_fetch, uid_search, uid_store, uid_transfer};
use crate::imap::session::{Session, refused};
use crate::imap::uids::UidSet;
use crate::imap::visit::{Access, Visit, all_statuses, fetched, in_mailbox, search_uids};
use crate::message::MailboxRef;
use crate::mime;
use crate::search::message_id_program;

/// Moves a message. Returns where it is now; none where the server does not report it and it cannot be found. It must not be sent twice:
/// the connection has answered in this call already.
pub fn relocate(
    session: &mut Session,
    located: &MessageLocation,
    to: &MailboxRef,
    warnings: &mut Vec<Warning>,
) -> Outcome<Option<MessageLocation>> {
    let uid = located.uid;
    let has_uidplus = session.capabilities.has_in_rev2("UIDPLUS");
    // Only where the server does not return the new UID: the message is found by this.
    let message_id = if has_uidplus { None } else { message_id(session, located)? };
    let has_move = session.capabilities.has_in_rev2("MOVE");
    let command = uid_transfer(&UidSet::only(uid), &to.name, has_move);
    let visited = in_mailbox(session, &located.place.name, vec![command])?;
    if let Some(status) = visited.refusal() {
        return Err(refused(status, "moving the message"));
    }
    let copied = all_statuses(&visited).find_map(|status| copy_uid(status.code.as_ref()?));
    if has_uidplus && copied.is_none() {
        // Nothing was moved: the message does not exist.
        return Ok(None);
    }
    if !has_move {
        expunge_here(session, located, warnings)?;
    }
    let copied = match (copied, message_id) {
        (None, Some(message_id)) => newest(session, to, &message_id)?,
        (copied, _) => copied,
    };
    Ok(copied.map(|(uid_validity, uid)| {
        let place = MailboxRef { uid_validity, ..to.clone() };
        MessageLocation { place, uid, hint: located.hint.clone() }
    }))
}

/// The UIDVALIDITY and the one UID that the message has where it is now.
fn copy_uid(code: &Code<'_>) -> Option<(u32, u32)> {
    let Code::CopyUid { uid_validity, destination, .. } = code else { return None };
    let uid = match destination.0.as_ref() {
        [UidElement::Single(uid)] => uid,
        [UidElement::Range(first, last)] if first == last => first,
        _ => return None,
    };
    Some((uid_validity.get(), uid.get()))
}

/// The greatest UID with this Message-ID: that of the message that was stored last.
pub fn newest(session: &mut Session, place: &MailboxRef, message_id: &str) -> Outcome<Option<(u32, u32)>> {
    let found = search_uids(session, &place.name, message_id_program(message_id)?, Access::Read)?;
    Ok(found.and_then(|(uid_validity, uids)| Some((uid_validity, uids.last()?))))
}

fn message_id(session: &mut Session, located: &MessageLocation) -> Outcome<Option<String>> {
    let header = Items::section(Some(fields("MESSAGE-ID")), None);
    let fetch = uid_fetch(&UidSet::only(located.uid), Items::new([header]), None);
    let mut found = None;
    session.visit(
        &[Visit::new(&located.place.name, Access::Read, vec![fetch])],
        None,
        |_, _, _, response| {
            if let Some((_, fetched)) = fetched(response)
                && let Some(header) = fetched.header()
            {
                found = mime::message(header, None).internet_message_id;
            }
        },
    )?;
    Ok(found)
}

/// Takes a message away for good. In Gmail's mailbox of all mail an expunge may only archive the message, as the account's settings say:
/// the message is moved to the trash and expunged there.
pub fn expunge(session: &mut Session, located: &MessageLocation, warnings: &mut Vec<Warning>) -> Outcome<()> {
    let trash = located.place.all_mail.as_ref().and_then(|all| all.trash.as_deref());
    let Some(name) = trash else { return expunge_here(session, located, warnings) };
    let trash = MailboxRef::new(name, &ids::folder_id(name, None), 0);
    match relocate(session, located, &trash, warnings)? {
        Some(moved) => expunge_here(session, &moved, warnings),
        None => Ok(()),
    }
}

/// Expunges a message where it is. Without UIDPLUS that is only done where no other message would go with it.
fn expunge_here(
    session: &mut Session,
    located: &MessageLocation,
    warnings: &mut Vec<Warning>,
) -> Outcome<()> {
    let name = &located.place.name;
    let uid = located.uid;
    let only = UidSet::only(uid);
    let mut commands = vec![uid_store(&only, StoreType::Add, vec![Flag::Deleted], None)];
    if session.capabilities.has_in_rev2("UIDPLUS") {
        commands.push(commands::expunge(Some((&only).into())));
    }
    let visited = in_mailbox(session, name, commands)?;
    if let Some(status) = visited.refusal() {
        return Err(refused(status, "deleting the message"));
    }
    if session.capabilities.has_in_rev2("UIDPLUS") {
        return Ok(());
    }
    let search = uid_search(vec![SearchKey::Deleted]);
    let others = search_uids(session, name, search, Access::Write)?
        .is_none_or(|(_, deleted)| deleted.iter().take(2).any(|other| other != uid));
    if others {
        warnings.push(Warning {
            code: "message_not_expunged".into(),
            message: "the message is marked as deleted, and goes when the folder is expunged".into(),
            target: None,
        });
        return Ok(());
    }
    let visited = in_mailbox(session, name, vec![commands::expunge(None)])?;
    visited.refusal().map_or(Ok(()), |status| Err(refused(status, "deleting the message")))
}
