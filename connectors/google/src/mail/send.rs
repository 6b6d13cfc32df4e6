//! `messages.send`: uploads the message with its thread and draft in one request.
//!
//! Gmail has no envelope: a message goes to all recipients in its To, Cc and Bcc. It gives each message a new Message-ID, so the sent
//! message is read afterwards, and has ours in a field that `find` searches.
//!
//! A message is never handed over again while Gmail may have it: only a refusal leads to another request, and a later attempt first looks
//! for the message.

use std::collections::HashSet;

use connector_sdk::http::{Http, Request, Response, SendError};
use connector_sdk::{Context, Failure, Outcome, code};
use mail::address::folded;
use model::email::EmailMessage;
use model::wire::email::{MessageFind, MessageSend, RecipientOutcome, Sent};
use model::wire::{Source, Warning};
use serde_json::{Map, Value, json};

use crate::api::{accepted, object};
use crate::calendar::patch::field_warning;
use crate::mail::drafts::{entry, find_draft, in_thread, is_about_thread, remove};
use crate::mail::find::{OWN_ID, find};
use crate::mail::message::{deleted_source, read_source};
use crate::mail::native::Message;
use crate::mail::roots;
use crate::mail::upload::{MAX_SENT_BYTES, MULTIPART, MessageUpload, checked_size, read_header};

const DOING: &str = "sending the message";
/// The maximum message bytes that one call uploads: the host's limit for a call, less the rest of the requests.
const MAX_UPLOADED_BYTES: u64 = 60 << 20;
/// The maximum length of an id in a header field, in bytes.
const MAX_ID_BYTES: usize = 250;

/// Sends a message.
pub fn send(context: &Context, args: &MessageSend) -> Outcome<Sent> {
    if args.recipients.is_empty() {
        return Err(Failure::invalid("the message has no recipients"));
    }
    let size = checked_size(context, &args.blob, MAX_SENT_BYTES)?;
    let fields = render_fields(&read_header(context, &args.blob)?, args)?;
    let draft = find_own_draft(context, args)?;
    if let Some(copy) = left_by_earlier_attempt(context, args)? {
        context.reached("handed-over");
        context.reached("accepted");
        let sent = SentMessage { copy: Ok(copy), is_draft: false };
        return Ok(finish(context, args, draft.as_deref(), sent));
    }
    let ways = plan_ways(context, &SendOrder { args, fields: &fields, draft: draft.as_deref(), size })?;
    context.reached("handed-over");
    let Acceptance { response, is_draft } = hand_over(context, ways)?;
    context.reached("accepted");
    let copy = object::<Message>(&response).and_then(|sent| read_source(context, &sent.id, None));
    Ok(finish(context, args, draft.as_deref(), SentMessage { copy, is_draft }))
}

/// Finds the message of an earlier attempt that Gmail sent although the answer was an error. None if the account allows sending but not
/// reading.
fn left_by_earlier_attempt(context: &Context, args: &MessageSend) -> Outcome<Option<Source>> {
    if context.attempt() == 1 {
        return Ok(None);
    }
    let id = MessageFind { internet_message_id: args.internet_message_id.clone() };
    match find(context, &id) {
        Err(failure) if failure.code == code::FORBIDDEN => Ok(None),
        found => Ok(found?.sources.into_iter().next()),
    }
}

/// The parameters of a message to send.
struct SendOrder<'a> {
    args: &'a MessageSend,
    /// The header fields to add before those of the message.
    fields: &'a str,
    /// The id of its draft.
    draft: Option<&'a str>,
    /// The size in bytes.
    size: u64,
}

/// A variant of the request that sends the message.
struct SendWay {
    request: Request,
    is_draft: bool,
    has_thread: bool,
}

/// Gmail's answer that it has accepted the message.
struct Acceptance {
    response: Response,
    /// It was sent as its draft, which went with that.
    is_draft: bool,
}

