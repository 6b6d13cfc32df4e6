//! Compares folders whose counts differ, by the server's best extension: QRESYNC reports deleted and changed messages (RFC 7162 section
//! 3.2.5), CONDSTORE changed ones (section 3.1.4.1), and without either all messages are compared.

use std::collections::BTreeMap;

use connector_sdk::Outcome;
use io_imap::types::fetch::MessageDataItemName;
use io_imap::types::response::Code;
use io_imap::types::search::SearchKey;
use model::wire::Source;

use crate::changes::cursor::{ChangesCursor, FolderState, GoneMessages, HiddenMessages, StatusSeen};
use crate::changes::folders::{compare_folders, readable, tell_folders, unreadable};
use crate::changes::known::{flags_key, settle_empty};
use crate::changes::page::{MAX_CHANGED, Page};
use crate::folders::{Counts, Mailbox, Mailboxes};
use crate::imap::beyond;
use crate::imap::command::Command;
use crate::imap::commands::{Items, everything, uid_fetch, uid_search};
use crate::imap::response::Response;
use crate::imap::session::Session;
use crate::imap::uids::UidSet;
use crate::imap::visit::{Access, Visit, VisitResult, add_found_uids, fetched, vanished_uids};
use crate::message::{self, MailboxRef};

/// The maximum number of new Gmail labels whose messages are searched; with more, all messages count as changed.
const MAX_NEW_LABELS: usize = 50;

/// The method by which a folder is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Requests all UIDs, because the folder has no known state.
    Listing,
    Qresync,
    Condstore,
    Flags,
}

/// A folder that is being compared.
struct Scan {
    number: u32,
    by: By,
    counts: Counts,
    visit: Visit,
    place: MailboxRef,
    /// All UIDs of the folder; none if they were not requested.
    all: Option<UidSet>,
    vanished: UidSet,
    /// The messages marked as deleted: all of them if `all` is known, else those that the server reported.
    hidden: HiddenMessages,
    /// The index of the first search among the commands.
    searches_at: Option<usize>,
    /// The messages whose flags were reported, except hidden ones.
    reported: UidSet,
    /// The sources of these messages, as many as fit a page.
    states: Vec<(u32, Source)>,
    flags: BTreeMap<String, UidSet>,
}

/// Compares the folders whose counts differ, and adds their changes to the cursor and the page.
pub fn compare(
    session: &mut Session,
    cursor: &mut ChangesCursor,
    mailboxes: &Mailboxes,
    page: &mut Page,
) -> Outcome<()> {
    let new = compare_folders(cursor, mailboxes);
    let mut scans = Vec::new();
    for mailbox in readable(session, mailboxes) {
        scans.extend(scan(session, cursor, mailbox));
    }
    let visits: Vec<Visit> = scans.iter().map(|scan| scan.visit.clone()).collect();
    let visited = session.visit(&visits, None, |at, _, command, response| {
        if let Some(scan) = scans.get_mut(at) {
            scan.take(command, response);
        }
    })?;
    unreadable(session, visited.iter().filter(|visited| visited.selected.is_none()).count());
    let missed = find_missed(&scans, &visited, cursor);
    list_again(session, &mut scans, missed)?;
    for (scan, visited) in scans.into_iter().zip(&visited) {
        scan.settle(visited, cursor, page);
    }
    mark_labelled(session, cursor, &new)?;
    tell_folders(cursor, mailboxes, &mut page.sources);
    Ok(())
}

/// Marks messages with a new or renamed Gmail label as changed, because it is not documented that their modification sequences change.
fn mark_labelled(session: &mut Session, cursor: &mut ChangesCursor, new: &[String]) -> Outcome<()> {
    let Some(all) = session.all_mail.clone() else { return Ok(()) };
    let labels: Vec<String> = new.iter().filter_map(|folder| all.label(folder)).collect();
    if labels.is_empty() {
        return Ok(());
    }
    let labelled =
        if labels.len() > MAX_NEW_LABELS { None } else { find_labelled(session, &all.name, &labels)? };
    let Some(number) = cursor.folders.iter().find(|known| known.name == all.name).map(|known| known.number)
    else {
        return Ok(());
    };
    let planned = planned_uids(cursor, number);
    if let Some(known) = cursor.folders.iter_mut().find(|known| known.number == number) {
        let untold = UidSet::union([&planned, &known.fresh]);
        let labelled = labelled.map_or_else(|| known.uids.clone(), |labelled| labelled.and(&known.uids));
        known.changed.add(&labelled.minus(&untold));
    }
    Ok(())
}

