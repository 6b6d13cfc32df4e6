//! New messages: drafts of MIME or JSON, and messages that a client brings from elsewhere.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::mail::attachments;
use crate::graph::mail::compose::{compose, put_members, with_line};
use crate::graph::mail::content::{HeaderLine, MailContent};
use crate::graph::mail::message_json::MessageView;
use crate::graph::mail::messages::{entity, put_state};
use crate::graph::mail::send::with_main_sender;
use crate::graph::mail::store::{MailStore, NewMessage};
use crate::graph::mail::tree::well_known;
use crate::graph::mail::{action_parameter, find_message, store_mut};
use crate::graph::state::GraphState;
use crate::graph::times;

/// `POST /messages`, or into a folder.
pub fn create(state: &mut GraphState, call: &GraphCall, folder: Option<&str>) -> GraphResult {
    let now = state.clock.now_ms();
    let account = state.account(&call.user)?.clone();
    let store = store_mut(state, call)?;
    let number = match (call.is_json(), folder) {
        (true, folder) => create_of_json(store, call, folder, now)?,
        (false, None) => {
            let raw = with_main_sender(&account, given_mime(call)?);
            add_draft(store, raw, &well_known("drafts"), now)
        }
        (false, Some(_)) => {
            // GNOME/evolution-ews, camel-m365-folder.c: a message of MIME is created first and moved then.
            let message = "Unable to deserialize the post body.";
            return Err(GraphError::new(400, "UnableToDeserializePostBody", message));
        }
    };
    let view = MessageView::read(call)?;
    Ok(json_reply(201, &entity(call, &view, find_message(store, number)?)))
}

/// `POST /messages/{id}/createReply` and `createReplyAll`: a draft to the sender, or to all others as well, with the headers of a reply.
pub fn create_reply(state: &mut GraphState, call: &GraphCall, number: u64, is_to_all: bool) -> GraphResult {
    let now = state.clock.now_ms();
    let account = state.account(&call.user)?.clone();
    let store = store_mut(state, call)?;
    let original = find_message(store, number)?.content.clone();
    let answered = if original.reply_to.is_empty() { &original.from } else { &original.reply_to };
    let mut reply = MailContent { to: answered.clone(), ..MailContent::default() };
    if is_to_all {
        let others = original.to.iter().chain(&original.cc);
        reply.cc = others.filter(|one| !one.address.eq_ignore_ascii_case(&account.email)).cloned().collect();
    }
    let is_reply = original.subject.to_lowercase().starts_with("re:");
    reply.subject = if is_reply { original.subject.clone() } else { format!("RE: {}", original.subject) };
    let comment = action_parameter(call, "comment").as_str().unwrap_or_default();
    reply.text = Some(format!("{comment}\r\n\r\n{}", original.plain_text()));
    let references = original.references.iter().map(|id| format!("<{id}>"));
    let references: Vec<String> = references.chain([original.message_id.clone()]).collect();
    let line = |name: &str, value: String| HeaderLine { name: name.to_owned(), value };
    reply.headers =
        vec![line("In-Reply-To", original.message_id.clone()), line("References", references.join(" "))];
    put_members(&mut reply, action_parameter(call, "message"));
    let raw = with_main_sender(&account, compose(&reply));
    let number = add_draft(store, raw, &well_known("drafts"), now);
    let view = MessageView::read(call)?;
    Ok(json_reply(201, &entity(call, &view, find_message(store, number)?)))
}

/// The MIME of a request, which is base64.
///
/// # Errors
/// The content type or the base64 is wrong: 400, 415.
pub fn given_mime(call: &GraphCall) -> Result<Vec<u8>, GraphError> {
    let kind = call.header("content-type").unwrap_or_default().to_ascii_lowercase();
    if !kind.starts_with("text/plain") {
        let message = format!("The content type '{kind}' is not supported.");
        return Err(GraphError::new(415, "UnsupportedMediaType", &message));
    }
    let text: Vec<u8> = call.content.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let raw = BASE64_STANDARD.decode(text).ok().filter(|raw| !raw.is_empty());
    raw.ok_or_else(|| {
        GraphError::new(400, "ErrorMimeContentInvalidBase64String", "Invalid base64 string for MIME content.")
    })
}

/// The message with a Message-ID, a new one where it has none.
pub fn with_message_id(store: &mut MailStore, raw: Vec<u8>) -> Vec<u8> {
    match MailContent::parse(&raw).message_id.is_empty() {
        true => with_line(&raw, &format!("Message-ID: {}", new_message_id(store))),
        false => raw,
    }
}

/// A Message-ID as Exchange makes them.
pub fn new_message_id(store: &mut MailStore) -> String {
    let number = store.number();
    format!("<FAKE{number:08}@eurprd01.prod.exchange.test>")
}

