//! Deltas: of the messages of a folder, and of the tree of folders.

use serde_json::{Value, json};

use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::mail::folders::folder_value;
use crate::graph::mail::message_json::MessageView;
use crate::graph::mail::messages::collection;
use crate::graph::mail::store::MailStore;
use crate::graph::mail::store_mut;
use crate::graph::mail::walks::{
    DeltaEntry, DeltaOddities, DeltaPage, DeltaScope, DeltaToken, state_not_found,
};
use crate::graph::state::GraphState;
use crate::graph::times;

/// Traps with the spelling of an expired token that each brings.
const EXPIRED: [(&str, u16, &str); 6] = [
    ("delta_410_sync_state_not_found", 410, "SyncStateNotFound"),
    ("delta_404_sync_state_not_found", 404, "SyncStateNotFound"),
    ("delta_400_sync_state_invalid", 400, "SyncStateInvalid"),
    ("delta_410_resync_required", 410, "resyncRequired"),
    ("delta_400_invalid_sync_state_data", 400, "InvalidSyncStateData"),
    ("delta_400_id_malformed", 400, "ErrorInvalidIdMalformed"),
];

/// `mailFolders/{id}/messages/delta`
pub fn messages(state: &mut GraphState, call: &GraphCall, folder: Option<&str>) -> GraphResult {
    // The deltas of a whole mailbox, which SDKs have, are refused (microsoftgraph/msgraph-metadata#607).
    let folder = folder.ok_or_else(|| {
        GraphError::new(
            400,
            "ErrorInvalidRequest",
            "Change tracking is not supported against 'microsoft.graph.message' of a mailbox.",
        )
    })?;
    let page = read_page(state, call, || first_scope(call, folder))?;
    if !matches!(&page.scope, DeltaScope::Messages { folder: of, .. } if of == folder) {
        return Err(GraphError::new(400, "SyncStateInvalid", "The sync state is of another folder."));
    }
    let store = store_mut(state, call)?;
    // Extended properties are not answered, though `$expand` may ask for them (mguessan/davmail#500).
    let view = MessageView::with_select(call, page.select.as_deref())?;
    let value = page.entries.iter().filter_map(|entry| message_entry(call, store, &view, entry));
    answer(call, "messages", value.collect(), &page)
}

/// `mailFolders/delta`
pub fn folders(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    let with_hidden = call.parameter("includeHiddenFolders") == Some("true");
    let page = read_page(state, call, || Ok(DeltaScope::Folders { with_hidden }))?;
    let store = store_mut(state, call)?;
    let value = page.entries.iter().filter_map(|entry| folder_entry(store, page.select.as_deref(), entry));
    answer(call, "mailFolders", value.collect(), &page)
}

fn answer(call: &GraphCall, of: &str, value: Vec<Value>, page: &DeltaPage) -> GraphResult {
    let mut body = collection(call, &format!("{of}/$delta"), value);
    let name = if page.link == "$deltatoken" { "@odata.deltaLink" } else { "@odata.nextLink" };
    body[name] = call.token_link(page.link, &page.token).into();
    Ok(json_reply(200, &body))
}

/// The page that a call's token names, or the first one.
///
/// # Errors
/// The token has expired, or the parameters of a first call are none of a delta: 400, 404, 410.
fn read_page(
    state: &mut GraphState,
    call: &GraphCall,
    scope: impl FnOnce() -> Result<DeltaScope, GraphError>,
) -> Result<DeltaPage, GraphError> {
    let token = call.parameter("$skiptoken").or_else(|| call.parameter("$deltatoken"));
    let token = token.map(DeltaToken::parse).transpose()?;
    if token.is_some() {
        for (trap, status, code) in EXPIRED {
            if state.traps.fires(trap) {
                return Err(GraphError::new(status, code, "The sync state is not valid any more."));
            }
        }
    }
    let has_news = match token {
        None => true,
        Some(DeltaToken::Next { round }) => store_mut(state, call)?.has_news(round),
        Some(DeltaToken::Page { .. }) => false,
    };
    let odd = DeltaOddities {
        hides_returns: has_news && token.is_some() && state.traps.fires("removed_a_b_a"),
        is_partial: has_news && token.is_some() && state.traps.fires("partial_updates"),
        repeats: has_news && state.traps.fires("repeated_ids"),
    };
    let size =
        call.delta_page(facts::number("mail_delta", "page_usual"), facts::number("mail_delta", "page_most"));
    let store = store_mut(state, call)?;
    let token = match token {
        None => store.begin_round(scope()?, call.parameter("$select").map(str::to_owned), None, odd),
        Some(DeltaToken::Next { round }) => store.begin_next_round(round, odd)?,
        Some(page) => page,
    };
    match token {
        DeltaToken::Page { round, generation } => store.read_round(round, generation, size),
        DeltaToken::Next { .. } => Err(state_not_found()),
    }
}

