//! `messages.search` and `messages.find`: the server searches folder by folder, and the matches are returned newest first.
//!
//! The first call searches all folders and stores the matches in the cursor; later calls read them. If there are more matches than fit a
//! cursor, the last page's cursor searches again for older messages.

use connector_sdk::{Answer, Context, Failure, Level, Outcome, code};
use io_imap::types::core::{AString, Atom};
use io_imap::types::fetch::MessageDataItemName;
use io_imap::types::search::SearchKey;
use model::email::folders::FolderRole;
use model::wire::email::{MessageFind, MessageSearch};
use model::wire::{Source, Sources};
use serde::{Deserialize, Serialize};

use crate::directory::Directory;
use crate::imap::beyond;
use crate::imap::command::Command;
use crate::imap::commands::{Items, string, uid_fetch, uid_search};
use crate::imap::date::search_day;
use crate::imap::session::{Session, refused};
use crate::imap::uids::UidSet;
use crate::imap::visit::{Access, Visit, add_found_uids, fetched};
use crate::message::MailboxRef;
use crate::plan::{Chunk, Entry, chunks};
use crate::reading::{self, MailboxRead};

/// The default and maximum number of messages in a page.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 500;

/// The maximum number of matches in a cursor.
const MAX_FOUND: usize = 5_000;

/// The maximum number of messages of one folder that are considered, newest first.
const MAX_PER_FOLDER: u64 = 20_000;

/// The maximum number of words in a query.
const MAX_WORDS: usize = 50;

/// The maximum length of a query, in bytes.
const MAX_QUERY_BYTES: usize = 4_000;

/// The position at which a search continues.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SearchCursor {
    /// The folders: external id, name, UIDVALIDITY. Chunks refer to them by index.
    f: Vec<(String, String, u32)>,
    /// The matches that were not returned yet.
    c: Vec<Chunk>,
    /// The time in seconds since 1970 before which messages must be searched again; none if all matches are in the cursor.
    b: Option<i64>,
}

/// Returns the matching messages, newest first.
pub fn search(cx: &Context, args: MessageSearch) -> Outcome<Answer<Sources>> {
    if args.label.is_some() {
        return Err(Failure::invalid("there are no labels in this mailbox"));
    }
    let given = cx.cursor.as_deref().map(serde_json::from_str::<SearchCursor>).transpose();
    let given = given.map_err(|_| Failure::new(code::CURSOR_EXPIRED, "the cursor cannot be continued"))?;
    let mut session = Session::open(cx)?;
    let mut directory = Directory::default();
    directory.all_mail(&mut session)?;
    let mut cursor = match given {
        Some(cursor) if !cursor.c.is_empty() || cursor.b.is_none() => cursor,
        Some(SearchCursor { b, .. }) => find_all(&mut session, &mut directory, &args, b)?,
        None => find_all(&mut session, &mut directory, &args, None)?,
    };
    let mut sources = Vec::new();
    if !cursor.c.is_empty() {
        let chunk = cursor.c.remove(0);
        sources = read(&mut session, &cursor, chunk)?;
    }
    let more = !cursor.c.is_empty() || cursor.b.is_some();
    let text = serde_json::to_string(&cursor).ok().filter(|_| more);
    Ok(Answer { body: Sources { sources, ..Sources::default() }, more: text.is_some(), cursor: text })
}

