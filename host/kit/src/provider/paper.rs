//! Paper: a small service of lists and items, calendars and events, books and cards, as many are. The templates are written for it,
//! `connector test` plays it, and `connector provider` serves it.
//!
//! | request | answer |
//! |---|---|
//! | `GET /v1/me` | `{id, email, name, feedKey}` |
//! | `GET /v1/lists?pageToken` | `{lists: [{id, title, etag, shareToken}], nextPageToken?}`, two lists a page |
//! | `GET /v1/lists/{list}/items?limit&pageToken&since` | `{items, nextPageToken?}`, on the last page `nextSince`; with `since` what changed, deleted ones as `{id, deleted: true}`; 410 where the token is unknown |
//! | `POST /v1/lists/{list}/items` | 201 and the item; a repeated `Idempotency-Key` gets the item of the first time |
//! | `GET`, `PATCH`, `DELETE /v1/lists/{list}/items/{id}` | the item, or 204; 412 where `If-Match` is another version |
//!
//! Calendars with events are at `/v1/calendars/{calendar}/events`, books with cards at `/v1/books/{book}/cards`, in the same way; pages name
//! them so too. An item is `{id, etag, title, note, done, due}`; `record_kind.rs` has the fields of the others.
//! `Authorization: Bearer paper-<account>` opens an account, and makes it the first time. Errors are `{error: {code, message}}`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, IF_MATCH};
use http::{Method, Request, Response, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::escapes::decoded;
use crate::provider::record_kind::RecordKind;

/// Items of a page, unless the request wants fewer.
const PAGE: usize = 100;
/// Lists of a page.
const LISTS: usize = 2;
/// Items that an account may have, and accounts.
const MAX_ITEMS: usize = 10_000;

/// The service. It forgets everything when it is dropped.
#[derive(Default)]
pub struct Paper(Mutex<HashMap<String, PaperAccount>>);

/// Lists with their items.
struct PaperAccount {
    name: String,
    lists: Vec<List>,
    /// A counter of changes; the etag of each changed item.
    version: u64,
    next: u64,
    /// Idempotency keys and the items that they made.
    made: HashMap<String, String>,
}

/// A list of items, a calendar or a book.
struct List {
    kind: RecordKind,
    id: String,
    title: String,
    items: BTreeMap<String, Item>,
}

/// An item, an event or a card.
#[derive(Clone, Default)]
struct Item {
    id: String,
    etag: String,
    fields: Map<String, Value>,
    deleted: bool,
    version: u64,
}

type PaperAnswer = Result<Response<Bytes>, PaperRefusal>;

/// An error: its status, its code and a sentence.
struct PaperRefusal(StatusCode, &'static str, &'static str);

const NOT_FOUND: PaperRefusal = PaperRefusal(StatusCode::NOT_FOUND, "notFound", "there is no such thing");
const GONE: PaperRefusal =
    PaperRefusal(StatusCode::GONE, "unknownToken", "this token is not known, start over");
const STALE: PaperRefusal =
    PaperRefusal(StatusCode::PRECONDITION_FAILED, "stale", "the item has changed since");

impl Paper {
    /// Answers one request. Anything before the path is ignored.
    pub fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        self.try_answer(request).unwrap_or_else(|PaperRefusal(status, code, message)| {
            json_response(status, &json!({ "error": { "code": code, "message": message } }))
        })
    }

    /// Returns a secret of this account that is in the provider's answers: it must not leave the connector.
    pub fn feed_key(account: &str) -> String {
        format!("feed-key-{}", hex::encode(account))
    }

    fn try_answer(&self, request: &Request<Bytes>) -> PaperAnswer {
        let refused =
            PaperRefusal(StatusCode::UNAUTHORIZED, "unauthorized", "Authorization: Bearer paper-<account>");
        let bearer = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let name =
            bearer.and_then(|value| value.strip_prefix("Bearer paper-")).filter(|name| !name.is_empty());
        let name = name.ok_or(refused)?;
        let mut accounts = self.0.lock().expect("no panic while answering");
        if accounts.len() >= MAX_ITEMS && !accounts.contains_key(name) {
            return Err(PaperRefusal(
                StatusCode::INSUFFICIENT_STORAGE,
                "full",
                "there are too many accounts",
            ));
        }
        let account = accounts.entry(name.to_owned()).or_insert_with(|| PaperAccount::new(name));
        let bad = PaperRefusal(StatusCode::BAD_REQUEST, "badPath", "the path cannot be read");
        let path_and_query = request.uri().path_and_query().map_or("/", |whole| whole.as_str());
        let Ok(url) = Url::parse(&format!("http://paper{path_and_query}")) else { return Err(bad) };
        let segments: Vec<String> = url.path_segments().into_iter().flatten().map(decoded).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let kind = segments.get(1).and_then(|collections| RecordKind::find(collections));
        let kind = kind.filter(|kind| segments.get(3).is_none_or(|records| *records == kind.names().1));
        match (request.method(), kind, segments.as_slice()) {
            (&Method::GET, _, ["v1", "me"]) => Ok(account.me()),
            (&Method::GET, Some(kind), ["v1", _]) => account.lists(kind, &query),
            (&Method::GET, Some(kind), ["v1", _, list, _]) => {
                account.items(account.list(kind, list)?, &query)
            }
            (&Method::POST, Some(kind), ["v1", _, list, _]) => account.create(kind, list, request),
            (&Method::GET, Some(kind), ["v1", _, list, _, id]) => {
                Ok(json_response(StatusCode::OK, &account.list(kind, list)?.item(id)?.to_json()))
            }
            (&Method::PATCH, Some(kind), ["v1", _, list, _, id]) => account.change(kind, list, id, request),
            (&Method::DELETE, Some(kind), ["v1", _, list, _, id]) => account.delete(kind, list, id, request),
            (_, _, ["v1", ..]) => Err(NOT_FOUND),
            _ => Err(PaperRefusal(StatusCode::NOT_FOUND, "notFound", "Paper's paths begin with /v1")),
        }
    }
}

