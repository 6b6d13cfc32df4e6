//! Paper: a small service of lists and items, as many are. The templates are written for it, `connector test` plays it, and
//! `connector provider` serves it.
//!
//! | request | answer |
//! |---|---|
//! | `GET /v1/me` | `{id, email, name, feedKey}` |
//! | `GET /v1/lists?pageToken` | `{lists: [{id, title, etag, shareToken}], nextPageToken?}`, two lists a page |
//! | `GET /v1/lists/{list}/items?limit&pageToken&since` | `{items, nextPageToken?}`, on the last page `nextSince`; with `since` what changed, deleted ones as `{id, deleted: true}`; 410 where the token is unknown |
//! | `POST /v1/lists/{list}/items` | 201 and the item; a repeated `Idempotency-Key` gets the item of the first time |
//! | `GET`, `PATCH`, `DELETE /v1/lists/{list}/items/{id}` | the item, or 204; 412 where `If-Match` is another version |
//!
//! An item is `{id, etag, title, note, done, due}`. `Authorization: Bearer paper-<account>` opens an account, and makes it the first time.
//! Errors are `{error: {code, message}}`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, IF_MATCH};
use http::{Method, Request, Response, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::escapes::decoded;

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

struct List {
    id: String,
    title: String,
    items: BTreeMap<String, Item>,
}

#[derive(Clone, Default, Serialize)]
struct Item {
    id: String,
    etag: String,
    title: String,
    note: Option<String>,
    done: bool,
    due: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
    #[serde(skip)]
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
        match (request.method(), segments.as_slice()) {
            (&Method::GET, ["v1", "me"]) => Ok(account.me()),
            (&Method::GET, ["v1", "lists"]) => account.lists(&query),
            (&Method::GET, ["v1", "lists", list, "items"]) => account.items(list, &query),
            (&Method::POST, ["v1", "lists", list, "items"]) => account.create(list, request),
            (&Method::GET, ["v1", "lists", list, "items", id]) => {
                Ok(json_response(StatusCode::OK, account.list(list)?.item(id)?))
            }
            (&Method::PATCH, ["v1", "lists", list, "items", id]) => account.change(list, id, request),
            (&Method::DELETE, ["v1", "lists", list, "items", id]) => account.delete(list, id, request),
            (_, ["v1", ..]) => Err(NOT_FOUND),
            _ => Err(PaperRefusal(StatusCode::NOT_FOUND, "notFound", "Paper's paths begin with /v1")),
        }
    }
}

