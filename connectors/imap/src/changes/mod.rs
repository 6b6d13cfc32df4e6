//! `changes`: the initial sync of everything, newest first, and then the differences.
//!
//! One call reads the next chunk of the initial sync and, from time to time and after it always, lists the mailboxes with their counts
//! in the same round trip. Folders whose counts differ are compared (`delta`), which leaves sets of UIDs to report in the cursor; a
//! page (`page`) takes from them. Deletions come before additions, so that a moved message has both on one page.

mod cursor;
mod delta;
mod first;
mod folders;
mod known;
mod page;

use std::rc::Rc;

use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::wire::{ChangesRequest, Sources};

use crate::changes::cursor::ChangesCursor;
use crate::changes::page::{Page, answer, read_chunk};
use crate::imap::session::Session;
use crate::listing::Listing;

/// Messages on a page where the host does not say.
const PAGE: u32 = 200;

/// In the initial sync the mailboxes are compared every few pages: counting them costs the server as much as a page does, and
/// the mailbox that is being read stays selected in between.
const PAGES_PER_LISTING: u32 = 10;

/// Returns the changes since the context's cursor; without one, everything.
pub fn changes(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    let limit = usize::try_from(if args.limit == 0 { PAGE } else { args.limit }).unwrap_or(200);
    let cursor = cx.cursor.as_deref().map(ChangesCursor::read).transpose()?;
    let mut session = Session::open(cx)?;
    let mut page = Page::new(limit, args.names_only);
    let answer = match cursor {
        None => first::begin(&mut session, &mut page)?,
        Some(cursor) => go_on(&mut session, cursor, &mut page)?,
    };
    Ok(answer)
}

fn go_on(session: &mut Session, mut cursor: ChangesCursor, page: &mut Page) -> Outcome<Answer<Sources>> {
    session.all_mail = cursor.all_mail.clone().map(Rc::new);
    session.knows_all_mail = session.all_mail.is_some();
    let is_first_reading = cursor.plan.is_some();
    let chunk = cursor.plan.as_mut().filter(|plan| !plan.is_empty()).map(|plan| plan.remove(0));
    let since = chunk.as_ref().map(|chunk| chunk.since);
    cursor.pages += 1;
    let is_last = cursor.plan.as_ref().is_none_or(Vec::is_empty);
    // Known differences are reported first: comparing again would find the same.
    let compares =
        if is_first_reading { is_last || cursor.pages >= PAGES_PER_LISTING } else { !cursor.has_pending() };
    let mut listing = if compares { Some(Listing::new(session)?) } else { None };
    read_chunk(session, &cursor, chunk, listing.as_mut(), page)?;
    if let Some(listing) = listing {
        cursor.pages = 0;
        let mailboxes = listing.finish(session)?;
        if session.all_mail.is_some() != cursor.all_mail.is_some() {
            // The account shows Gmail's mailbox of all mail by IMAP since, or hides it: its messages have other names.
            return Err(Failure::new(code::CURSOR_EXPIRED, "the messages are in other mailboxes"));
        }
        cursor.all_mail = session.all_mail.as_deref().cloned();
        delta::compare(session, &mut cursor, &mailboxes, page)?;
    }
    page.pending(session, &mut cursor)?;
    answer(cursor, std::mem::take(&mut page.sources), is_first_reading, since)
}
