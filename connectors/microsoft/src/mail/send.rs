//! `messages.send`: stores a draft and sends it, so that the id is known before the hand-over; `sendMail` if the account allows nothing but
//! sending.
//!
//! A message is never handed over again while Graph may have it: only 202 means that it has, and only a refusal that it has not. A later
//! attempt first looks for the message, and for the draft that an earlier one left.

use std::collections::HashSet;

use connector_sdk::http::{Http, Request, SendError};
use connector_sdk::{Context, Failure, Outcome, code};
use mail::address::folded;
use model::email::EmailMessage;
use model::wire::email::{MessageFind, MessageSend, RecipientOutcome, Sent};
use model::wire::{Source, Warning};
use serde_json::{Map, Value, json};

use crate::api::{accepted, ask};
use crate::mail::access::MailAccess;
use crate::mail::compose::{abandon, checked_size, mime_request, read_message, small_mime, store_draft};
use crate::mail::edit::{destroy, field_warning, remove};
use crate::mail::find::{DRAFTS, OWN_ID, find, find_sent_folder, has_mark, look_through};
use crate::mail::message::deleted_source;
use crate::mail::native::Message;
use crate::mail::read::read_source;
use crate::mail::road::{Road, road};
use crate::odata::{prefer, root};

const DOING: &str = "sending the message";
/// The maximum length of an id in a header field, in bytes.
const MAX_ID_BYTES: usize = 250;
/// The bytes of a message within which its header must end.
const MAX_HEAD_BYTES: usize = mail::read::limits::HEADER_BYTES;

/// Sends a message.
pub fn send(context: &Context, args: &MessageSend) -> Outcome<Sent> {
    if args.recipients.is_empty() {
        return Err(Failure::invalid("the message has no recipients"));
    }
    let can = MailAccess::of(context);
    let road = road(checked_size(context, &args.blob)?, can)?;
    let raw = read_message(context, &args.blob)?;
    let head = raw.get(..MAX_HEAD_BYTES).unwrap_or(&raw);
    let fields = render_fields(&mail::read::headers(head), args)?;
    if context.attempt() > 1 && can != MailAccess::SendOnly {
        let id = MessageFind { internet_message_id: args.internet_message_id.clone() };
        if let Some(copy) = find(context, &id)?.sources.into_iter().next() {
            context.reached("handed-over");
            context.reached("accepted");
            return Ok(finish(context, args, can, SentCopy::Read(Box::new(copy))));
        }
        if can == MailAccess::ReadWrite {
            remove_left_drafts(context, args)?;
        }
    }
    let copy = match road {
        Road::SendMail => send_mail(context, args, &raw, &fields)?,
        Road::Mime | Road::Parts => send_draft(context, args, raw, &fields)?,
    };
    context.reached("accepted");
    Ok(finish(context, args, can, copy))
}

/// The known data of the copy in Sent Items.
enum SentCopy {
    /// The copy is unknown.
    Unknown,
    /// The id of the draft, which the sent message keeps.
    Named(String),
    /// The whole copy.
    Read(Box<Source>),
}

