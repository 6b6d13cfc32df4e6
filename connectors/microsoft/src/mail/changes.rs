//! The changes of a mailbox: folders, categories and messages, in the initial sync and after it.

use std::collections::{HashMap, HashSet};

use connector_sdk::http::Response;
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::Instant;
use model::wire::{ChangesRequest, Source, Sources};
use serde_json::value::RawValue;

use crate::api::{accepted, object};
use crate::mail::cursor::{FeedPosition, MailCursor};
use crate::mail::delta::{self, MAX_HALVINGS, fold};
use crate::mail::files::read_files;
use crate::mail::first::choose;
use crate::mail::folders::{self, TreeChange};
use crate::mail::message::{bare_source, deleted_source, partial, received_at, source, unreadable};
use crate::mail::native::{CategoryEntry, Message};
use crate::mail::verify::verify;
use crate::mail::{access, categories};
use crate::odata::page::Page;
use crate::odata::stamp::stamp;
use crate::odata::{batch, failures};

const DOING: &str = "reading the changes of the mailbox";
/// The names of parts of a batch that are no folders. Ids have no such characters.
const TREE: &str = "*tree";
const CATEGORIES: &str = "*categories";
/// Time by which a message can be older than the last round and still be new in this one, ms: clocks differ.
const NEW_TOLERANCE_MS: i64 = 60_000;

/// Returns the changes since the cursor; without one everything, newest first.
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

/// A message that this call has read, with the folder in which it is.
struct ReadMessage {
    message: Message,
    folder: String,
    /// It is reported whole.
    is_whole: bool,
}

/// One call.
struct Turn<'a> {
    context: &'a Context<'a>,
    args: &'a ChangesRequest,
    cursor: MailCursor,
    /// The call is part of an initial sync.
    is_enumeration: bool,
    has_more: bool,
    /// Folders and labels, reported before the messages in them.
    places: Vec<Source>,
    read: Vec<ReadMessage>,
    /// The position in `read` of each message.
    by_id: HashMap<String, usize>,
    odd: Vec<String>,
    /// Messages of which a folder says that they are gone.
    removed: Vec<String>,
    /// Messages that two folders have.
    doubtful: Vec<String>,
    /// Labels and folders that are gone.
    gone: Vec<Source>,
    /// The begin of the round before this one.
    polled_at: i64,
}

impl<'a> Turn<'a> {
    fn new(context: &'a Context<'a>, args: &'a ChangesRequest, mut cursor: MailCursor) -> Turn<'a> {
        Turn {
            context,
            args,
            is_enumeration: cursor.is_first,
            has_more: false,
            places: Vec::new(),
            read: Vec::new(),
            by_id: HashMap::new(),
            odd: Vec::new(),
            removed: std::mem::take(&mut cursor.doubtful),
            doubtful: Vec::new(),
            gone: Vec::new(),
            polled_at: cursor.polled_at,
            cursor,
        }
    }

    /// Begins an initial sync with the folders, their roles and the categories: one batch.
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
        folders::take_roles(&mut turn.cursor, &roles);
        turn.places.extend(folders::sources(&turn.cursor));
        Ok(turn)
    }

    /// Reads the next pages of the folders that are due; at the begin of a round the folders themselves and the categories too.
    fn read(&mut self) -> Outcome<()> {
        let now = self.context.now_ms();
        let choice = choose(&self.cursor, self.args.limit, now);
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
        if !parts.is_empty() {
            let outcome = batch::read(self.context, parts, batch::MAX_PARTS, DOING)?;
            self.has_more |= outcome.wait.is_some();
            for (name, answer) in outcome.parts {
                if let PartOutcome::Answered(response) = answer {
                    self.take_answer(&name, response)?;
                }
            }
        }
        if choice.is_round {
            self.cursor.polled_at = now;
        }
        if self.args.names_only {
            return Ok(());
        }
        self.complete()?;
        self.add_unknown_categories();
        Ok(())
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
            // The provider forgot the position in the changes of the folders.
            None => (folders::list(self.context)?, true),
        };
        let TreeChange { entries, position } = change;
        let effect = folders::take(&mut self.cursor, &entries, is_list);
        self.cursor.tree = position;
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

    /// Takes the list of categories in. An account may not show it.
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

    /// Takes a page of a folder in, and its next position.
    fn take_page(&mut self, id: &str, response: &Response) -> Outcome<()> {
        if !response.is_success() || response.truncated {
            return self.take_refusal(id, response);
        }
        let page: Page<Box<RawValue>> = object(response)?;
        let position = FeedPosition::from(page.position()?);
        let folded = fold(&page.value);
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
        folder.at = Some(position);
        for message in folded.messages {
            let is_new =
                |message: &Message| created_ms(message) >= polled_at.saturating_sub(NEW_TOLERANCE_MS);
            let is_whole =
                message.is_whole() && (is_initial || is_new(&message) || message.is_draft == Some(true));
            self.note(ReadMessage { message, folder: id.to_owned(), is_whole });
        }
        self.removed.extend(folded.removed);
        self.odd.extend(folded.odd);
        Ok(())
    }

