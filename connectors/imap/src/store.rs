//! `messages.append` and `drafts.save`: messages that are put into a folder.

use connector_sdk::{Context, Failure, Outcome, code};
use io_imap::types::fetch::MessageDataItemName;
use io_imap::types::response::Code;
use model::email::EmailMessage;
use model::email::folders::FolderRole;
use model::wire::email::{DraftSave, MessageAppend};
use model::wire::{Mutated, Source, Warning};

use crate::directory::{Directory, MessageLocation};
use crate::edit::{check_keyword, etag, not_supported};
use crate::gmail;
use crate::imap::commands::{self, Items, uid_fetch};
use crate::imap::date::date_time;
use crate::imap::session::{Session, refused};
use crate::imap::uids::UidSet;
use crate::imap::visit::{Access, Visit, fetched, search_uids};
use crate::message::MailboxRef;
use crate::read::whole;
use crate::search::message_id_program;
use crate::transfer;

/// A message to store.
pub struct NewMessage<'a> {
    pub blob: &'a str,
    /// Without angle brackets.
    pub message_id: &'a str,
    pub flags: Vec<String>,
    /// Seconds since 1970; none: now.
    pub received_at: Option<i64>,
}

/// Puts a message into a folder. Returns the mailbox with its UIDVALIDITY and the UID; none where the server does not report them and it
/// cannot be found.
pub fn store(
    session: &mut Session,
    place: &MailboxRef,
    new: &NewMessage<'_>,
) -> Outcome<Option<(MailboxRef, u32)>> {
    let size = session.cx.host().blob_size(new.blob);
    let size = size.ok_or_else(|| Failure::new(code::INTERNAL, "the message to store is missing"))?;
    let date = new.received_at.and_then(date_time);
    let command = commands::append(&place.name, commands::flags(&new.flags), date, new.blob, size);
    session.prove()?;
    let statuses = session.run(&[command], |_, _| {})?;
    let status = statuses.into_iter().next();
    let status = status.ok_or_else(|| Failure::unavailable("the server did not answer"))?;
    if !status.is_ok() {
        return Err(refused(&status, "storing the message"));
    }
    let stored = match status.code {
        Some(Code::AppendUid { uid_validity, uid }) => Some((uid_validity.get(), uid.get())),
        _ => transfer::newest(session, place, new.message_id)?,
    };
    match stored {
        Some((uid_validity, uid)) => {
            gmail::resolve_place(session, &MailboxRef { uid_validity, ..place.clone() }, uid)
        }
        None => Ok(None),
    }
}

/// Returns the message that an earlier attempt left: with this Message-ID, the newest, but not `except`. With `blob` only one of the same
/// size.
pub fn left_over(
    session: &mut Session,
    place: &MailboxRef,
    message_id: &str,
    except: Option<&MessageLocation>,
    blob: Option<&str>,
) -> Outcome<Option<(MailboxRef, u32)>> {
    let found = search_uids(session, &place.name, message_id_program(message_id)?, Access::Read)?;
    let Some((uid_validity, uids)) = found else { return Ok(None) };
    let place = MailboxRef { uid_validity, ..place.clone() };
    let is_except = |uid: u32| except.is_some_and(|except| except.place == place && except.uid == uid);
    let mut candidates: Vec<u32> = uids.iter().rev().filter(|uid| !is_except(*uid)).take(100).collect();
    if let Some(size) = blob.and_then(|blob| session.cx.host().blob_size(blob)) {
        candidates = of_size(session, &place, &candidates, size)?;
    }
    for uid in candidates {
        let there = gmail::resolve_place(session, &place, uid)?;
        if let Some((place, uid)) = there
            && except.is_none_or(|except| except.place != place || except.uid != uid)
        {
            return Ok(Some((place, uid)));
        }
    }
    Ok(None)
}

/// Returns those of the messages that have this size.
fn of_size(session: &mut Session, place: &MailboxRef, uids: &[u32], size: u64) -> Outcome<Vec<u32>> {
    if uids.is_empty() {
        return Ok(Vec::new());
    }
    let set: UidSet = uids.iter().copied().collect();
    let fetch = uid_fetch(&set, Items::new([MessageDataItemName::Rfc822Size]), None);
    let mut same = Vec::new();
    session.visit(&[Visit::new(&place.name, Access::Read, vec![fetch])], None, |_, _, _, response| {
        same.extend(fetched(response).filter(|(_, fetched)| fetched.size == Some(size)).map(|(uid, _)| uid));
    })?;
    same.retain(|uid| uids.contains(uid));
    same.sort_unstable_by_key(|uid| std::cmp::Reverse(*uid));
    Ok(same)
}

