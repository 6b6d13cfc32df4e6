//! A small Gmail: a mailbox in memory that answers as the API does, batches included.

use std::cell::{Cell, RefCell};

use connector_sdk::http::{BlobInfo, Http, Request, Response, SendError};
use connector_sdk::testing::{body, response};
use connector_sdk::{Host, Level};
use model::wire::Source;
use serde_json::{Value, json};

const API: &str = "https://gmail.googleapis.com/gmail/v1/users/me/";

/// 2026-03-02T10:00:20Z.
pub const NOW_MS: i64 = 1_772_445_620_000;
/// A status of a part that Gmail leaves out of its answer.
pub const LOST: u16 = 0;

type PartStatus = Box<dyn Fn(usize, &str) -> Option<u16>>;

pub struct Gmail {
    /// Newest first.
    pub messages: RefCell<Vec<Value>>,
    pub labels: RefCell<Vec<Value>>,
    /// Draft ids and those of their messages.
    pub drafts: RefCell<Vec<(String, String)>>,
    pub records: RefCell<Vec<Value>>,
    pub history_id: Cell<u64>,
    /// History ids before this one are forgotten.
    pub oldest: Cell<u64>,
    pub records_per_page: Cell<usize>,
    /// The status of a part, by the number of its batch and the message's id; none: as it is.
    pub part_status: RefCell<PartStatus>,
    pub batches: Cell<usize>,
    pub round_trips: Cell<usize>,
    pub requests: RefCell<Vec<Request>>,
    pub now_ms: Cell<i64>,
    pub blobs: RefCell<Vec<Vec<u8>>>,
    attachment_ids: Cell<usize>,
}

/// A message of one text.
pub fn mail(id: &str, at_ms: i64, labels: &[&str]) -> Value {
    json!({
        "id": id, "threadId": format!("t{id}"), "labelIds": labels, "snippet": "Hello", "historyId": "100",
        "internalDate": at_ms.to_string(), "sizeEstimate": 900,
        "payload": { "partId": "", "mimeType": "text/plain", "filename": "", "body": { "size": 5, "data": "SGVsbG8=" },
            "headers": [{ "name": "Message-ID", "value": format!("<{id}@example.test>") }, { "name": "Subject", "value": format!("No {id}") }] },
    })
}

fn not_found() -> Response {
    error(404, "notFound", "Requested entity was not found.")
}

fn error(status: u16, reason: &str, message: &str) -> Response {
    let errors = json!([{ "domain": "global", "reason": reason, "message": message }]);
    response(
        status,
        &[],
        &json!({ "error": { "code": status, "message": message, "errors": errors } }).to_string(),
    )
}

fn ok(body: &Value) -> Response {
    response(200, &[("content-type", "application/json")], &body.to_string())
}

/// A parameter of the URL's query, decoded.
pub fn parameter(url: &str, name: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let (_, value) =
        query.split('&').filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name)?;
    let mut bytes = value.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        let mut digit = || char::from(bytes.next().unwrap()).to_digit(16).unwrap();
        decoded.push(if byte == b'%' { u8::try_from(digit() * 16 + digit()).unwrap() } else { byte });
    }
    Some(String::from_utf8(decoded).unwrap())
}

impl Gmail {
    /// A mailbox with this many messages, one a second.
    pub fn new(count: i64) -> Gmail {
        let messages = (0..count).map(|at| mail(&format!("m{at}"), NOW_MS - 1000 * (at + 1), &["INBOX"]));
        let system = ["INBOX", "UNREAD", "CATEGORY_SOCIAL"];
        let labels = system.map(|id| json!({ "id": id, "name": id, "type": "system" }));
        Gmail {
            messages: RefCell::new(messages.collect()),
            labels: RefCell::new(labels.to_vec()),
            drafts: RefCell::default(),
            records: RefCell::default(),
            history_id: Cell::new(100),
            oldest: Cell::new(1),
            records_per_page: Cell::new(500),
            part_status: RefCell::new(Box::new(|_, _| None)),
            batches: Cell::new(0),
            round_trips: Cell::new(0),
            requests: RefCell::default(),
            now_ms: Cell::new(NOW_MS),
            blobs: RefCell::default(),
            attachment_ids: Cell::new(0),
        }
    }