impl PaperAccount {
    fn new(name: &str) -> Self {
        let list =
            |id: &str, title: &str| List { id: id.into(), title: title.into(), items: BTreeMap::new() };
        let lists = vec![list("inbox", "Inbox"), list("home", "Home"), list("work", "Work")];
        PaperAccount { name: name.into(), lists, version: 0, next: 0, made: HashMap::new() }
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

    fn lists(&self, query: &HashMap<String, String>) -> PaperAnswer {
        let from = match query.get("pageToken") {
            Some(token) => {
                token.strip_prefix('l').and_then(|n| n.parse().ok()).filter(|n| *n < self.lists.len())
            }
            None => Some(0),
        };
        let from = from.ok_or(GONE)?;
        let shown = self.lists.iter().skip(from).take(LISTS);
        let token = |list: &List| format!("share-{}-{}", list.id, hex::encode(&self.name));
        let lists: Vec<Value> = shown
            .map(|list| json!({ "id": list.id, "title": list.title, "etag": "1", "shareToken": token(list) }))
            .collect();
        let next = (from + LISTS < self.lists.len()).then(|| format!("l{}", from + LISTS));
        Ok(json_response(StatusCode::OK, &page("lists", &lists, "nextPageToken", next)))
    }

    /// A full listing is sorted by id, one of changes by time. The tokens are `a<version>.<id>` and `c<version>.<until>`, with the
    /// version at which the listing began, so that later changes are reported afterwards.
    fn items(&self, list: &str, query: &HashMap<String, String>) -> PaperAnswer {
        let limit = query.get("limit").and_then(|n| n.parse().ok()).unwrap_or(PAGE).clamp(1, PAGE);
        let list = self.list(list)?;
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
        Ok(json_response(StatusCode::OK, &page("items", &items, name, Some(token))))
    }

    fn version_of(&self, token: &str, kind: char) -> Result<u64, PaperRefusal> {
        let version = token.strip_prefix(kind).and_then(|n| n.parse().ok());
        version.filter(|version| *version <= self.version).ok_or(GONE)
    }

    fn list(&self, id: &str) -> Result<&List, PaperRefusal> {
        self.lists.iter().find(|list| list.id == id).ok_or(NOT_FOUND)
    }

    fn list_mut(&mut self, id: &str) -> Result<&mut List, PaperRefusal> {
        self.lists.iter_mut().find(|list| list.id == id).ok_or(NOT_FOUND)
    }

    fn create(&mut self, list: &str, request: &Request<Bytes>) -> PaperAnswer {
        let fields = fields(request)?;
        let key = request.headers().get("idempotency-key").and_then(|key| key.to_str().ok());
        if let Some(id) = key.and_then(|key| self.made.get(key)) {
            return Ok(json_response(StatusCode::OK, self.list(list)?.item(id)?));
        }
        if self.lists.iter().map(|list| list.items.len()).sum::<usize>() >= MAX_ITEMS {
            return Err(PaperRefusal(StatusCode::INSUFFICIENT_STORAGE, "full", "the account is full"));
        }
        self.list(list)?;
        let id = format!("i{:06}", self.next);
        let mut item = Item { id: id.clone(), ..Item::default() };
        item.take(&fields)?;
        self.next += 1;
        if let Some(key) = key {
            self.made.insert(key.to_owned(), id);
        }
        Ok(json_response(StatusCode::CREATED, &self.store(list, item)?))
    }

    fn change(&mut self, list: &str, id: &str, request: &Request<Bytes>) -> PaperAnswer {
        let fields = fields(request)?;
        let mut item = self.list(list)?.item(id)?.clone();
        item.is_still(request)?;
        item.take(&fields)?;
        Ok(json_response(StatusCode::OK, &self.store(list, item)?))
    }

    fn delete(&mut self, list: &str, id: &str, request: &Request<Bytes>) -> PaperAnswer {
        let item = self.list(list)?.item(id)?;
        item.is_still(request)?;
        let gone = Item { id: item.id.clone(), deleted: true, ..Item::default() };
        self.store(list, gone)?;
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NO_CONTENT;
        Ok(response)
    }

    /// The item with its new version.
    fn store(&mut self, list: &str, mut item: Item) -> Result<Item, PaperRefusal> {
        self.version += 1;
        (item.version, item.etag) = (self.version, format!("\"{}\"", self.version));
        self.list_mut(list)?.items.insert(item.id.clone(), item.clone());
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
        if self.deleted { json!({ "id": self.id, "deleted": true }) } else { json!(self) }
    }

    /// Refuses a change of another version.
    fn is_still(&self, request: &Request<Bytes>) -> Result<(), PaperRefusal> {
        match request.headers().get(IF_MATCH) {
            Some(etag) if etag.as_bytes() != self.etag.as_bytes() => Err(STALE),
            _ => Ok(()),
        }
    }

    /// Takes the fields of a request; other fields stay.
    fn take(&mut self, fields: &Map<String, Value>) -> Result<(), PaperRefusal> {
        let invalid = |message| PaperRefusal(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message);
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("title", Value::String(title)) if !title.is_empty() => self.title.clone_from(title),
                ("note", Value::String(note)) => self.note = Some(note.clone()),
                ("note", Value::Null) => self.note = None,
                ("done", Value::Bool(done)) => self.done = *done,
                ("due", Value::String(due)) if due.parse::<jiff::civil::Date>().is_ok() => {
                    self.due = Some(due.clone());
                }
                ("due", Value::Null) => self.due = None,
                _ => return Err(invalid("an item has title, note, done and due (YYYY-MM-DD)")),
            }
        }
        if self.title.is_empty() { Err(invalid("an item needs a title")) } else { Ok(()) }
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
