//! A desk for the tests of mail that is written: a host with blobs, and Gmail's answers in the order of a script.

use std::cell::RefCell;
use std::collections::VecDeque;

use connector_google::Google;
use connector_sdk::http::{Http, Request, Response, Segment, SendError};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Context, Email as _, Host, Level};
use model::email::EmailMessage;
use model::wire::email::{DraftSave, MessageRef};
use model::wire::{Connection, Source};
use serde_json::{Value, json};

/// 2026-03-01T00:00:00Z.
const NOW_MS: i64 = 1_772_323_200_000;

/// The provider's answer, if there is one.
pub type Answered = Result<Response, SendError>;

/// A host with blobs, and a provider that answers in the order of a script.
pub struct Desk {
    quiet: Recorded,
    script: RefCell<VecDeque<(String, Answered)>>,
    blobs: RefCell<Vec<Vec<u8>>>,
    pub requests: RefCell<Vec<Request>>,
    /// Requests without their queries, and the steps of a message that is sent.
    pub steps: RefCell<Vec<String>>,
}

/// A request as the script names it: `GET messages/m1?format=minimal`, `POST upload/drafts?uploadType=multipart`, `POST batch`.
fn request_line(request: &Request) -> String {
    let path = request.url.strip_prefix("https://gmail.googleapis.com/").unwrap();
    let path = path.replacen("gmail/v1/users/me/", "", 1).replacen("batch/gmail/v1", "batch", 1);
    format!("{} {path}", request.method)
}

impl Desk {
    pub fn new() -> Desk {
        let quiet = Recorded::new();
        quiet.surroundings.now_ms.set(NOW_MS);
        Desk {
            quiet,
            script: RefCell::default(),
            blobs: RefCell::default(),
            requests: RefCell::default(),
            steps: RefCell::default(),
        }
    }

    /// The next request, by how it begins, and its answer.
    pub fn then(self, request: &str, answer: Answered) -> Desk {
        self.script.borrow_mut().push_back((request.to_owned(), answer));
        self
    }

    pub fn blob(&self, text: &str) -> String {
        let mut blobs = self.blobs.borrow_mut();
        blobs.push(text.as_bytes().to_vec());
        format!("blob{}", blobs.len())
    }

    fn content(&self, id: &str) -> Option<Vec<u8>> {
        let number: usize = id.strip_prefix("blob")?.parse().ok()?;
        self.blobs.borrow().get(number.checked_sub(1)?).cloned()
    }

    pub fn context(&self) -> Context<'_> {
        Context::new(self, Connection::default()).keyed("key-1")
    }

    pub fn again(&self) -> Context<'_> {
        self.context().with_extra("attempt", "2")
    }

    /// The two parts of the upload of this place: its JSON, and the message.
    pub fn upload(&self, place: usize) -> (Value, String) {
        let request = self.requests.borrow()[place].clone();
        let headers = &request.headers;
        let content_type = headers.iter().find(|(name, _)| name == "content-type").unwrap().1.clone();
        let boundary = content_type.strip_prefix("multipart/related; boundary=").unwrap().to_owned();
        let text = String::from_utf8(body(&request)).unwrap();
        let parts: Vec<&str> = text.split(&format!("--{boundary}")).collect();
        assert_eq!((parts.len(), parts[0], parts[3]), (4, "", "--\r\n"), "{text}");
        let content = |part: &str, kind: &str| {
            let (head, content) = part.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(kind), "{head}");
            content.strip_suffix("\r\n").unwrap().to_owned()
        };
        let metadata = serde_json::from_str(&content(parts[1], "application/json")).unwrap();
        (metadata, content(parts[2], "message/rfc822"))
    }

    /// The units that the request of this place names.
    pub fn units(&self, place: usize) -> Option<String> {
        let extra = self.requests.borrow()[place].extra.clone();
        extra.into_iter().find(|(name, _)| name == "units").map(|(_, units)| units)
    }
}

impl Http for Desk {
    fn send(&self, mut request: Request) -> Answered {
        for segment in &mut request.body {
            if let Segment::Blob(id) = segment {
                *segment = Segment::Bytes(self.content(id).unwrap());
            }
        }
        let line = request_line(&request);
        self.steps.borrow_mut().push(line.split('?').next().unwrap_or_default().to_owned());
        self.requests.borrow_mut().push(request);
        let (expected, answer) =
            self.script.borrow_mut().pop_front().unwrap_or_else(|| panic!("unexpected request: {line}"));
        assert!(line.starts_with(&expected), "{line} in place of {expected}");
        answer
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

impl Drop for Desk {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let left: Vec<String> = self.script.borrow().iter().map(|(request, _)| request.clone()).collect();
            assert!(left.is_empty(), "requests that were not made: {left:?}");
        }
    }
}

