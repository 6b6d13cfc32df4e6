//! Reads and searches messages and their content.

use std::collections::HashSet;

use connector_sdk::http::{BlobInfo, Request, Response};
use connector_sdk::{Answer, Context, Failure, Outcome};
use model::wire::email::{AttachmentRef, Content, MessageFind, MessageRef, MessageSearch, MessagesGet};
use model::wire::{Source, Sources};
use serde_json::json;

use crate::api::{ask, failure, url};
use crate::items::{deleted_source, target};
use crate::mail::entries::{ReportForm, listed_source};
use crate::native::Page;

/// The provider's largest page.
const MAX_LIMIT: u32 = 250;
const DEFAULT_LIMIT: u32 = 100;
/// The approximate maximum of text bytes in an answer.
const MAX_ANSWER: u32 = 4 << 20;
/// The approximate size of a message without its texts, in bytes.
const WITHOUT_TEXT: u32 = 8 << 10;
/// The maximum size of a message or attachment, in bytes.
const MAX_CONTENT: u64 = 32 << 20;

fn sources(found: &Page) -> Vec<Source> {
    found.records.iter().map(|record| listed_source(record, ReportForm::Whole)).collect()
}

/// Reads messages by their ids. Missing ones are reported as deleted.
pub fn get(context: &Context, args: &MessagesGet) -> Outcome<Sources> {
    let at_once = match args.body {
        true => MAX_ANSWER / args.max_body_bytes.saturating_mul(2).saturating_add(WITHOUT_TEXT),
        false => MAX_LIMIT,
    };
    let at_once = usize::try_from(at_once.clamp(1, MAX_LIMIT)).unwrap_or(1);
    let mut all = Vec::new();
    for some in args.messages.chunks(at_once) {
        let ids: Vec<&str> = some.iter().map(|message| message.source.as_str()).collect();
        let body = json!({
            "ids": ids, "headers": args.headers || args.body, "body": args.body, "maxBodyBytes": args.max_body_bytes,
        });
        let request = Request::post(url(context, &["mail", "batch"], &[])?).json(&body);
        let found = sources(&ask(context, request, "reading the messages")?);
        let known: HashSet<&str> = found.iter().map(|source| source.external_id.as_str()).collect();
        all.extend(ids.into_iter().filter(|id| !known.contains(id)).map(deleted_source));
        all.extend(found);
    }
    Ok(Sources { sources: all, ..Sources::default() })
}

/// Reads the current state of a message.
pub fn one(context: &Context, id: &str) -> Outcome<Source> {
    let message = MessageRef { source: id.to_owned(), hint: None };
    let args = MessagesGet { messages: vec![message], ..MessagesGet::default() };
    let found = get(context, &args)?.sources.into_iter().find(|source| !source.deleted);
    found.ok_or_else(|| Failure::not_found("the message is gone"))
}

/// Searches at the provider. `native_query` is its `q`: words, `"…"`, `-`, and the operators `from:`, `to:`, `subject:`, `in:`, `label:`,
/// `is:unread|read|starred|answered|draft`, `has:file`, `after:` and `before:` (a day or an instant).
pub fn search(context: &Context, args: &MessageSearch) -> Outcome<Answer<Sources>> {
    let limit = if args.limit == 0 { DEFAULT_LIMIT } else { args.limit.min(MAX_LIMIT) }.to_string();
    let flag = |is: bool| if is { "true" } else { "false" };
    let (after, before) = (args.received_after, args.received_before);
    let (after, before) = (after.map(|at| at.to_string()), before.map(|at| at.to_string()));
    let all = [
        ("limit", Some(limit.as_str())),
        ("q", args.native_query.as_deref()),
        ("text", args.text.as_deref()),
        ("folder", args.folder.as_deref()),
        ("label", args.label.as_deref()),
        ("after", after.as_deref()),
        ("before", before.as_deref()),
        ("unread", args.unread.map(flag)),
        ("starred", args.starred.map(flag)),
        ("pageToken", context.cursor.as_deref()),
    ];
    let query: Vec<_> = all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let request = Request::get(url(context, &["mail", "messages"], &query)?);
    let page: Page = ask(context, request, "searching the messages")?;
    let body = Sources { sources: sources(&page), ..Sources::default() };
    let more = page.next_page_token.is_some();
    Ok(Answer { body, cursor: page.next_page_token, more })
}

/// Finds a message among sent messages and drafts only, because its sender may also have received it.
pub fn find(context: &Context, args: &MessageFind) -> Outcome<Sources> {
    let mut all = Vec::new();
    for folder in ["sent", "drafts"] {
        let query = [("folder", folder), ("messageId", args.internet_message_id.as_str())];
        let request = Request::get(url(context, &["mail", "messages"], &query)?);
        all.extend(sources(&ask(context, request, "finding the message")?));
    }
    Ok(Sources { sources: all, ..Sources::default() })
}

/// Reads the raw message.
pub fn raw(context: &Context, args: &MessageRef) -> Outcome<Content> {
    let id = target(Some(&args.source))?;
    let url = url(context, &["mail", "messages", id, "raw"], &[])?;
    content(context, url, "reading the message")
}

/// Reads the content of an attachment.
pub fn attachment(context: &Context, args: &AttachmentRef) -> Outcome<Content> {
    let id = target(Some(&args.message.source))?;
    let url = url(context, &["mail", "messages", id, "files", target(Some(&args.part))?], &[])?;
    content(context, url, "reading the attachment")
}

fn content(context: &Context, url: String, doing: &str) -> Outcome<Content> {
    let info = context.host().send_to_blob(Request::get(url), "raw", MAX_CONTENT)?;
    if !(200..300).contains(&info.status) {
        return Err(refused(context, &info, doing));
    }
    Ok(Content { blob: info.id, content_type: info.content_type })
}

/// Returns the failure of a refusal, whose body is in the blob too.
fn refused(context: &Context, info: &BlobInfo, doing: &str) -> Failure {
    let body = context.host().read_blob(&info.id, 0, 64 << 10).unwrap_or_default();
    let response =
        Response { status: info.status, headers: info.headers.clone(), body, ..Response::default() };
    failure(context, &response, doing)
}
