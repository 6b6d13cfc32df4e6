//! A desk for the tests of mail: a host with blobs, and Graph as a function of one request. Parts of batches are requests as others.

use std::cell::RefCell;

use connector_sdk::http::{BlobInfo, Http, Request, Response, Segment, SendError};
use connector_sdk::testing::{Recorded, response};
use connector_sdk::{Context, Host, Level};
use model::email::EmailMessage;
use model::wire::{Connection, Source};
use serde_json::{Value, json};

const ROOT: &str = "https://graph.microsoft.com/v1.0/";
/// 2026-03-02T10:00:00Z.
pub const NOW_MS: i64 = 1_772_445_600_000;
/// A status of a part that Graph leaves out of its answer.
pub const LOST: u16 = 0;

/// A request as Graph sees it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    /// Below the account, or the whole address of another host; without its query.
    pub path: String,
    /// Decoded.
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub is_authorized: bool,
}

impl Asked {
    /// `GET messages/m1`.
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The message that a request has as base64 of its MIME.
    pub fn mime(&self) -> String {
        let header = b"Content-Type: application/x\r\nContent-Transfer-Encoding: base64\r\n\r\n";
        String::from_utf8(mail::read::part(header, &self.body).bytes).unwrap()
    }
}

type Answerer = Box<dyn Fn(&Asked) -> Result<Response, SendError>>;

pub struct Desk {
    quiet: Recorded,
    answerer: Answerer,
    blobs: RefCell<Vec<Vec<u8>>>,
    settings: Value,
    /// Requests in their order; a batch as `batch of` the lines of its parts. The steps of a message that is sent, too.
    pub steps: RefCell<Vec<String>>,
    /// Requests and parts of batches in their order.
    pub asked: RefCell<Vec<Asked>>,
}

fn decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        let mut digit = || char::from(bytes.next().unwrap()).to_digit(16).unwrap();
        decoded.push(if byte == b'%' { u8::try_from(digit() * 16 + digit()).unwrap() } else { byte });
    }
    String::from_utf8(decoded).unwrap()
}

fn asked(method: &str, url: &str, headers: Vec<(String, String)>, body: Vec<u8>) -> Asked {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    Asked {
        method: method.to_owned(),
        path: decoded(path.trim_start_matches('/').trim_start_matches("me/")),
        query: pairs.map(|(name, value)| (decoded(name), decoded(value))).collect(),
        headers,
        body,
        is_authorized: true,
    }
}

impl Desk {
    /// A host with Graph as this function.
    pub fn new(answerer: impl Fn(&Asked) -> Result<Response, SendError> + 'static) -> Desk {
        let quiet = Recorded::new();
        quiet.surroundings.now_ms.set(NOW_MS);
        Desk {
            quiet,
            answerer: Box::new(answerer),
            blobs: RefCell::default(),
            settings: json!({ "mail": "readWrite" }),
            steps: RefCell::default(),
            asked: RefCell::default(),
        }
    }

    /// The same with another access to mail: `read`, `sendOnly`.
    pub fn with_access(mut self, access: &str) -> Desk {
        self.settings = json!({ "mail": access });
        self
    }

    /// Lets time pass.
    pub fn advance(&self, ms: i64) {
        let now = &self.quiet.surroundings.now_ms;
        now.set(now.get() + ms);
    }

    pub fn context(&self) -> Context<'_> {
        let settings = self.settings.as_object().cloned().unwrap_or_default();
        let addresses = vec!["ada@x.test".to_owned(), "sales@x.test".to_owned()];
        Context::new(self, Connection { settings, addresses, ..Connection::default() }).keyed("key-1")
    }

    /// A second attempt.
    pub fn again(&self) -> Context<'_> {
        self.context().with_extra("attempt", "2")
    }

    pub fn blob(&self, content: &[u8]) -> String {
        let mut blobs = self.blobs.borrow_mut();
        blobs.push(content.to_vec());
        format!("blob{}", blobs.len())
    }

    pub fn content(&self, id: &str) -> Option<Vec<u8>> {
        let number: usize = id.strip_prefix("blob")?.parse().ok()?;
        self.blobs.borrow().get(number.checked_sub(1)?).cloned()
    }

    /// The requests and parts that begin so.
    pub fn asked_for(&self, line: &str) -> Vec<Asked> {
        self.asked.borrow().iter().filter(|asked| asked.line().starts_with(line)).cloned().collect()
    }

    pub fn take_steps(&self) -> Vec<String> {
        self.asked.borrow_mut().clear();
        std::mem::take(&mut self.steps.borrow_mut())
    }

    fn answer(&self, asked: Asked) -> Result<Response, SendError> {
        // Every request has the ids that stay.
        let prefer = asked.header("prefer").unwrap_or_default();
        assert_eq!(asked.is_authorized, prefer.contains("IdType=\"ImmutableId\""), "{asked:?}");
        self.asked.borrow_mut().push(asked.clone());
        (self.answerer)(&asked)
    }

    fn batch(&self, body: &[u8]) -> Result<Response, SendError> {
        let batch: Value = serde_json::from_slice(body).unwrap();
        let parts = batch["requests"].as_array().unwrap();
        assert!(parts.len() <= 20);
        let part = |part: &Value| {
            let headers = part["headers"].as_object().into_iter().flatten();
            let headers =
                headers.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
            let body =
                if part["body"].is_null() { Vec::new() } else { part["body"].to_string().into_bytes() };
            asked(part["method"].as_str().unwrap(), part["url"].as_str().unwrap(), headers, body)
        };
        let all: Vec<Asked> = parts.iter().map(part).collect();
        let lines: Vec<String> = all.iter().map(Asked::line).collect();
        self.steps.borrow_mut().push(format!("batch of {}", lines.join(", ")));
        let is_in_turn = parts.iter().any(|part| part["dependsOn"].is_array());
        let mut has_failed = false;
        let mut answers = Vec::new();
        for (at, asked) in all.into_iter().enumerate() {
            let answer = match has_failed && is_in_turn {
                true => refused(424, "FailedDependency")?,
                false => self.answer(asked)?,
            };
            has_failed |= !answer.is_success();
            if answer.status == LOST {
                continue;
            }
            let headers: Value =
                answer.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            answers.push(
                json!({ "id": at.to_string(), "status": answer.status, "headers": headers, "body": body }),
            );
        }
        // In no order.
        answers.reverse();
        Ok(response(
            200,
            &[("content-type", "application/json")],
            &json!({ "responses": answers }).to_string(),
        ))
    }
}

