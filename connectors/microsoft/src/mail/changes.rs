//! The changes of a mailbox: folders, categories and messages, in the initial sync and after it.

use std::collections::HashSet;

use connector_sdk::http::Response;
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::Instant;
use model::wire::{ChangesRequest, Source, Sources};
use serde_json::value::RawValue;

use crate::api::{accepted, object};
use crate::mail::collection::{MessageCollection, ReadMessage, created_ms};
use crate::mail::cursor::{FeedPosition, FolderPosition, MailCursor};
use crate::mail::delta::{self, PageFailure, fold};
use crate::mail::destroyed::list_destroyed;
use crate::mail::files::read_files;
use crate::mail::first::{FolderChoice, choose};
use crate::mail::folders::{self, TreeChange};
use crate::mail::message::{bare_source, deleted_source, received_at, unreadable};
use crate::mail::native::CategoryEntry;
use crate::mail::verify::{KnownFolders, verify};
use crate::mail::{access, categories};
use crate::odata::page::Page;
use crate::odata::{batch, failures};

const DOING: &str = "reading the changes of the mailbox";
/// The names of batch parts that are not folders. Folder ids have no such characters.
const TREE: &str = "*tree";
const CATEGORIES: &str = "*categories";
/// The time in milliseconds by which a new message can be older than the previous round, because clocks differ.
const NEW_TOLERANCE_MS: i64 = 60_000;
/// The time in milliseconds since the start of a round within which an initial sync may end without another round.
const SETTLED_MS: i64 = 5_000;
/// The time in milliseconds between two rounds after which an expired token makes the cursor of the whole mailbox expire.
const MAX_GAP_MS: i64 = 3_600_000;
/// The number of messages after which a call reads no more folders, to bound its answer and memory.
const MAX_MESSAGES: usize = 1_000;
/// The maximum number of messages that one call looks up: ten batches.
const MAX_VERIFIED: usize = 200;
/// The maximum number of unlisted categories in the cursor. One that is not in the cursor is reported again.
const MAX_UNLISTED: usize = 200;

/// Returns the changes since the cursor; without a cursor, all messages, newest first.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    access::ensure_readable(context)?;
    let mut turn = match context.cursor.as_deref() {
        None => Turn::begin(context, args)?,
        Some(text) => Turn::new(context, args, MailCursor::read(text)?),
    };
    if turn.cursor.is_incomplete {
        return Err(Failure::new(code::CURSOR_EXPIRED, "a folder is gone, and its messages are unknown"));
    }
    turn.read()?;
    turn.finish()
}

/// The state of one call.
struct Turn<'a> {
    context: &'a Context<'a>,
    args: &'a ChangesRequest,
    cursor: MailCursor,
    /// Whether the call is part of an initial sync.
    is_enumeration: bool,
    has_more: bool,
    /// The folders and labels, which are reported before the messages in them.
    places: Vec<Source>,
    messages: MessageCollection,
    odd: Vec<String>,
    /// The ids of messages that a folder reports as removed.
    removed: Vec<String>,
    /// The deleted labels, folders and messages, and the messages that were looked up.
    gone: Vec<Source>,
    /// The start of the previous round.
    polled_at: i64,
    /// Whether all folders were read.
    is_round: bool,
    /// Whether the changes of the folder tree were read.
    has_tree: bool,
    /// Whether at least one page of a folder was read.
    has_page: bool,
    /// The failure of a folder that could not be read.
    failure: Option<Failure>,
}

