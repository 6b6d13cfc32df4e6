//! `changes`: the first reading of everything, newest first, and then what is different.
//!
//! One call reads the next chunk of the first reading and, from time to time and after it always, lists the mailboxes with their counts
//! in the same round trip. Folders whose counts differ are compared (`delta`), which leaves sets of UIDs to tell in the cursor; a
//! page (`page`) takes from them. Deletions come before additions, so that a moved message has both on one page.

mod cursor;
mod delta;
mod first;
mod page;

use connector_sdk::{Answer, Context, Level, Outcome};
use model::Instant;
use model::wire::{ChangesRequest, Source, Sources};
use sha2::{Digest as _, Sha256};

use crate::changes::cursor::{Cursor, Known};
use crate::changes::page::Page;
use crate::folders::{Mailbox, Mailboxes};
use crate::imap::session::Session;
use crate::imap::visit::Visit;
use crate::listing::Listing;
use crate::plan::Chunk;
use crate::reading;

/// Messages on a page where the host does not say.
const PAGE: u32 = 200;

/// In the first reading the mailboxes are compared on every so many pages: counting them costs the server as much as a page does, and
/// the mailbox that is being read stays selected meanwhile.
const PAGES_PER_LISTING: u32 = 10;

/// What changed since the context's cursor; from none, everything.
pub fn changes(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    let limit = usize::try_from(if args.limit == 0 { PAGE } else { args.limit }).unwrap_or(200);
    let cursor = cx.cursor.as_deref().map(Cursor::read).transpose()?;
    let mut session = Session::open(cx)?;
    let mut page = Page::new(limit, args.names_only);
    let answer = match cursor {
        None => first::begin(&mut session, &mut page)?,
        Some(cursor) => go_on(&mut session, cursor, &mut page)?,
    };
    Ok(answer)
}

fn go_on(session: &mut Session, mut cursor: Cursor, page: &mut Page) -> Outcome<Answer<Sources>> {
    let is_first_reading = cursor.plan.is_some();
    let chunk = cursor.plan.as_mut().filter(|plan| !plan.is_empty()).map(|plan| plan.remove(0));
    let since = chunk.as_ref().map(|chunk| chunk.since);
    cursor.pages += 1;
    let is_last = cursor.plan.as_ref().is_none_or(Vec::is_empty);
    // What is known to be different is told first: comparing again would find the same.
    let compares =
        if is_first_reading { is_last || cursor.pages >= PAGES_PER_LISTING } else { !cursor.has_pending() };
    let mut listing = if compares { Some(Listing::new(session)?) } else { None };
    read_chunk(session, &cursor, chunk, listing.as_mut(), page)?;
    if let Some(listing) = listing {
        cursor.pages = 0;
        let mailboxes = listing.finish(session)?;
        delta::compare(session, &mut cursor, &mailboxes, page)?;
    }
    page.pending(session, &mut cursor)?;
    answer(cursor, std::mem::take(&mut page.sources), is_first_reading, since)
}

/// Reads the chunk, and in the same round trip whatever lists the mailboxes.
fn read_chunk(
    session: &mut Session,
    cursor: &Cursor,
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

/// Tells the folders that are not as they were told, and takes those that are gone out of the cursor.
fn compare_folders(cursor: &mut Cursor, mailboxes: &Mailboxes, sources: &mut Vec<Source>) {
    let gone: Vec<Known> =
        cursor.folders.extract_if(.., |known| mailboxes.by_id(&known.id).is_none()).collect();
    for mut known in gone {
        let messages = known.forget_messages();
        if !messages.uids.is_empty() {
            cursor.gone.push(messages);
        }
        cursor.gone_folders.push(known.id);
    }
    for mailbox in &mailboxes.all {
        let id = mailbox.id();
        let source = mailboxes.source(mailbox);
        let known = cursor.folders.iter_mut().position(|known| known.id == id);
        let known = match known.and_then(|at| cursor.folders.get_mut(at)) {
            Some(known) => known,
            None => cursor.add(id, mailbox.name.clone()),
        };
        known.name.clone_from(&mailbox.name);
        let told = hash(&source);
        if known.told != told {
            known.told = told;
            sources.push(source);
        }
    }
}

fn hash(source: &Source) -> String {
    let body = source.items.first().map(|item| item.body.as_str()).unwrap_or_default();
    Sha256::digest(body).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Ends the call: the sources, and the cursor with what is left.
fn answer(
    mut cursor: Cursor,
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

/// A mailbox that the server does not open is passed over: others are told, and it is looked at again when its counts change.
fn unreadable(session: &Session, count: usize) {
    if count > 0 {
        session.cx.log(Level::Warn, "mailboxes that cannot be opened", &[("count", count.to_string())]);
    }
}

/// The mailboxes whose messages are told, with what is known of them.
fn readable<'m>(session: &Session, mailboxes: &'m Mailboxes) -> impl Iterator<Item = &'m Mailbox> {
    let is_gmail = session.capabilities.has("X-GM-EXT-1");
    mailboxes.all.iter().filter(move |mailbox| mailbox.is_read(is_gmail) && mailbox.status.is_some())
}
