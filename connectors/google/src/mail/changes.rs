//! Changes of a mailbox: the initial sync, newest message first, and the history since it began.
//!
//! A call requests a page of the history, the labels and a page of messages at once, and then reads the messages in batches. Messages that
//! cannot be read at the moment stay in the cursor: a failure is never reported as a deletion.

use std::collections::HashSet;

use connector_sdk::http::Response;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::Instant;
use model::wire::{ChangesRequest, Source, Sources};

use crate::api::{accepted, object};
use crate::fields;
use crate::mail::cursor::{Listing, MailCursor};
use crate::mail::draft_index::DraftIndex;
use crate::mail::fetch::{FetchedMessage, SYNC_PARTS, fetch};
use crate::mail::first::{self, CONCURRENT, history_id};
use crate::mail::history::{self, LabelledMessage};
use crate::mail::labels::{DRAFT, LabelSet, folder_sources};
use crate::mail::message::{MessageMapping, bare_source, deleted_source, partial, unreadable};
use crate::mail::native::{HistoryPage, Message};

/// The number of messages in a page of the initial sync, and of a delta.
const PAGE_SIZE: usize = 50;
/// The minimum time in milliseconds between two initial syncs: a mailbox that keeps losing its history would be read forever.
const MIN_READING_INTERVAL_MS: i64 = 6 * 3_600_000;
/// The minimum time in milliseconds between two searches for new mail without the history.
const LOOK_INTERVAL_MS: i64 = 60_000;
/// The time in milliseconds by which two searches for new mail overlap.
const LOOK_OVERLAP_MS: i64 = 600_000;
/// The prefix of the ids of a user's labels.
const USER_LABEL: &str = "Label_";

/// Returns the next page of the mailbox, or of its changes. Fails with `cursor-expired` if the provider no longer has the history, or if
/// the cursor is from another version.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let asked = usize::try_from(args.limit).unwrap_or(PAGE_SIZE);
    let limit = if asked == 0 { PAGE_SIZE } else { asked.min(PAGE_SIZE) };
    let mut turn = match &context.cursor {
        None => {
            let reading = first::begin(context)?;
            let mut turn = Turn::new(context, args, limit, reading.cursor);
            turn.take_labels(&reading.labels);
            turn.ask(false)?;
            turn
        }
        Some(text) => {
            let mut turn = Turn::new(context, args, limit, MailCursor::read(text)?);
            turn.ask(true)?;
            turn
        }
    };
    turn.read()?;
    turn.finish()
}

/// The state of one call.
struct Turn<'a> {
    context: &'a Context<'a>,
    /// Whether messages are reported by their ids alone.
    is_by_name: bool,
    limit: usize,
    cursor: MailCursor,
    /// Whether the call is part of an initial sync.
    is_enumeration: bool,
    /// Whether the call begins a delta, and so retries messages that were not found.
    is_delta_start: bool,
    /// Whether there is another page, even if the cursor has none.
    has_more: bool,
    covered_since: Option<Instant>,
    /// The folders and labels, which are reported before the messages in them.
    before: Vec<Source>,
    whole: Vec<Source>,
    relabelled: Vec<LabelledMessage>,
    /// The deleted labels, which are reported last.
    after: Vec<Source>,
}

/// The reason why a message is read.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    History,
    Waiting,
    Listing,
}

/// A message to read.
struct MessageToRead {
    id: String,
    origin: Origin,
}