impl PaperAccount {
    fn new(name: &str) -> Self {
        let lists = [RecordKind::Item, RecordKind::Event, RecordKind::Card].into_iter().flat_map(|kind| {
            kind.collections().map(|(id, title)| List {
                kind,
                id: id.into(),
                title: title.into(),
                items: BTreeMap::new(),
            })
        });
        PaperAccount { name: name.into(), lists: lists.collect(), version: 0, next: 0, made: HashMap::new() }
    }

    fn me(&self) -> Response<Bytes> {
        let me = json!({
            "id": self.name,
            "email": format!("{}@paper.test", self.name),
            "name": self.name,
            "feedKey": Paper::feed_key(&self.name),
        });
        json_response(StatusCode::OK, &me)
    }

    fn lists(&self, kind: RecordKind, query: &HashMap<String, String>) -> PaperAnswer {
        let all: Vec<&List> = self.lists.iter().filter(|list| list.kind == kind).collect();
        let from = match query.get("pageToken") {
            Some(token) => token.strip_prefix('l').and_then(|n| n.parse().ok()).filter(|n| *n < all.len()),
            None => Some(0),
        };
        let from = from.ok_or(GONE)?;
        let shown = all.iter().skip(from).take(LISTS);
        let token = |list: &List| format!("share-{}-{}", list.id, hex::encode(&self.name));
        let lists: Vec<Value> = shown
            .map(|list| json!({ "id": list.id, "title": list.title, "etag": "1", "shareToken": token(list) }))
            .collect();
        let next = (from + LISTS < all.len()).then(|| format!("l{}", from + LISTS));
        Ok(json_response(StatusCode::OK, &page(kind.names().0, &lists, "nextPageToken", next)))
    }

