//! `changes` of mail: the initial sync, newest message first, and the changes since.
//!
//! The states of `Email` and `Mailbox` are read before the first page. Each page of the initial sync also returns the changes since then,
//! so that no message that is added, moved or deleted during the sync is missed, and new mail appears at once.

pub mod cursor;
mod delta;
mod telling;

use std::collections::{HashMap, HashSet};

use connector_sdk::{Answer, Context, Failure, Outcome};
use model::Instant;
use model::wire::{ChangesRequest, Source, Sources};
use serde_json::json;

use crate::changes::cursor::{Cursor, Reading};
use crate::changes::delta::{EmailDelta, Emails, FolderDelta, Folders};
use crate::changes::telling::{DOING, ReportOptions};
use crate::client::{Client, is_cut_off};
use crate::folders::{self, Tree};
use crate::protocol::answers::GetResponse;
use crate::query::{Page, Start};

/// The default number of messages in a page.
const PAGE: usize = 200;

/// The maximum number of messages in a page, all of which are in memory at once.
const MAX_PAGE: usize = 500;

/// Returns the changes since the context's cursor.
pub fn changes(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    let client = Client::new(cx)?;
    let cursor = cx.cursor.as_deref().map(Cursor::read).transpose()?;
    let asked = usize::try_from(args.limit).unwrap_or(MAX_PAGE);
    let mut limit = if asked == 0 { PAGE } else { asked }.clamp(1, MAX_PAGE).min(client.objects_in_get());
    loop {
        let telling = ReportOptions { names_only: args.names_only, limit };
        let answer = match &cursor {
            None => first(&client, telling),
            Some(cursor) => next(&client, cursor, telling),
        };
        match answer {
            // With very long headers, fewer messages fit into an answer.
            Err(failure) if is_cut_off(&failure) && limit > 1 => limit = (limit / 8).max(1),
            answer => return answer,
        }
    }
}

/// Returns the first page: all folders and the newest messages, with the states from which later changes are reported.
fn first(client: &Client, telling: ReportOptions) -> Outcome<Answer<Sources>> {
    let query = telling.query();
    let mut batch = client.batch();
    let state = batch.call("Email/get", json!({ "ids": [], "properties": ["id"] }));
    let asked = query.ask(&mut batch, Start::Newest);
    let delta = EmailDelta::ask(&mut batch, ("#sinceState", state.at("/state")), telling);
    let all = folders::all(&mut batch);
    let answers = client.run(batch, DOING)?;
    let page = query.page(&answers, &asked)?.ok_or_else(out_of_place)?;
    let delta = delta.read(client, &answers, telling)?;
    let got: GetResponse = answers.get(&all)?;
    let cursor = Cursor { emails: delta.state.clone(), mailboxes: got.state.clone(), reading: None };
    if cursor.emails.is_empty() || cursor.mailboxes.is_empty() {
        return Err(Failure::unavailable("the provider did not return the state of the mailbox"));
    }
    let folders = Folders { before: Tree::read(got).sources(), ..Folders::default() };
    Ok(read_on(Reading::default(), folders, page, delta, cursor, telling))
}

fn out_of_place() -> Failure {
    Failure::unavailable("the provider did not find where to go on")
}

/// Returns the changes since the cursor and, during the initial sync, the next page.
fn next(client: &Client, cursor: &Cursor, telling: ReportOptions) -> Outcome<Answer<Sources>> {
    let reading = cursor.reading.as_ref().filter(|reading| !reading.waits);
    let start = reading.map(|reading| Start::after(reading.after.as_ref()));
    if let Some(answer) = attempt(client, cursor, start, telling)? {
        return Ok(answer);
    }
    // The last message of the previous page was deleted. Everything is requested again, because changes must not be older than their page.
    let last = cursor.reading.as_ref().and_then(|reading| reading.after.as_ref());
    attempt(client, cursor, last.map(Start::Around), telling)?.ok_or_else(out_of_place)
}