/// A message that was sent.
struct SentMessage {
    copy: Outcome<Source>,
    /// It was sent as its draft.
    is_draft: bool,
}

/// Returns the header fields to add to the message: our id, and a Bcc with the recipients that its header does not name.
fn render_fields(header: &EmailMessage, args: &MessageSend) -> Outcome<String> {
    let named = header.to.iter().chain(&header.cc).chain(&header.bcc).filter(|one| !one.email.is_empty());
    let named: HashSet<String> = named.map(|one| folded(&one.email)).collect();
    let wanted: HashSet<String> = args.recipients.iter().map(|email| folded(email)).collect();
    if !named.is_subset(&wanted) {
        let message = "Gmail sends a message to everybody whom its To and Cc name";
        return Err(Failure::new(code::UNSUPPORTED, message));
    }
    let hidden: Vec<&str> =
        args.recipients.iter().filter(|email| !named.contains(&folded(email))).map(String::as_str).collect();
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || matches!(c, ',' | ';' | '<' | '>');
    if hidden.iter().any(|email| email.contains(is_odd)) {
        return Err(Failure::invalid("the address of a recipient cannot be written into a message"));
    }
    let mut fields = String::new();
    let id = args.internet_message_id.as_str();
    if (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()) {
        fields.push_str(&format!("{OWN_ID}: {id}\r\n"));
    }
    if !hidden.is_empty() {
        // One line per recipient, because the length of lines is limited (RFC 5322 section 2.1.1).
        fields.push_str(&format!("Bcc: {}\r\n", hidden.join(",\r\n ")));
    }
    Ok(fields)
}

/// The id of the message's draft. None if the account allows sending but not reading drafts.
fn find_own_draft(context: &Context, args: &MessageSend) -> Outcome<Option<String>> {
    let Some(draft) = &args.draft else { return Ok(None) };
    match find_draft(context, draft) {
        Err(failure) if failure.code == code::FORBIDDEN => Ok(None),
        found => found,
    }
}

/// The variants of the request in order of preference: with draft and thread, then without those that Gmail may no longer have. Their total
/// size fits a call.
fn plan_ways(context: &Context, order: &SendOrder) -> Outcome<Vec<SendWay>> {
    let SendOrder { args, draft, size, .. } = *order;
    let may_repeat = size.saturating_mul(3) <= MAX_UPLOADED_BYTES;
    // A large message gets one variant per attempt.
    let thread = args.thread.as_deref().filter(|_| may_repeat || context.attempt() == 1);
    let draft = draft.filter(|_| may_repeat);
    let mut ways = Vec::new();
    if draft.is_some() {
        ways.push(make_way(context, order, draft, thread)?);
    }
    ways.push(make_way(context, order, None, thread)?);
    if thread.is_some() && may_repeat {
        ways.push(make_way(context, order, None, None)?);
    }
    Ok(ways)
}

fn make_way(
    context: &Context,
    order: &SendOrder,
    draft: Option<&str>,
    thread: Option<&str>,
) -> Outcome<SendWay> {
    let (segments, metadata) = match draft {
        Some(_) => (["drafts", "send"], entry(draft, thread)),
        None => (["messages", "send"], in_thread(thread)),
    };
    let url = roots::upload(&segments, &[MULTIPART])?;
    let upload = MessageUpload { url, metadata, fields: order.fields, blob: &order.args.blob };
    let request = upload.request(context, "POST").units(roots::SEND_UNITS);
    Ok(SendWay { request, is_draft: draft.is_some(), has_thread: thread.is_some() })
}

