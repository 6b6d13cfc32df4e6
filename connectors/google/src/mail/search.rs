//! Search by Gmail's own language: one listing and one batch for a page.

use std::collections::HashSet;

use connector_sdk::http::Request;
use connector_sdk::{Answer, Context, Failure, Outcome, code, rest};
use model::Instant;
use model::wire::Sources;
use model::wire::email::MessageSearch;
use serde::{Deserialize, Serialize};

use crate::api::ask;
use crate::fields;
use crate::mail::draft_index::DraftIndex;
use crate::mail::fetch::{FetchedMessage, WAITING_PARTS, fetch};
use crate::mail::first::MAIL_ONLY;
use crate::mail::labels::{ARCHIVE, DRAFT, GMAIL_FOLDERS, SPAM, TRASH, is_folder, is_label};
use crate::mail::message::{MessageMapping, unreadable};
use crate::mail::native::{Message, MessagePage};
use crate::mail::roots;

/// The version of the cursors.
const VERSION: &str = "s1";
/// Messages of a page where the host does not say, and at most.
const PAGE_SIZE: u32 = 50;
const MAX_PAGE_SIZE: u32 = 100;
/// Words of a text that are looked for.
const MAX_WORDS: usize = 50;
/// Bytes of a query.
const MAX_QUERY_BYTES: usize = 4_000;

/// The position at which a search continues.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchCursor {
    /// Found and not yet read.
    #[serde(rename = "i", default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<String>,
    /// The token of the next page; none after the last one.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    page: Option<String>,
}

/// A search as Gmail takes it.
#[derive(Debug, Default, PartialEq)]
struct GmailQuery {
    q: String,
    label_ids: Vec<String>,
    with_spam_and_trash: bool,
}

/// Returns messages that match, newest first.
pub fn search(context: &Context, args: &MessageSearch) -> Outcome<Answer<Sources>> {
    let cursor: Option<SearchCursor> =
        context.cursor.as_deref().map(|text| rest::cursor::read(VERSION, text)).transpose()?;
    let mut place = match cursor {
        Some(cursor) if !cursor.ids.is_empty() => cursor,
        cursor => list(context, args, cursor.and_then(|cursor| cursor.page))?,
    };
    let fetched = fetch(context, &place.ids, &fields::message(false), WAITING_PARTS)?;
    if let Some(failure) = fetched.wait.filter(|_| fetched.leading == 0) {
        return Err(failure);
    }
    // The order counts: what follows a message that is missing comes with it.
    let read: Vec<(String, FetchedMessage)> = fetched.messages.into_iter().take(fetched.leading).collect();
    let told: HashSet<&str> = read.iter().map(|(id, _)| id.as_str()).collect();
    place.ids.retain(|id| !told.contains(id.as_str()));
    let has_drafts = read
        .iter()
        .any(|(_, message)| matches!(message, FetchedMessage::There(message) if message.has_label(DRAFT)));
    let drafts = if has_drafts { DraftIndex::load(context)? } else { DraftIndex::default() };
    let mapping = MessageMapping { drafts: &drafts, now_ms: context.now_ms() };
    let sources = read.iter().filter_map(|(id, message)| match message {
        FetchedMessage::There(message) => is_between(message, args).then(|| mapping.source(message)),
        FetchedMessage::Gone => None,
        FetchedMessage::Unreadable | FetchedMessage::Failed(_) => Some(unreadable(id)),
    });
    let sources = sources.filter(|source| !source.deleted).collect();
    let more = !place.ids.is_empty() || place.page.is_some();
    let cursor = if more { Some(rest::cursor::write(VERSION, &place)?) } else { None };
    Ok(Answer { body: Sources { sources, ..Sources::default() }, cursor, more })
}

/// Lists a page of what matches.
fn list(context: &Context, args: &MessageSearch, page: Option<String>) -> Outcome<SearchCursor> {
    let search = query(args)?;
    let limit = if args.limit == 0 { PAGE_SIZE } else { args.limit.min(MAX_PAGE_SIZE) }.to_string();
    let with_spam_and_trash = if search.with_spam_and_trash { "true" } else { "false" };
    let mut query = vec![
        ("maxResults", limit.as_str()),
        ("includeSpamTrash", with_spam_and_trash),
        ("q", search.q.as_str()),
        ("fields", fields::MESSAGE_NAMES),
    ];
    query.extend(search.label_ids.iter().map(|label| ("labelIds", label.as_str())));
    query.extend(page.as_deref().map(|page| ("pageToken", page)));
    let request = Request::get(roots::mailbox(&["messages"], &query)?).units(roots::LIST_UNITS);
    let found: MessagePage = ask(context, request, "searching the messages").map_err(|failure| {
        let is_of_token = page.is_some() && failure.code == code::INVALID;
        if is_of_token { failure.with_code(code::CURSOR_EXPIRED) } else { failure }
    })?;
    let ids = found.messages.into_iter().map(|message| message.id).filter(|id| !id.is_empty());
    let page = found.next_page_token.filter(|token| !token.is_empty());
    Ok(SearchCursor { ids: ids.collect(), page })
}