/// Searches the folders for messages older than `before`, if given.
fn find_all(
    session: &mut Session,
    directory: &mut Directory,
    args: &MessageSearch,
    before: Option<i64>,
) -> Outcome<SearchCursor> {
    let mut program = program(args, before)?;
    let folder = args.folder.as_deref();
    let label = session.all_mail.as_ref().zip(folder).and_then(|(all, folder)| all.label(folder));
    if let Some(label) = &label {
        program = beyond::with_label(program, label);
    }
    let places = places(session, directory, folder.filter(|_| label.is_none()), label.is_some())?;
    let sets = search_in(session, &places, &program)?;
    let mut cursor = SearchCursor::default();
    let mut visits = Vec::new();
    for (place, set) in &sets {
        cursor.f.push((place.folder.clone(), place.name.clone(), place.uid_validity));
        let dates = Items::new([MessageDataItemName::InternalDate]);
        let fetch = |part: UidSet| uid_fetch(&part, dates.clone(), None);
        let commands = set.pieces(reading::MAX_SET_BYTES).into_iter().map(fetch).collect();
        visits.push(Visit::new(&place.name, Access::Read, commands));
    }
    let mut entries = Vec::new();
    session.visit(&visits, None, |at, selected, _, response| {
        let place = sets.get(at).filter(|(place, _)| place.uid_validity == selected.uid_validity);
        if let (Some((_, set)), Some((uid, fetched))) = (place, fetched(response))
            && let Some(seconds) = fetched.internal_date.filter(|_| set.contains(uid))
        {
            entries.push(Entry { at: seconds, folder: u32::try_from(at).unwrap_or(u32::MAX), uid });
        }
    })?;
    let seconds = |at: model::Instant| at.as_millis();
    entries.retain(|entry| {
        let at = entry.at.saturating_mul(1000);
        args.received_after.is_none_or(|after| at >= seconds(after))
            && args.received_before.is_none_or(|end| at < seconds(end))
            && before.is_none_or(|before| entry.at < before)
    });
    cursor.b = truncate(&mut entries, MAX_FOUND);
    let page = if args.limit == 0 { PAGE } else { args.limit.min(MAX_PAGE) };
    cursor.c = chunks(entries, usize::try_from(page).unwrap_or(50));
    Ok(cursor)
}

/// Keeps about `max` of the newest entries. Returns the time before which entries were cut off.
fn truncate(entries: &mut Vec<Entry>, max: usize) -> Option<i64> {
    entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.at));
    let last = entries.get(max)?.at;
    // Entries of the same second stay together.
    let whole = entries.partition_point(|entry| entry.at > last);
    let end = if whole > 0 { whole } else { entries.partition_point(|entry| entry.at >= last) };
    let before = if whole > 0 { last.saturating_add(1) } else { last };
    let has_more = end < entries.len();
    entries.truncate(end);
    has_more.then_some(before)
}

/// The folders to search, the inbox first; with `has_label`, only Gmail's All Mail.
fn places(
    session: &mut Session,
    directory: &mut Directory,
    folder: Option<&str>,
    has_label: bool,
) -> Outcome<Vec<MailboxRef>> {
    if let Some(folder) = folder {
        return Ok(vec![directory.folder(session, folder)?]);
    }
    if let Some(all) = session.all_mail.as_ref().filter(|_| has_label) {
        return Ok(vec![MailboxRef::for_session(session, &all.name, &all.id(), 0)]);
    }
    let all = &directory.mailboxes(session)?.all;
    let (has_labels, has_all_mail) = (session.capabilities.has_labels(), session.all_mail.is_some());
    let full = all.iter().filter(|mailbox| mailbox.is_read(has_labels, has_all_mail));
    let full = full.filter(|mailbox| mailbox.status.is_none_or(|counts| counts.messages > 0));
    Ok(full.map(|mailbox| MailboxRef::for_session(session, &mailbox.name, &mailbox.id(), 0)).collect())
}

/// Returns the matches in each folder, without folders that have none or cannot be searched.
fn search_in(
    session: &mut Session,
    places: &[MailboxRef],
    program: &Command,
) -> Outcome<Vec<(MailboxRef, UidSet)>> {
    let visit = |place: &MailboxRef| Visit::new(&place.name, Access::Read, vec![program.clone()]);
    let visits: Vec<Visit> = places.iter().map(visit).collect();
    let mut sets = vec![UidSet::new(); visits.len()];
    let visited = session.visit(&visits, None, |at, _, command, response| {
        if let Some(set) = sets.get_mut(at).filter(|_| command.is_some()) {
            add_found_uids(response, set);
        }
    })?;
    let mut all = Vec::new();
    let mut failed = 0;
    for ((place, mut set), visited) in places.iter().zip(sets).zip(&visited) {
        match &visited.selected {
            Some(selected) if visited.is_ok() => {
                let place = MailboxRef { uid_validity: selected.uid_validity, ..place.clone() };
                let newest = set.take_last(MAX_PER_FOLDER);
                if !newest.is_empty() {
                    all.push((place, newest));
                }
            }
            _ => failed += 1,
        }
    }
    if failed > 0 && failed == visited.len() {
        let refusal = visited.iter().find_map(|visited| visited.refusal());
        return Err(refusal.map_or_else(
            || Failure::unavailable("the folders cannot be searched"),
            |status| refused(status, "the search"),
        ));
    }
    if failed > 0 {
        session.cx.log(Level::Warn, "folders that cannot be searched", &[("count", failed.to_string())]);
    }
    Ok(all)
}

