//! A page: messages that are read in full, states of known messages, and messages that are gone; and the answer that reports it.

use connector_sdk::{Answer, Outcome};
use model::Instant;
use model::wire::{Source, Sources};

use crate::changes::cursor::ChangesCursor;
use crate::changes::folders::unreadable;
use crate::imap::session::Session;
use crate::imap::uids::UidSet;
use crate::imap::visit::Visit;
use crate::listing::Listing;
use crate::message::MailboxRef;
use crate::plan::Chunk;
use crate::reading::{self, AllRead, MailboxRead};

/// Deleted messages on a page: they are short.
const MAX_GONE: u64 = 5_000;

/// States on a page.
pub const MAX_CHANGED: usize = 2_000;

/// A page that is being made.
pub struct Page {
    limit: usize,
    names_only: bool,
    pub sources: Vec<Source>,
    /// Messages that were read in full.
    full: usize,
    /// States that were reported.
    pub states: usize,
}

impl Page {
    /// An empty page for about `limit` messages.
    pub fn new(limit: usize, names_only: bool) -> Self {
        Page { limit, names_only, sources: Vec::new(), full: 0, states: 0 }
    }

    /// Messages that fit.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the reads for these messages; none where names are enough, which are added at once.
    pub fn reads(
        &mut self,
        session: &Session,
        cursor: &ChangesCursor,
        parts: Vec<(u32, UidSet)>,
    ) -> Vec<MailboxRead> {
        let mut reads = Vec::new();
        for (number, uids) in parts {
            let Some(known) = cursor.folder(number) else { continue };
            // Since the plan was made some may have gone.
            let uids = uids.and(&known.uids);
            self.full += usize::try_from(uids.len()).unwrap_or(usize::MAX);
            if self.names_only {
                let place = known.place(session);
                let named = |uid| Source { external_id: place.message(uid), ..Source::default() };
                self.sources.extend(uids.iter().map(named));
            } else if !uids.is_empty() {
                reads.push(MailboxRead::full(&session.capabilities, known.place(session), uids));
            }
        }
        reads
    }

    /// Reports the pending changes of the cursor: deletions first, then new messages, then states.
    pub fn pending(&mut self, session: &mut Session, cursor: &mut ChangesCursor) -> Outcome<()> {
        self.add_deleted(cursor);
        let mut parts = Vec::new();
        for known in &mut cursor.folders {
            let room = self.limit.saturating_sub(self.full + parts_len(&parts));
            let fresh = known.fresh.take_last(room as u64);
            if !fresh.is_empty() {
                parts.push((known.number, fresh));
            }
        }
        let mut reads = self.reads(session, cursor, parts);
        for known in &mut cursor.folders {
            let room = MAX_CHANGED.saturating_sub(self.states);
            let changed = known.changed.take_last(room as u64);
            if !changed.is_empty() {
                self.states += usize::try_from(changed.len()).unwrap_or(usize::MAX);
                reads.push(MailboxRead::state(&session.capabilities, known.place(session), changed));
            }
        }
        let read = reading::read(session, reads)?;
        self.take(session, read);
        Ok(())
    }

    /// Adds the messages that were read.
    pub fn take(&mut self, session: &Session, read: AllRead) {
        self.sources.extend(read.messages.into_iter().map(|message| message.source));
        unreadable(session, read.unopened);
    }

    fn add_deleted(&mut self, cursor: &mut ChangesCursor) {
        let mut room = MAX_GONE;
        for gone in &mut cursor.gone {
            let place = MailboxRef::new("", &gone.folder, gone.uid_validity);
            let uids = gone.uids.take_last(room);
            room -= uids.len();
            self.sources.extend(uids.iter().map(|uid| place.deleted_source(uid)));
        }
        cursor.gone.retain(|gone| !gone.uids.is_empty());
        if cursor.gone.is_empty() {
            let folders = cursor.gone_folders.drain(..);
            let deleted = folders.map(|id| Source { external_id: id, deleted: true, ..Source::default() });
            self.sources.extend(deleted);
        }
    }
}

/// Reads the chunk, and in the same round trip the list of the mailboxes.
pub fn read_chunk(
    session: &mut Session,
    cursor: &ChangesCursor,
    chunk: Option<Chunk>,
    mut listing: Option<&mut Listing>,
    page: &mut Page,
) -> Outcome<()> {
    let mut reads = page.reads(session, cursor, chunk.map(|chunk| chunk.parts).unwrap_or_default());
    let leading = usize::from(listing.is_some());
    let outside = listing.iter().map(|listing| Visit::outside(listing.commands.clone()));
    let visits: Vec<Visit> = outside.chain(reads.iter().map(|read| read.visit.clone())).collect();
    let visited = session.visit(&visits, None, |at, selected, command, response| {
        if at < leading {
            if let Some(listing) = listing.as_deref_mut() {
                listing.take(response);
            }
        } else if let Some(read) = reads.get_mut(at - leading) {
            read.take(selected, command, response);
        }
    })?;
    if let (Some(listing), Some(listed)) = (listing, visited.first())
        && let Some(failure) = listing.refusal(&listed.statuses)
    {
        return Err(failure);
    }
    let read = reading::finish(session, reads, visited.get(leading..).unwrap_or_default())?;
    page.take(session, read);
    Ok(())
}

/// Ends the call: the sources, and the cursor with the rest.
pub fn answer(
    mut cursor: ChangesCursor,
    sources: Vec<Source>,
    is_first_reading: bool,
    since: Option<i64>,
) -> Outcome<Answer<Sources>> {
    let more = cursor.has_pending() || cursor.plan.as_ref().is_some_and(|plan| !plan.is_empty());
    if !more {
        cursor.plan = None;
    }
    let covered_since = since.map(|seconds| Instant::from_millis(seconds.saturating_mul(1000)));
    let body = Sources { sources, enumeration: is_first_reading, covered_since, ..Sources::default() };
    Ok(Answer { body, cursor: Some(cursor.to_text()?), more })
}

fn parts_len(parts: &[(u32, UidSet)]) -> usize {
    parts.iter().map(|(_, uids)| usize::try_from(uids.len()).unwrap_or(usize::MAX)).sum()
}