impl<'a> Turn<'a> {
    fn new(context: &'a Context<'a>, args: &ChangesRequest, limit: usize, cursor: MailCursor) -> Turn<'a> {
        Turn {
            context,
            is_by_name: args.names_only,
            limit,
            is_enumeration: cursor.listing.is_some(),
            cursor,
            is_delta_start: false,
            has_more: false,
            covered_since: None,
            before: Vec::new(),
            whole: Vec::new(),
            relabelled: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Requests the next page of the history with the labels, unless known changes are still to be reported, and the next page of the
    /// listing, unless listed messages are still to be read.
    fn ask(&mut self, has_begun: bool) -> Outcome<()> {
        let has_history = has_begun && !self.cursor.is_history_lost && !self.cursor.has_pending();
        let has_labels = has_history && self.cursor.page.is_none();
        let is_listed = |listing: &&Listing| listing.ids.is_empty() && listing.next.is_some();
        let listing = self.cursor.listing.as_ref().filter(is_listed);
        let mut requests = Vec::new();
        if has_history {
            requests.push(history::request(&self.cursor)?);
        }
        if has_labels {
            requests.push(first::labels_request()?);
        }
        let has_page = listing.is_some();
        if let Some(listing) = listing {
            requests.push(first::request(listing, self.limit, None)?);
        }
        if requests.is_empty() {
            return Ok(());
        }
        let mut responses = self.context.send_many(requests, CONCURRENT).into_iter();
        let mut next =
            || responses.next().unwrap_or_else(|| Err(Failure::unavailable("an answer is missing")));
        let history = has_history.then(&mut next).transpose()?;
        let labels = has_labels.then(&mut next).transpose()?;
        let page = has_page.then(&mut next).transpose()?;
        if let Some(response) = labels {
            let labels = first::read_labels(self.context, response)?;
            self.take_labels(&labels);
        }
        if let (Some(response), Some(listing)) = (page, self.cursor.listing.as_mut()) {
            first::take_page(self.context, listing, response)?;
        }
        match history {
            Some(response) => self.take_history(response),
            None => Ok(()),
        }
    }

    /// Reports the labels if they have changed since the last report; the first time also the folders.
    fn take_labels(&mut self, labels: &LabelSet) {
        let digest = labels.digest();
        if self.is_by_name || digest == self.cursor.label_digest {
            return;
        }
        if self.cursor.label_digest.is_empty() {
            self.before = folder_sources();
        }
        let ids = labels.ids();
        let known: HashSet<&String> = ids.iter().collect();
        self.after
            .extend(self.cursor.labels.iter().filter(|id| !known.contains(id)).map(|id| deleted_source(id)));
        // The labels may have been listed twice in this call.
        self.before.retain(|source| !known.contains(&source.external_id));
        self.before.extend(labels.sources.iter().cloned());
        drop(known);
        self.cursor.labels = ids;
        self.cursor.label_digest = digest;
    }

    fn take_history(&mut self, response: Response) -> Outcome<()> {
        let response = history::shorten(self.context, &self.cursor, response)?;
        let response = match accepted(self.context, response, "reading the history of the mailbox") {
            Err(failure) if history::is_lost(&failure) => return self.lose_history(),
            // A 404 from a front end says nothing about the mailbox.
            Err(failure) if failure.code == code::NOT_FOUND => {
                return Err(failure.with_code(code::UNAVAILABLE));
            }
            response => response?,
        };
        let page: HistoryPage = object(&response)?;
        self.is_delta_start = self.cursor.page.is_none() && self.cursor.listing.is_none();
        let delta = history::fold(&page.history);
        for id in &delta.deleted {
            self.cursor.settle(id);
        }
        if let Some(listing) = &mut self.cursor.listing {
            let told: HashSet<&String> = delta.deleted.iter().chain(&delta.added).collect();
            listing.ids.retain(|id| !told.contains(id));
        }
        self.cursor.page = page.next_page_token.filter(|token| !token.is_empty());
        if self.cursor.page.is_none() {
            // The history id of later pages is not older than the first one.
            self.cursor.history = history_id(page.history_id.as_deref())?.max(self.cursor.history);
        }
        self.cursor.looked_at = None;
        self.cursor.added = delta.added;
        self.cursor.gone = delta.deleted;
        self.relabelled = delta.relabelled;
        Ok(())
    }

    /// Continues without the history. An initial sync is completed. Otherwise the mailbox is synced again, but not twice within
    /// `MIN_READING_INTERVAL_MS`: until then the call searches for new mail, and the next call fails, so that the host retries later and
    /// shows the reason.
    fn lose_history(&mut self) -> Outcome<()> {
        let now = self.context.now_ms();
        if self.cursor.listing.is_some() {
            self.cursor.is_history_lost = true;
            self.cursor.page = None;
            // The first search for new mail after the sync starts from this time.
            self.cursor.looked_at = Some(now.saturating_sub(LOOK_INTERVAL_MS));
            return Ok(());
        }
        let is_within =
            |since: Option<i64>, ms: i64| since.is_some_and(|since| now.saturating_sub(since) < ms);
        if !is_within(self.cursor.full_at, MIN_READING_INTERVAL_MS) {
            return Err(Failure::new(code::CURSOR_EXPIRED, "the provider no longer knows the cursor"));
        }
        if is_within(self.cursor.looked_at, LOOK_INTERVAL_MS) {
            let message =
                "the provider lost the history of the mailbox again: changes are read in some hours";
            return Err(Failure::unavailable(message));
        }
        let since = self.cursor.looked_at.or(self.cursor.full_at).unwrap_or(now);
        let mut found = Listing::default();
        let request = first::request(&found, self.limit, Some(since.saturating_sub(LOOK_OVERLAP_MS)))?;
        let response = self.context.send(request)?;
        first::take_page(self.context, &mut found, response)?;
        self.cursor.added = found.ids;
        self.cursor.looked_at = Some(now);
        self.has_more = true;
        Ok(())
    }

    /// Removes the messages that this call reads from the cursor: those of the history, those to retry, and a part of the listing.
    fn messages_to_read(&mut self) -> Vec<MessageToRead> {
        let room = if self.is_enumeration { SYNC_PARTS } else { PAGE_SIZE };
        let room = room.min(self.limit).min(self.cursor.added.len());
        let added: Vec<String> = self.cursor.added.drain(..room).collect();
        let waiting = self.cursor.waiting.iter().map(|waiting| waiting.id.clone());
        let waiting: Vec<String> = waiting.filter(|_| self.is_delta_start && !self.is_by_name).collect();
        let listed: Vec<String> = match &mut self.cursor.listing {
            Some(listing) => listing.ids.drain(..self.limit.min(listing.ids.len())).collect(),
            None => Vec::new(),
        };
        let mut seen = HashSet::new();
        let mut wanted = Vec::new();
        for (ids, origin) in [(added, Origin::History), (waiting, Origin::Waiting), (listed, Origin::Listing)]
        {
            let ids = ids.into_iter().filter(|id| seen.insert(id.clone()));
            wanted.extend(ids.map(|id| MessageToRead { id, origin }));
        }
        wanted
    }

    /// Reads the messages of this call.
    fn read(&mut self) -> Outcome<()> {
        let wanted = self.messages_to_read();
        if self.is_by_name {
            self.whole = wanted.iter().map(|message| bare_source(&message.id)).collect();
            if let Some(listing) = self.cursor.listing.as_mut().filter(|listing| listing.ids.is_empty()) {
                // The times of missing messages are unknown, so from here on it is unknown how far back the initial sync is complete.
                listing.is_unordered |= !wanted.is_empty();
            }
            return Ok(());
        }
        let ids: Vec<String> = wanted.iter().map(|message| message.id.clone()).collect();
        let fetched = fetch(self.context, &ids, &fields::message(false), SYNC_PARTS)?;
        let missing: HashSet<String> = fetched.missing.into_iter().collect();
        self.put_back(&wanted, &missing);
        let listed: HashSet<&str> = wanted
            .iter()
            .filter(|message| message.origin == Origin::Listing)
            .map(|message| message.id.as_str())
            .collect();
        let mut messages = Vec::new();
        let mut before = None;
        for (id, message) in fetched.messages {
            match message {
                FetchedMessage::There(message) => {
                    if let (true, Some(at), Some(listing)) =
                        (listed.contains(id.as_str()), message.received_ms(), self.cursor.listing.as_mut())
                    {
                        listing.note_time(at, before.replace(at));
                    }
                    self.cursor.settle(&id);
                    messages.push(*message);
                }
                FetchedMessage::Gone => self.cursor.note_not_found(&id, self.context.now_ms()),
                FetchedMessage::Unreadable | FetchedMessage::Failed(_) => {
                    self.cursor.settle(&id);
                    self.whole.push(unreadable(&id));
                }
            }
        }
        self.tell(&messages)?;
        if let Some(listing) = self.cursor.listing.as_mut().filter(|listing| listing.ids.is_empty()) {
            self.covered_since = listing.end_page().map(Instant::from_millis);
        }
        Ok(())
    }

    /// Returns the missing messages to the cursor.
    fn put_back(&mut self, wanted: &[MessageToRead], missing: &HashSet<String>) {
        let from = |origin: Origin| -> Vec<String> {
            let of_origin = wanted.iter().filter(|message| message.origin == origin);
            of_origin.map(|message| message.id.clone()).filter(|id| missing.contains(id)).collect()
        };
        let mut added = from(Origin::History);
        added.append(&mut self.cursor.added);
        self.cursor.added = added;
        if let Some(listing) = &mut self.cursor.listing {
            let mut ids = from(Origin::Listing);
            ids.append(&mut listing.ids);
            listing.ids = ids;
        }
    }

    /// Reports the messages, with the draft ids of drafts, and labels that were created since the labels were listed.
    fn tell(&mut self, messages: &[Message]) -> Outcome<()> {
        let has_drafts = messages.iter().any(|message| message.has_label(DRAFT));
        let drafts = if has_drafts { DraftIndex::load(self.context)? } else { DraftIndex::default() };
        if self.has_new_labels(messages) {
            let response = self.context.send(first::labels_request()?)?;
            let labels = first::read_labels(self.context, response)?;
            self.take_labels(&labels);
        }
        let mapping = MessageMapping { drafts: &drafts, now_ms: self.context.now_ms() };
        self.whole.extend(messages.iter().map(|message| mapping.source(message)));
        Ok(())
    }

    /// Whether the messages have user labels that have not been reported.
    fn has_new_labels(&self, messages: &[Message]) -> bool {
        let known: HashSet<&String> = self.cursor.labels.iter().collect();
        let of_changed = self.relabelled.iter().flat_map(|message| &message.labels);
        let mut labels = messages.iter().flat_map(Message::labels).chain(of_changed);
        labels.any(|id| id.starts_with(USER_LABEL) && !known.contains(id))
    }

    /// The messages of which only the labels are reported, because they were not read in full.
    fn relabelled_sources(&self) -> Vec<Source> {
        let read: HashSet<&str> = self.whole.iter().map(|source| source.external_id.as_str()).collect();
        let source = |message: &LabelledMessage| match self.is_by_name {
            true => bare_source(&message.id),
            false => partial(&message.id, message.etag.as_deref(), &message.labels),
        };
        let short = self.relabelled.iter().filter(|message| !read.contains(message.id.as_str()));
        short.map(source).collect()
    }

    /// Returns the sources of the call, and the cursor with the remaining work.
    fn finish(mut self) -> Outcome<Answer<Sources>> {
        let short = self.relabelled_sources();
        let mut deleted: Vec<Source> = Vec::new();
        if self.cursor.added.is_empty() {
            deleted.extend(self.cursor.gone.drain(..).map(|id| deleted_source(&id)));
        }
        let is_told = !self.cursor.has_pending() && self.cursor.page.is_none();
        if is_told && self.cursor.listing.as_ref().is_some_and(Listing::is_over) {
            self.cursor.listing = None;
            self.cursor.full_at = Some(self.context.now_ms());
            self.cursor.is_history_lost = false;
        }
        let more = self.has_more
            || self.cursor.listing.is_some()
            || self.cursor.page.is_some()
            || self.cursor.has_pending();
        let sources = [self.before, self.whole, short, deleted, self.after];
        let body = Sources {
            sources: sources.into_iter().flatten().collect(),
            enumeration: self.is_enumeration,
            covered_since: self.covered_since.filter(|_| self.is_enumeration),
            ..Sources::default()
        };
        Ok(Answer { body, cursor: Some(self.cursor.write()?), more })
    }
}
