//! `messages.find`: a message that an earlier attempt may have sent. Gmail replaces its Message-ID; so besides the index of
//! Message-IDs, which lags behind too, the newest sent messages are looked through for the field that has ours.

use connector_sdk::http::Request;
use connector_sdk::rest::batch::{BatchForm, BatchRules, Part, PartOutcome, run};
use connector_sdk::{Context, Failure, Outcome, code};
use model::email::EmailMessage;
use model::wire::email::MessageFind;
use model::wire::{Source, Sources};

use crate::api::{accepted, ask, object};
use crate::failures;
use crate::mail::labels::SENT;
use crate::mail::message::read_source;
use crate::mail::native::{Message, MessagePage};
use crate::mail::roots;

/// The header field of sent messages that has our Message-ID.
pub const OWN_ID: &str = "X-Switchboard-Id";

/// Messages that are looked through, the newest ones.
const LOOKED_THROUGH: &str = "25";
/// Parts of one batch.
const AT_MOST: usize = 25;
/// Copies of one message that are read.
const MAX_COPIES: usize = 5;
/// The members that identify a message and its labels.
const METADATA_FIELDS: &str = "id,labelIds,payload(headers)";
const DOING: &str = "looking for the message";

/// Finds a message that was sent, by the Message-ID that it was sent with. Drafts are left out: they do not prove that anything was sent.
pub fn find(context: &Context, args: &MessageFind) -> Outcome<Sources> {
    let own_id = args.internet_message_id.as_str();
    let mut sources = read_sent(context, &by_message_id(context, own_id)?)?;
    if sources.is_empty() && !own_id.is_empty() {
        let query = [("labelIds", SENT), ("maxResults", LOOKED_THROUGH)];
        let newest = list(context, &query)?;
        let newest: Vec<&str> = newest.iter().map(String::as_str).collect();
        let named = with_header(context, &newest, OWN_ID, own_id)?;
        let named: Vec<String> = named.into_iter().map(|message| message.id).collect();
        sources = read_sent(context, &named)?;
    }
    Ok(Sources { sources, ..Sources::default() })
}

/// The ids of messages, newest first, as far as one page lists them.
pub fn list(context: &Context, query: &[(&str, &str)]) -> Outcome<Vec<String>> {
    let query = [query, &[("fields", "messages(id)")]].concat();
    let request = Request::get(roots::mailbox(&["messages"], &query)?).units(roots::LIST_UNITS);
    let page: MessagePage = ask(context, request, DOING)?;
    Ok(page.messages.into_iter().map(|message| message.id).filter(|id| !id.is_empty()).collect())
}

/// The ids of messages that have this Message-ID at Gmail, as far as its index knows them.
pub fn by_message_id(context: &Context, internet_message_id: &str) -> Outcome<Vec<String>> {
    // Anything else would be several words of a query.
    let is_word = |id: &str| id.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"(){}".contains(&byte));
    if internet_message_id.is_empty() || !is_word(internet_message_id) {
        return Ok(Vec::new());
    }
    let query = format!("rfc822msgid:{internet_message_id}");
    list(context, &[("q", query.as_str()), ("includeSpamTrash", "true"), ("maxResults", LOOKED_THROUGH)])
}

/// Returns the messages that have this value in this header field, in their order, with their labels. Fails with `unavailable` if Gmail
/// does not return all of them and none is known to have it.
pub fn with_header(context: &Context, ids: &[&str], name: &str, value: &str) -> Outcome<Vec<Message>> {
    let query = [("format", "metadata"), ("metadataHeaders", name), ("fields", METADATA_FIELDS)];
    let part = |id: &&str| {
        let url = roots::message(id, &query).ok()?;
        Some(Part::new(*id, Request::get(url).units(roots::GET_UNITS)))
    };
    let parts: Vec<Part> = ids.iter().filter_map(part).collect();
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let rules = BatchRules {
        form: BatchForm::Mixed,
        root: roots::BATCH,
        at_most: AT_MOST,
        bucket: Some(roots::BUCKET),
        failure: failures::from_response,
        doing: DOING,
    };
    let (mut found, mut is_whole) = (Vec::new(), true);
    for (id, outcome) in run(context, &rules, parts)?.parts {
        let PartOutcome::Answered(response) = outcome else {
            is_whole = false;
            continue;
        };
        let message = accepted(context, response, DOING).and_then(|response| object::<Message>(&response));
        match message {
            Ok(message) if has_header(&message, name, value) => found.push(Message { id, ..message }),
            Ok(_) => {}
            // Not found counts too: Gmail lists some messages before they can be read, and none that are deleted.
            Err(_) => is_whole = false,
        }
    }
    match found.is_empty() && !is_whole {
        true => Err(Failure::unavailable("the provider does not show all messages now")),
        false => Ok(found),
    }
}

/// Whether the message has this value in one of its fields of this name; angle brackets around it do not count.
fn has_header(message: &Message, name: &str, value: &str) -> bool {
    let headers = message.payload.iter().flat_map(|payload| &payload.headers);
    let values = headers.filter(|header| header.name.eq_ignore_ascii_case(name));
    let mut bare = values.map(|header| header.value.trim().trim_start_matches('<').trim_end_matches('>'));
    !value.is_empty() && bare.any(|bare| bare == value)
}

/// Reads those of the messages that are no drafts. Fails with `unavailable` where one cannot be read yet: it was listed, and so it was sent.
fn read_sent(context: &Context, ids: &[String]) -> Outcome<Vec<Source>> {
    let mut sources = Vec::new();
    for id in ids.iter().take(MAX_COPIES) {
        match read_source(context, id, None) {
            Ok(source) if is_sent(&source) => sources.push(source),
            Ok(_) => {}
            Err(failure) if failure.code != code::NOT_FOUND => return Err(failure),
            Err(failure) if failure.http_status.is_some() => {
                return Err(failure.with_code(code::UNAVAILABLE));
            }
            // No mail.
            Err(_) => {}
        }
    }
    Ok(sources)
}

fn is_sent(source: &Source) -> bool {
    let mut messages = source.items.iter().filter_map(|item| item.body.read::<EmailMessage>().ok());
    messages.any(|message| !message.draft)
}