/// The scope of a first call.
///
/// # Errors
/// It has a filter, an order or another parameter that no delta of messages takes: 400.
fn first_scope(call: &GraphCall, folder: &str) -> Result<DeltaScope, GraphError> {
    let refuse = |what: &str| {
        let message = format!("Change tracking does not support {what}.");
        GraphError::new(400, "ErrorInvalidUrlQuery", &message)
    };
    for name in ["$search", "$skip", "$count"] {
        if call.parameter(name).is_some() {
            return Err(refuse(name));
        }
    }
    MessageView::read(call)?;
    let order = call.parameter("$orderby").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    if order.as_deref().is_some_and(|order| order != "receivedDateTime desc") {
        return Err(refuse("another order than receivedDateTime desc"));
    }
    let from_ms = match call.parameter("$filter") {
        None => None,
        Some(filter) => {
            let words: Vec<&str> = filter.split_whitespace().collect();
            let ["receivedDateTime", operator @ ("ge" | "gt"), time] = words.as_slice() else {
                return Err(refuse("another filter than receivedDateTime ge or gt"));
            };
            let time = times::parse(time).ok_or_else(|| refuse("this time"))?;
            Some(if *operator == "gt" { time + 1 } else { time })
        }
    };
    Ok(DeltaScope::Messages { folder: folder.to_owned(), from_ms, is_newest_first: order.is_some() })
}

fn message_entry(
    call: &GraphCall,
    store: &MailStore,
    view: &MessageView,
    entry: &DeltaEntry,
) -> Option<Value> {
    let item = |key: &str| store.messages.get(&key.strip_prefix("msg-")?.parse::<u64>().ok()?);
    let mut value = match entry {
        DeltaEntry::Removed { key, place } => {
            let id = call.id_of(key, *place);
            return Some(json!({
                "@odata.type": "#microsoft.graph.message",
                "id": id,
                "@removed": { "reason": "deleted" },
            }));
        }
        DeltaEntry::Whole(key) => view.value(call, item(key)?),
        DeltaEntry::Partial { key, members } => view.partial_value(call, item(key)?, members),
    };
    value["@odata.type"] = "#microsoft.graph.message".into();
    Some(value)
}

fn folder_entry(store: &MailStore, select: Option<&str>, entry: &DeltaEntry) -> Option<Value> {
    let (DeltaEntry::Whole(key) | DeltaEntry::Partial { key, .. }) = entry else {
        let DeltaEntry::Removed { key, .. } = entry else { return None };
        return Some(json!({
            "@odata.type": "#microsoft.graph.mailFolder",
            "id": ids::stable(key),
            "@removed": { "reason": "deleted" },
        }));
    };
    let mut value = folder_value(store, store.tree.nodes.get(key)?);
    if let (Some(select), Some(members)) = (select, value.as_object_mut()) {
        let is_wanted = |name: &str| select.split(',').any(|one| one.trim().eq_ignore_ascii_case(name));
        members.retain(|name, _| name == "id" || name.starts_with('@') || is_wanted(name));
    }
    if value["@odata.type"].is_null() {
        value["@odata.type"] = "#microsoft.graph.mailFolder".into();
    }
    Some(value)
}
