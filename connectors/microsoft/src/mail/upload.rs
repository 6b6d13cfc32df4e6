//! Files that are added to a draft: small ones in one request, large ones by an upload session in slices. The address of a session is the
//! credential: nothing else may go to it.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome, code};
use mail::read::rewrite::{FileContent, FilePart, base64_text};
use serde_json::{Value, json};

use crate::api::{ask, object};
use crate::mail::native::{AttachmentEntry, UploadState};
use crate::odata::{failures, root};

/// Files of fewer bytes go in one request. For a session they are too small.
const MIN_SESSION_BYTES: usize = 3_000_000;
/// Bytes of a slice: twelve times 320 KiB, of which Graph wants multiples, and below 4 MB.
const SLICE_BYTES: usize = 3_932_160;
/// Times that the state of a session is asked for, for one slice.
const MAX_RESUMES: usize = 2;
/// The code for a file that is too small for a session.
const TOO_SMALL: &str = "ErrorAttachmentSizeShouldNotBeLessThanMinimumSize";
const DOING: &str = "uploading an attachment";

/// Adds a file of a message to a draft.
pub fn attach(context: &Context, draft: &str, raw: &[u8], file: &FilePart) -> Outcome<()> {
    let size = usize::try_from(file.attachment.size.unwrap_or_default()).unwrap_or_default();
    if size < MIN_SESSION_BYTES {
        return match attach_whole(context, draft, raw, file, size) {
            Err(failure) if failure.http_status == Some(413) => {
                attach_by_session(context, draft, raw, file, size)
            }
            done => done,
        };
    }
    match attach_by_session(context, draft, raw, file, size) {
        // Where the limits meet depends on the way in which megabytes are counted.
        Err(failure) if failures::has_code(&failure, TOO_SMALL) => {
            attach_whole(context, draft, raw, file, size)
        }
        done => done,
    }
}

/// Returns the JSON of a file without its content.
fn description(file: &FilePart) -> Value {
    let attachment = &file.attachment;
    let mut described = json!({
        "name": attachment.filename.as_deref().unwrap_or("attachment"),
        "contentType": attachment.content_type,
        "isInline": attachment.inline,
    });
    if let Some(id) = &attachment.content_id {
        described["contentId"] = json!(id);
    }
    described
}

/// Returns the JSON of a file of at most so many bytes, with its content.
pub fn whole_file(raw: &[u8], file: &FilePart, size: usize) -> Value {
    let mut whole = description(file);
    whole["@odata.type"] = json!("#microsoft.graph.fileAttachment");
    whole["contentBytes"] = json!(base64_text(&FileContent::new(raw, file).next_bytes(size)));
    whole
}

fn attach_whole(context: &Context, draft: &str, raw: &[u8], file: &FilePart, size: usize) -> Outcome<()> {
    let url = root::me(&["messages", draft, "attachments"], &[])?;
    let request = Request::post(url).json(&whole_file(raw, file, size));
    ask::<AttachmentEntry>(context, request, DOING).map(|_| ())
}

fn attach_by_session(
    context: &Context,
    draft: &str,
    raw: &[u8],
    file: &FilePart,
    size: usize,
) -> Outcome<()> {
    let url = root::me(&["messages", draft, "attachments", "createUploadSession"], &[])?;
    let mut item = description(file);
    item["attachmentType"] = json!("file");
    item["size"] = json!(size);
    let request = Request::post(url).json(&json!({ "AttachmentItem": item }));
    let state: UploadState = ask(context, request, DOING)?;
    let address = state.upload_url.filter(|address| !address.is_empty());
    let address =
        address.ok_or_else(|| Failure::unavailable("the provider's upload session has no address"))?;
    let upload = Upload { context, address: &address, size };
    let done = upload.send(FileContent::new(raw, file));
    if done.is_err() {
        // It ends by itself too, in a while.
        let _ = context.send(upload.request("DELETE"));
    }
    done
}

/// An upload session under way.
struct Upload<'a> {
    context: &'a Context<'a>,
    address: &'a str,
    size: usize,
}

/// The place that an upload has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UploadPlace {
    /// The next byte.
    At(usize),
    /// All is there.
    Complete,
}

impl Upload<'_> {
    fn request(&self, method: &str) -> Request {
        Request { auth: Some("none".to_owned()), ..Request::new(method, self.address) }
    }

    fn send(&self, mut content: FileContent) -> Outcome<()> {
        let mut start = 0;
        while start < self.size {
            let slice = content.next_bytes(SLICE_BYTES.min(self.size - start));
            if slice.is_empty() {
                return Err(Failure::new(code::INTERNAL, "the attachment is shorter than it was counted"));
            }
            let end = start + slice.len();
            self.send_slice(start, slice)?;
            start = end;
        }
        Ok(())
    }

    /// Sends a slice. Where the answer is lost, the session says whether it has come.
    fn send_slice(&self, start: usize, slice: Vec<u8>) -> Outcome<()> {
        let end = start + slice.len();
        for _ in 0..MAX_RESUMES {
            match self.put(start, slice.clone()) {
                Ok(()) => return Ok(()),
                Err(failure) if is_passing(&failure) => match self.place()? {
                    UploadPlace::Complete => return Ok(()),
                    UploadPlace::At(at) if at >= end => return Ok(()),
                    UploadPlace::At(at) if at == start => {}
                    UploadPlace::At(_) => return Err(failure),
                },
                Err(failure) => return Err(failure),
            }
        }
        self.put(start, slice)
    }

    fn put(&self, start: usize, slice: Vec<u8>) -> Outcome<()> {
        let last = (start + slice.len()).saturating_sub(1);
        let range = format!("bytes {start}-{last}/{}", self.size);
        let request =
            self.request("PUT").header("content-range", range).body("application/octet-stream", slice);
        self.accepted(self.context.send(request)?).map(|_| ())
    }

    /// Asks the session for what it has.
    fn place(&self) -> Outcome<UploadPlace> {
        let response = self.accepted(self.context.send(self.request("GET"))?)?;
        let state: UploadState = object(&response)?;
        let Some(range) = state.next_expected_ranges.first() else { return Ok(UploadPlace::Complete) };
        let start = range.split('-').next().and_then(|start| start.trim().parse().ok());
        start
            .map(UploadPlace::At)
            .ok_or_else(|| Failure::unavailable("the provider's upload session has odd ranges"))
    }

    fn accepted(&self, response: Response) -> Outcome<Response> {
        match response.is_success() {
            true => Ok(response),
            false => {
                let failure = failures::of(self.context, &response, DOING);
                // The session's own refusal says nothing of the account's token.
                let is_of_session = failure.code == code::AUTH_EXPIRED;
                Err(if is_of_session { failure.with_code(code::UNAVAILABLE) } else { failure })
            }
        }
    }
}

/// Whether the same slice may be taken at once.
fn is_passing(failure: &Failure) -> bool {
    match failure.http_status {
        Some(status) => matches!(status, 500 | 502 | 504),
        None => {
            [code::TIMEOUT, code::UNAVAILABLE].contains(&failure.code.as_str())
                && failure.retry_after_ms.is_none()
        }
    }
}
