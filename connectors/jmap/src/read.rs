//! `messages.get`, `messages.search` and `messages.find`.

use std::collections::HashSet;

use connector_sdk::{Answer, Context, Failure, Outcome, code};
use io_jmap::rfc8620::filter::JmapFilter;
use io_jmap::rfc8621::email::query::JmapEmailFilter;
use io_jmap::rfc8621::email::{JMAP_KEYWORD_FLAGGED, JMAP_KEYWORD_SEEN};
use model::Instant;
use model::wire::Sources;
use model::wire::email::{MessageFind, MessageSearch, MessagesGet};
use serde_json::{Value, json};

use crate::changes::cursor::Last;
use crate::client::{Client, Message, id_of, messages, summary, with};
use crate::folders;
use crate::message::{self, instant};
use crate::protocol::answers::{GetResponse, MethodError, QueryResponse};
use crate::protocol::{Answers, Batch, Call, email, failures};
use crate::query::{Page, Query, Start};

/// The maximum number of messages in an answer to a search.
const MAX_FOUND: usize = 200;

/// The maximum number of words of a search.
const MAX_WORDS: usize = 32;

/// The maximum number of messages with one Message-ID that are read.
const MAX_COPIES: u32 = 50;

/// Reads messages by their ids. Missing ones are reported as deleted.
pub fn get(cx: &Context, args: MessagesGet) -> Outcome<Sources> {
    let client = Client::new(cx)?;
    // An id without our prefix belongs to no message.
    let ids: Vec<String> = args.messages.iter().filter_map(|one| message::id(&one.source).ok()).collect();
    let read = client.emails(&ids, &properties(&args), "reading messages")?;
    let max = match args.max_body_bytes {
        0 => usize::MAX,
        bytes => usize::try_from(bytes).unwrap_or(usize::MAX),
    };
    let found: HashSet<String> = read.iter().map(|message| id_of(message).to_owned()).collect();
    let mut sources: Vec<_> = read.into_iter().map(|message| message::whole_up_to(message, max)).collect();
    sources.extend(ids.iter().filter(|id| !found.contains(*id)).map(|id| message::deleted_source(id)));
    Ok(Sources { sources, ..Sources::default() })
}

/// Arguments of `Email/get`.
fn properties(args: &MessagesGet) -> Value {
    let mut properties = email::SUMMARY.to_vec();
    if args.headers || args.body {
        properties.push("headers");
    }
    if !args.body {
        return email::get(&properties);
    }
    properties.extend(["textBody", "htmlBody", "bodyValues"]);
    let get = with(&email::get(&properties), "fetchTextBodyValues", json!(true));
    let get = with(&get, "fetchHTMLBodyValues", json!(true));
    match args.max_body_bytes {
        // 0 is the default and means no limit; some servers refuse an explicit 0.
        0 => get,
        bytes => with(&get, "maxBodyValueBytes", json!(bytes)),
    }
}

/// Returns the matching messages, newest first.
pub fn search(cx: &Context, args: MessageSearch) -> Outcome<Answer<Sources>> {
    let client = Client::new(cx)?;
    let last = cx.cursor.as_deref().map(read_cursor).transpose()?;
    let asked = usize::try_from(args.limit).unwrap_or(MAX_FOUND);
    let limit = if asked == 0 { MAX_FOUND } else { asked.min(MAX_FOUND) }.min(client.objects_in_get());
    let query = Query { filter: filter(&args)?, limit, get: summary() };
    let page = match fetch_page(&client, &query, Start::after(last.as_ref()))? {
        Some(page) => Some(page),
        None => {
            last.as_ref().map(|last| fetch_page(&client, &query, Start::Around(last))).transpose()?.flatten()
        }
    };
    let page = page
        .ok_or_else(|| Failure::new(code::CURSOR_EXPIRED, "the position of the cursor no longer exists"))?;
    let wanted = page.messages.into_iter().filter(|message| is_between(message, &args));
    let sources = wanted.map(message::whole).collect();
    let cursor = page.next.and_then(|next| serde_json::to_string(&next).ok());
    Ok(Answer { body: Sources { sources, ..Sources::default() }, more: cursor.is_some(), cursor })
}

fn fetch_page(client: &Client, query: &Query, start: Start) -> Outcome<Option<Page>> {
    let mut batch = client.batch();
    let asked = query.ask(&mut batch, start);
    query.page(&client.run(batch, "searching messages")?, &asked)
}

/// Whether the message is in the requested range of time; some servers treat `before` as inclusive.
fn is_between(message: &Message, args: &MessageSearch) -> bool {
    let at = message.as_ref().ok().and_then(|email| instant(&email.received_at));
    at.is_none_or(|at| {
        args.received_after.is_none_or(|after| at >= after)
            && args.received_before.is_none_or(|before| at < before)
    })
}

fn read_cursor(text: &str) -> Outcome<Last> {
    serde_json::from_str(text)
        .map_err(|_| Failure::new(code::CURSOR_EXPIRED, "the cursor is from another version"))
}

