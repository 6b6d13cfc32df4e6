//! `messages.update` and `messages.delete`: flags, moves and deletions.

use connector_sdk::{Context, Failure, Outcome};
use io_imap::types::flag::StoreType;
use io_imap::types::response::Code;
use model::email::Importance;
use model::email::folders::FolderRole;
use model::wire::email::{MessageDelete, MessageRef, MessageUpdate};
use model::wire::{Mutated, Source, Warning};

use crate::directory::{Directory, MessageLocation};
use crate::gmail;
use crate::imap::commands::{self, uid_fetch, uid_store};
use crate::imap::selected::SelectedMailbox;
use crate::imap::session::{Session, refused};
use crate::imap::uids::UidSet;
use crate::imap::visit::{Access, Visit, fetched, in_mailbox};
use crate::message;
use crate::read::whole;
use crate::transfer;

/// A message to change, in the selected mailbox.
struct Target {
    located: MessageLocation,
    selected: SelectedMailbox,
}

fn no_message() -> Failure {
    Failure::not_found("there is no such message")
}

/// Selects the message's mailbox. Fails if the message cannot exist any more.
fn target(session: &mut Session, directory: &mut Directory, message: &MessageRef) -> Outcome<Target> {
    for anew in [false, true] {
        let located = directory.locate(session, message, anew)?.ok_or_else(no_message)?;
        let visit = Visit::new(&located.place.name, Access::Write, vec![commands::noop()]);
        let visited = session.visit(&[visit], None, |_, _, _, _| {})?;
        let Some(selected) = visited.into_iter().next().and_then(|visited| visited.selected) else {
            continue;
        };
        if selected.uid_validity != located.place.uid_validity {
            return Err(no_message());
        }
        return Ok(Target { located, selected });
    }
    Err(no_message())
}

/// Changes a message.
pub fn update(cx: &Context, args: MessageUpdate) -> Outcome<Mutated> {
    let mut session = Session::open(cx)?;
    let mut directory = Directory::default();
    let has_labels = directory.all_mail(&mut session)?.is_some();
    let folders = wanted_folders(&args, has_labels)?;
    let mut target = target(&mut session, &mut directory, &args.message)?;
    check_writable(&target)?;
    let mut warnings = Vec::new();
    let changes = flag_changes(&args, &target.selected, &mut warnings)?;
    let before = before(&mut session, &target.located, args.if_match.as_deref())?;
    store(&mut session, &target.located, &changes, before)?;
    let old = target.located.id();
    let mut sources = Vec::new();
    if let Some(folders) = folders {
        let located = &target.located;
        let moved = match folders.first() {
            _ if has_labels => gmail::refile(&mut session, &mut directory, located, &folders, &mut warnings)?,
            Some(folder) if *folder != located.place.folder => {
                let to = directory.folder(&mut session, folder)?;
                transfer::relocate(&mut session, located, &to, &mut warnings)?
            }
            _ => Some(located.clone()),
        };
        match moved {
            Some(located) => target.located = located,
            None => {
                // The message was moved, but its new UID is unknown until the next pull.
                sources.push(target.located.place.deleted_source(target.located.uid));
                return Ok(Mutated { sources, warnings, ..Mutated::default() });
            }
        }
    }
    let id = target.located.id();
    let source = whole(&mut session, &target.located.place, target.located.uid)?.ok_or_else(no_message)?;
    sources.push(Source { previous_id: Some(old).filter(|old| *old != id), ..source });
    Ok(Mutated { sources, item: Some(id), warnings, part: None })
}

/// The requested folders of the message: one, or several if folders are labels.
fn wanted_folders(args: &MessageUpdate, has_labels: bool) -> Outcome<Option<Vec<String>>> {
    if !args.add_labels.is_empty() || !args.remove_labels.is_empty() {
        return Err(Failure::invalid("there are no labels in this mailbox"));
    }
    match args.folders.as_deref() {
        Some(folders) if folders.len() != 1 && !has_labels => Err(Failure::new(
            connector_sdk::code::UNSUPPORTED,
            "a message of this provider is in exactly one folder",
        )),
        _ => Ok(args.folders.clone()),
    }
}

fn check_writable(target: &Target) -> Outcome<()> {
    if target.selected.read_only {
        let message = "the folder can only be read";
        return Err(Failure::new(connector_sdk::code::FORBIDDEN, message));
    }
    Ok(())
}

/// The flags to set and to remove.
#[derive(Debug, Default, PartialEq)]
struct FlagChanges {
    add: Vec<String>,
    remove: Vec<String>,
}

fn flag_changes(
    args: &MessageUpdate,
    selected: &SelectedMailbox,
    warnings: &mut Vec<Warning>,
) -> Outcome<FlagChanges> {
    let mut changes = FlagChanges::default();
    let flags = [
        (args.unread.map(|unread| !unread), "\\Seen"),
        (args.starred, "\\Flagged"),
        (args.answered, "\\Answered"),
        (args.forwarded, "$Forwarded"),
    ];
    for (wanted, flag) in flags {
        let Some(wanted) = wanted else { continue };
        if flag.starts_with('$') && wanted && !selected.takes_keyword(&flag.to_lowercase()) {
            warnings.push(not_supported("forwarded"));
        } else if wanted {
            changes.add.push(flag.to_owned());
        } else {
            changes.remove.push(flag.to_owned());
        }
    }
    for keyword in &args.add_keywords {
        check_keyword(keyword)?;
        if selected.takes_keyword(&keyword.to_lowercase()) {
            changes.add.push(keyword.clone());
        } else {
            warnings.push(not_supported("keywords"));
        }
    }
    for keyword in &args.remove_keywords {
        check_keyword(keyword)?;
        changes.remove.push(keyword.clone());
    }
    if args.importance.is_some_and(|importance| importance != Importance::Normal) {
        warnings.push(not_supported("importance"));
    }
    Ok(changes)
}