/// The messages in Gmail's All Mail with one of these labels; none if the server cannot search for them.
fn find_labelled(session: &mut Session, all_mail: &str, labels: &[String]) -> Outcome<Option<UidSet>> {
    let search = |label: &String| beyond::with_label(uid_search(vec![SearchKey::All]), label);
    let searches: Vec<Command> = labels.iter().map(search).collect();
    let mut labelled = UidSet::new();
    let visit = Visit::new(all_mail, Access::Read, searches);
    let visited = session.visit(&[visit], None, |_, _, command, response| {
        if command.is_some() {
            add_found_uids(response, &mut labelled);
        }
    })?;
    Ok(visited.iter().all(VisitResult::is_ok).then_some(labelled))
}

/// Returns the comparison of this folder; none if there is nothing to compare.
fn scan(session: &Session, cursor: &mut ChangesCursor, mailbox: &Mailbox) -> Option<Scan> {
    let (id, counts) = (mailbox.id(), mailbox.status?);
    let planned_anew = cursor.plan.is_some();
    let known = cursor.folders.iter_mut().find(|known| known.id == id)?;
    let status = StatusSeen::from(counts);
    // Without modification sequences the counts do not reveal changed flags; during the initial sync that can wait.
    let tells_all = known.modseq.is_some() || planned_anew;
    if known.status == Some(status) && (tells_all || counts.messages == 0) {
        return None;
    }
    let is_other = known.uid_validity != counts.uid_validity;
    let is_empty = counts.messages == 0;
    if is_other || is_empty {
        let passed = known.passed(&counts);
        let mut gone = known.forget_messages();
        gone.uids.add(&passed);
        settle_empty(known, counts);
        known.status = is_empty.then_some(status);
        if !gone.uids.is_empty() {
            cursor.gone.push(gone);
        }
    }
    let known = cursor.folders.iter().find(|known| known.id == id)?;
    (!is_empty).then(|| Scan::new(session, known, counts))
}

impl Scan {
    fn new(session: &Session, known: &FolderState, counts: Counts) -> Self {
        let by = match known.modseq {
            _ if known.uids.is_empty() || known.status.is_none() => By::Listing,
            Some(_) if session.capabilities.has_qresync() => By::Qresync,
            Some(_) => By::Condstore,
            None => By::Flags,
        };
        let mut visit = Visit { anew: true, ..Visit::new(&known.name, Access::Read, Vec::new()) };
        let modseq = known.modseq.unwrap_or(0);
        let has_modseq = counts.highest_modseq.is_some();
        let has_esearch = session.capabilities.has_in_rev2("ESEARCH");
        let flags = Items::new([MessageDataItemName::Flags]);
        let flags = message::with_labels(flags, &session.capabilities);
        let (mut all, mut searches_at) = (None, None);
        match by {
            By::Qresync => visit.since = Some((known.uid_validity, modseq.max(1))),
            By::Condstore => {
                let fetch = uid_fetch(everything(), flags, Some(modseq.max(1)));
                visit.commands = vec![fetch];
                visit.commands.extend(beyond::uid_searches(has_esearch));
                (all, searches_at) = (Some(UidSet::new()), Some(1));
            }
            By::Listing if has_modseq => {
                visit.commands.extend(beyond::uid_searches(has_esearch));
                (all, searches_at) = (Some(UidSet::new()), Some(0));
            }
            By::Listing | By::Flags => {
                visit.commands = vec![uid_fetch(everything(), flags, None)];
                all = Some(UidSet::new());
            }
        }
        Scan {
            number: known.number,
            by,
            counts,
            visit,
            place: known.place(session),
            all,
            vanished: UidSet::new(),
            hidden: HiddenMessages::default(),
            searches_at,
            reported: UidSet::new(),
            states: Vec::new(),
            flags: BTreeMap::new(),
        }
    }