/// Sends the message. Tries the next variant only if Gmail refuses one for a reason that the next one avoids.
fn hand_over(context: &Context, ways: Vec<SendWay>) -> Outcome<Acceptance> {
    let mut refusal = Failure::invalid("there is no way to send the message");
    for SendWay { request, is_draft, has_thread } in ways {
        match attempt(context, request) {
            Ok(response) => return Ok(Acceptance { response, is_draft }),
            Err(failure) => {
                // The right to send does not include drafts.
                let is_about_draft = is_draft && failure.code == code::FORBIDDEN;
                let may_differ = (is_draft || has_thread) && is_about_thread(&failure);
                if !is_about_draft && !may_differ {
                    return Err(failure);
                }
                refusal = failure;
            }
        }
    }
    Err(refusal)
}

/// Uploads the message. A failure says in `detail.handedOver` whether Gmail may have it nevertheless.
fn attempt(context: &Context, request: Request) -> Outcome<Response> {
    match Http::send(context.host(), request) {
        Ok(response) => accepted(context, response, DOING).map_err(|failure| {
            let is_refusal = matches!(failure.http_status, Some(400..=407 | 409..=499 | 503));
            with_handover(failure, !is_refusal)
        }),
        Err(error) => {
            let is_handed_over = !is_unsent(&error);
            Err(with_handover(Failure::from(error), is_handed_over))
        }
    }
}

/// Whether the request did not leave the host. `unavailable` has many causes; with a wait it comes from the host itself, for a rate limit
/// or a token.
fn is_unsent(error: &SendError) -> bool {
    match error.code.as_str() {
        "denied" | "invalid" | "connect" | "too-many-requests" | "auth-expired" => true,
        "unavailable" => error.retry_after_ms.is_some(),
        _ => false,
    }
}

fn with_handover(failure: Failure, is_handed_over: bool) -> Failure {
    let mut detail = match failure.detail.as_deref() {
        Some(Value::Object(members)) => members.clone(),
        _ => Map::new(),
    };
    detail.insert("handedOver".to_owned(), json!(is_handed_over));
    failure.with_detail(Value::Object(detail))
}

/// Returns the answer for a sent message. From here on errors are only warnings.
fn finish(context: &Context, args: &MessageSend, draft: Option<&str>, sent: SentMessage) -> Sent {
    let mut warnings = Vec::new();
    if !args.save_to_sent {
        warnings.push(field_warning("saveToSent", "Gmail keeps a copy of every message that it sends"));
    }
    let copy = match sent.copy {
        Ok(copy) => Some(copy),
        Err(failure) => {
            let message = "the message was sent, but its copy could not be read";
            warnings.push(warning("sent_copy_unknown", message, &failure));
            None
        }
    };
    let is_gone = match (sent.is_draft, draft) {
        (true, _) => true,
        (false, Some(draft)) => match remove(context, draft) {
            Ok(_) => true,
            Err(failure) => {
                warnings.push(warning(
                    "draft_kept",
                    "the message was sent, but its draft is still there",
                    &failure,
                ));
                false
            }
        },
        (false, None) => false,
    };
    // The message may keep the id that it had as a draft.
    let is_copy = |source: &str| copy.as_ref().is_some_and(|copy| copy.external_id == source);
    let draft = args.draft.as_ref().filter(|draft| is_gone && !is_copy(&draft.source));
    let draft = draft.map(|draft| deleted_source(&draft.source));
    let message_id = copy.as_ref().and_then(message_id_of).filter(|id| *id != args.internet_message_id);
    let taken = |email: &String| RecipientOutcome {
        email: email.clone(),
        accepted: true,
        ..RecipientOutcome::default()
    };
    Sent {
        recipients: args.recipients.iter().map(taken).collect(),
        internet_message_id: message_id,
        sources: copy.into_iter().chain(draft).collect(),
        warnings,
    }
}

fn message_id_of(copy: &Source) -> Option<String> {
    let item = copy.items.first()?;
    item.body.read::<EmailMessage>().ok()?.internet_message_id
}

fn warning(code: &str, message: &str, failure: &Failure) -> Warning {
    Warning { code: code.to_owned(), message: format!("{message}: {}", failure.message), target: None }
}