/// The warning for a field that this mailbox cannot store.
pub fn not_supported(field: &str) -> Warning {
    Warning {
        code: "field_not_supported".into(),
        message: format!("this mailbox cannot keep {field}"),
        target: Some(field.to_owned()),
    }
}

/// Checks that a keyword is an atom (RFC 9051 section 9, `flag-keyword`).
pub fn check_keyword(keyword: &str) -> Outcome<()> {
    let is_good = |byte: u8| byte.is_ascii_graphic() && !b"(){%*\"\\]".contains(&byte);
    if !keyword.is_empty() && keyword.len() <= 100 && keyword.bytes().all(is_good) {
        return Ok(());
    }
    Err(Failure::invalid(
        "a keyword must be 1 to 100 printable ASCII characters, without blanks, brackets and quotes",
    ))
}

/// Fails with `conflict` if the message does not have the etag that the change is based on. Returns the modification sequence for
/// UNCHANGEDSINCE.
fn before(session: &mut Session, located: &MessageLocation, if_match: Option<&str>) -> Outcome<Option<u64>> {
    let Some(expected) = if_match else { return Ok(None) };
    let current = etag(session, located)?.ok_or_else(no_message)?;
    if current != expected {
        return Err(changed_meanwhile());
    }
    Ok(expected.strip_prefix('m').and_then(|modseq| modseq.parse().ok()))
}

fn changed_meanwhile() -> Failure {
    Failure::conflict("the message has changed since")
}

/// Returns the message's current etag; none if the message does not exist.
pub fn etag(session: &mut Session, located: &MessageLocation) -> Outcome<Option<String>> {
    let items = message::state_items(&session.capabilities);
    let fetch = uid_fetch(&UidSet::only(located.uid), items, None);
    let mut found = None;
    let visit = Visit::new(&located.place.name, Access::Read, vec![fetch]);
    let visited = session.visit(&[visit], None, |_, _, _, response| {
        if let Some((uid, fetched)) = fetched(response)
            && uid == located.uid
        {
            found = message::etag(&fetched).or(found.take());
        }
    })?;
    let selected = visited.first().and_then(|visited| visited.selected.as_ref());
    let is_same = selected.is_some_and(|selected| selected.uid_validity == located.place.uid_validity);
    Ok(found.filter(|_| is_same))
}

fn store(
    session: &mut Session,
    located: &MessageLocation,
    changes: &FlagChanges,
    unchanged_since: Option<u64>,
) -> Outcome<()> {
    let mut condition = unchanged_since;
    for (kind, flags) in [(StoreType::Add, &changes.add), (StoreType::Remove, &changes.remove)] {
        if flags.is_empty() {
            continue;
        }
        // The first command changes the modification sequence, and has already checked it.
        let uid = UidSet::only(located.uid);
        let change = uid_store(&uid, kind, commands::flags(flags), condition.take());
        let visited = in_mailbox(session, &located.place.name, vec![change])?;
        let status = visited.statuses.first().ok_or_else(no_message)?;
        if matches!(status.code, Some(Code::Modified(_))) || status.has_other("MODIFIED") {
            return Err(changed_meanwhile());
        }
        if !status.is_ok() {
            return Err(refused(status, "changing the message"));
        }
    }
    Ok(())
}

/// Moves a message to the trash, or deletes it permanently.
pub fn delete(cx: &Context, args: MessageDelete) -> Outcome<Mutated> {
    let mut session = Session::open(cx)?;
    let mut directory = Directory::default();
    let trash = if args.permanent { None } else { directory.role(&mut session, FolderRole::Trash)? };
    let target = match target(&mut session, &mut directory, &args.message) {
        Ok(target) => target,
        // A message that does not exist counts as deleted.
        Err(failure) if failure.code == connector_sdk::code::NOT_FOUND && args.if_match.is_none() => {
            return Ok(Mutated { sources: vec![deleted_source(&args.message.source)], ..Mutated::default() });
        }
        Err(failure) => return Err(failure),
    };
    check_writable(&target)?;
    before(&mut session, &target.located, args.if_match.as_deref())?;
    let old = target.located.id();
    let mut warnings = Vec::new();
    let mut sources = Vec::new();
    let trash = trash.filter(|trash| trash.folder != target.located.place.folder);
    let moved = match trash {
        Some(trash) => transfer::relocate(&mut session, &target.located, &trash, &mut warnings)?,
        None => {
            transfer::expunge(&mut session, &target.located, &mut warnings)?;
            None
        }
    };
    if let Some(moved) = moved
        && let Some(source) = whole(&mut session, &moved.place, moved.uid)?
    {
        sources.push(Source { previous_id: Some(old), ..source });
    } else {
        sources.push(deleted_source(&old));
    }
    Ok(Mutated { sources, warnings, ..Mutated::default() })
}

fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}