    /// Adds a message. One that is in two folders moved while they were read: it has to be looked for.
    fn note(&mut self, read: ReadMessage) {
        let id = read.message.id.clone();
        match self.by_id.get(&id).and_then(|at| self.read.get_mut(*at)) {
            Some(earlier) => {
                let is_moved = earlier.folder != read.folder;
                if read.is_whole || !earlier.is_whole {
                    *earlier = read;
                }
                if is_moved {
                    self.doubtful.push(id);
                }
            }
            None => {
                self.by_id.insert(id, self.read.len());
                self.read.push(read);
            }
        }
    }

    /// Acts on a page that did not come: a token that counts no more begins this folder again, a page that took too long is halved, and a
    /// folder that is gone is left to the changes of the folders.
    fn take_refusal(&mut self, id: &str, response: &Response) -> Outcome<()> {
        let failure = match response.truncated {
            true => Failure::new(code::TIMEOUT, "the provider's answer is cut off"),
            false => failures::of_delta(self.context, response, DOING),
        };
        let Some(folder) = self.cursor.folder_mut(id) else { return Ok(()) };
        match failure.code.as_str() {
            code::CURSOR_EXPIRED if folder.at.is_some() => {
                folder.restart();
                self.has_more = true;
                Ok(())
            }
            code::TIMEOUT if folder.halvings < MAX_HALVINGS => {
                folder.halvings += 1;
                self.has_more = true;
                Ok(())
            }
            code::NOT_FOUND if failures::is_gone(&failure) => {
                // Else an initial sync would wait for it.
                folder.is_first = false;
                folder.at = None;
                Ok(())
            }
            code::CURSOR_EXPIRED | code::NOT_FOUND => Err(failure.with_code(code::UNAVAILABLE)),
            _ => Err(failure),
        }
    }

    /// Reads the files of messages of which the page did not have them, and looks for messages that folders say are gone.
    fn complete(&mut self) -> Outcome<()> {
        let is_short = |read: &&ReadMessage| {
            let message = &read.message;
            read.is_whole && message.has_attachments == Some(true) && message.attachments.is_none()
        };
        let short: Vec<String> =
            self.read.iter().filter(is_short).map(|read| read.message.id.clone()).collect();
        for (id, message) in read_files(self.context, &short)? {
            if let Some(read) = self.by_id.get(&id).and_then(|at| self.read.get_mut(*at)) {
                read.message.attachments = message.attachments;
            }
        }
        // One that another folder shows has moved there.
        let open = self.removed.iter().filter(|id| !self.by_id.contains_key(*id)).chain(&self.doubtful);
        let mut ids: Vec<String> = open.cloned().collect();
        ids.sort_unstable();
        ids.dedup();
        let verified = verify(self.context, &ids)?;
        // The look is later than the pages.
        let deleted: HashSet<&String> = verified
            .sources
            .iter()
            .filter(|source| source.deleted)
            .map(|source| &source.external_id)
            .collect();
        self.read.retain(|read| !deleted.contains(&read.message.id));
        drop(deleted);
        self.gone.extend(verified.sources);
        self.cursor.doubtful = verified.left;
        Ok(())
    }

    /// Reports categories that are in no list and that messages have.
    fn add_unknown_categories(&mut self) {
        let known: HashSet<&String> = self.cursor.categories.iter().chain(&self.cursor.unlisted).collect();
        let named = self.read.iter().flat_map(|read| read.message.categories.iter().flatten());
        let mut unknown: Vec<String> =
            named.filter(|name| !name.is_empty() && !known.contains(name)).cloned().collect();
        unknown.sort_unstable();
        unknown.dedup();
        self.places.extend(unknown.iter().map(|name| categories::source(name, None)));
        self.cursor.unlisted.extend(unknown);
    }

    /// Ends the call: its sources, and the cursor.
    fn finish(mut self) -> Outcome<Answer<Sources>> {
        let is_over = self.is_enumeration && self.cursor.folders.iter().all(|folder| !folder.is_first);
        if is_over {
            self.cursor.is_first = false;
        }
        let covered_since = self.cursor.covered_since().filter(|_| self.is_enumeration && !is_over);
        let more = match self.is_enumeration {
            true => !is_over,
            false => self.has_more || self.cursor.folders.iter().any(|folder| folder.is_first),
        };
        for read in &mut self.read {
            read.message.parent_folder_id = Some(read.folder.clone());
        }
        self.read.sort_by_key(|read| std::cmp::Reverse(received_at(&read.message)));
        let is_by_name = self.args.names_only;
        let message = |read: &ReadMessage| match (is_by_name, read.is_whole) {
            (true, _) => bare_source(&read.message.id),
            (false, true) => source(&read.message),
            (false, false) => partial(&read.message),
        };
        let messages: Vec<Source> = self.read.iter().map(message).collect();
        let odd = self.odd.iter().map(|id| if is_by_name { bare_source(id) } else { unreadable(id) });
        // By its name alone each is read by itself, and its deletion is seen then.
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

/// The time at which a message came into the mailbox, milliseconds since 1970. One that does not say is taken for new.
fn created_ms(message: &Message) -> i64 {
    let created = message.created_date_time.as_deref().and_then(|text| stamp(text).ok().flatten());
    created.map_or(i64::MAX, Instant::as_millis)
}
