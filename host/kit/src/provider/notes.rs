//! Notes: the example service of the tutorial in `docs/connectors`, served by `connector provider notes`. Unlike Paper it has page numbers,
//! change numbers and client-chosen ids, and no etags.
//!
//! | request | answer |
//! |---|---|
//! | `GET /account` | `{id, email, name}` |
//! | `GET /notebooks?page=1` | `{notebooks: [{id, name}], page, pages}`, two notebooks a page |
//! | `GET /notebooks/{notebook}/notes?page&per_page&modified_after` | `{notes, page, pages, change}` in the order in which the notes were made; with `modified_after` those that changed after this number, deleted ones too; 410 where the number is not known |
//! | `GET /notebooks/{notebook}/notes/{note}` | the note |
//! | `PUT /notebooks/{notebook}/notes/{note}` | 201, or 200 and the note that has this id already |
//! | `PATCH`, `DELETE /notebooks/{notebook}/notes/{note}?if_revision` | the note, or 204; 409 where the revision is another one |
//!
//! A note is `{id, revision, title, body, done, due, deleted}`. `Authorization: Bearer notes-<account>` selects an account, which is
//! created on first use. Errors are `{error}`.

use std::collections::HashMap;
use std::sync::Mutex;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use serde_json::{Map, Value, json};

/// The maximum and default number of notes in a page.
const LARGEST_PAGE: usize = 100;
const USUAL_PAGE: usize = 50;
const NOTEBOOKS_PER_PAGE: usize = 2;
/// The maximum length of an id, in bytes.
const LONGEST_ID: usize = 200;
/// The maximum number of accounts, and of notes in a notebook.
const MAX_NOTES: usize = 10_000;

/// The service. Its data is in memory only.
#[derive(Default)]
pub struct Notes(Mutex<Accounts>);

impl Notes {
    /// Answers one request. The scheme and host of its URL are ignored.
    pub fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let token = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let mut accounts = self.0.lock().expect("no panic while answering");
        render(accounts.answer(token, request.method(), request.uri(), request.body()))
    }
}

