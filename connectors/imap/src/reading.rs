//! Messages of several mailboxes, read in one round trip.

use connector_sdk::Outcome;
use model::wire::{ItemError, Source};

use crate::imap::capabilities::Capabilities;
use crate::imap::commands::{Items, uid_fetch};
use crate::imap::response::{Response, Status};
use crate::imap::selected::SelectedMailbox;
use crate::imap::session::Session;
use crate::imap::uids::UidSet;
use crate::imap::visit::{Access, Visit, VisitResult, fetched};
use crate::message::{self, MailboxRef};

/// UIDs in one command: servers take lines of 8,192 bytes at least (RFC 7162 section 4).
pub const MAX_SET_BYTES: usize = 7_000;

/// How much is read of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    Full,
    State,
}

/// A message that was read.
#[derive(Clone, Debug)]
pub struct Message {
    /// Seconds since 1970; 0 for a state alone.
    pub at: i64,
    pub uid: u32,
    pub source: Source,
}

/// Messages of one mailbox that are being read.
pub struct MailboxRead {
    pub visit: Visit,
    place: MailboxRef,
    depth: Depth,
    /// The messages that were requested: a server also reports others, whenever their flags change.
    wanted: UidSet,
    read: UidSet,
    messages: Vec<Message>,
    /// The messages that the server has no preview of, though it offers previews.
    without_preview: UidSet,
}

/// The messages that were read.
#[derive(Default)]
pub struct AllRead {
    pub messages: Vec<Message>,
    /// Mailboxes that the server did not open.
    pub unopened: usize,
}

impl MailboxRead {
    /// All that a list shows.
    pub fn full(capabilities: &Capabilities, place: MailboxRef, wanted: UidSet) -> Self {
        MailboxRead::new(message::list_items(capabilities), place, wanted, Depth::Full)
    }

    /// Reads the changeable state of messages.
    pub fn state(capabilities: &Capabilities, place: MailboxRef, wanted: UidSet) -> Self {
        MailboxRead::new(message::state_items(capabilities), place, wanted, Depth::State)
    }

    fn new(items: Items, place: MailboxRef, wanted: UidSet, depth: Depth) -> Self {
        let fetch = |set: UidSet| uid_fetch(&set, items.clone(), None);
        let commands = wanted.pieces(MAX_SET_BYTES).into_iter().map(fetch).collect();
        let visit = Visit::new(&place.name, Access::Read, commands);
        MailboxRead {
            visit,
            place,
            depth,
            wanted,
            read: UidSet::new(),
            messages: Vec::new(),
            without_preview: UidSet::new(),
        }
    }

    /// Takes in a response. What comes of a mailbox with another UIDVALIDITY is about other messages.
    pub fn take(&mut self, selected: &SelectedMailbox, command: Option<usize>, response: &Response<'_>) {
        if command.is_none() || selected.uid_validity != self.place.uid_validity {
            return;
        }
        let Some((uid, fetched)) = fetched(response).filter(|(uid, _)| self.wanted.contains(*uid)) else {
            return;
        };
        match self.depth {
            // A malformed structure hides no message.
            Depth::Full if fetched.header().is_some() && !self.read.contains(uid) => {
                self.read.insert(uid);
                if fetched.preview.is_none() && fetched.section("TEXT").is_none() {
                    self.without_preview.insert(uid);
                }
                let at = fetched.internal_date.unwrap_or(0);
                let source = message::source(&self.place, uid, &fetched, |_, _| {});
                self.messages.push(Message { at, uid, source });
            }
            Depth::State if fetched.flags.is_some() => {
                let source = message::partial(&self.place, uid, &fetched);
                self.messages.push(Message { at: 0, uid, source });
            }
            _ => {}
        }
    }
}

impl MailboxRead {
    /// Reports messages that the server refuses to read: they would never be reported otherwise.
    fn tell_refused(&mut self, visited: &VisitResult) {
        let is_same = visited.selected.as_ref().is_some_and(|s| s.uid_validity == self.place.uid_validity);
        // Messages that have been expunged since are reported as deleted by the next comparison.
        let is_fine = |status: &Status| status.is_ok() || status.has_other("EXPUNGEISSUED");
        if self.depth != Depth::Full || !is_same || visited.statuses.iter().all(is_fine) {
            return;
        }
        for uid in self.wanted.minus(&self.read).iter() {
            let message = "the server does not give the message out".to_owned();
            let error = Some(ItemError { code: "unreadable".into(), message });
            let source = Source { external_id: self.place.message(uid), error, ..Source::default() };
            self.messages.push(Message { at: 0, uid, source });
        }
    }
}

/// Reads them all.
pub fn read(session: &mut Session, mut reads: Vec<MailboxRead>) -> Outcome<AllRead> {
    if reads.is_empty() {
        return Ok(AllRead::default());
    }
    let visits: Vec<Visit> = reads.iter().map(|read| read.visit.clone()).collect();
    let visited = session.visit(&visits, None, |at, selected, command, response| {
        if let Some(read) = reads.get_mut(at) {
            read.take(selected, command, response);
        }
    })?;
    finish(session, reads, &visited)
}

/// Returns the messages that the visits read. Where the server offers previews (RFC 8970) and has none, the messages are read once more
/// for the beginning of their text, and no more previews are requested on this connection.
pub fn finish(session: &mut Session, reads: Vec<MailboxRead>, visited: &[VisitResult]) -> Outcome<AllRead> {
    let mut all = AllRead {
        messages: Vec::new(),
        unopened: visited.iter().filter(|visited| visited.selected.is_none()).count(),
    };
    let mut again = Vec::new();
    let has_previews = session.capabilities.has("PREVIEW");
    if has_previews && reads.iter().any(|read| !read.without_preview.is_empty()) {
        session.capabilities.forget("PREVIEW");
    }
    for (mut read, visited) in reads.into_iter().zip(visited) {
        read.tell_refused(visited);
        if has_previews && !read.without_preview.is_empty() {
            read.messages.retain(|message| !read.without_preview.contains(message.uid));
            again.push(MailboxRead::full(&session.capabilities, read.place, read.without_preview));
        }
        all.messages.extend(read.messages);
    }
    if !again.is_empty() {
        // Ends here: without the capability nothing is without a preview.
        all.messages.extend(self::read(session, again)?.messages);
    }
    Ok(all)
}