/// The SEARCH command (RFC 9051 section 6.4.4).
fn program(args: &MessageSearch, before: Option<i64>) -> Outcome<Command> {
    let native = args.native_query.as_deref().map(str::trim).filter(|query| !query.is_empty());
    let text = args.text.as_deref().unwrap_or_default();
    if text.len().max(native.map_or(0, str::len)) > MAX_QUERY_BYTES {
        return Err(Failure::invalid("the query is too long"));
    }
    let words: Vec<&str> = text.split_whitespace().filter(|_| native.is_none()).collect();
    if words.len() > MAX_WORDS {
        return Err(Failure::invalid(format!("a query has at most {MAX_WORDS} words")));
    }
    let mut keys = vec![SearchKey::Undeleted];
    keys.extend(words.into_iter().map(|word| SearchKey::Text(string(word))));
    keys.extend(args.unread.map(|unread| if unread { SearchKey::Unseen } else { SearchKey::Seen }));
    keys.extend(args.starred.map(|starred| if starred { SearchKey::Flagged } else { SearchKey::Unflagged }));
    // Servers compare days in their own time zone: the range is extended by a day on both sides, and surplus matches are removed by their
    // exact time.
    let after = args.received_after.map(|after| after.as_millis().div_euclid(1000));
    let end = args.received_before.map(|end| end.as_millis().div_euclid(1000).saturating_add(1));
    let end = [end, before].into_iter().flatten().min();
    keys.extend(after.and_then(|after| search_day(after, -1)).map(SearchKey::Since));
    keys.extend(end.and_then(|end| search_day(end, 2)).map(SearchKey::Before));
    let command = uid_search(keys);
    match native {
        Some(query) => {
            check_native(query)?;
            Ok(beyond::native_search(command, query))
        }
        None => Ok(command),
    }
}

/// Checks a native query, which is a search program on one line: nothing in it may end the command or begin a literal.
fn check_native(query: &str) -> Outcome<()> {
    let wrong = |what: &str| Err(Failure::invalid(format!("the native query {what}")));
    let mut depth = 0_usize;
    let mut is_quoted = false;
    let mut bytes = query.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if is_quoted && !matches!(bytes.next(), Some(b'"' | b'\\')) => {
                return wrong("has a backslash that escapes nothing");
            }
            b'\\' if is_quoted => {}
            b'"' => is_quoted = !is_quoted,
            _ if !(b' '..=b'~').contains(&byte) => {
                return wrong("holds other characters than printable ASCII");
            }
            b'{' | b'}' if !is_quoted => return wrong("holds a literal"),
            b'(' if !is_quoted => depth += 1,
            b')' if !is_quoted && depth == 0 => return wrong("closes a bracket that is not open"),
            b')' if !is_quoted => depth -= 1,
            _ => {}
        }
        if depth > 20 {
            return wrong("is nested too deeply");
        }
    }
    if is_quoted || depth > 0 { wrong("has an open quote or bracket") } else { Ok(()) }
}

/// Reads one chunk, newest first.
fn read(session: &mut Session, cursor: &SearchCursor, chunk: Chunk) -> Outcome<Vec<Source>> {
    let mut reads = Vec::new();
    for (folder, uids) in chunk.parts {
        let at = usize::try_from(folder).unwrap_or(usize::MAX);
        if let Some((id, name, uid_validity)) = cursor.f.get(at).filter(|_| !uids.is_empty()) {
            let place = MailboxRef::for_session(session, name, id, *uid_validity);
            reads.push(MailboxRead::full(&session.capabilities, place, uids));
        }
    }
    let mut all = reading::read(session, reads)?.messages;
    all.sort_by_key(|message| std::cmp::Reverse((message.at, message.uid)));
    Ok(all.into_iter().map(|message| message.source).collect())
}