fn render(answer: NotesAnswer) -> Response<Bytes> {
    let (status, body) = answer.unwrap_or_else(|(status, why)| (status, json!({ "error": why })));
    let has_body = status != StatusCode::NO_CONTENT;
    let mut response = Response::new(if has_body { Bytes::from(body.to_string()) } else { Bytes::new() });
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

type NotesRefusal = (StatusCode, &'static str);
type NotesAnswer = Result<(StatusCode, Value), NotesRefusal>;

const NOT_FOUND: NotesRefusal = (StatusCode::NOT_FOUND, "not found");
const FULL: NotesRefusal = (StatusCode::INSUFFICIENT_STORAGE, "the limit of notes or accounts is reached");
const BAD_NUMBER: NotesRefusal =
    (StatusCode::BAD_REQUEST, "page, per_page, modified_after and if_revision are numbers");
const BAD_NOTE: NotesRefusal = (
    StatusCode::UNPROCESSABLE_ENTITY,
    "a note has title, body, done and due (YYYY-MM-DD), and needs a title",
);

/// The accounts by name.
#[derive(Default)]
struct Accounts(HashMap<String, NotesAccount>);

struct NotesAccount {
    name: String,
    /// The number of the newest change.
    change: u64,
    notebooks: Vec<Notebook>,
}

struct Notebook {
    id: &'static str,
    name: &'static str,
    /// The notes in order of creation; deleted ones keep their position.
    notes: Vec<Note>,
}

#[derive(Clone, Default)]
struct Note {
    id: String,
    revision: u64,
    /// The number of its newest change.
    change: u64,
    title: String,
    body: Option<String>,
    done: bool,
    due: Option<String>,
    deleted: bool,
}

impl Accounts {
    fn answer(&mut self, token: Option<&str>, method: &Method, uri: &Uri, body: &[u8]) -> NotesAnswer {
        let name =
            token.and_then(|value| value.strip_prefix("Bearer notes-")).filter(|name| !name.is_empty());
        let name = name.ok_or((StatusCode::UNAUTHORIZED, "Authorization: Bearer notes-<name>"))?;
        if self.0.len() >= MAX_NOTES && !self.0.contains_key(name) {
            return Err(FULL);
        }
        let account = self.0.entry(name.to_owned()).or_insert_with(|| NotesAccount::new(name));
        let pairs = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let query: HashMap<String, String> = pairs.into_owned().collect();
        let segments: Vec<&str> = uri.path().split('/').skip(1).collect();
        match (method.as_str(), segments.as_slice()) {
            ("GET", ["account"]) => Ok((StatusCode::OK, account.to_json())),
            ("GET", ["notebooks"]) => account.notebooks(&query),
            ("GET", ["notebooks", notebook, "notes"]) => account.notes(notebook, &query),
            ("GET", ["notebooks", notebook, "notes", id]) => {
                let note = account.notebook(notebook)?.find_note(id).ok_or(NOT_FOUND)?;
                Ok((StatusCode::OK, note.to_json()))
            }
            ("PUT", ["notebooks", notebook, "notes", id]) => account.create(notebook, id, body),
            ("PATCH", ["notebooks", notebook, "notes", id]) => account.change(notebook, id, &query, body),
            ("DELETE", ["notebooks", notebook, "notes", id]) => account.delete(notebook, id, &query),
            _ => Err(NOT_FOUND),
        }
    }
}

impl NotesAccount {
    fn new(name: &str) -> NotesAccount {
        let notebook = |id, name| Notebook { id, name, notes: Vec::new() };
        let notebooks = vec![notebook("inbox", "Inbox"), notebook("home", "Home"), notebook("work", "Work")];
        NotesAccount { name: name.to_owned(), change: 0, notebooks }
    }

    fn to_json(&self) -> Value {
        json!({ "id": self.name, "email": format!("{}@notes.test", self.name), "name": self.name })
    }

    fn notebooks(&self, query: &HashMap<String, String>) -> NotesAnswer {
        let shown: Vec<Value> = self
            .notebooks
            .iter()
            .map(|notebook| json!({ "id": notebook.id, "name": notebook.name }))
            .collect();
        let (page, pages, notebooks) = page_bounds(&shown, NOTEBOOKS_PER_PAGE, query)?;
        Ok((StatusCode::OK, json!({ "notebooks": notebooks, "page": page, "pages": pages })))
    }

    /// Lists the existing notes or, with `modified_after`, the notes that changed later, including deleted ones.
    fn notes(&self, notebook: &str, query: &HashMap<String, String>) -> NotesAnswer {
        let after: Option<u64> = number(query, "modified_after")?;
        if after.is_some_and(|after| after > self.change) {
            return Err((StatusCode::GONE, "this change is not known, start over"));
        }
        let is_listed = |note: &&Note| after.map_or(!note.deleted, |after| note.change > after);
        let notes = &self.notebook(notebook)?.notes;
        let listed: Vec<Value> = notes.iter().filter(is_listed).map(Note::to_json).collect();
        let per_page = number(query, "per_page")?.unwrap_or(USUAL_PAGE).clamp(1, LARGEST_PAGE);
        let (page, pages, notes) = page_bounds(&listed, per_page, query)?;
        let body = json!({ "notes": notes, "page": page, "pages": pages, "change": self.change });
        Ok((StatusCode::OK, body))
    }

    fn notebook(&self, id: &str) -> Result<&Notebook, NotesRefusal> {
        self.notebooks.iter().find(|notebook| notebook.id == id).ok_or(NOT_FOUND)
    }

    /// Creates a note. An existing note is returned unchanged, because the request is then a repetition.
    fn create(&mut self, notebook: &str, id: &str, body: &[u8]) -> NotesAnswer {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.is_empty() || id.len() > LONGEST_ID || !id.bytes().all(is_allowed) {
            return Err((StatusCode::UNPROCESSABLE_ENTITY, "an id is 1 to 200 letters, digits, - and _"));
        }
        match self.notebook(notebook)?.notes.iter().find(|note| note.id == id) {
            Some(note) if note.deleted => return Err((StatusCode::GONE, "the note was deleted")),
            Some(note) => return Ok((StatusCode::OK, note.to_json())),
            None => {}
        }
        if self.notebook(notebook)?.notes.len() >= MAX_NOTES {
            return Err(FULL);
        }
        let note = Note { id: id.to_owned(), ..Note::default() }.with(body)?;
        Ok((StatusCode::CREATED, self.store(notebook, note)?))
    }

    fn change(
        &mut self,
        notebook: &str,
        id: &str,
        query: &HashMap<String, String>,
        body: &[u8],
    ) -> NotesAnswer {
        let note = self.ensure_unchanged(notebook, id, query)?.with(body)?;
        Ok((StatusCode::OK, self.store(notebook, note)?))
    }

    fn delete(&mut self, notebook: &str, id: &str, query: &HashMap<String, String>) -> NotesAnswer {
        let note = self.ensure_unchanged(notebook, id, query)?;
        let gone = Note { id: note.id, revision: note.revision, deleted: true, ..Note::default() };
        self.store(notebook, gone)?;
        Ok((StatusCode::NO_CONTENT, Value::Null))
    }

    /// Fails unless the note has the revision that the request names.
    fn ensure_unchanged(
        &self,
        notebook: &str,
        id: &str,
        query: &HashMap<String, String>,
    ) -> Result<Note, NotesRefusal> {
        let note = self.notebook(notebook)?.find_note(id).ok_or(NOT_FOUND)?;
        match number::<u64>(query, "if_revision")? {
            Some(revision) if revision != note.revision => {
                Err((StatusCode::CONFLICT, "the note has another revision"))
            }
            _ => Ok(note.clone()),
        }
    }

    /// Stores the note at its previous position, or at the end.
    fn store(&mut self, notebook: &str, mut note: Note) -> Result<Value, NotesRefusal> {
        self.change += 1;
        (note.change, note.revision) = (self.change, note.revision + 1);
        let shown = note.to_json();
        let notebook = self.notebooks.iter_mut().find(|known| known.id == notebook).ok_or(NOT_FOUND)?;
        match notebook.notes.iter_mut().find(|known| known.id == note.id) {
            Some(known) => *known = note,
            None => notebook.notes.push(note),
        }
        Ok(shown)
    }
}

impl Notebook {
    fn find_note(&self, id: &str) -> Option<&Note> {
        self.notes.iter().find(|note| note.id == id && !note.deleted)
    }
}

impl Note {
    fn to_json(&self) -> Value {
        if self.deleted {
            return json!({ "id": self.id, "revision": self.revision, "deleted": true });
        }
        json!({ "id": self.id, "revision": self.revision, "title": self.title, "body": self.body,
            "done": self.done, "due": self.due, "deleted": false })
    }

    /// Returns the note with the fields of a request, and its other fields unchanged.
    fn with(mut self, body: &[u8]) -> Result<Note, NotesRefusal> {
        let fields: Map<String, Value> = serde_json::from_slice(body)
            .map_err(|_| (StatusCode::BAD_REQUEST, "the body is not a JSON object"))?;
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("title", Value::String(title)) => self.title = title,
                ("body", Value::String(body)) => self.body = Some(body),
                ("body", Value::Null) => self.body = None,
                ("done", Value::Bool(done)) => self.done = done,
                ("due", Value::String(due)) if due.parse::<jiff::civil::Date>().is_ok() => {
                    self.due = Some(due)
                }
                ("due", Value::Null) => self.due = None,
                _ => return Err(BAD_NOTE),
            }
        }
        if self.title.is_empty() { Err(BAD_NOTE) } else { Ok(self) }
    }
}

