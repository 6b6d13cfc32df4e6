//! Lists of messages: by filter and order with links that count items, or by search with links that have a token.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chrono::DateTime;
use serde_json::Value;

use crate::door::Reply;
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::mail::content::MailAddress;
use crate::graph::mail::mail_filter::{FilterValue, MessageFilter};
use crate::graph::mail::mail_search::{MailSearch, SearchSubject, SearchText};
use crate::graph::mail::message_json::{MessageView, conversation_id};
use crate::graph::mail::messages::collection;
use crate::graph::mail::store::{MailStore, MessageItem};
use crate::graph::mail::store_mut;
use crate::graph::state::GraphState;

/// Parameters that no search can have beside it, with the error that each gets.
const NOT_WITH_SEARCH: [(&str, &str); 4] = [
    ("$filter", "SearchWithFilter"),
    ("$orderby", "SearchWithOrderBy"),
    ("$skip", "SearchWithSkip"),
    ("$count", "SearchWithCount"),
];

/// Answers a list of messages, of one folder where it is given.
pub fn answer(state: &mut GraphState, call: &GraphCall, folder: Option<&str>) -> GraphResult {
    let view = MessageView::read(call)?;
    if call.parameter("$search").is_some() || call.parameter("$skiptoken").is_some() {
        let is_stale = call.parameter("$skiptoken").is_some() && state.traps.fires("search_stale");
        return search(store_mut(state, call)?, call, folder, &view, is_stale);
    }
    let (usual, most) = (facts::number("mail_pages", "list_usual"), facts::number("mail_pages", "list_most"));
    let (top, skip) = (call.top(usual, most)?, call.skip()?);
    let is_fat = top >= facts::number("mail_pages", "fat_page") && view.has_bodies();
    if is_fat && state.traps.fires("fat_page_504") {
        return Err(GraphError::new(504, "UnknownError", "The gateway did not get an answer in time."));
    }
    let store = store_mut(state, call)?;
    let found = select(store, call, folder)?;
    let value = found.iter().skip(skip).take(top).map(|item| view.value(call, item)).collect();
    let mut page = collection(call, "messages", value);
    if call.parameter("$count") == Some("true") {
        page["@odata.count"] = found.len().into();
    }
    if skip + top < found.len() {
        page["@odata.nextLink"] = call.next_link(skip + top).into();
    }
    Ok(json_reply(200, &page))
}

/// Answers `$count`.
pub fn count(state: &mut GraphState, call: &GraphCall, folder: Option<&str>) -> GraphResult {
    let found = select(store_mut(state, call)?, call, folder)?.len();
    Ok(Reply::new(200).header("content-type", "text/plain").body(found.to_string()))
}

/// The messages that a filter takes, in the order that is asked for; the newest first where none is.
///
/// # Errors
/// The filter or the order is none of Outlook's: 400.
fn select<'s>(
    store: &'s MailStore,
    call: &GraphCall,
    folder: Option<&str>,
) -> Result<Vec<&'s MessageItem>, GraphError> {
    let order: Vec<&str> =
        call.parameter("$orderby").map(|text| text.split(',').collect()).unwrap_or_default();
    let mut keys: Vec<(&str, bool)> = Vec::new();
    for one in order {
        let (name, direction) = one.trim().split_once(' ').unwrap_or((one.trim(), "asc"));
        if !["asc", "desc"].contains(&direction.trim()) {
            return Err(GraphError::bad_request(&format!("Syntax error in $orderby '{one}'.")));
        }
        keys.push((name, direction.trim() == "desc"));
    }
    let mut found = store.newest_first(folder);
    if let Some(text) = call.parameter("$filter") {
        let filter = MessageFilter::parse(text)?;
        filter.check_order(&keys.iter().map(|(name, _)| *name).collect::<Vec<_>>())?;
        found.retain(|item| filter.matches(&|property| property_of(item, property)));
    }
    for (name, is_descending) in keys.into_iter().rev() {
        let compare = |a: &&MessageItem, b: &&MessageItem| {
            property_of(a, name).partial_cmp(&property_of(b, name)).unwrap_or(std::cmp::Ordering::Equal)
        };
        found.sort_by(|a, b| if is_descending { compare(b, a) } else { compare(a, b) });
    }
    Ok(found)
}

