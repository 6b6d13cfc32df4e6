//! The client of a JMAP server: batches of method calls, uploads, downloads, and common reads.

use std::cell::RefCell;
use std::collections::BTreeMap;

use connector_sdk::http::{BlobInfo, Request, Response, Segment};
use connector_sdk::{Context, Failure, Outcome, code};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::protocol::answers::GetResponse;
use crate::protocol::email::{self, Email};
use crate::protocol::{Answers, Batch, failures};
use crate::session::{Endpoint, fill, find};

/// The media type of a message.
pub const MESSAGE: &str = "message/rfc822";

/// The number of objects in a `Foo/get` if the server has no limit (RFC 8620 section 2 suggests 500).
const OBJECTS_IN_GET: u64 = 500;

/// The maximum size of a message or attachment that is read, in bytes; the host's own limit applies too.
const MAX_DOWNLOAD_BYTES: u64 = 256 << 20;

/// The reason in [`Failure::detail`] for an answer that was cut off.
const CUT_OFF: &str = "the answer was cut off";

/// A client for one account during one call.
pub struct Client<'a> {
    pub cx: &'a Context<'a>,
    endpoint: RefCell<Endpoint>,
    /// Whether the session was read in this call, so that it cannot be out of date.
    is_fresh: RefCell<bool>,
}

/// The response to an upload (RFC 8620 section 6.1).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UploadResponse {
    blob_id: String,
}

impl<'a> Client<'a> {
    /// Creates a client with the endpoint that `check` stored; reads the session if there is none.
    pub fn new(cx: &'a Context<'a>) -> Outcome<Self> {
        let settings = Value::Object(cx.connection.settings.clone());
        let known: Endpoint = serde_json::from_value(settings).unwrap_or_default();
        let is_known = !known.account_id.is_empty() && !known.api_url.is_empty();
        let client = Client { cx, endpoint: RefCell::new(known), is_fresh: RefCell::new(!is_known) };
        if !is_known {
            client.endpoint.replace(find(cx)?.endpoint);
        }
        Ok(client)
    }

    /// Creates a client with the endpoint of a session that was just read.
    pub fn at(cx: &'a Context<'a>, endpoint: Endpoint) -> Self {
        Client { cx, endpoint: RefCell::new(endpoint), is_fresh: RefCell::new(true) }
    }