    fn takes_flags(&self) -> bool {
        self.by == By::Flags || self.by == By::Listing
    }

    fn take(&mut self, command: Option<usize>, response: &Response<'_>) {
        if let Response::Status(status) = response
            && status.code == Some(Code::Closed)
        {
            // Earlier responses were about the previous mailbox (RFC 9051 section 7.1).
            (self.vanished, self.reported) = (UidSet::new(), UidSet::new());
            self.hidden = HiddenMessages::default();
            self.states.clear();
            return;
        }
        if let Some(gone) = vanished_uids(response) {
            self.vanished.add(&gone);
        } else if let Some((uid, fetched)) = fetched(response) {
            let Some(flags) = &fetched.flags else { return };
            if self.hidden.take(uid, flags) {
                return;
            }
            if self.hidden.all.contains(uid) {
                self.hidden = self.hidden.minus(&UidSet::only(uid));
            }
            self.reported.insert(uid);
            if self.takes_flags() {
                self.flags.entry(flags_key(flags)).or_default().insert(uid);
                if let Some(all) = &mut self.all {
                    all.insert(uid);
                }
            }
            if self.states.len() < MAX_CHANGED && self.by != By::Listing {
                self.states.push((uid, message::partial(&self.place, uid, &fetched)));
            }
        } else if let (Some(at), Some(command)) = (self.searches_at, command) {
            self.take_found(command.checked_sub(at), response);
        }
    }

    /// Processes the result of one of `beyond::uid_searches`.
    fn take_found(&mut self, search: Option<usize>, response: &Response<'_>) {
        match (search, &mut self.all) {
            (Some(0), Some(all)) => add_found_uids(response, all),
            (Some(1), _) => add_found_uids(response, &mut self.hidden.all),
            (Some(2), _) => add_found_uids(response, &mut self.hidden.unseen),
            _ => {}
        }
    }

    /// Adds the differences to the cursor and to the page.
    fn settle(self, visited: &VisitResult, cursor: &mut ChangesCursor, page: &mut Page) {
        let planned = planned_uids(cursor, self.number);
        let Some(known) = cursor.folders.iter_mut().find(|known| known.number == self.number) else { return };
        let Some(selected) = visited.selected.as_ref().filter(|_| visited.is_ok()) else {
            known.status = Some(StatusSeen::from(self.counts));
            return;
        };
        let finds_nothing = selected.exists > 0
            && self.hidden.all.is_empty()
            && self.all.as_ref().is_some_and(UidSet::is_empty);
        if selected.uid_validity != self.counts.uid_validity || finds_nothing {
            // The folder was recreated since it was listed, or emptied since it was opened: leave it to the next comparison.
            return;
        }
        let (gone, fresh) = self.differences(&known.uids);
        known.hidden = self.hidden_after(known);
        let untold = UidSet::union([&planned, &known.fresh]);
        let changed = self.changed_flags(known).and(&known.uids).minus(&gone).minus(&untold);
        known.uids = known.uids.minus(&gone);
        known.uids.add(&fresh);
        known.fresh = known.fresh.minus(&gone);
        known.fresh.add(&fresh);
        known.changed = known.changed.minus(&gone);
        let passed = known.passed(&self.counts);
        known.status = Some(StatusSeen::from(self.counts));
        known.modseq = selected.highest_modseq;
        let mut told = UidSet::new();
        for (uid, state) in self.states {
            if changed.contains(uid) && page.states < MAX_CHANGED {
                page.states += 1;
                page.sources.push(state);
                told.insert(uid);
            }
        }
        known.changed = known.changed.minus(&told);
        known.changed.add(&changed.minus(&told));
        known.flags = self.flags;
        let mut gone = gone.minus(&untold);
        gone.add(&passed);
        if !gone.is_empty() {
            let folder = known.id.clone();
            cursor.gone.push(GoneMessages { folder, uid_validity: selected.uid_validity, uids: gone });
        }
    }