    /// A full listing is sorted by id, one of changes by time. The tokens are `a<version>.<id>` and `c<version>.<until>`, with the
    /// version at which the listing began, so that later changes are reported afterwards.
    fn items(&self, list: &List, query: &HashMap<String, String>) -> PaperAnswer {
        let limit = query.get("limit").and_then(|n| n.parse().ok()).unwrap_or(PAGE).clamp(1, PAGE);
        let since = query.get("since").map(|token| self.version_of(token, 's')).transpose()?;
        let walk = query.get("pageToken").map(|token| Walk::read(token, self.version)).transpose()?;
        let walk = walk.unwrap_or_else(|| match since {
            Some(since) => Walk::Changes { after: since, until: self.version },
            None => Walk::All { began: self.version, after: String::new() },
        });
        let (mut shown, until): (Vec<&Item>, u64) = match &walk {
            Walk::All { began, after } => {
                let rest = list.items.values().filter(|item| !item.deleted && item.id > *after);
                (rest.collect(), *began)
            }
            Walk::Changes { after, until } => {
                let changed = |item: &&Item| item.version > *after && item.version <= *until;
                let mut changed: Vec<&Item> = list.items.values().filter(changed).collect();
                changed.sort_by_key(|item| item.version);
                (changed, *until)
            }
        };
        let is_more = shown.len() > limit;
        shown.truncate(limit);
        let (name, token) = match (is_more, shown.last()) {
            (true, Some(last)) => ("nextPageToken", walk.after(last)),
            _ => ("nextSince", format!("s{until}")),
        };
        let items: Vec<Value> = shown.into_iter().map(Item::to_json).collect();
        Ok(json_response(StatusCode::OK, &page(list.kind.names().1, &items, name, Some(token))))
    }

    fn version_of(&self, token: &str, kind: char) -> Result<u64, PaperRefusal> {
        let version = token.strip_prefix(kind).and_then(|n| n.parse().ok());
        version.filter(|version| *version <= self.version).ok_or(GONE)
    }

    fn list(&self, kind: RecordKind, id: &str) -> Result<&List, PaperRefusal> {
        self.lists.iter().find(|list| list.kind == kind && list.id == id).ok_or(NOT_FOUND)
    }

    fn list_mut(&mut self, kind: RecordKind, id: &str) -> Result<&mut List, PaperRefusal> {
        self.lists.iter_mut().find(|list| list.kind == kind && list.id == id).ok_or(NOT_FOUND)
    }

    fn create(&mut self, kind: RecordKind, list: &str, request: &Request<Bytes>) -> PaperAnswer {
        let fields = fields(request)?;
        let key = request.headers().get("idempotency-key").and_then(|key| key.to_str().ok());
        if let Some(id) = key.and_then(|key| self.made.get(key)) {
            return Ok(json_response(StatusCode::OK, &self.list(kind, list)?.item(id)?.to_json()));
        }
        if self.lists.iter().map(|list| list.items.len()).sum::<usize>() >= MAX_ITEMS {
            return Err(PaperRefusal(StatusCode::INSUFFICIENT_STORAGE, "full", "the account is full"));
        }
        self.list(kind, list)?;
        let id = format!("i{:06}", self.next);
        let mut item = Item { id: id.clone(), fields: kind.new_fields(), ..Item::default() };
        item.take(kind, &fields)?;
        self.next += 1;
        if let Some(key) = key {
            self.made.insert(key.to_owned(), id);
        }
        Ok(json_response(StatusCode::CREATED, &self.store(kind, list, item)?.to_json()))
    }

    fn change(&mut self, kind: RecordKind, list: &str, id: &str, request: &Request<Bytes>) -> PaperAnswer {
        let fields = fields(request)?;
        let mut item = self.list(kind, list)?.item(id)?.clone();
        item.is_still(request)?;
        item.take(kind, &fields)?;
        Ok(json_response(StatusCode::OK, &self.store(kind, list, item)?.to_json()))
    }

    fn delete(&mut self, kind: RecordKind, list: &str, id: &str, request: &Request<Bytes>) -> PaperAnswer {
        let item = self.list(kind, list)?.item(id)?;
        item.is_still(request)?;
        let gone = Item { id: item.id.clone(), deleted: true, ..Item::default() };
        self.store(kind, list, gone)?;
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NO_CONTENT;
        Ok(response)
    }

    /// The item with its new version.
    fn store(&mut self, kind: RecordKind, list: &str, mut item: Item) -> Result<Item, PaperRefusal> {
        self.version += 1;
        (item.version, item.etag) = (self.version, format!("\"{}\"", self.version));
        self.list_mut(kind, list)?.items.insert(item.id.clone(), item.clone());
        Ok(item)
    }
}