/// Adds a draft; its number.
pub fn add_draft(store: &mut MailStore, raw: Vec<u8>, folder: &str, now_ms: i64) -> u64 {
    let raw = with_message_id(store, raw);
    let folder = folder.to_owned();
    store.add(NewMessage { raw, folder, received_ms: now_ms, now_ms, is_read: true, is_draft: true })
}

fn create_of_json(
    store: &mut MailStore,
    call: &GraphCall,
    folder: Option<&str>,
    now_ms: i64,
) -> Result<u64, GraphError> {
    let mut content = read_content(&call.body)?;
    let mut given = read_properties(&call.body)?;
    content.headers.append(&mut given.lines);
    let drafts = well_known("drafts");
    let number = add_draft(store, compose(&content), folder.unwrap_or(&drafts), now_ms);
    if let Some(item) = store.messages.get_mut(&number) {
        put_state(item, &call.body)?;
        item.icon = given.icon;
        if let Some(flags) = given.flags.filter(|_| folder.is_some()) {
            item.is_read = flags & 1 != 0;
            item.is_draft = flags & 8 != 0;
        }
        item.received_ms = given.delivered_ms.filter(|_| folder.is_some()).unwrap_or(item.received_ms);
    }
    Ok(number)
}

/// The content that the JSON of a message gives, with its attachments.
///
/// # Errors
/// It has headers that applications may not set, or a wrong attachment: 400, 413.
pub fn read_content(body: &Value) -> Result<MailContent, GraphError> {
    if !body.is_object() {
        return Err(GraphError::new(
            400,
            "UnableToDeserializePostBody",
            "Unable to deserialize the post body.",
        ));
    }
    let mut content = MailContent::default();
    put_members(&mut content, body);
    if let Some(id) = body["internetMessageId"].as_str() {
        id.clone_into(&mut content.message_id);
    }
    let names: Vec<&str> = content.headers.iter().map(|line| line.name.as_str()).collect();
    if names.len() > facts::number("mail_limits", "own_headers") {
        return Err(invalid_header("The number of custom headers is more than 5."));
    }
    if let Some(wrong) = names.iter().find(|name| !name.to_lowercase().starts_with("x-")) {
        let message = format!("The internet message header name '{wrong}' should start with 'x-' or 'X-'.");
        return Err(invalid_header(&message));
    }
    for file in body["attachments"].as_array().into_iter().flatten() {
        let number = content.attachments.len() as u64 + 1;
        content.attachments.push(attachments::read_new(number, file)?);
    }
    Ok(content)
}

fn invalid_header(message: &str) -> GraphError {
    GraphError::new(400, "InvalidInternetMessageHeader", message)
}

/// The extended properties that the fake takes.
#[derive(Debug, Default)]
pub struct GivenProperties {
    /// 0x0E07: 1 is read, 8 is a draft.
    flags: Option<u32>,
    /// 0x0E06, Unix milliseconds.
    delivered_ms: Option<i64>,
    /// 0x1080
    pub icon: Option<i64>,
    /// Lines of the head: 0x1042 and 0x1039.
    lines: Vec<HeaderLine>,
}

/// Reads the extended properties of a message in a request.
///
/// # Errors
/// The fake does not know one, or its value is wrong: 400.
pub fn read_properties(body: &Value) -> Result<GivenProperties, GraphError> {
    let mut given = GivenProperties::default();
    for property in body["singleValueExtendedProperties"].as_array().into_iter().flatten() {
        let (id, value) = (property["id"].as_str().unwrap_or_default(), property["value"].as_str());
        let wrong = || GraphError::new(400, "ErrorInvalidProperty", &format!("Invalid value for '{id}'."));
        let value = value.ok_or_else(wrong)?;
        let mut add_line =
            |name: &str| given.lines.push(HeaderLine { name: name.to_owned(), value: value.to_owned() });
        match id.to_lowercase().replace("0x0e", "0xe").as_str() {
            "integer 0xe07" => given.flags = Some(value.parse().map_err(|_| wrong())?),
            "integer 0x1080" => given.icon = Some(value.parse().map_err(|_| wrong())?),
            "systemtime 0xe06" => {
                given.delivered_ms = Some(times::parse(value).ok_or_else(wrong)?);
            }
            // The time at which the sender's program submitted it: checked, and not kept.
            "systemtime 0x0039" => {
                times::parse(value).ok_or_else(wrong)?;
            }
            "string 0x1042" => add_line("In-Reply-To"),
            "string 0x1039" => add_line("References"),
            _ => {
                return Err(GraphError::bad_request(&format!("The fake does not know the property '{id}'.")));
            }
        }
    }
    Ok(given)
}