/// The message with this Message-ID, in the folders that sent mail and drafts go to.
pub fn find(cx: &Context, args: MessageFind) -> Outcome<Sources> {
    let mut session = Session::open(cx)?;
    let mut directory = Directory::default();
    let (mut places, mut own) = (Vec::new(), Vec::new());
    for role in [FolderRole::Sent, FolderRole::Drafts] {
        places.extend(directory.role(&mut session, role)?);
    }
    if let Some(all) = &session.all_mail {
        own.extend(places.into_iter().map(|place| place.folder));
        places = vec![MailboxRef::for_session(&session, &all.name, &all.id(), 0)];
    }
    let program = message_id_program(&args.internet_message_id)?;
    let mut sources = Vec::new();
    if !places.is_empty() {
        let sets = search_in(&mut session, &places, &program)?;
        let mut cursor = SearchCursor::default();
        let mut chunk = Chunk::default();
        for (at, (place, mut uids)) in sets.into_iter().enumerate() {
            cursor.f.push((place.folder, place.name, place.uid_validity));
            chunk.parts.push((u32::try_from(at).unwrap_or(u32::MAX), uids.take_last(100)));
        }
        sources = read(&mut session, &cursor, chunk)?;
        sources.retain(|source| is_message(source, &args.internet_message_id, &own));
    }
    Ok(Sources { sources, ..Sources::default() })
}

/// Whether this is the message: its Message-ID is equal (the server's search matches parts) and it is in one of `folders`; in any folder if
/// that is empty.
fn is_message(source: &Source, message_id: &str, folders: &[String]) -> bool {
    let body = source.items.first().and_then(|item| item.body.read::<model::email::EmailMessage>().ok());
    body.is_some_and(|body| {
        let is_there = folders.is_empty() || folders.iter().any(|folder| body.folder_ids.contains(folder));
        is_there && body.internet_message_id.as_deref() == Some(message_id)
    })
}

/// The SEARCH command for a Message-ID, given without angle brackets.
pub fn message_id_program(message_id: &str) -> Outcome<Command> {
    if message_id.is_empty() || message_id.len() > 998 {
        return Err(Failure::invalid("internetMessageId must have between 1 and 998 bytes"));
    }
    let field = AString::from(Atom::unvalidated("Message-ID"));
    let header = SearchKey::Header(field, string(&format!("<{message_id}>")));
    Ok(uid_search(vec![SearchKey::Undeleted, header]))
}

#[cfg(test)]
mod tests {
    use super::{check_native, truncate};
    use crate::plan::Entry;

    #[test]
    fn a_native_query_stays_within_its_command() {
        for good in ["FROM \"a (b\" UNSEEN", "OR (FROM x) (TO y)", "SUBJECT \"a\\\"b\"", "TEXT \"{5}\""] {
            assert!(check_native(good).is_ok(), "{good}");
        }
        let bad = [
            "FROM x\r\nA LOGOUT",
            "a) (b",
            "((a)",
            "\"open",
            "TEXT {5}",
            "TEXT {5+}",
            "é",
            "\"a\\n\"",
            "a\0",
        ];
        for query in bad {
            assert!(check_native(query).is_err(), "{query}");
        }
        assert!(check_native(&"(".repeat(5_000)).is_err());
    }

    #[test]
    fn what_is_too_much_is_searched_again() {
        let entry = |at| Entry { at, folder: 0, uid: 1 };
        let mut entries: Vec<Entry> = [5, 4, 3, 3, 2].map(entry).to_vec();
        assert_eq!(truncate(&mut entries.clone(), 5), None);
        assert_eq!((truncate(&mut entries.clone(), 3)), Some(4));
        assert_eq!(truncate(&mut entries, 2), Some(4));
        assert_eq!(entries.len(), 2);
        let mut same: Vec<Entry> = [3, 3, 3, 1].map(entry).to_vec();
        assert_eq!(truncate(&mut same, 1), Some(3));
        assert_eq!(same.len(), 3);
    }
}