/// The search as a filter (RFC 8621 section 4.4.1); none for everything.
fn filter(args: &MessageSearch) -> Outcome<Option<Value>> {
    if args.label.is_some() {
        return Err(Failure::unsupported("labels"));
    }
    let utc = |instant: Option<Instant>| instant.map(|instant| instant.timestamp().to_string());
    let mut conditions = vec![json!(JmapEmailFilter {
        in_mailbox: args.folder.as_deref().map(folders::id).transpose()?,
        after: utc(args.received_after),
        before: utc(args.received_before),
        ..JmapEmailFilter::default()
    })];
    for (name, wanted) in
        [(JMAP_KEYWORD_SEEN, args.unread.map(|unread| !unread)), (JMAP_KEYWORD_FLAGGED, args.starred)]
    {
        conditions.extend(wanted.map(|wanted| match wanted {
            true => json!({ "hasKeyword": name }),
            false => json!({ "notKeyword": name }),
        }));
    }
    match &args.native_query {
        Some(native) => conditions.push(native_filter(native)?),
        None => conditions
            .extend(words(args.text.as_deref().unwrap_or_default()).map(|word| json!({ "text": word }))),
    }
    conditions.retain(|condition| condition.as_object().is_none_or(|members| !members.is_empty()));
    Ok(match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(json!({ "operator": "AND", "conditions": conditions })),
    })
}

/// The words of a query, each of which becomes a condition: servers can treat several words in one condition as a phrase.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().take(MAX_WORDS)
}

/// Parses a native filter. Only its syntax is checked; the JSON parser limits its depth.
fn native_filter(text: &str) -> Outcome<Value> {
    let value: Option<Value> = serde_json::from_str(text).ok();
    let is_filter = |value: &Value| {
        value.is_object() && serde_json::from_value::<JmapFilter<Value>>(value.clone()).is_ok()
    };
    value.filter(is_filter).ok_or_else(|| {
        Failure::invalid("the native query must be a JMAP filter, a JSON object such as {\"from\": \"ann\"}")
    })
}

/// Finds messages with this Message-ID in all mailboxes.
pub fn find(cx: &Context, args: MessageFind) -> Outcome<Sources> {
    let client = Client::new(cx)?;
    let batch = client.batch();
    let (copies, _) = copies(&client, batch, &args.internet_message_id)?;
    Ok(Sources { sources: copies.into_iter().map(message::whole).collect(), ..Sources::default() })
}

/// Runs this batch together with the search for messages with this Message-ID.
pub fn copies(client: &Client, mut batch: Batch, message_id: &str) -> Outcome<(Vec<Message>, Answers)> {
    const DOING: &str = "looking for a message by its Message-ID";
    if message_id.is_empty() {
        return Ok((Vec::new(), client.run(batch, DOING)?));
    }
    let asked = ask_copies(&mut batch, json!({ "header": ["Message-ID", format!("<{message_id}>")] }));
    let answers = client.run(batch, DOING)?;
    let found = match answers.attempt::<QueryResponse>(&asked.0)? {
        Ok(_) => messages(answers.get(&asked.1)?),
        Err(MethodError { kind, .. }) if kind == "unsupportedFilter" => {
            let mut batch = client.batch();
            let asked = ask_copies(&mut batch, json!({ "text": message_id }));
            messages(client.run(batch, DOING)?.get::<GetResponse>(&asked.1)?)
        }
        Err(error) => return Err(failures::of_method(&error)),
    };
    // Servers match a part of the header's value, and some only its words, so the exact value is checked here.
    let has_it = |message: &Message| {
        message.as_ref().is_ok_and(|email| email.message_id.iter().flatten().any(|id| id == message_id))
    };
    Ok((found.into_iter().filter(has_it).collect(), answers))
}

fn ask_copies(batch: &mut Batch, filter: Value) -> (Call, Call) {
    let query = batch.call("Email/query", json!({ "filter": filter, "limit": MAX_COPIES }));
    let get = batch.call("Email/get", with(&summary(), "#ids", query.at("/ids")));
    (query, get)
}

#[cfg(test)]
mod tests {
    use model::wire::email::MessageSearch;
    use serde_json::json;

    use super::filter;

    #[test]
    fn a_search_becomes_a_filter() {
        let search = MessageSearch {
            text: Some("two  words".into()),
            folder: Some("F:in".into()),
            received_after: "2026-03-01T10:00:00Z".parse().ok(),
            received_before: "2026-03-02T10:00:00.5Z".parse().ok(),
            unread: Some(true),
            starred: Some(true),
            ..MessageSearch::default()
        };
        let expected = json!({ "operator": "AND", "conditions": [
            { "inMailbox": "in", "after": "2026-03-01T10:00:00Z", "before": "2026-03-02T10:00:00.5Z" },
            { "notKeyword": "$seen" }, { "hasKeyword": "$flagged" }, { "text": "two" }, { "text": "words" },
        ] });
        assert_eq!(filter(&search).unwrap(), Some(expected));
        assert_eq!(filter(&MessageSearch::default()).unwrap(), None);
    }

    #[test]
    fn a_native_query_is_a_filter_or_refused() {
        let native = |text: &str| {
            filter(&MessageSearch { native_query: Some(text.into()), ..MessageSearch::default() })
        };
        assert_eq!(native("{\"from\":\"ann\"}").unwrap(), Some(json!({ "from": "ann" })));
        for text in ["from:ann", "[]", "\"x\"", "", "{\"a\":"] {
            assert_eq!(native(text).unwrap_err().code, "invalid", "{text}");
        }
        let labelled = MessageSearch { label: Some("x".into()), ..MessageSearch::default() };
        assert_eq!(filter(&labelled).unwrap_err().code, "unsupported");
        let elsewhere = MessageSearch { folder: Some("M:x".into()), ..MessageSearch::default() };
        assert_eq!(filter(&elsewhere).unwrap_err().code, "not-found");
    }
}