/// Returns the header fields to add to the message: our id, and a Bcc with the recipients that its header does not name.
fn render_fields(header: &EmailMessage, args: &MessageSend) -> Outcome<String> {
    let named = header.to.iter().chain(&header.cc).chain(&header.bcc).filter(|one| !one.email.is_empty());
    let named: HashSet<String> = named.map(|one| folded(&one.email)).collect();
    let wanted: HashSet<String> = args.recipients.iter().map(|email| folded(email)).collect();
    if !named.is_subset(&wanted) {
        let message = "the provider sends a message to everybody whom its To and Cc name";
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

/// Deletes drafts that an earlier attempt left: those with our mark, and those with our Message-ID that are not the draft of the message.
fn remove_left_drafts(context: &Context, args: &MessageSend) -> Outcome<()> {
    let own_id = args.internet_message_id.as_str();
    if own_id.is_empty() {
        return Ok(());
    }
    let is_own = |message: &Message| args.draft.as_ref().is_some_and(|draft| draft.source == message.id);
    for message in look_through(context, DRAFTS, own_id)? {
        if has_mark(&message, own_id) || !is_own(&message) {
            remove(context, &message.id, None)?;
        }
    }
    Ok(())
}

/// Sends a message with `sendMail`. Graph stores the copy in Sent Items.
fn send_mail(context: &Context, args: &MessageSend, raw: &[u8], fields: &str) -> Outcome<SentCopy> {
    if is_alias(context, args) {
        let message = "sending from another address of the account takes the right to change mail";
        return Err(Failure::new(code::UNSUPPORTED, message));
    }
    let mime = small_mime(raw, fields).ok_or_else(|| {
        Failure::invalid("the message is too large for an account that lets this server send alone")
    })?;
    let request = mime_request(root::me(&["sendMail"], &[])?, &mime);
    context.reached("handed-over");
    hand_over(context, request)?;
    Ok(SentCopy::Unknown)
}

/// Stores the message as a draft and sends it. A draft that was not sent is deleted.
fn send_draft(context: &Context, args: &MessageSend, raw: Vec<u8>, fields: &str) -> Outcome<SentCopy> {
    let draft = store_draft(context, &raw, fields)?;
    drop(raw);
    if let Err(failure) = set_sender(context, args, &draft) {
        abandon(context, &draft.id);
        return Err(failure);
    }
    let request = Request::post(root::me(&["messages", &draft.id, "send"], &[])?);
    context.reached("handed-over");
    match hand_over(context, request) {
        Ok(()) => Ok(SentCopy::Named(draft.id)),
        Err(failure) => {
            if is_refused(&failure) {
                abandon(context, &draft.id);
            }
            Err(failure)
        }
    }
}

/// Whether the sender is not the account's primary address. Graph ignores the sender in MIME.
fn is_alias(context: &Context, args: &MessageSend) -> bool {
    let from = args.from.email.as_str();
    let primary = context.connection.addresses.first();
    !from.is_empty() && primary.is_some_and(|primary| folded(primary) != folded(from))
}

fn set_sender(context: &Context, args: &MessageSend, draft: &Message) -> Outcome<()> {
    if !is_alias(context, args) {
        return Ok(());
    }
    let address =
        json!({ "address": args.from.email, "name": args.from.name.as_deref().unwrap_or(&args.from.email) });
    let request = Request::patch(root::me(&["messages", &draft.id], &[])?);
    let request = request.json(&json!({ "from": { "emailAddress": address } }));
    ask::<Message>(context, request, "setting the sender").map(|_| ())
}

/// Sends the request after which Graph may deliver the message. A failure says in `detail.handedOver` whether Graph may have it
/// nevertheless.
fn hand_over(context: &Context, request: Request) -> Outcome<()> {
    match Http::send(context.host(), prefer::ensure(request)) {
        Ok(response) if response.status == 202 => Ok(()),
        // Graph answers 200 to requests that send nothing, and a page of a front end can have any status.
        Ok(response) if response.is_success() => {
            let failure = Failure::unavailable("the provider does not say that it sends the message");
            Err(with_handover(Failure { http_status: Some(response.status), ..failure }, true))
        }
        Ok(response) => {
            let is_refusal = matches!(response.status, 400..=407 | 409..=499);
            accepted(context, response, DOING)
                .map(|_| ())
                .map_err(|failure| with_handover(failure, !is_refusal))
        }
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

fn is_refused(failure: &Failure) -> bool {
    failure.detail.as_ref().is_some_and(|detail| detail["handedOver"] == json!(false))
}

/// Returns the answer for a sent message. From here on errors are only warnings.
fn finish(context: &Context, args: &MessageSend, can: MailAccess, copy: SentCopy) -> Sent {
    let mut warnings = Vec::new();
    let draft = delete_draft(context, args, can, &mut warnings);
    let copy = match copy {
        SentCopy::Unknown => None,
        SentCopy::Read(source) => Some(*source),
        SentCopy::Named(id) => read_copy(context, &id, &mut warnings),
    };
    let message_id = copy.as_ref().and_then(message_id_of).filter(|id| *id != args.internet_message_id);
    let copy = if args.save_to_sent { copy } else { delete_copy(context, copy, &mut warnings) };
    let is_copy = |source: &Source| copy.as_ref().is_some_and(|copy| copy.external_id == source.external_id);
    let draft = draft.filter(|draft| !is_copy(draft));
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

/// Deletes the draft from which the message was sent.
fn delete_draft(
    context: &Context,
    args: &MessageSend,
    can: MailAccess,
    warnings: &mut Vec<Warning>,
) -> Option<Source> {
    let draft = args.draft.as_ref()?;
    let removed = match can {
        MailAccess::ReadWrite => remove(context, &draft.source, None),
        MailAccess::Read | MailAccess::SendOnly => {
            Err(Failure::new(code::FORBIDDEN, "the account does not let this server change mail"))
        }
    };
    match removed {
        Ok(()) => Some(deleted_source(&draft.source)),
        Err(failure) => {
            let message = "the message was sent, but its draft is still there";
            warnings.push(warning("draft_kept", message, &failure));
            None
        }
    }
}

/// Reads the copy in Sent Items, if it is there already; it appears within seconds, and `changes` reports it.
fn read_copy(context: &Context, id: &str, warnings: &mut Vec<Warning>) -> Option<Source> {
    match read_source(context, id) {
        Ok(copy) => Some(copy).filter(|copy| !is_draft(copy)),
        Err(failure) if failure.code == code::NOT_FOUND => None,
        Err(failure) => {
            let message = "the message was sent, but its copy could not be read";
            warnings.push(warning("sent_copy_unknown", message, &failure));
            None
        }
    }
}

/// Deletes the copy if the sender wants none. Returns the source of the deletion.
fn delete_copy(context: &Context, copy: Option<Source>, warnings: &mut Vec<Warning>) -> Option<Source> {
    match copy {
        Some(copy) => match ensure_sent(context, &copy).and_then(|()| destroy(context, &copy.external_id)) {
            Ok(()) => Some(deleted_source(&copy.external_id)),
            Err(failure) => {
                let message = "the message was sent, but its copy could not be deleted";
                warnings.push(warning("sent_copy_kept", message, &failure));
                Some(copy)
            }
        },
        None => {
            warnings
                .push(field_warning("saveToSent", "the provider keeps a copy of the messages that it sends"));
            None
        }
    }
}

/// Fails if the message is not in Sent Items: one that is still being sent must not be deleted, and one that its sender received is another
/// message.
fn ensure_sent(context: &Context, copy: &Source) -> Outcome<()> {
    let sent = find_sent_folder(context)?;
    let mut messages = copy.items.iter().filter_map(|item| item.body.read::<EmailMessage>().ok());
    match messages.any(|message| message.folder_ids.contains(&sent)) {
        true => Ok(()),
        false => Err(Failure::unavailable("it is not in the folder of sent messages yet")),
    }
}

fn is_draft(copy: &Source) -> bool {
    let mut messages = copy.items.iter().filter_map(|item| item.body.read::<EmailMessage>().ok());
    messages.any(|message| message.draft)
}

fn message_id_of(copy: &Source) -> Option<String> {
    let item = copy.items.first()?;
    item.body.read::<EmailMessage>().ok()?.internet_message_id
}

fn warning(code: &str, message: &str, failure: &Failure) -> Warning {
    Warning { code: code.to_owned(), message: format!("{message}: {}", failure.message), target: None }
}
