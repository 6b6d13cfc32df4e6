//! Converts the provider's records to sources, for events, contacts and tasks alike: pages of changes, and the results of writes.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::wire::{ChangesRequest, Item, ItemError, JsonText, Mutated, Source, Sources};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::api::{ask, change, object, url};
use crate::native::{Envelope, Page, WriteResponse};

/// The provider's largest page.
const MAX_LIMIT: u32 = 250;
/// The text in an item's name that makes this connector panic when it reads the item, to test how a host handles that.
const CRASH: &str = "[sandbox:crash]";

/// A kind of record.
pub trait Record {
    /// The names of its folders and of the record in paths: `calendars`, `events`.
    const PATH: [&'static str; 2];
    /// The name in messages: `event`.
    const NAME: &'static str;

    /// Converts a record to a source, a deleted one if the record is marked as deleted. Fails if it cannot be parsed, and panics if its
    /// name asks for it.
    fn source(record: &RawValue) -> Outcome<Source>;
}

/// Converts a record with the members of a resource of the model to a source. `kind` and `name` are those of the item.
pub fn resource<B: Serialize + DeserializeOwned>(
    record: &RawValue,
    what: &str,
    kind: Option<&str>,
    name: fn(&B) -> Option<&str>,
) -> Outcome<Source> {
    let envelope: Envelope = parsed(record, what)?;
    if envelope.deleted {
        return Ok(Source { etag: envelope.etag, ..deleted_source(&envelope.id) });
    }
    let body: B = parsed(record, what)?;
    survive(what, &envelope.id, name(&body));
    let item = Item {
        external_id: envelope.id.clone(),
        kind: kind.map(str::to_owned),
        body: text(&body)?,
        provider_data: Some(json!({ "createdAt": envelope.created_at, "updatedAt": envelope.updated_at })),
        ..Item::default()
    };
    let (external_id, etag) = (envelope.id, envelope.etag);
    Ok(Source { external_id, etag, items: vec![item], ..Source::default() })
}

/// The members of a resource that a write sends: the changed ones, or all.
pub fn members(body: &impl Serialize, changed: Option<&[String]>) -> Map<String, Value> {
    let Ok(Value::Object(mut all)) = serde_json::to_value(body) else { return Map::new() };
    all.retain(|name, _| changed.is_none_or(|names| names.contains(name)));
    all
}

/// Panics if the name of an item asks for it.
pub fn survive(what: &str, id: &str, name: Option<&str>) {
    let asks_for_it = name.is_some_and(|name| name.contains(CRASH));
    assert!(!asks_for_it, "the name of {what} {id} asks for a crash");
}

/// The source of a deleted record.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}

/// The body of an item.
pub fn text(value: &impl Serialize) -> Outcome<JsonText> {
    JsonText::of(value).map_err(|e| Failure::unavailable(format!("the item cannot be written as JSON: {e}")))
}

/// The URL of a folder's records, or of a resource below them.
pub fn address<R: Record>(context: &Context, folder: &str, below: &[&str]) -> Outcome<String> {
    let [folders, records] = R::PATH;
    url(context, &[&[folders, folder, records], below].concat(), &[])
}

/// Reads the current state of a record.
pub fn read<R: Record>(context: &Context, folder: &str, id: &str) -> Outcome<Box<RawValue>> {
    let request = Request::get(address::<R>(context, folder, &[id])?);
    ask(context, request, &format!("reading the {}", R::NAME))
}

/// Reads the current state of a record, as the answer of a fetch.
pub fn get<R: Record>(context: &Context, folder: &str, id: &str) -> Outcome<Sources> {
    Ok(Sources {
        sources: vec![R::source(&read::<R>(context, folder, id)?)?],
        enumeration: false,
        ..Sources::default()
    })
}

/// Returns the next page of changes. The cursor is a letter and the provider's token: `f` continues the initial sync, `c` continues a round
/// of changes, `s` starts one.
pub fn changes<R: Record>(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let folder = args.collection.as_deref().unwrap_or_default();
    let limit = if args.limit == 0 { MAX_LIMIT } else { args.limit.min(MAX_LIMIT) }.to_string();
    let mut query = vec![("limit", limit.as_str())];
    let expired = || Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this connector");
    let enumeration = match &context.cursor {
        None => true,
        Some(cursor) => {
            let (letter, token) = cursor.split_at_checked(1).ok_or_else(expired)?;
            let name = if letter == "s" { "syncToken" } else { "pageToken" };
            query.push((name, token));
            match letter {
                "f" => true,
                "c" | "s" => false,
                _ => return Err(expired()),
            }
        }
    };
    let [folders, records] = R::PATH;
    let request = Request::get(url(context, &[folders, folder, records], &query)?);
    let page: Page = ask(context, request, &format!("listing the {records}")).map_err(|failure| {
        // A token that the provider refuses is from another version.
        let is_of_cursor = context.cursor.is_some() && failure.http_status == Some(400);
        if is_of_cursor { failure.with_code(code::CURSOR_EXPIRED) } else { failure }
    })?;
    let (cursor, more) = match (page.next_page_token, page.next_sync_token) {
        (Some(token), _) => (format!("{}{token}", if enumeration { "f" } else { "c" }), true),
        (None, Some(token)) => (format!("s{token}"), false),
        (None, None) => return Err(Failure::unavailable("the provider's last page has no sync token")),
    };
    let read = if args.names_only { bare_source } else { listed_source::<R> };
    let sources = page.records.iter().map(|record| read(record)).collect();
    Ok(Answer { body: Sources { sources, enumeration, ..Sources::default() }, cursor: Some(cursor), more })
}

/// Converts a record of a list. A malformed record becomes an error of its source, so that it does not stop the others.
fn listed_source<R: Record>(record: &RawValue) -> Source {
    R::source(record).unwrap_or_else(|failure| {
        let error = Some(ItemError { code: "unreadable".to_owned(), message: failure.message });
        Source { error, ..bare_source(record) }
    })
}

/// Returns a source with only the id of a record.
pub fn bare_source(record: &RawValue) -> Source {
    let known = serde_json::from_str::<Value>(record.get()).unwrap_or_default();
    Source {
        external_id: known["id"].as_str().unwrap_or_default().to_owned(),
        etag: known["etag"].as_str().map(str::to_owned),
        deleted: known["deleted"] == true,
        ..Source::default()
    }
}

/// Creates a record with this id. An existing record with the same idempotency key was created by an earlier attempt.
pub fn create<R: Record>(
    context: &Context,
    folder: &str,
    id: &str,
    mut body: Map<String, Value>,
) -> Outcome<Mutated> {
    body.insert("id".to_owned(), json!(id));
    let request = Request::post(address::<R>(context, folder, &[])?).json(&body);
    match change(context, request, &format!("creating the {}", R::NAME)) {
        Ok(response) => Ok(parse_change::<R>(&response)?.mutated),
        Err(e) if e.code == code::ALREADY_EXISTS && context.idempotency_key.is_some() => {
            let sources = get::<R>(context, folder, id)?.sources;
            Ok(Mutated { sources, item: Some(id.to_owned()), ..Mutated::default() })
        }
        Err(e) => Err(e),
    }
}

/// Changes a record.
pub fn update<R: Record>(
    context: &Context,
    folder: &str,
    id: &str,
    if_match: Option<&str>,
    body: &Map<String, Value>,
) -> Outcome<Mutated> {
    let request = Request::patch(address::<R>(context, folder, &[id])?).if_match(if_match).json(body);
    let response = change(context, request, &format!("changing the {}", R::NAME))?;
    Ok(parse_change::<R>(&response)?.mutated)
}

/// Deletes a record, and returns it with the records that were deleted or changed along with it.
pub fn delete<R: Record>(
    context: &Context,
    folder: &str,
    id: &str,
    if_match: Option<&str>,
) -> Outcome<Mutated> {
    let request = Request::delete(address::<R>(context, folder, &[id])?).if_match(if_match);
    let mut sources = vec![deleted_source(id)];
    match change(context, request, &format!("deleting the {}", R::NAME)) {
        Ok(response) => {
            // A repeated deletion in a folder that no longer exists has an empty answer.
            let left: WriteResponse =
                if response.body.is_empty() { WriteResponse::default() } else { object(&response)? };
            sources.extend(left.dropped.iter().map(|id| deleted_source(id)));
            for other in &left.others {
                sources.push(R::source(other)?);
            }
        }
        // A record that no longer exists counts as deleted.
        Err(e) if e.code == code::NOT_FOUND => {}
        Err(e) => return Err(e),
    }
    Ok(Mutated { sources, ..Mutated::default() })
}

/// The result of a change.
pub struct ChangeResult {
    /// The record, and others that changed with it.
    pub mutated: Mutated,
    /// The names of instances that the series no longer has.
    pub dropped: Vec<String>,
}

/// Parses the answer to a change. Fails with `not-found` if the record was deleted.
pub fn parse_change<R: Record>(response: &Response) -> Outcome<ChangeResult> {
    let written: WriteResponse = object(response)?;
    let record = written.record.as_deref().map(R::source).transpose()?;
    let record =
        record.ok_or_else(|| Failure::not_found(format!("the {} has been deleted meanwhile", R::NAME)))?;
    let item = Some(record.external_id.clone());
    let mut sources = vec![record];
    for other in &written.others {
        sources.push(R::source(other)?);
    }
    let mutated = Mutated { sources, item, part: written.part, ..Mutated::default() };
    Ok(ChangeResult { mutated, dropped: written.dropped })
}

/// Parses a part of the provider's answer. The error names the position of the fault if it is known; serde_json's own message would quote
/// the value, which may be personal data.
pub fn parsed<T: DeserializeOwned>(part: &RawValue, what: &str) -> Outcome<T> {
    serde_json::from_str(part.get()).map_err(|e| {
        let place = (e.line() > 0).then(|| format!(" at line {}, column {}", e.line(), e.column()));
        Failure::unavailable(format!("the provider's {what} cannot be read{}", place.unwrap_or_default()))
    })
}

/// The external id of the record to change.
pub fn target(source: Option<&str>) -> Outcome<&str> {
    source.filter(|s| !s.is_empty()).ok_or_else(|| Failure::invalid("source is missing: name what to change"))
}