impl List {
    fn item(&self, id: &str) -> Result<&Item, PaperRefusal> {
        self.items.get(id).filter(|item| !item.deleted).ok_or(NOT_FOUND)
    }
}

impl Item {
    fn to_json(&self) -> Value {
        if self.deleted {
            return json!({ "id": self.id, "deleted": true });
        }
        let mut shown = self.fields.clone();
        shown.insert("id".to_owned(), json!(self.id));
        shown.insert("etag".to_owned(), json!(self.etag));
        Value::Object(shown)
    }

    /// Refuses a change of another version.
    fn is_still(&self, request: &Request<Bytes>) -> Result<(), PaperRefusal> {
        match request.headers().get(IF_MATCH) {
            Some(etag) if etag.as_bytes() != self.etag.as_bytes() => Err(STALE),
            _ => Ok(()),
        }
    }

    /// Takes the fields of a request; other fields stay.
    fn take(&mut self, kind: RecordKind, fields: &Map<String, Value>) -> Result<(), PaperRefusal> {
        let is_taken = fields.iter().all(|(name, value)| kind.takes(name, value));
        let fields = fields.iter().map(|(name, value)| (name.clone(), value.clone()));
        self.fields.extend(fields);
        match is_taken && kind.is_whole(&self.fields) {
            true => Ok(()),
            false => Err(PaperRefusal(StatusCode::UNPROCESSABLE_ENTITY, "invalid", kind.requirement())),
        }
    }
}

/// The position of a paged listing of items.
enum Walk {
    All { began: u64, after: String },
    Changes { after: u64, until: u64 },
}

impl Walk {
    /// Parses a page token; refuses one with a version that does not exist yet.
    fn read(token: &str, version: u64) -> Result<Walk, PaperRefusal> {
        let read = || {
            let (kind, rest) = token.split_at_checked(1)?;
            let (number, rest) = rest.split_once('.')?;
            let number: u64 = number.parse().ok().filter(|number| *number <= version)?;
            match kind {
                "a" => Some(Walk::All { began: number, after: rest.to_owned() }),
                "c" => Some(Walk::Changes { after: number, until: rest.parse().ok()? }),
                _ => None,
            }
        };
        read().ok_or(GONE)
    }

    /// The token of the page behind this item.
    fn after(&self, last: &Item) -> String {
        match self {
            Walk::All { began, .. } => format!("a{began}.{}", last.id),
            Walk::Changes { until, .. } => format!("c{}.{until}", last.version),
        }
    }
}

fn fields(request: &Request<Bytes>) -> Result<Map<String, Value>, PaperRefusal> {
    let bad = PaperRefusal(StatusCode::BAD_REQUEST, "badBody", "the body is not a JSON object");
    serde_json::from_slice(request.body()).map_err(|_| bad)
}

fn page(name: &str, entries: &[Value], next: &str, token: Option<String>) -> Value {
    let mut page = json!({ name: entries });
    if let Some(token) = token {
        page[next] = json!(token);
    }
    page
}