impl<'a> Turn<'a> {
    fn new(context: &'a Context<'a>, args: &'a ChangesRequest, mut cursor: MailCursor) -> Turn<'a> {
        Turn {
            context,
            args,
            is_enumeration: cursor.is_first,
            has_more: false,
            places: Vec::new(),
            messages: MessageCollection::default(),
            odd: Vec::new(),
            removed: std::mem::take(&mut cursor.doubtful),
            gone: Vec::new(),
            polled_at: cursor.polled_at,
            is_round: false,
            has_tree: false,
            has_page: false,
            failure: None,
            cursor,
        }
    }

    /// Begins an initial sync: reads the folders, their roles and the categories in one batch.
    fn begin(context: &'a Context<'a>, args: &'a ChangesRequest) -> Outcome<Turn<'a>> {
        let cursor = MailCursor { is_first: true, polled_at: context.now_ms(), ..MailCursor::default() };
        let mut turn = Turn::new(context, args, cursor);
        let mut parts =
            vec![Part::new(TREE, folders::request(None)?), Part::new(CATEGORIES, categories::request()?)];
        parts.extend(folders::role_parts()?);
        let outcome = batch::read(context, parts, batch::MAX_PARTS, DOING)?;
        let roles = folders::read_roles(context, &outcome.parts)?;
        for (name, answer) in outcome.parts {
            match (name.as_str(), answer) {
                (TREE, PartOutcome::Answered(response)) => {
                    let change = folders::read(context, None, response)?;
                    folders::take(&mut turn.cursor, &change.entries, true);
                    turn.cursor.tree = change.position;
                }
                (TREE, PartOutcome::Missing) => {
                    return Err(Failure::unavailable("the provider does not list the folders"));
                }
                (CATEGORIES, PartOutcome::Answered(response)) => turn.take_categories(&response)?,
                _ => {}
            }
        }
        turn.has_tree = true;
        folders::take_roles(&mut turn.cursor, &roles);
        turn.places.extend(folders::sources(&turn.cursor));
        Ok(turn)
    }

    /// Reads the next pages of the folders that are due; at the start of a round, also the folder tree and the categories.
    fn read(&mut self) -> Outcome<()> {
        let now = self.context.now_ms();
        // A backlog of messages to look up comes first.
        let choice = match self.removed.len() > MAX_VERIFIED {
            true => FolderChoice::default(),
            false => choose(&self.cursor, self.args.limit, now),
        };
        let mut parts = Vec::new();
        if choice.is_round && self.context.cursor.is_some() {
            parts.push(Part::new(TREE, folders::request(self.cursor.tree.as_ref())?));
            parts.push(Part::new(CATEGORIES, categories::request()?));
        }
        for id in &choice.ids {
            if let Some(folder) = self.cursor.folder(id) {
                parts.push(Part::new(id.as_str(), delta::request(folder, choice.page_size)?));
            }
        }
        for (number, some) in parts.chunks(batch::MAX_PARTS).enumerate() {
            if self.messages.count() >= MAX_MESSAGES || !self.read_some(some, number == 0)? {
                self.has_more = true;
                break;
            }
        }
        if let Some(failure) = self.failure.take().filter(|_| !self.has_page) {
            return Err(failure);
        }
        if choice.is_round {
            self.cursor.polled_at = now;
            self.is_round = true;
        }
        if self.args.names_only {
            return Ok(());
        }
        self.complete()?;
        self.add_unknown_categories();
        Ok(())
    }

    /// Reads some of the parts in one batch. Returns false if the provider asks for a wait before the rest.
    fn read_some(&mut self, parts: &[Part], is_begin: bool) -> Outcome<bool> {
        let outcome = match batch::read(self.context, parts.to_vec(), batch::MAX_PARTS, DOING) {
            Err(failure) if !is_begin && failures::is_passing(&failure) => {
                batch::note_wait(self.context, &failure);
                return Ok(false);
            }
            answered => answered?,
        };
        for (name, answer) in outcome.parts {
            if let PartOutcome::Answered(response) = answer {
                self.take_answer(&name, response)?;
            }
        }
        Ok(outcome.wait.is_none())
    }

    fn take_answer(&mut self, name: &str, response: Response) -> Outcome<()> {
        match name {
            TREE => self.take_tree(response),
            CATEGORIES => self.take_categories(&response),
            id => self.take_page(id, &response),
        }
    }

    fn take_tree(&mut self, response: Response) -> Outcome<()> {
        let at = self.cursor.tree.clone();
        let change = folders::read(self.context, at.as_ref(), response)?;
        let (change, is_list) = match change.position {
            Some(_) => (change, at.is_none()),
            // The delta token of the folder tree has expired.
            None => (folders::list(self.context)?, true),
        };
        let TreeChange { entries, position } = change;
        let effect = folders::take(&mut self.cursor, &entries, is_list);
        self.cursor.tree = position;
        self.has_tree = true;
        self.places.extend(effect.changed);
        self.gone.extend(effect.gone);
        self.has_more |= self.cursor.is_incomplete;
        if effect.has_new {
            let roles = folders::find_roles(self.context)?;
            let changed = folders::take_roles(&mut self.cursor, &roles);
            let told: HashSet<String> = changed.iter().map(|source| source.external_id.clone()).collect();
            self.places.retain(|source| !told.contains(&source.external_id));
            self.places.extend(changed);
            self.has_more = true;
        }
        Ok(())
    }

    /// Processes the list of categories, which the account may not be allowed to read.
    fn take_categories(&mut self, response: &Response) -> Outcome<()> {
        let list: Page<CategoryEntry> = match accepted(self.context, response.clone(), DOING) {
            Ok(response) => object(&response)?,
            Err(failure) if failure.code == code::AUTH_EXPIRED => return Err(failure),
            Err(_) => return Ok(()),
        };
        let list: Vec<CategoryEntry> =
            list.value.into_iter().filter(|entry| !entry.display_name.is_empty()).collect();
        let digest = categories::digest(&list);
        if self.args.names_only || digest == self.cursor.category_digest {
            return Ok(());
        }
        let is_listed = |name: &String| list.iter().any(|entry| entry.display_name == *name);
        let lost = self.cursor.categories.iter().filter(|name| !is_listed(name));
        self.gone.extend(lost.map(|name| deleted_source(&categories::label_id(name))));
        let labels = list.iter().map(|entry| categories::source(&entry.display_name, entry.color.as_deref()));
        self.places.extend(labels);
        self.cursor.categories = list.into_iter().map(|entry| entry.display_name).collect();
        self.cursor.category_digest = digest;
        Ok(())
    }

    /// Processes a page of a folder, and stores the next position.
    fn take_page(&mut self, id: &str, response: &Response) -> Outcome<()> {
        if !response.is_success() || response.truncated {
            return self.take_refusal(id, response);
        }
        let page = object::<Page<Box<RawValue>>>(response);
        let (position, folded) = match page.and_then(|page| Ok((page.position()?, fold(&page.value)))) {
            Ok((position, folded)) => (FeedPosition::from(position), folded),
            // A malformed page does not stop the other folders.
            Err(failure) => {
                self.failure.get_or_insert(failure);
                return Ok(());
            }
        };
        let polled_at = self.polled_at;
        let is_initial = self.is_enumeration;
        let Some(folder) = self.cursor.folder_mut(id) else { return Ok(()) };
        let times: Vec<i64> =
            folded.messages.iter().filter_map(received_at).map(Instant::as_millis).collect();
        if folder.is_first {
            let newest = times.iter().max();
            folder.is_unordered |=
                newest.zip(folder.oldest.as_ref()).is_some_and(|(newest, oldest)| newest > oldest);
            folder.oldest = times.iter().copied().chain(folder.oldest).min().or(folder.oldest);
        }
        folder.is_first &= position.has_more();
        if !position.has_more() {
            folder.halvings = 0;
        }
        self.has_more |= position.has_more();
        self.has_page = true;
        if folder.total == Some(0) && !folded.messages.is_empty() {
            // The delta of the folder tree may be behind, or lack counts.
            folder.total = None;
        }
        folder.at = Some(position);
        for message in folded.messages {
            let is_new = created_ms(&message) >= polled_at.saturating_sub(NEW_TOLERANCE_MS);
            let is_whole = message.is_whole() && (is_initial || is_new || message.is_draft == Some(true));
            self.messages.add(ReadMessage { message, folder: id.to_owned(), is_whole });
        }
        self.removed.extend(folded.removed);
        self.odd.extend(folded.odd);
        Ok(())
    }

    /// Processes the refusal of a page. A folder that cannot be read now does not stop the others.
    fn take_refusal(&mut self, id: &str, response: &Response) -> Outcome<()> {
        let failure = delta::read_failure(self.context, response, DOING);
        let since = self.context.now_ms().saturating_sub(self.polled_at);
        let is_gap = !self.is_enumeration && since > MAX_GAP_MS;
        let Some(folder) = self.cursor.folder_mut(id) else { return Ok(()) };
        let was_read = !folder.is_first;
        let reaction = delta::react(folder, failure, is_gap);
        let is_begun_again = was_read && folder.is_first;
        self.cursor.has_lost_changes |= is_begun_again;
        match reaction {
            PageFailure::Again => {
                self.has_page = true;
                self.has_more = true;
            }
            PageFailure::FolderGone => self.has_page = true,
            PageFailure::FolderLeft(failure) => _ = self.failure.get_or_insert(failure),
            PageFailure::Fatal(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Reads attachments that the pages lacked, and looks up messages that folders reported as removed.
    fn complete(&mut self) -> Outcome<()> {
        for (id, message) in read_files(self.context, &self.messages.without_files())? {
            if let Some(read) = self.messages.get_mut(&id) {
                read.message.attachments = message.attachments;
            }
        }
        // A message that another folder lists has moved there.
        let open = self.removed.iter().filter(|id| !self.messages.has(id)).chain(&self.messages.doubtful);
        let mut seen = HashSet::new();
        let mut ids: Vec<String> = open.filter(|id| seen.insert(id.as_str())).cloned().collect();
        let later = ids.split_off(ids.len().min(MAX_VERIFIED));
        let is_known = |folder: &str| self.cursor.folder(folder).is_some();
        let folders = KnownFolders { is_known: &is_known, is_fresh: self.has_tree };
        let verified = verify(self.context, &ids, &folders)?;
        self.gone.extend(verified.sources);
        self.has_more |= !later.is_empty();
        self.cursor.doubtful = later.into_iter().chain(verified.left).collect();
        self.add_destroyed()
    }

    /// Reports messages that were deleted while changes were lost, once the folders have been read again.
    fn add_destroyed(&mut self) -> Outcome<()> {
        if !self.cursor.has_lost_changes || self.cursor.folders.iter().any(|folder| folder.is_first) {
            return Ok(());
        }
        let Some(ids) = list_destroyed(self.context, &self.cursor)? else { return Ok(()) };
        self.cursor.has_lost_changes = false;
        let destroyed = ids.iter().filter(|id| !self.messages.has(id));
        self.gone.extend(destroyed.map(|id| deleted_source(id)));
        Ok(())
    }

    /// Reports categories of messages that are not in the list of categories.
    fn add_unknown_categories(&mut self) {
        let known: HashSet<&String> = self.cursor.categories.iter().chain(&self.cursor.unlisted).collect();
        let unknown = self.messages.categories().filter(|name| !known.contains(name));
        let mut unknown: Vec<String> = unknown.cloned().collect();
        unknown.sort_unstable();
        unknown.dedup();
        let is_named =
            |label: &Source| unknown.iter().any(|name| label.external_id == categories::label_id(name));
        // A category that was removed from the list still exists if a message has it.
        self.gone.retain(|label| !is_named(label));
        self.places.extend(unknown.iter().map(|name| categories::source(name, None)));
        self.cursor.unlisted.extend(unknown);
        let surplus = self.cursor.unlisted.len().saturating_sub(MAX_UNLISTED);
        self.cursor.unlisted.drain(..surplus);
    }

    /// Returns the sources of the call, and the cursor.
    fn finish(mut self) -> Outcome<Answer<Sources>> {
        let is_read = |folder: &FolderPosition| !folder.is_first && !folder.is_in_between();
        // The next round reports messages that moved into a folder after it had been read.
        let since = self.context.now_ms().saturating_sub(self.polled_at);
        let is_settled = self.is_round || since < SETTLED_MS;
        let is_over = self.is_enumeration && is_settled && self.cursor.folders.iter().all(is_read);
        if is_over {
            self.cursor.is_first = false;
        }
        let covered_since = self.cursor.covered_since().filter(|_| self.is_enumeration && !is_over);
        let more = match self.is_enumeration {
            true => !is_over,
            false => self.has_more || self.cursor.folders.iter().any(|folder| folder.is_first),
        };
        let is_by_name = self.args.names_only;
        // The lookup is more recent than the pages.
        let deleted = self.gone.iter().filter(|source| source.deleted);
        let deleted: HashSet<String> = deleted.map(|source| source.external_id.clone()).collect();
        let messages = std::mem::take(&mut self.messages).into_sources(&deleted, is_by_name);
        let odd = self.odd.iter().map(|id| if is_by_name { bare_source(id) } else { unreadable(id) });
        // Reported by id alone, each message is read later, which shows whether it is deleted.
        let doubtful = self.removed.iter().filter(|_| is_by_name).map(|id| bare_source(id));
        let messages = messages.into_iter().chain(odd).chain(doubtful);
        let body = Sources {
            sources: self.places.iter().cloned().chain(messages).chain(self.gone.iter().cloned()).collect(),
            enumeration: self.is_enumeration,
            covered_since: covered_since.map(Instant::from_millis),
            ..Sources::default()
        };
        Ok(Answer { body, cursor: Some(self.cursor.write()?), more })
    }
}
