//! How Paper is called, and its pages, whatever they hold.

use std::fmt;
use std::str::FromStr;

use connector_sdk::http::Request;
use connector_sdk::model::wire::{Account, ChangesRequest, Item, ItemError, JsonText, Source, Sources, Warning};
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Paper's names of collections and of what is in them: `calendars` and `events`.
pub struct Names {
    pub collections: &'static str,
    pub records: &'static str,
}

/// A calendar or an address book of Paper.
#[derive(Deserialize)]
pub struct Collection {
    pub id: String,
    pub title: String,
    pub etag: String,
}

/// An event or a card of Paper.
pub trait Record: DeserializeOwned {
    const NAMES: Names;

    /// The record as a source for Switchboard.
    fn source(&self) -> Outcome<Source>;
}

#[derive(Deserialize)]
struct Me {
    id: String,
    email: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    next_page_token: Option<String>,
    /// On the last page alone: ask with it for what changes from now on.
    next_since: Option<String>,
    /// The lists of the page, by their names.
    #[serde(flatten)]
    lists: Map<String, Value>,
}

impl Page {
    /// The list of this name.
    fn take(&mut self, name: &str) -> Outcome<Vec<Value>> {
        match self.lists.remove(name) {
            Some(Value::Array(entries)) => Ok(entries),
            _ => Err(Failure::unavailable(format!("the provider's answer has no list of {name}"))),
        }
    }
}

pub fn account(context: &Context, surface: &str) -> Outcome<Account> {
    let me: Me = read(context, &["me"], &[], "reading the account")?;
    Ok(Account {
        external_account_id: me.id,
        email: me.email,
        display_name: me.name,
        surfaces: vec![surface.into()],
        ..Account::default()
    })
}

/// One page of the account's collections. `body` makes the resource of one.
pub fn collections<B: Serialize>(
    context: &Context,
    names: &Names,
    body: impl Fn(&Collection) -> B,
) -> Outcome<Answer<Sources>> {
    let token = match context.cursor.as_deref().map(str::parse::<Cursor>).transpose()? {
        None => None,
        Some(Cursor::Page(token)) => Some(token),
        Some(_) => return Err(expired()),
    };
    let query: Vec<(&str, &str)> = token.iter().map(|token| ("pageToken", token.as_str())).collect();
    let mut page: Page = read(context, &[names.collections], &query, "listing the collections")?;
    let sources = page.take(names.collections)?.into_iter().map(|entry| {
        let collection: Collection = serde_json::from_value(entry)
            .map_err(|_| Failure::unavailable("a collection of the provider cannot be read"))?;
        source(&collection.id, &collection.etag, &body(&collection))
    });
    let sources = sources.collect::<Outcome<_>>()?;
    let cursor = page.next_page_token.map(|token| Cursor::Page(token).to_string());
    let more = cursor.is_some();
    Ok(Answer { body: Sources { sources, enumeration: true, ..Sources::default() }, cursor, more })
}

/// Without a cursor everything in a collection, page by page; then what changed since the last page's cursor.
pub fn changes<R: Record>(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let collection = args.collection.as_deref();
    let collection = collection.ok_or_else(|| Failure::invalid("collection is missing"))?;
    let limit = if args.limit == 0 { 100 } else { args.limit.min(100) }.to_string();
    let cursor = context.cursor.as_deref().map(str::parse::<Cursor>).transpose()?;
    let mut query = vec![("limit", limit.as_str())];
    query.extend(cursor.as_ref().map(Cursor::query));
    let path = [R::NAMES.collections, collection, R::NAMES.records];
    let mut page: Page = read(context, &path, &query, "listing the items")?;
    let enumeration = matches!(cursor, None | Some(Cursor::Page(_)));
    let sources = page.take(R::NAMES.records)?.into_iter().map(source_of::<R>).collect();
    let (cursor, more) = match (page.next_page_token, page.next_since) {
        (Some(token), _) if enumeration => (Cursor::Page(token), true),
        (Some(token), _) => (Cursor::ChangesPage(token), true),
        (None, Some(since)) => (Cursor::Since(since), false),
        (None, None) => return Err(Failure::unavailable("the provider's last page has no token to go on from")),
    };
    let body = Sources { sources, enumeration, ..Sources::default() };
    Ok(Answer { body, cursor: Some(cursor.to_string()), more })
}

/// A record of a page. One that cannot be read is there all the same, with an error: the host does not take it for deleted, and it does not
/// hold up the others.
fn source_of<R: Record>(entry: Value) -> Source {
    let id = entry["id"].as_str().unwrap_or_default().to_owned();
    if entry["deleted"] == true {
        return deleted(id);
    }
    let read = serde_json::from_value::<R>(entry).ok().and_then(|record| record.source().ok());
    read.unwrap_or_else(|| {
        let error = ItemError { code: "unreadable".into(), message: "the item cannot be read".into() };
        Source { external_id: id, error: Some(error), ..Source::default() }
    })
}

pub fn get<R: Record>(context: &Context, collection: &str, id: &str) -> Outcome<Sources> {
    let path = [R::NAMES.collections, collection, R::NAMES.records, id];
    let record: R = read(context, &path, &[], "reading the item")?;
    Ok(Sources { sources: vec![record.source()?], ..Sources::default() })
}