fn json_response(status: StatusCode, body: &(impl Serialize + ?Sized)) -> Response<Bytes> {
    let mut response = Response::new(serde_json::to_vec(body).unwrap_or_default().into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(paper: &Paper, method: &str, path: &str, body: &Value, headers: &[(&str, &str)]) -> (u16, Value) {
        let mut request =
            Request::builder().method(method).uri(path).header(AUTHORIZATION, "Bearer paper-ann");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Bytes::from(body.to_string())).unwrap();
        let answer = paper.answer(&request);
        (answer.status().as_u16(), serde_json::from_slice(answer.body()).unwrap_or_default())
    }

    #[test]
    fn a_walk_tells_everything_once_and_then_what_changed() {
        let paper = Paper::default();
        let none = Value::Null;
        for n in 0..5 {
            let (status, _) =
                ask(&paper, "POST", "/v1/lists/home/items", &json!({ "title": format!("T{n}") }), &[]);
            assert_eq!(status, 201);
        }
        let (_, first) = ask(&paper, "GET", "/v1/lists/home/items?limit=3", &none, &[]);
        let next = first["nextPageToken"].as_str().unwrap();
        ask(&paper, "DELETE", "/v1/lists/home/items/i000000", &none, &[]);
        let (_, second) =
            ask(&paper, "GET", &format!("/v1/lists/home/items?limit=3&pageToken={next}"), &none, &[]);
        let titles = |page: &Value| {
            page["items"].as_array().unwrap().iter().map(|i| i["title"].clone()).collect::<Vec<_>>()
        };
        assert_eq!([titles(&first), titles(&second)].concat(), ["T0", "T1", "T2", "T3", "T4"]);
        let since = second["nextSince"].as_str().unwrap();
        let (_, changes) = ask(&paper, "GET", &format!("/v1/lists/home/items?since={since}"), &none, &[]);
        assert_eq!(changes["items"], json!([{ "id": "i000000", "deleted": true }]));
        for unknown in ["pageToken=x", "since=s99", "pageToken=a99.i", "pageToken=%C3%BC"] {
            assert_eq!(ask(&paper, "GET", &format!("/v1/lists/home/items?{unknown}"), &none, &[]).0, 410);
        }
    }

    #[test]
    fn changes_are_conditional_and_creation_is_idempotent() {
        let paper = Paper::default();
        let key = [("idempotency-key", "k")];
        let (_, first) = ask(&paper, "POST", "/v1/lists/home/items", &json!({ "title": "A" }), &key);
        let (_, again) = ask(&paper, "POST", "/v1/lists/home/items", &json!({ "title": "A" }), &key);
        assert_eq!(first, again);
        let path = format!("/v1/lists/home/items/{}", first["id"].as_str().unwrap());
        let old = [("if-match", first["etag"].as_str().unwrap())];
        let (status, changed) = ask(&paper, "PATCH", &path, &json!({ "note": "n" }), &old);
        assert_eq!((status, &changed["title"], &changed["note"]), (200, &json!("A"), &json!("n")));
        assert_eq!(ask(&paper, "PATCH", &path, &json!({ "note": "m" }), &old).0, 412);
        assert_eq!(ask(&paper, "DELETE", &path, &Value::Null, &old).0, 412);
        for bad in [json!({ "title": "" }), json!({ "due": "soon" }), json!({ "colour": 1 }), json!([])] {
            let (status, error) = ask(&paper, "PATCH", &path, &bad, &[]);
            assert!(status == 422 || status == 400, "{bad}: {error}");
        }
    }

    #[test]
    fn calendars_and_books_are_like_lists() {
        let paper = Paper::default();
        let times = json!({ "title": "A", "start": "2026-05-01", "end": "2026-05-02" });
        let (status, event) = ask(&paper, "POST", "/v1/calendars/main/events", &times, &[]);
        assert_eq!((status, &event["start"], &event["zone"]), (201, &json!("2026-05-01"), &Value::Null));
        let (_, page) = ask(&paper, "GET", "/v1/calendars/main/events", &Value::Null, &[]);
        assert_eq!(page["events"], json!([event]));
        let (_, books) = ask(&paper, "GET", "/v1/books", &Value::Null, &[]);
        assert_eq!(
            (&books["books"][0]["title"], &books["nextPageToken"]),
            (&json!("Contacts"), &json!("l2"))
        );
        for (path, status) in [
            ("/v1/books/main/events", 404),
            ("/v1/lists/main/items", 404),
            ("/v1/calendars/home/events", 200),
            ("/v1/notes", 404),
        ] {
            assert_eq!(ask(&paper, "GET", path, &Value::Null, &[]).0, status, "{path}");
        }
    }

    #[test]
    fn an_account_is_opened_by_its_token_alone() {
        let paper = Paper::default();
        let request = |bearer: &str| {
            let request = Request::get("/v1/me").header(AUTHORIZATION, bearer).body(Bytes::new()).unwrap();
            paper.answer(&request)
        };
        assert_eq!(request("Bearer paper-").status(), 401);
        assert_eq!(request("Basic x").status(), 401);
        let me: Value = serde_json::from_slice(request("Bearer paper-ann").body()).unwrap();
        assert_eq!(me["feedKey"], Paper::feed_key("ann"));
    }
}