    /// Returns the endpoint that the session names.
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint.borrow().clone()
    }

    /// An empty batch for the account.
    pub fn batch(&self) -> Batch {
        Batch::new(&self.endpoint.borrow().account_id)
    }

    /// The maximum number of objects in a `Foo/get`.
    pub fn objects_in_get(&self) -> usize {
        let limit = self.endpoint.borrow().max_objects_in_get.unwrap_or(OBJECTS_IN_GET);
        usize::try_from(limit.clamp(1, 10_000)).unwrap_or(1)
    }

    /// Sends a batch in one HTTP request. `doing` completes "the provider rejected ...".
    pub fn run(&self, batch: Batch, doing: &str) -> Outcome<Answers> {
        let request = batch.into_request();
        let post = |url: &str| Request::post(url).header("accept", "application/json").json(&request);
        let response = self.send(|endpoint| post(&endpoint.api_url))?;
        if !response.is_success() {
            return Err(failures::of_response(&response, self.cx.failure(&response, doing)));
        }
        if response.truncated {
            let failure = Failure::unavailable("the provider's answer is larger than can be read");
            return Err(failure.with_detail(json!({ "reason": CUT_OFF })));
        }
        Answers::read(&response.body)
    }

    /// Sends a request. If the URL no longer exists, reads the session again, once, and repeats the request.
    fn send(&self, request: impl Fn(&Endpoint) -> Request) -> Outcome<Response> {
        let response = self.cx.send(request(&self.endpoint.borrow()))?;
        if is_gone(response.status) && self.renew()? {
            return self.cx.send(request(&self.endpoint.borrow()));
        }
        Ok(response)
    }

    /// Reads the session again; returns false if it was already read in this call.
    fn renew(&self) -> Outcome<bool> {
        if self.is_fresh.replace(true) {
            return Ok(false);
        }
        // The account was connected with a session. A place that has none now, or sends elsewhere, may have it again later.
        let found = find(self.cx).map_err(|failure| match failure.code.as_str() {
            code::INVALID => failure.with_code(code::UNAVAILABLE),
            _ => failure,
        });
        let found = found?.endpoint;
        if found.account_id != self.endpoint.borrow().account_id {
            return Err(Failure::not_found("the provider does not have this account any more"));
        }
        self.endpoint.replace(found);
        Ok(true)
    }

    /// Uploads a blob of this call, and returns its id at the server (RFC 8620 section 6.1).
    pub fn upload(&self, blob: &str) -> Outcome<String> {
        let limit = self.endpoint.borrow().max_size_upload;
        let size = self.cx.host().blob_size(blob);
        if let (Some(limit), Some(size)) = (limit, size)
            && size > limit
        {
            let message = format!("the message has {size} bytes and the provider takes at most {limit}");
            return Err(Failure::invalid(message));
        }
        let response = self.send(|endpoint| {
            let url = fill(&endpoint.upload_url, &[("accountId", &endpoint.account_id)]);
            let mut request =
                Request::post(url).header("content-type", MESSAGE).header("accept", "application/json");
            request.body = vec![Segment::Blob(blob.to_owned())];
            request
        })?;
        if !response.is_success() {
            return Err(failures::of_response(
                &response,
                self.cx.failure(&response, "uploading the message"),
            ));
        }
        response.json::<UploadResponse>().map(|uploaded| uploaded.blob_id)
    }

    /// The request that reads a blob of the server (RFC 8620 section 6.2).
    pub fn download_request(&self, blob_id: &str, name: &str, media_type: &str) -> Request {
        let endpoint = self.endpoint.borrow();
        let variables = [
            ("accountId", endpoint.account_id.as_str()),
            ("blobId", blob_id),
            ("name", name),
            ("type", media_type),
        ];
        Request::get(fill(&endpoint.download_url, &variables))
    }

    /// Reads a blob of the server into one of this call.
    pub fn download(&self, blob_id: &str, name: &str, media_type: &str, doing: &str) -> Outcome<BlobInfo> {
        let get = || {
            let request = self.download_request(blob_id, name, media_type);
            self.cx.host().send_to_blob(request, "raw", MAX_DOWNLOAD_BYTES).map_err(Failure::from)
        };
        let mut info = get()?;
        // A missing blob and an outdated URL look the same: both are 404.
        if is_gone(info.status) && self.renew()? {
            info = get()?;
        }
        if (200..300).contains(&info.status) {
            return Ok(info);
        }
        let response = Response { status: info.status, headers: info.headers, ..Response::default() };
        Err(self.cx.failure(&response, doing))
    }

    /// Reads messages by id, as many at a time as the server allows; `args` are further arguments of `Email/get`. Messages that do not
    /// exist are left out.
    pub fn emails(&self, ids: &[String], args: &Value, doing: &str) -> Outcome<Vec<Message>> {
        let mut all = Vec::with_capacity(ids.len());
        for ids in ids.chunks(self.objects_in_get()) {
            let mut batch = self.batch();
            let get = batch.call("Email/get", with(args, "ids", json!(ids)));
            let got: GetResponse = self.run(batch, doing)?.get(&get)?;
            all.extend(messages(got));
        }
        Ok(all)
    }
}

fn is_gone(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308 | 404 | 410)
}

/// Whether the answer was longer than the host reads, so that less must be requested.
pub fn is_cut_off(failure: &Failure) -> bool {
    failure.code == code::UNAVAILABLE
        && failure
            .detail
            .as_ref()
            .is_some_and(|detail| detail.get("reason").is_some_and(|reason| reason == CUT_OFF))
}

/// Adds an argument to a copy of these arguments.
pub fn with(args: &Value, name: &str, value: Value) -> Value {
    let mut args = args.clone();
    if let Value::Object(members) = &mut args {
        members.insert(name.to_owned(), value);
    }
    args
}

/// A message of an answer, or the id of one that cannot be read.
pub type Message = Result<Email, String>;

/// The messages of an answer.
pub fn messages(got: GetResponse) -> Vec<Message> {
    /// The id of an object that cannot be parsed otherwise.
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Name {
        id: String,
    }
    let read = |text: &str| {
        serde_json::from_str::<Email>(text).map_err(|_| {
            let name: Name = serde_json::from_str(text).unwrap_or_default();
            name.id
        })
    };
    got.list.iter().map(|raw| read(raw.get())).filter(|message| !id_of(message).is_empty()).collect()
}

/// The id of a message, even if the message could not be parsed.
pub fn id_of(message: &Message) -> &str {
    match message {
        Ok(email) => &email.id,
        Err(id) => id,
    }
}

/// The arguments of `Email/get` for the fields that a list shows.
pub fn summary() -> Value {
    email::get(&email::SUMMARY)
}

/// A JMAP set, `{id: true}`.
pub fn set(ids: impl IntoIterator<Item = String>) -> BTreeMap<String, bool> {
    ids.into_iter().map(|id| (id, true)).collect()
}