/// Returns a number of the query, if present.
fn number<T: std::str::FromStr>(
    query: &HashMap<String, String>,
    name: &str,
) -> Result<Option<T>, NotesRefusal> {
    query.get(name).map(|text| text.parse::<T>()).transpose().map_err(|_| BAD_NUMBER)
}

/// Returns the number of the requested page, the number of pages, and the content of this one. A page after the last one is empty.
fn page_bounds<'a>(
    all: &'a [Value],
    per_page: usize,
    query: &HashMap<String, String>,
) -> Result<(usize, usize, &'a [Value]), NotesRefusal> {
    let page = number::<usize>(query, "page")?.unwrap_or(1).max(1);
    let pages = all.len().div_ceil(per_page).max(1);
    let shown = all.chunks(per_page).nth(page - 1).unwrap_or_default();
    Ok((page, pages, shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(accounts: &mut Accounts, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (method, uri) = (method.parse().unwrap(), path.parse().unwrap());
        let body = body.to_string();
        match accounts.answer(Some("Bearer notes-ann"), &method, &uri, body.as_bytes()) {
            Ok((status, answer)) => (status.as_u16(), answer),
            Err((status, why)) => (status.as_u16(), json!(why)),
        }
    }

    #[test]
    fn deleted_notes_keep_their_place_among_the_changes() {
        let accounts = &mut Accounts::default();
        for id in ["a", "b", "c"] {
            let path = format!("/notebooks/home/notes/{id}");
            assert_eq!(ask(accounts, "PUT", &path, &json!({ "title": id })).0, 201);
        }
        assert_eq!(ask(accounts, "DELETE", "/notebooks/home/notes/a", &Value::Null).0, 204);
        let ids = |page: &Value| -> Vec<Value> {
            page["notes"].as_array().unwrap().iter().map(|note| note["id"].clone()).collect()
        };
        let (_, there) = ask(accounts, "GET", "/notebooks/home/notes?per_page=2", &Value::Null);
        assert_eq!(
            (ids(&there), &there["pages"], &there["change"]),
            (vec![json!("b"), json!("c")], &json!(1), &json!(4))
        );
        let (_, all) =
            ask(accounts, "GET", "/notebooks/home/notes?per_page=2&modified_after=0", &Value::Null);
        assert_eq!((ids(&all), &all["pages"]), (vec![json!("a"), json!("b")], &json!(2)));
        let (_, since) = ask(accounts, "GET", "/notebooks/home/notes?modified_after=3", &Value::Null);
        assert_eq!(since["notes"], json!([{ "id": "a", "revision": 2, "deleted": true }]));
        assert_eq!(ask(accounts, "GET", "/notebooks/home/notes?modified_after=5", &Value::Null).0, 410);
        assert_eq!(ask(accounts, "PUT", "/notebooks/home/notes/a", &json!({ "title": "a" })).0, 410);
    }

    #[test]
    fn creation_is_idempotent_and_changes_are_conditional() {
        let accounts = &mut Accounts::default();
        let path = "/notebooks/home/notes/a";
        let (_, first) = ask(accounts, "PUT", path, &json!({ "title": "A" }));
        assert_eq!(ask(accounts, "PUT", path, &json!({ "title": "A" })), (200, first));
        let conditional = format!("{path}?if_revision=1");
        let (status, changed) = ask(accounts, "PATCH", &conditional, &json!({ "body": "b" }));
        assert_eq!((status, &changed["title"], &changed["body"]), (200, &json!("A"), &json!("b")));
        assert_eq!(ask(accounts, "PATCH", &conditional, &json!({ "body": "c" })).0, 409);
        assert_eq!(ask(accounts, "DELETE", &conditional, &Value::Null).0, 409);
        for bad in [json!({ "title": "" }), json!({ "due": "soon" }), json!({ "colour": 1 })] {
            assert_eq!(ask(accounts, "PATCH", path, &bad).0, 422, "{bad}");
        }
        assert_eq!(
            ask(accounts, "GET", "/notebooks?page=2", &Value::Null).1["notebooks"].as_array().unwrap().len(),
            1
        );
    }
}