pub fn create<R: Record>(context: &Context, collection: &str, fields: &Map<String, Value>) -> Outcome<Source> {
    let url = url(context, &[R::NAMES.collections, collection, R::NAMES.records], &[])?;
    let mut request = Request::post(url).json(fields);
    // A repeated attempt has the same key, and Paper answers with what the first one made.
    if let Some(key) = &context.idempotency_key {
        request = request.header("idempotency-key", key);
    }
    context.send_ok(request, "creating the item")?.json::<R>()?.source()
}

pub fn update<R: Record>(
    context: &Context,
    collection: &str,
    id: Option<&str>,
    if_match: Option<&str>,
    fields: &Map<String, Value>,
) -> Outcome<Source> {
    let id = id.ok_or_else(|| Failure::invalid("source is missing: name the item"))?;
    let url = url(context, &[R::NAMES.collections, collection, R::NAMES.records, id], &[])?;
    let request = Request::patch(url).if_match(if_match).json(fields);
    context.send_ok(request, "changing the item")?.json::<R>()?.source()
}

pub fn delete<R: Record>(context: &Context, collection: &str, id: String, if_match: Option<&str>) -> Outcome<Source> {
    let url = url(context, &[R::NAMES.collections, collection, R::NAMES.records, &id], &[])?;
    match context.send_ok(Request::delete(url).if_match(if_match), "deleting the item") {
        // Gone already is as good as deleted.
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted(id)),
    }
}

fn deleted(id: String) -> Source {
    Source { external_id: id, deleted: true, ..Source::default() }
}

/// A resource as the host wants it.
pub fn source(id: &str, etag: &str, body: &impl Serialize) -> Outcome<Source> {
    let body = JsonText::of(body)
        .map_err(|error| Failure::unavailable(format!("the item cannot be written as JSON: {error}")))?;
    let item = Item { external_id: id.into(), body, ..Item::default() };
    Ok(Source { external_id: id.into(), etag: Some(etag.into()), items: vec![item], ..Source::default() })
}

/// A warning for each field that Paper does not keep.
pub fn warnings<'a>(unkept: impl Iterator<Item = &'a String>) -> Vec<Warning> {
    let warning = |field: &String| Warning {
        code: "field_not_supported".into(),
        message: format!("Paper has no {field}"),
        target: Some(field.clone()),
    };
    unkept.map(warning).collect()
}

/// The position at which a walk continues. It begins with a version: a cursor of another version of this connector is no error, the host
/// starts over.
enum Cursor {
    /// The next page of everything.
    Page(String),
    /// The next page of changes.
    ChangesPage(String),
    /// The changes after this point.
    Since(String),
}

impl Cursor {
    fn query(&self) -> (&'static str, &str) {
        match self {
            Cursor::Page(token) | Cursor::ChangesPage(token) => ("pageToken", token),
            Cursor::Since(token) => ("since", token),
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cursor::Page(token) => write!(f, "v1;page;{token}"),
            Cursor::ChangesPage(token) => write!(f, "v1;changes;{token}"),
            Cursor::Since(token) => write!(f, "v1;since;{token}"),
        }
    }
}

impl FromStr for Cursor {
    type Err = Failure;

    fn from_str(text: &str) -> Outcome<Cursor> {
        let (kind, token) = text.strip_prefix("v1;").and_then(|rest| rest.split_once(';')).ok_or_else(expired)?;
        match kind {
            "page" => Ok(Cursor::Page(token.into())),
            "changes" => Ok(Cursor::ChangesPage(token.into())),
            "since" => Ok(Cursor::Since(token.into())),
            _ => Err(expired()),
        }
    }
}

fn expired() -> Failure {
    Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this connector")
}

/// An address at Paper. Segments and values are escaped, so that an id cannot lead elsewhere. A segment that is a step in a path has no
/// escaped form: nothing has such an id.
fn url(context: &Context, segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    let server = context.setting("serverUrl");
    let server = server.ok_or_else(|| Failure::invalid("settings.serverUrl is missing: give Paper's address"))?;
    let mut url = format!("{}/v1", server.trim_end_matches('/'));
    for segment in segments {
        if matches!(*segment, "." | "..") {
            return Err(Failure::not_found("nothing has an id that is a step in a path"));
        }
        url.push('/');
        escape(segment, &mut url);
    }
    for (number, (name, value)) in query.iter().enumerate() {
        url.push(if number == 0 { '?' } else { '&' });
        url.push_str(name);
        url.push('=');
        escape(value, &mut url);
    }
    Ok(url)
}

/// RFC 3986, section 2.3.
fn escape(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// Reads something. Paper answers 410 where it no longer knows a token.
fn read<T: DeserializeOwned>(context: &Context, path: &[&str], query: &[(&str, &str)], doing: &str) -> Outcome<T> {
    let response = context.send(Request::get(url(context, path, query)?))?;
    if response.is_success() {
        return response.json();
    }
    let failure = context.failure(&response, doing);
    Err(if response.status == 410 { failure.with_code(code::CURSOR_EXPIRED) } else { failure })
}