/// Stores a message in a folder.
pub fn append(cx: &Context, args: MessageAppend) -> Outcome<Mutated> {
    if !args.labels.is_empty() {
        return Err(Failure::invalid("there are no labels in this mailbox"));
    }
    let folder = match args.folders.as_slice() {
        [] => "F:INBOX",
        [folder] => folder,
        _ => {
            return Err(Failure::new(
                code::UNSUPPORTED,
                "a message of this provider is in exactly one folder",
            ));
        }
    };
    args.keywords.iter().try_for_each(|keyword| check_keyword(keyword))?;
    let mut session = Session::open(cx)?;
    let mut directory = Directory::default();
    let place = match args.folders.is_empty() {
        // Its id is only known from the list where ids are not names.
        true => {
            directory.role(&mut session, FolderRole::Inbox)?.unwrap_or(MailboxRef::new("INBOX", folder, 0))
        }
        false => directory.folder(&mut session, folder)?,
    };
    let left = match cx.idempotency_key {
        Some(_) => left_over(&mut session, &place, &args.internet_message_id, None, None)?,
        None => None,
    };
    let stored = match left {
        Some(left) => Some(left),
        None => {
            let new = NewMessage {
                blob: &args.blob,
                message_id: &args.internet_message_id,
                flags: flags(&args),
                received_at: args.received_at.map(|at| at.as_millis().div_euclid(1000)),
            };
            store(&mut session, &place, &new)?
        }
    };
    let mut answer = stored_answer(&mut session, stored)?;
    if !has_all(&answer, &args.keywords) {
        answer.warnings.push(not_supported("keywords"));
    }
    Ok(answer)
}

fn flags(args: &MessageAppend) -> Vec<String> {
    let flags = [(!args.unread, "\\Seen"), (args.starred, "\\Flagged"), (args.draft, "\\Draft")];
    let flags = flags.into_iter().filter(|(wanted, _)| *wanted).map(|(_, flag)| flag.to_owned());
    flags.chain(args.keywords.iter().cloned()).collect()
}

fn has_all(answer: &Mutated, keywords: &[String]) -> bool {
    let item = answer.sources.first().and_then(|source| source.items.first());
    let Some(message) = item.and_then(|item| item.body.read::<EmailMessage>().ok()) else { return true };
    let has = |keyword: &String| {
        let keyword = keyword.to_lowercase();
        keyword == "$forwarded" || message.keywords.contains(&keyword)
    };
    keywords.iter().all(has)
}

/// The answer that reports a stored message.
fn stored_answer(session: &mut Session, stored: Option<(MailboxRef, u32)>) -> Outcome<Mutated> {
    let source = match stored {
        Some((place, uid)) => whole(session, &place, uid)?,
        None => None,
    };
    let Some(source) = source else {
        let warning = Warning {
            code: "message_not_found_yet".into(),
            message: "the message is stored, and the server does not tell under which name".into(),
            target: None,
        };
        return Ok(Mutated { warnings: vec![warning], ..Mutated::default() });
    };
    let item = Some(source.external_id.clone());
    Ok(Mutated { sources: vec![source], item, ..Mutated::default() })
}

/// Stores a draft, in place of an earlier version of it.
pub fn save_draft(cx: &Context, args: DraftSave) -> Outcome<Mutated> {
    let mut session = Session::open(cx)?;
    let mut directory = Directory::default();
    let place = directory.role_or_new(&mut session, FolderRole::Drafts, "Drafts")?;
    let replaced = match &args.replaces {
        Some(message) => directory.locate(&mut session, message, false)?,
        None => None,
    };
    // A repeated call finds its own draft before it looks for the one that it replaced.
    let left = match cx.idempotency_key {
        Some(_) => {
            let message_id = &args.internet_message_id;
            left_over(&mut session, &place, message_id, replaced.as_ref(), Some(&args.blob))?
        }
        None => None,
    };
    let current = match &replaced {
        Some(replaced) => etag(&mut session, replaced)?,
        None => None,
    };
    if left.is_none() && args.if_match.is_some() && current != args.if_match {
        return Err(Failure::conflict("the draft has changed since"));
    }
    let stored = match left {
        Some(left) => Some(left),
        None => {
            let new = NewMessage {
                blob: &args.blob,
                message_id: &args.internet_message_id,
                flags: vec!["\\Draft".into(), "\\Seen".into()],
                received_at: None,
            };
            store(&mut session, &place, &new)?
        }
    };
    let mut warnings = Vec::new();
    if let Some(replaced) = replaced.as_ref().filter(|_| current.is_some()) {
        transfer::expunge(&mut session, replaced, &mut warnings)?;
    }
    let mut answer = stored_answer(&mut session, stored)?;
    let previous = args.replaces.map(|message| message.source);
    match answer.sources.first_mut() {
        Some(source) => source.previous_id = previous.filter(|id| *id != source.external_id),
        None => answer.sources.extend(previous.map(|external_id| Source {
            external_id,
            deleted: true,
            ..Source::default()
        })),
    }
    answer.warnings.extend(warnings);
    Ok(answer)
}