/// Reads changes and page in one attempt; none if the message to continue after no longer exists.
fn attempt(
    client: &Client,
    cursor: &Cursor,
    start: Option<Start>,
    telling: ReportOptions,
) -> Outcome<Option<Answer<Sources>>> {
    let query = telling.query();
    let mut batch = client.batch();
    let asked = start.map(|start| query.ask(&mut batch, start));
    let delta = EmailDelta::ask(&mut batch, ("sinceState", json!(cursor.emails)), telling);
    // Mailboxes are read last, so that the folders of all messages above are known.
    let folders = FolderDelta::ask(&mut batch, cursor);
    let answers = client.run(batch, DOING)?;
    let page = match &asked {
        Some(asked) => match query.page(&answers, asked)? {
            Some(page) => Some(page),
            None => return Ok(None),
        },
        None => None,
    };
    let delta = delta.read(client, &answers, telling)?;
    let folders = folders.read(client, &answers)?;
    let mailboxes = folders.state.clone();
    let cursor = Cursor { emails: delta.state.clone(), mailboxes, reading: cursor.reading.clone() };
    Ok(Some(match (page, cursor.reading.clone()) {
        (Some(page), Some(reading)) => read_on(reading, folders, page, delta, cursor, telling),
        (_, reading) => {
            let waits = delta.has_more || folders.has_more;
            let reading = reading.map(|reading| Reading { waits, ..reading });
            let (enumeration, more) = (reading.is_some(), reading.is_some() || waits);
            let body = Sources { sources: folders.around(delta.sources), enumeration, ..Sources::default() };
            Answer { body, cursor: Some(Cursor { reading, ..cursor }.print()), more }
        }
    }))
}

/// Reads a page of the initial sync, unless more changes are to be reported first: a message that is added and deleted between those
/// changes and the page would never be reported as deleted (RFC 8620 section 5.2).
fn read_on(
    reading: Reading,
    folders: Folders,
    page: Page,
    delta: Emails,
    cursor: Cursor,
    telling: ReportOptions,
) -> Answer<Sources> {
    let mut messages = Vec::new();
    let (mut reading, mut covered_since) = (Some(Reading { waits: true, ..reading }), None);
    if !delta.has_more && !folders.has_more {
        covered_since = match (&page.next, &page.last) {
            // Messages of the same second may follow.
            (Some(next), _) => next.just_after(),
            (None, last) => last.as_ref().and_then(|last| last.at_ms).map(Instant::from_millis),
        };
        reading = page.next.map(|last| Reading { after: Some(last), waits: false });
        messages.extend(page.messages.into_iter().map(|message| telling.source(message)));
    }
    let more = reading.is_some();
    let sources = folders.around(join(messages, delta.sources));
    let body = Sources { sources, enumeration: true, covered_since, ..Sources::default() };
    Answer { body, cursor: Some(Cursor { reading, ..cursor }.print()), more }
}

/// Joins a page and the changes that were read with it. A change that is complete or a deletion replaces the message of the page; a partial
/// change with the same version as in the page is dropped.
fn join(page: Vec<Source>, changes: Vec<Source>) -> Vec<Source> {
    let is_partial = |source: &Source| source.items.iter().any(|item| item.partial);
    let versions: HashMap<String, Option<String>> =
        page.iter().map(|source| (source.external_id.clone(), source.etag.clone())).collect();
    let (short, whole): (Vec<Source>, Vec<Source>) = changes.into_iter().partition(is_partial);
    let names: HashSet<String> = whole.iter().map(|source| source.external_id.clone()).collect();
    let page = page.into_iter().filter(|source| !names.contains(&source.external_id));
    let short = short.into_iter().filter(|source| versions.get(&source.external_id) != Some(&source.etag));
    let (page, short): (Vec<Source>, Vec<Source>) = (page.collect(), short.collect());
    page.into_iter().chain(short).chain(whole).collect()
}
