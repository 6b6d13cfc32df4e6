//! The beginning of the initial sync: the messages, the order in which they are reported, and the first chunk of them.

use std::collections::HashMap;

use connector_sdk::{Answer, Outcome};
use io_imap::types::fetch::MessageDataItemName;
use model::wire::Sources;

use crate::changes::cursor::{ChangesCursor, FolderState, HiddenMessages};
use crate::changes::folders::{compare_folders, readable, tell_folders, unreadable};
use crate::changes::known::{flags_key, settle_empty};
use crate::changes::page::{Page, answer, read_chunk};
use crate::folders::Mailboxes;
use crate::imap::beyond;
use crate::imap::commands::{Items, everything, uid_fetch};
use crate::imap::session::Session;
use crate::imap::visit::{Access, Visit, add_found_uids, fetched};
use crate::listing;
use crate::plan::{Entry, chunks};

/// Reports all folders and the newest messages.
pub fn begin(session: &mut Session, page: &mut Page) -> Outcome<Answer<Sources>> {
    let mailboxes = listing::list(session)?;
    let mut cursor = ChangesCursor::new();
    cursor.all_mail = session.all_mail.as_deref().cloned();
    compare_folders(&mut cursor, &mailboxes);
    let entries = inventory(session, &mut cursor, &mailboxes)?;
    tell_folders(&mut cursor, &mailboxes, &mut page.sources);
    let mut plan = chunks(entries, page.limit());
    let chunk = (!plan.is_empty()).then(|| plan.remove(0));
    let since = chunk.as_ref().map(|chunk| chunk.since);
    read_chunk(session, &cursor, chunk, None, page)?;
    cursor.plan = Some(plan);
    answer(cursor, std::mem::take(&mut page.sources), true, since)
}

/// Every message with its date, and in the cursor the state of the mailboxes as they are now.
fn inventory(
    session: &mut Session,
    cursor: &mut ChangesCursor,
    mailboxes: &Mailboxes,
) -> Outcome<Vec<Entry>> {
    let has_condstore = session.capabilities.has_condstore();
    let mut items = Items::new([MessageDataItemName::InternalDate]);
    if !has_condstore {
        items = items.and(MessageDataItemName::Flags);
    }
    let [_, deleted, unseen] = beyond::uid_searches(session.capabilities.has_in_rev2("ESEARCH"));
    let mut visits = Vec::new();
    let mut numbers = Vec::new();
    for mailbox in readable(session, mailboxes) {
        let (id, counts) = (mailbox.id(), mailbox.status.unwrap_or_default());
        let Some(known) = cursor.folders.iter_mut().find(|known| known.id == id) else { continue };
        settle_empty(known, counts);
        if counts.messages > 0 {
            let fetch = uid_fetch(everything(), items.clone(), None);
            let commands = vec![deleted.clone(), unseen.clone(), fetch];
            visits.push(Visit { anew: true, ..Visit::new(&mailbox.name, Access::Read, commands) });
            numbers.push(known.number);
        }
    }
    let mut entries = Vec::new();
    let mut flags = Vec::new();
    let mut hidden: HashMap<u32, HiddenMessages> = HashMap::new();
    let visited = session.visit(&visits, None, |at, _, command, response| {
        let (Some(number), Some(command)) = (numbers.get(at), command) else { return };
        let Some((uid, fetched)) = fetched(response) else {
            let hidden = hidden.entry(*number).or_default();
            match command {
                0 => add_found_uids(response, &mut hidden.all),
                1 => add_found_uids(response, &mut hidden.unseen),
                _ => {}
            }
            return;
        };
        if hidden.get(number).is_some_and(|hidden| hidden.all.contains(uid)) {
            return;
        }
        if let Some(seconds) = fetched.internal_date {
            entries.push(Entry { at: seconds, folder: *number, uid });
            flags.extend(fetched.flags.map(|flags| (*number, uid, flags_key(&flags))));
        }
    })?;
    let mut uids: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in &entries {
        uids.entry(entry.folder).or_default().push(entry.uid);
    }
    for (number, visited) in numbers.iter().zip(&visited) {
        let known = cursor.folders.iter_mut().find(|known| known.number == *number);
        if let (Some(known), Some(selected)) = (known, &visited.selected) {
            known.uid_validity = selected.uid_validity;
            known.modseq = selected.highest_modseq;
            known.uids = uids.remove(number).unwrap_or_default().into_iter().collect();
            known.hidden = hidden.remove(number).unwrap_or_default();
        }
    }
    let mut folders: HashMap<u32, &mut FolderState> =
        cursor.folders.iter_mut().map(|known| (known.number, known)).collect();
    for (number, uid, key) in flags {
        if let Some(known) = folders.get_mut(&number) {
            known.flags.entry(key).or_default().insert(uid);
        }
    }
    unreadable(session, visited.iter().filter(|visited| visited.selected.is_none()).count());
    Ok(entries)
}
