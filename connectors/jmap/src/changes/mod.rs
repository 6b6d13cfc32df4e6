//! `changes` of mail: the first reading, newest message first, and what changed since.
//!
//! The states of `Email` and `Mailbox` are taken before the first page. Each page of the first reading also brings what changed since
//! then, so that no message that comes, moves or goes meanwhile is missed, and new mail is there at once.

pub mod cursor;
mod delta;

use std::collections::HashSet;

use connector_sdk::{Answer, Context, Failure, Outcome};
use model::wire::{ChangesRequest, Source, Sources};
use serde_json::{Value, json};

use crate::changes::cursor::{Cursor, Last, Reading};
use crate::changes::delta::Delta;
use crate::client::{Client, Message, is_cut_off};
use crate::folders::{self, Tree};
use crate::message;
use crate::protocol::answers::Got;
use crate::protocol::email;
use crate::query::{Page, Query};

/// Messages of a page where the host does not say.
const PAGE: usize = 200;

/// The most that one page has: every message of it is in memory at once.
const MAX_PAGE: usize = 500;

/// What completes "the provider rejected ...".
const DOING: &str = "reading what changed in the mailbox";

/// How messages are told: whole, or by name alone.
#[derive(Clone, Copy, PartialEq)]
struct Telling {
    names_only: bool,
    limit: usize,
}

impl Telling {
    fn get(self) -> Value {
        if self.names_only { email::get(&email::NAME) } else { email::get(&email::SUMMARY) }
    }

    fn source(self, message: Message) -> Source {
        if self.names_only { message::named(message) } else { message::whole(message) }
    }

    fn partial(self, message: Message) -> Source {
        if self.names_only { message::named(message) } else { message::partial(message) }
    }

    fn query(self) -> Query {
        Query { filter: None, limit: self.limit, get: self.get() }
    }
}

/// Changes since the context's cursor.
pub fn changes(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    let client = Client::new(cx)?;
    let cursor = cx.cursor.as_deref().map(Cursor::read).transpose()?;
    let asked = usize::try_from(args.limit).unwrap_or(MAX_PAGE);
    let mut limit = if asked == 0 { PAGE } else { asked }.clamp(1, MAX_PAGE).min(client.objects_in_get());
    loop {
        let telling = Telling { names_only: args.names_only, limit };
        let answer = match &cursor {
            None => first(&client, telling),
            Some(cursor) => next(&client, cursor, telling),
        };
        match answer {
            // Messages with very long headers: fewer of them fit.
            Err(failure) if is_cut_off(&failure) && limit > 1 => limit = (limit / 8).max(1),
            answer => return answer,
        }
    }
}

/// The first page: all folders, the newest messages, and the states that everything later is told from.
fn first(client: &Client, telling: Telling) -> Outcome<Answer<Sources>> {
    let query = telling.query();
    let mut batch = client.batch();
    let state = batch.call("Email/get", json!({ "ids": [], "properties": ["id"] }));
    let asked = query.ask(&mut batch, None);
    let all = folders::all(&mut batch);
    let answers = client.run(batch, DOING)?;
    let emails = answers.get::<Got>(&state)?.state;
    let page = query.page(client, &answers, &asked, None)?;
    let got: Got = answers.get(&all)?;
    let mailboxes = got.state.clone();
    if emails.is_empty() || mailboxes.is_empty() {
        return Err(Failure::unavailable("the provider does not tell the state of the mailbox"));
    }
    let sources = Tree::read(got).sources();
    let cursor = Cursor { emails, mailboxes, reading: None };
    Ok(read_on(sources, page, cursor, false, telling))
}

/// What changed since the cursor, and the next page while the first reading is not over.
fn next(client: &Client, cursor: &Cursor, telling: Telling) -> Outcome<Answer<Sources>> {
    let last = match &cursor.reading {
        Some(Reading::After(last)) => Some(last),
        Some(Reading::CatchUp) | None => None,
    };
    let query = telling.query();
    let mut batch = client.batch();
    let delta = Delta::ask_emails(&mut batch, cursor, telling);
    let asked = last.map(|last| query.ask(&mut batch, Some(last)));
    // Mailboxes come last: what the messages above are in is known by then.
    let delta = delta.ask_mailboxes(&mut batch, cursor);
    let answers = client.run(batch, DOING)?;
    let delta = delta.read(client, &answers, telling)?;
    let next = Cursor { emails: delta.emails, mailboxes: delta.mailboxes, reading: None };
    if let (Some(last), Some(asked)) = (last, asked) {
        let page = query.page(client, &answers, &asked, Some(last))?;
        return Ok(read_on(delta.sources, page, next, delta.has_more, telling));
    }
    let enumeration = cursor.reading.is_some();
    let reading = cursor.reading.clone().filter(|_| delta.has_more);
    let body = Sources { sources: delta.sources, enumeration, covered_since: None };
    Ok(Answer { body, cursor: Some(Cursor { reading, ..next }.print()), more: delta.has_more })
}

/// A page of the first reading.
fn read_on(
    mut sources: Vec<Source>,
    page: Page,
    cursor: Cursor,
    has_more: bool,
    telling: Telling,
) -> Answer<Sources> {
    let covered_since = match (&page.next, &page.last) {
        // New mail is still to be told: nothing can be said of what is new.
        _ if has_more => None,
        // More messages of the same second may follow.
        (Some(next), _) => next.just_after(),
        (None, last) => last.as_ref().and_then(at),
    };
    let told: Vec<Source> = page.messages.into_iter().map(|message| telling.source(message)).collect();
    // The page was read after the changes: it knows better.
    let names: HashSet<&str> = told.iter().map(|source| source.external_id.as_str()).collect();
    sources.retain(|source| !names.contains(source.external_id.as_str()));
    sources.extend(told);
    let reading = match page.next {
        Some(last) => Some(Reading::After(last)),
        None if has_more => Some(Reading::CatchUp),
        None => None,
    };
    let more = reading.is_some();
    let body = Sources { sources, enumeration: true, covered_since };
    Answer { body, cursor: Some(Cursor { reading, ..cursor }.print()), more }
}

fn at(last: &Last) -> Option<model::Instant> {
    last.at_ms.map(model::Instant::from_millis)
}