impl Http for Desk {
    fn send(&self, request: Request) -> Result<Response, SendError> {
        let mut body = Vec::new();
        for segment in &request.body {
            match segment {
                Segment::Bytes(bytes) => body.extend_from_slice(bytes),
                other => panic!("unexpected: {other:?}"),
            }
        }
        let url = request.url.strip_prefix(ROOT).unwrap_or(&request.url);
        if url == "$batch" {
            return self.batch(&body);
        }
        let is_authorized = request.auth.as_deref() != Some("none");
        let asked = Asked { is_authorized, ..asked(&request.method, url, request.headers.clone(), body) };
        self.steps.borrow_mut().push(asked.line());
        self.answer(asked)
    }

    fn send_to_blob(&self, request: Request, decode: &str, _: u64) -> Result<BlobInfo, SendError> {
        assert_eq!(decode, "raw");
        let answer = self.send(request)?;
        let id = self.blob(&answer.body);
        let content_type = answer.header("content-type").map(str::to_owned);
        let size = Some(answer.body.len() as u64);
        Ok(BlobInfo { id, size, content_type, status: answer.status, headers: answer.headers })
    }
}

impl Host for Desk {
    fn now_ms(&self) -> i64 {
        self.quiet.now_ms()
    }

    fn random_bytes(&self, len: u32) -> Vec<u8> {
        self.quiet.random_bytes(len)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, String)]) {
        self.quiet.log(level, message, fields);
    }

    fn read_blob(&self, id: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        let content = self.content(id)?;
        let start = usize::try_from(offset).ok()?;
        Some(content.into_iter().skip(start).take(usize::try_from(len).ok()?).collect())
    }

    fn blob_size(&self, id: &str) -> Option<u64> {
        self.content(id).and_then(|content| u64::try_from(content.len()).ok())
    }

    fn reached(&self, step: &str) {
        self.steps.borrow_mut().push(step.to_owned());
    }
}

pub fn ok(value: &Value) -> Result<Response, SendError> {
    status(200, value)
}

pub fn status(status: u16, value: &Value) -> Result<Response, SendError> {
    Ok(response(status, &[("content-type", "application/json")], &value.to_string()))
}

/// An empty answer.
pub fn empty(status: u16) -> Result<Response, SendError> {
    Ok(response(status, &[], ""))
}

pub fn refused(status: u16, code: &str) -> Result<Response, SendError> {
    let body = json!({ "error": { "code": code, "message": "no", "innerError": { "date": "2026-03-02T10:00:00" } } });
    Ok(response(status, &[("content-type", "application/json")], &body.to_string()))
}

pub fn gone() -> Result<Response, SendError> {
    refused(404, "ErrorItemNotFound")
}

/// A whole message as lists show it.
pub fn whole(id: &str, at: &str, folder: &str) -> Value {
    let person = |name: &str, address: &str| json!({ "emailAddress": { "name": name, "address": address } });
    json!({
        "@odata.etag": format!("W/\"{id}-1\""), "id": id, "createdDateTime": at, "receivedDateTime": at, "sentDateTime": at,
        "conversationId": "c1", "internetMessageId": format!("<{id}@x.test>"), "subject": format!("No {id}"), "bodyPreview": "Hello\r\nBob",
        "from": person("Ann", "ann@x.test"), "sender": person("Ann", "ann@x.test"), "toRecipients": [person("ada@x.test", "ada@x.test")],
        "ccRecipients": [], "bccRecipients": [], "replyTo": [], "parentFolderId": folder, "isRead": false, "isDraft": false,
        "flag": { "flagStatus": "notFlagged" }, "categories": [], "importance": "normal", "hasAttachments": false,
    })
}

/// A page of a list.
pub fn page(value: &[Value]) -> Value {
    json!({ "@odata.context": "https://graph.microsoft.com/v1.0/$metadata#x", "value": value })
}

pub fn only(sources: &[Source]) -> &Source {
    assert_eq!(sources.len(), 1, "{sources:?}");
    &sources[0]
}

pub fn read(source: &Source) -> EmailMessage {
    source.items[0].body.read().unwrap()
}