    /// Answers parts with these statuses.
    pub fn with_parts(&self, status: impl Fn(usize, &str) -> Option<u16> + 'static) {
        *self.part_status.borrow_mut() = Box::new(status);
    }

    fn answer(&self, request: &Request) -> Response {
        self.requests.borrow_mut().push(request.clone());
        if request.url == "https://gmail.googleapis.com/batch/gmail/v1" {
            return self.batch(request);
        }
        assert_eq!(request.method, "GET");
        self.get(&request.url)
    }

    fn get(&self, url: &str) -> Response {
        let path = url.strip_prefix(API).unwrap_or_else(|| panic!("unexpected: {url}"));
        let path = path.split('?').next().unwrap();
        match path.split('/').collect::<Vec<_>>().as_slice() {
            ["profile"] => ok(
                &json!({ "emailAddress": "ada@example.test", "historyId": self.history_id.get().to_string() }),
            ),
            ["labels"] => ok(&json!({ "labels": *self.labels.borrow() })),
            ["drafts"] => {
                let drafts = self.drafts.borrow();
                let entry =
                    |(id, message): &(String, String)| json!({ "id": id, "message": { "id": message } });
                ok(&json!({ "drafts": drafts.iter().map(entry).collect::<Vec<_>>() }))
            }
            ["settings", "sendAs"] => ok(&json!({ "sendAs": [
                { "sendAsEmail": "ada@gmail.com", "displayName": "Ada", "isPrimary": true, "isDefault": true },
                { "sendAsEmail": "sales@example.test", "verificationStatus": "accepted" },
                { "sendAsEmail": "later@example.test", "verificationStatus": "pending" },
            ] })),
            ["history"] => self.history(url),
            ["messages"] => self.list(url),
            ["messages", id] => self.message(id, parameter(url, "format").as_deref()),
            ["messages", id, "attachments", attachment] => {
                // An id of an earlier reading is not good for long.
                let is_fresh = attachment.ends_with(&format!("-{}", self.attachment_ids.get()));
                assert!(is_fresh && *id == "file", "{url}");
                ok(&json!({ "size": 9, "data": "YSBmaWxlISE_" }))
            }
            path => panic!("unexpected: {path:?}"),
        }
    }

    fn list(&self, url: &str) -> Response {
        let start = parameter(url, "pageToken").map_or(0, |token| token.parse().unwrap());
        let limit: usize = parameter(url, "maxResults").unwrap().parse().unwrap();
        let messages = self.messages.borrow();
        let names: Vec<Value> = messages
            .iter()
            .skip(start)
            .take(limit)
            .map(|one| json!({ "id": one["id"], "threadId": one["threadId"] }))
            .collect();
        let mut page = json!({ "resultSizeEstimate": 201 });
        if !names.is_empty() {
            page["messages"] = json!(names);
        }
        if start + limit < messages.len() {
            page["nextPageToken"] = json!((start + limit).to_string());
        }
        ok(&page)
    }

    fn history(&self, url: &str) -> Response {
        let start: u64 = parameter(url, "startHistoryId").unwrap().parse().unwrap();
        if start < self.oldest.get() {
            return not_found();
        }
        let id = |record: &Value| record["id"].as_str().unwrap().parse::<u64>().unwrap();
        let records: Vec<Value> =
            self.records.borrow().iter().filter(|one| id(one) > start).cloned().collect();
        let from = parameter(url, "pageToken").map_or(0, |token| token.parse().unwrap());
        let size = self.records_per_page.get();
        let mut page = json!({ "historyId": self.history_id.get().to_string() });
        if records.len() > from {
            page["history"] = records.iter().skip(from).take(size).cloned().collect();
        }
        if from + size < records.len() {
            page["nextPageToken"] = json!((from + size).to_string());
        }
        ok(&page)
    }

    fn message(&self, id: &str, format: Option<&str>) -> Response {
        let messages = self.messages.borrow();
        let Some(message) = messages.iter().find(|message| message["id"] == id) else { return not_found() };
        assert!(matches!(format, Some("full" | "raw" | "minimal")));
        let text = message.to_string();
        if text.contains("FRESH") {
            self.attachment_ids.set(self.attachment_ids.get() + 1);
        }
        response(200, &[], &text.replace("FRESH", &self.attachment_ids.get().to_string()))
    }