    /// Returns the deleted messages, and the new ones.
    fn differences(&self, known: &UidSet) -> (UidSet, UidSet) {
        match &self.all {
            Some(all) => {
                let shown = all.minus(&self.hidden.all);
                (known.minus(&shown), shown.minus(known))
            }
            None => {
                let gone = UidSet::union([&self.vanished, &self.hidden.all]);
                (gone.and(known), self.reported.minus(known))
            }
        }
    }

    /// Returns the messages that are now marked as deleted.
    fn hidden_after(&self, known: &FolderState) -> HiddenMessages {
        let mut hidden = match self.all {
            Some(_) => HiddenMessages::default(),
            None => known.hidden.minus(&UidSet::union([&self.vanished, &self.reported, &self.hidden.all])),
        };
        hidden.add(&self.hidden);
        hidden
    }

    /// Returns the messages whose flags differ, or may differ, from those that were last reported.
    fn changed_flags(&self, known: &FolderState) -> UidSet {
        if self.by != By::Flags || known.flags.is_empty() {
            return if self.by == By::Flags { UidSet::new() } else { self.reported.clone() };
        }
        let mut changed = UidSet::new();
        for (key, uids) in &self.flags {
            let before = known.flags.get(key);
            changed.add(&before.map_or_else(|| uids.clone(), |before| uids.minus(before)));
        }
        changed
    }
}

/// Returns the messages that are still to be read in the initial sync.
fn planned_uids(cursor: &ChangesCursor, number: u32) -> UidSet {
    let parts = cursor.plan.iter().flatten().flat_map(|chunk| &chunk.parts);
    UidSet::union(parts.filter(|(folder, _)| *folder == number).map(|(_, uids)| uids))
}

/// Finds folders whose reported changes do not match the message count, because servers can lose changes, and some UIDs were never
/// reported.
fn find_missed(scans: &[Scan], visited: &[VisitResult], cursor: &ChangesCursor) -> Vec<usize> {
    let is_off = |(scan, visited): (&Scan, &VisitResult)| {
        let (Some(known), Some(selected)) = (cursor.folder(scan.number), &visited.selected) else {
            return false;
        };
        let (gone, fresh) = scan.differences(&known.uids);
        let there = known.uids.len() + fresh.len() - gone.len() + scan.hidden_after(known).all.len();
        scan.by == By::Qresync && there != u64::from(selected.exists)
    };
    let pairs = scans.iter().zip(visited).enumerate();
    pairs.filter(|(_, pair)| is_off(*pair)).map(|(at, _)| at).collect()
}

/// Requests all UIDs of these folders.
fn list_again(session: &mut Session, scans: &mut [Scan], missed: Vec<usize>) -> Outcome<()> {
    if missed.is_empty() {
        return Ok(());
    }
    let names = missed.iter().filter_map(|at| scans.get(*at)).map(|scan| scan.visit.name.clone());
    let searches = beyond::uid_searches(session.capabilities.has_in_rev2("ESEARCH"));
    let visits: Vec<Visit> = names.map(|name| Visit::new(&name, Access::Read, searches.to_vec())).collect();
    let mut found_anew = vec![<[UidSet; 3]>::default(); visits.len()];
    let visited = session.visit(&visits, None, |at, _, command, response| {
        let of_visit = found_anew.get_mut(at);
        if let Some(set) = of_visit.zip(command).and_then(|(sets, command)| sets.get_mut(command)) {
            add_found_uids(response, set);
        }
    })?;
    for ((at, [all, deleted, unseen]), visited) in missed.into_iter().zip(found_anew).zip(&visited) {
        if let Some(scan) = scans.get_mut(at).filter(|_| visited.is_ok()) {
            scan.all = Some(all);
            scan.hidden = HiddenMessages { all: deleted, unseen };
        }
    }
    Ok(())
}