pub fn ok(value: &Value) -> Answered {
    Ok(response(200, &[], &value.to_string()))
}

pub fn refused(status: u16, reason: &str) -> Answered {
    let error =
        json!({ "code": status, "message": "no", "errors": [{ "domain": "global", "reason": reason }] });
    Ok(response(status, &[], &json!({ "error": error }).to_string()))
}

/// The answer to a batch: each part's JSON, or none where the part is left out.
pub fn batch(parts: &[Option<Value>]) -> Answered {
    let part = |(at, part): (usize, &Option<Value>)| {
        let part = part.as_ref()?;
        Some(format!(
            "--b\r\nContent-Type: application/http\r\nContent-ID: <response-{at}>\r\n\r\n\
             HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{part}\r\n"
        ))
    };
    let parts: String = parts.iter().enumerate().filter_map(part).collect();
    let content_type = "multipart/mixed; boundary=b";
    Ok(response(200, &[("content-type", content_type)], &format!("{parts}--b--\r\n")))
}

/// A whole message.
pub fn whole(id: &str, labels: &[&str]) -> Value {
    json!({
        "id": id, "threadId": "t1", "labelIds": labels, "historyId": "9", "internalDate": "1772323200000",
        "sizeEstimate": 120, "snippet": "Hello",
        "payload": {
            "partId": "", "mimeType": "text/plain", "filename": "", "body": { "size": 5 },
            "headers": [
                { "name": "From", "value": "Ada <ada@x.test>" }, { "name": "To", "value": "bob@x.test" },
                { "name": "Subject", "value": "Hello" }, { "name": "Message-Id", "value": "<made@mail.gmail.com>" },
            ],
        },
    })
}

/// A message with one header field, as `format=metadata` shows it.
pub fn metadata(id: &str, labels: &[&str], name: &str, value: &str) -> Value {
    json!({ "id": id, "labelIds": labels, "payload": { "headers": [{ "name": name, "value": value }] } })
}

pub fn only(sources: &[Source]) -> &Source {
    assert_eq!(sources.len(), 1, "{sources:?}");
    &sources[0]
}

pub fn read(source: &Source) -> EmailMessage {
    source.items[0].body.read().unwrap()
}

pub const OWN_ID: &str = "own@x.test";
pub const LETTER: &str = "From: ada@x.test\r\nTo: Bob <bob@x.test>\r\nCc: eve@x.test\r\nSubject: Hello\r\n\
    Message-ID: <own@x.test>\r\nDate: Sun, 01 Mar 2026 00:00:00 +0000\r\n\r\nHello\r\n";

pub fn draft(desk: &Desk, replaces: Option<MessageRef>, if_match: Option<&str>) -> DraftSave {
    DraftSave {
        blob: desk.blob(LETTER),
        internet_message_id: OWN_ID.to_owned(),
        replaces,
        if_match: if_match.map(str::to_owned),
        thread: Some("t1".to_owned()),
    }
}

/// The answer to a message that is sent, or stored beside drafts.
pub fn taken() -> Answered {
    ok(&json!({ "id": "s1", "threadId": "t1", "labelIds": ["SENT"] }))
}

pub fn stored(draft: &str, message: &str) -> Answered {
    ok(&json!({ "id": draft, "message": { "id": message, "threadId": "t1", "labelIds": ["DRAFT"] } }))
}

/// A draft `d1` with the message `m1`, as the host names it.
pub fn saved_draft() -> MessageRef {
    let desk = Desk::new()
        .then("POST upload/drafts?uploadType=multipart", stored("d1", "m1"))
        .then("GET messages/m1?format=full", ok(&whole("m1", &["DRAFT"])));
    let saved = Google::save_draft(&desk.context(), draft(&desk, None, None)).unwrap();
    let source = only(&saved.sources);
    assert_eq!(desk.upload(0), (json!({ "message": { "threadId": "t1" } }), LETTER.to_owned()));
    assert_eq!((saved.item.as_deref(), source.previous_id.as_deref()), (Some("m1"), None));
    assert!(read(source).draft);
    MessageRef { source: source.external_id.clone(), hint: source.items[0].hint.clone() }
}