/// Returns the search in Gmail's terms. Chats and mail to be sent later are never found.
fn query(args: &MessageSearch) -> Outcome<GmailQuery> {
    let native = args.native_query.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let text = args.text.as_deref().unwrap_or_default();
    if text.len().max(native.map_or(0, str::len)) > MAX_QUERY_BYTES {
        return Err(Failure::invalid("the query is too long"));
    }
    let mut terms = vec![MAIL_ONLY.to_owned()];
    let mut label_ids = Vec::new();
    match args.folder.as_deref() {
        Some(ARCHIVE) => terms.extend(GMAIL_FOLDERS.iter().map(|folder| format!("-in:{}", operand(folder)))),
        Some(folder) if is_folder(folder) => label_ids.push(folder.to_owned()),
        Some(_) => return Err(Failure::not_found("there is no folder with this id at the provider")),
        None => {}
    }
    if let Some(label) = &args.label {
        if !is_label(label) {
            return Err(Failure::not_found("there is no label with this id at the provider"));
        }
        label_ids.push(label.clone());
    }
    // Gmail's dates are days of one zone; seconds since 1970 are none. A second more on both sides, and the rest is filtered here.
    let seconds = |at: Instant| at.as_millis().div_euclid(1000);
    terms.extend(args.received_after.map(|at| format!("after:{}", seconds(at).saturating_sub(1).max(0))));
    terms.extend(args.received_before.map(|at| format!("before:{}", seconds(at).saturating_add(2).max(0))));
    terms.extend(args.unread.map(|is| if is { "is:unread" } else { "is:read" }.to_owned()));
    terms.extend(args.starred.map(|is| if is { "is:starred" } else { "-is:starred" }.to_owned()));
    match native {
        Some(native) => terms.push(native.to_owned()),
        None => terms.extend(words(text)),
    }
    // A message in the trash or in spam is in no other folder.
    let with_spam_and_trash = match args.folder.as_deref() {
        None => true,
        Some(folder) => folder == SPAM || folder == TRASH,
    };
    Ok(GmailQuery { q: terms.join(" "), label_ids, with_spam_and_trash })
}

/// The name of a folder in Gmail's language.
fn operand(folder: &str) -> String {
    if folder == DRAFT { "drafts".to_owned() } else { folder.to_ascii_lowercase() }
}

/// Words that all must occur, each in quotes: without them it could be an operator.
fn words(text: &str) -> impl Iterator<Item = String> {
    let plain = |word: &str| -> String { word.chars().filter(|c| *c != '"' && !c.is_control()).collect() };
    let words = text.split_whitespace().map(plain).filter(|word| !word.is_empty());
    words.take(MAX_WORDS).map(|word| format!("\"{word}\""))
}

fn is_between(message: &Message, args: &MessageSearch) -> bool {
    let at = message.received_ms().map(Instant::from_millis);
    at.is_none_or(|at| {
        args.received_after.is_none_or(|after| at >= after)
            && args.received_before.is_none_or(|before| at < before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn q(search: MessageSearch) -> String {
        query(&search).unwrap().q
    }

    #[test]
    fn a_search_becomes_a_query() {
        let search = MessageSearch {
            text: Some("two  \"from:\tann\"".into()),
            folder: Some("INBOX".into()),
            label: Some("Label_7".into()),
            received_after: "2026-03-01T10:00:00.500Z".parse().ok(),
            received_before: "2026-03-02T10:00:00.500Z".parse().ok(),
            unread: Some(true),
            starred: Some(false),
            ..MessageSearch::default()
        };
        let found = query(&search).unwrap();
        assert_eq!(
            found.q,
            "-in:chats -in:scheduled after:1772359199 before:1772445602 is:unread -is:starred \"two\" \"from:\" \"ann\""
        );
        assert_eq!(
            (found.label_ids, found.with_spam_and_trash),
            (vec!["INBOX".into(), "Label_7".into()], false)
        );
        let everywhere = query(&MessageSearch::default()).unwrap();
        assert!(everywhere.with_spam_and_trash && everywhere.label_ids.is_empty());
        assert!(
            query(&MessageSearch { folder: Some("TRASH".into()), ..MessageSearch::default() })
                .unwrap()
                .with_spam_and_trash
        );
    }

    #[test]
    fn the_archive_is_what_is_in_no_folder_of_gmails() {
        let search = MessageSearch { folder: Some("ARCHIVE".into()), ..MessageSearch::default() };
        let found = query(&search).unwrap();
        assert!(found.q.ends_with(" -in:inbox -in:sent -in:drafts -in:spam -in:trash"), "{}", found.q);
        assert_eq!((found.label_ids.len(), found.with_spam_and_trash), (0, false));
    }

    #[test]
    fn a_native_query_goes_as_it_is() {
        let native = |text: &str| MessageSearch {
            native_query: Some(text.into()),
            text: Some("x".into()),
            ..MessageSearch::default()
        };
        assert_eq!(
            q(native(" from:ann OR has:attachment ")),
            "-in:chats -in:scheduled from:ann OR has:attachment"
        );
        assert_eq!(query(&native(&"a".repeat(5_000))).unwrap_err().code, code::INVALID);
    }

    #[test]
    fn what_is_no_folder_or_label_is_not_found() {
        for (folder, label) in [(Some("Label_7"), None), (None, Some("INBOX")), (None, Some("UNREAD"))] {
            let search = MessageSearch {
                folder: folder.map(str::to_owned),
                label: label.map(str::to_owned),
                ..MessageSearch::default()
            };
            assert_eq!(query(&search).unwrap_err().code, code::NOT_FOUND);
        }
    }
}