    fn batch(&self, request: &Request) -> Response {
        let number = self.batches.get();
        self.batches.set(number + 1);
        let text = String::from_utf8(body(request)).unwrap();
        let paths: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("GET ")?.strip_suffix(" HTTP/1.1")).collect();
        assert!(paths.len() <= 50);
        let mut parts = String::new();
        for (at, path) in paths.iter().enumerate() {
            let id = path.split('?').next().unwrap().rsplit('/').next().unwrap();
            let answer = match (self.part_status.borrow())(number, id) {
                Some(LOST) => continue,
                Some(429) => error(429, "rateLimitExceeded", "Too many concurrent requests for user."),
                Some(401) => error(401, "authError", "Invalid Credentials"),
                Some(404) => response(404, &[], "<html>"),
                Some(status) => error(status, "backendError", "Backend Error"),
                None => self.get(&format!("https://gmail.googleapis.com{path}")),
            };
            parts.push_str(&format!(
                "--batch_x\r\nContent-Type: application/http\r\nContent-ID: <response-{at}>\r\n\r\n\
                 HTTP/1.1 {} X\r\nContent-Type: application/json\r\n\r\n{}\r\n",
                answer.status,
                answer.text()
            ));
        }
        response(
            200,
            &[("content-type", "multipart/mixed; boundary=batch_x")],
            &format!("{parts}--batch_x--"),
        )
    }
}

/// Names of the messages of a page that are reported whole.
pub fn whole(sources: &[Source]) -> Vec<&str> {
    let is_message = |source: &&Source| source.items.iter().any(|item| item.kind.is_none() && !item.partial);
    sources.iter().filter(is_message).map(|source| source.external_id.as_str()).collect()
}

/// Names of messages that are reported as deleted.
pub fn deleted(sources: &[Source]) -> Vec<&str> {
    sources.iter().filter(|source| source.deleted).map(|source| source.external_id.as_str()).collect()
}

impl Http for Gmail {
    fn send(&self, request: Request) -> Result<Response, SendError> {
        self.round_trips.set(self.round_trips.get() + 1);
        Ok(self.answer(&request))
    }

    fn send_many(&self, requests: Vec<Request>, _: u8) -> Vec<Result<Response, SendError>> {
        self.round_trips.set(self.round_trips.get() + 1);
        requests.iter().map(|request| Ok(self.answer(request))).collect()
    }

    fn send_to_blob(&self, request: Request, decode: &str, _: u64) -> Result<BlobInfo, SendError> {
        self.round_trips.set(self.round_trips.get() + 1);
        let answer = self.answer(&request);
        let content = match (answer.is_success(), decode.strip_prefix("json-base64url:")) {
            (true, Some(pointer)) => {
                let value: Value = answer.json().unwrap();
                let text = value.pointer(pointer).and_then(Value::as_str).expect("a text");
                let standard = text.replace('-', "+").replace('_', "/");
                let header = b"Content-Type: application/x\r\nContent-Transfer-Encoding: base64\r\n\r\n";
                mail::read::part(header, standard.as_bytes()).bytes
            }
            _ => answer.body.clone(),
        };
        let size = Some(content.len() as u64);
        let id = self.create_blob(&content, None).expect("a blob");
        Ok(BlobInfo { id, size, content_type: None, status: answer.status, headers: answer.headers })
    }
}

impl Host for Gmail {
    fn now_ms(&self) -> i64 {
        self.now_ms.get()
    }

    fn random_bytes(&self, len: u32) -> Vec<u8> {
        vec![7; len as usize]
    }

    fn log(&self, _: Level, _: &str, _: &[(&str, String)]) {}

    fn read_blob(&self, id: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        let blobs = self.blobs.borrow();
        let content = blobs.get(id.parse::<usize>().ok()?)?;
        let from = usize::try_from(offset).ok()?.min(content.len());
        let to = (from + len as usize).min(content.len());
        content.get(from..to).map(<[u8]>::to_vec)
    }

    fn create_blob(&self, content: &[u8], _: Option<&str>) -> Option<String> {
        let mut blobs = self.blobs.borrow_mut();
        blobs.push(content.to_vec());
        Some((blobs.len() - 1).to_string())
    }

    fn blob_size(&self, id: &str) -> Option<u64> {
        self.blobs.borrow().get(id.parse::<usize>().ok()?).map(|content| content.len() as u64)
    }
}