/// The value of a property of a message for a filter.
fn property_of(item: &MessageItem, property: &str) -> FilterValue {
    let content = &item.content;
    let text = |text: &str| FilterValue::Text(text.to_owned());
    let from = content.from.first();
    let sender = content.sender.first().or(from);
    let name_of = |one: Option<&MailAddress>, is_name: bool| match one {
        Some(one) => text(if is_name { &one.name } else { &one.address }),
        None => FilterValue::Null,
    };
    match property {
        "bodyPreview" => FilterValue::Text(content.preview()),
        "categories" => FilterValue::List(item.categories.clone()),
        "conversationId" => FilterValue::Text(conversation_id(item.conversation)),
        "createdDateTime" => FilterValue::Time(whole_seconds(item.created_ms)),
        "flag/flagStatus" => text(&item.flag),
        "from/emailAddress/address" => name_of(from, false),
        "from/emailAddress/name" => name_of(from, true),
        "sender/emailAddress/address" => name_of(sender, false),
        "sender/emailAddress/name" => name_of(sender, true),
        "hasAttachments" => FilterValue::Bool(content.has_attachments()),
        "importance" => text(&item.importance),
        "inferenceClassification" => text("focused"),
        "internetMessageId" => text(&content.message_id),
        "isDraft" => FilterValue::Bool(item.is_draft),
        "isRead" => FilterValue::Bool(item.is_read),
        "lastModifiedDateTime" => FilterValue::Time(whole_seconds(item.modified_ms)),
        "parentFolderId" => FilterValue::Text(ids::stable(&item.folder)),
        "receivedDateTime" => FilterValue::Time(whole_seconds(item.received_ms)),
        "sentDateTime" => FilterValue::Time(whole_seconds(content.sent_ms.unwrap_or(item.received_ms))),
        "subject" => text(&content.subject),
        _ => FilterValue::Null,
    }
}

/// Answers have no fractions of seconds: filters compare what was answered.
fn whole_seconds(ms: i64) -> i64 {
    ms - ms.rem_euclid(1000)
}

/// Answers a search, whose hits are sorted by the time at which they were sent.
fn search(
    store: &MailStore,
    call: &GraphCall,
    folder: Option<&str>,
    view: &MessageView,
    is_stale: bool,
) -> GraphResult {
    for (name, code) in NOT_WITH_SEARCH {
        if call.parameter(name).is_some() {
            let message = format!("The query parameter '{name}' is not supported with '$search'.");
            return Err(GraphError::new(400, code, &message));
        }
    }
    let stale = || {
        GraphError::new(
            400,
            "ErrorExecuteSearchStaleData",
            "The search folder has stale data; run the search again.",
        )
    };
    let begin = match call.parameter("$skiptoken") {
        None => 0,
        Some(_) if is_stale => return Err(stale()),
        Some(token) => {
            let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).map_err(|_| stale())?;
            let text = String::from_utf8(bytes).map_err(|_| stale())?;
            text.strip_prefix("hit:").and_then(|text| text.parse::<usize>().ok()).ok_or_else(stale)?
        }
    };
    let search = MailSearch::parse(call.parameter("$search").unwrap_or_default())?;
    let mut hits = store.newest_first(folder);
    hits.retain(|item| search.matches(&subject_of(item)));
    hits.sort_by_key(|item| std::cmp::Reverse(item.content.sent_ms.unwrap_or(item.received_ms)));
    hits.truncate(facts::number("mail_pages", "search_hits"));
    let top =
        call.top(facts::number("mail_pages", "search_usual"), facts::number("mail_pages", "list_most"))?;
    let value: Vec<Value> = hits.iter().skip(begin).take(top).map(|item| view.value(call, item)).collect();
    let mut page = collection(call, "messages", value);
    if begin + top < hits.len() {
        let token = BASE64_URL_SAFE_NO_PAD.encode(format!("hit:{}", begin + top));
        page["@odata.nextLink"] = search_link(call, &token).into();
    }
    Ok(json_reply(200, &page))
}

/// The link of a search's next page, with the other parameters as they were.
fn search_link(call: &GraphCall, token: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(call.query.iter().filter(|(name, _)| name != "$skiptoken"));
    query.append_pair("$skiptoken", token);
    format!("{}{}?{}", call.link_root, call.link_path(), query.finish())
}

fn subject_of(item: &MessageItem) -> SearchSubject {
    let content = &item.content;
    let lists = [("from", &content.from), ("to", &content.to), ("cc", &content.cc), ("bcc", &content.bcc)];
    let mut texts: Vec<SearchText> = Vec::new();
    for (property, list) in lists {
        texts.extend(
            list.iter().map(|one| SearchText { property, text: format!("{} {}", one.name, one.address) }),
        );
    }
    texts.push(SearchText { property: "subject", text: content.subject.clone() });
    texts.push(SearchText { property: "body", text: content.plain_text() });
    texts.extend(
        content.attachments.iter().map(|one| SearchText { property: "attachment", text: one.name.clone() }),
    );
    let day = |ms: i64| DateTime::from_timestamp_millis(ms).unwrap_or_default().date_naive();
    SearchSubject {
        texts,
        received: day(item.received_ms),
        sent: day(content.sent_ms.unwrap_or(item.received_ms)),
        is_read: item.is_read,
        has_attachments: content.has_attachments(),
        importance: item.importance.clone(),
        categories: item.categories.clone(),
        bytes: item.raw.len(),
    }
}
