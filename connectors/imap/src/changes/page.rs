//! A page: messages that are read in full, states of known messages, and messages that are gone.

use connector_sdk::Outcome;
use model::wire::Source;

use crate::changes::cursor::Cursor;
use crate::changes::unreadable;
use crate::imap::session::Session;
use crate::imap::uids::UidSet;
use crate::message::Place;
use crate::reading::{self, AllRead, Read};

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
    /// States that were told.
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

    /// What to read for these messages; nothing where names are enough, which are told at once.
    pub fn reads(&mut self, session: &Session, cursor: &Cursor, parts: Vec<(u32, UidSet)>) -> Vec<Read> {
        let mut reads = Vec::new();
        for (number, uids) in parts {
            let Some(known) = cursor.folder(number) else { continue };
            // Since the plan was made some may have gone.
            let uids = uids.and(&known.uids);
            self.full += usize::try_from(uids.len()).unwrap_or(usize::MAX);
            if self.names_only {
                let place = known.place();
                let named = |uid| Source { external_id: place.message(uid), ..Source::default() };
                self.sources.extend(uids.iter().map(named));
            } else if !uids.is_empty() {
                reads.push(Read::full(&session.capabilities, known.place(), uids));
            }
        }
        reads
    }

    /// Tells what the cursor has in store: what is gone first, then new messages, then states.
    pub fn pending(&mut self, session: &mut Session, cursor: &mut Cursor) -> Outcome<()> {
        self.gone(cursor);
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
                reads.push(Read::state(&session.capabilities, known.place(), changed));
            }
        }
        let read = reading::read(session, reads)?;
        self.take(session, read);
        Ok(())
    }

    /// Takes what was read.
    pub fn take(&mut self, session: &Session, read: AllRead) {
        self.sources.extend(read.messages.into_iter().map(|message| message.source));
        unreadable(session, read.unopened);
    }

    fn gone(&mut self, cursor: &mut Cursor) {
        let mut room = MAX_GONE;
        for gone in &mut cursor.gone {
            let place = Place::new("", &gone.folder, gone.uid_validity);
            let uids = gone.uids.take_last(room);
            room -= uids.len();
            self.sources.extend(uids.iter().map(|uid| place.gone(uid)));
        }
        cursor.gone.retain(|gone| !gone.uids.is_empty());
        if cursor.gone.is_empty() {
            let folders = cursor.gone_folders.drain(..);
            let deleted = folders.map(|id| Source { external_id: id, deleted: true, ..Source::default() });
            self.sources.extend(deleted);
        }
    }
}

fn parts_len(parts: &[(u32, UidSet)]) -> usize {
    parts.iter().map(|(_, uids)| usize::try_from(uids.len()).unwrap_or(usize::MAX)).sum()
}
