//! Converts Gmail's messages to sources: in full, or only the changeable fields of a known message.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::Instant;
use model::email::{EmailBody, EmailHeader, EmailMessage};
use model::wire::{Item, ItemError, JsonText, Source};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::ask;
use crate::fields;
use crate::mail::draft_index::DraftIndex;
use crate::mail::labels::{DRAFT, INBOX, LabelState, SPAM, TRASH};
use crate::mail::mime::MessageParts;
use crate::mail::native::{Message, MessagePart};
use crate::mail::roots;

/// The time in milliseconds by which a received message may be ahead of the clock.
const CLOCK_TOLERANCE_MS: i64 = 300_000;
/// The maximum number of header fields that are returned.
const MAX_HEADERS: usize = 1_000;

/// `Item.hint` of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hint {
    /// The id of the draft that has this message.
    #[serde(rename = "d", skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
}

impl Hint {
    /// Parses the hint that the host returns; empty if it is absent or malformed.
    pub fn read(hint: Option<&Value>) -> Hint {
        hint.and_then(|hint| Hint::deserialize(hint).ok()).unwrap_or_default()
    }

    fn to_value(&self) -> Option<Value> {
        serde_json::to_value(self).ok().filter(|_| *self != Hint::default())
    }
}

/// Parts of a message that are returned only on request.
#[derive(Debug, Default)]
pub struct MessageExtras {
    pub headers: bool,
    pub body: Option<EmailBody>,
}

/// Converts messages to sources.
#[derive(Clone, Copy, Debug)]
pub struct MessageMapping<'a> {
    pub drafts: &'a DraftIndex,
    /// The current time, in milliseconds since 1970.
    pub now_ms: i64,
}

impl MessageMapping<'_> {
    /// The source of a message, with the fields that lists show.
    pub fn source(&self, message: &Message) -> Source {
        self.source_with(message, MessageExtras::default())
    }

    /// The source of a message, with its text or header as requested. A message that is left out, such as a chat, is reported as deleted.
    pub fn source_with(&self, message: &Message, extras: MessageExtras) -> Source {
        let Some(state) = LabelState::from_labels(message.labels()).filter(|_| !self.is_scheduled(message))
        else {
            return deleted_source(&message.id);
        };
        let draft = self.drafts.draft_of(&message.id).filter(|_| state.draft).map(str::to_owned);
        let mut body = email(message, state);
        if extras.headers {
            body.headers = headers(message.payload.as_ref());
        }
        body.body = extras.body;
        let Ok(body) = JsonText::of(&body) else { return unreadable(&message.id) };
        let item = Item {
            external_id: message.id.clone(),
            body,
            fingerprint: draft.clone(),
            hint: Hint { draft }.to_value(),
            ..Item::default()
        };
        Source {
            external_id: message.id.clone(),
            etag: message.history_id.clone(),
            items: vec![item],
            ..Source::default()
        }
    }

    /// Whether the message is scheduled: it has a future date, is in no folder that receives mail, and no server has received it.
    fn is_scheduled(&self, message: &Message) -> bool {
        let is_ahead =
            message.received_ms().is_some_and(|ms| ms > self.now_ms.saturating_add(CLOCK_TOLERANCE_MS));
        let is_on_its_way = message.payload.as_ref().is_some_and(|part| part.header("received").is_some());
        is_ahead
            && !is_on_its_way
            && ![INBOX, DRAFT, SPAM, TRASH].iter().any(|folder| message.has_label(folder))
    }
}

/// Returns the source of a deleted message.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}

/// Returns a source with the id of a message alone.
pub fn bare_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), ..Source::default() }
}

/// Returns the source of an existing message that cannot be parsed.
pub fn unreadable(id: &str) -> Source {
    let message = "the provider's description of this message cannot be read".to_owned();
    let error = ItemError { code: "unreadable".to_owned(), message };
    Source { error: Some(error), ..bare_source(id) }
}

/// Returns a partial source of a known message, from its labels. A message that is left out, such as a chat, is reported as deleted.
pub fn partial(id: &str, etag: Option<&str>, labels: &[String]) -> Source {
    let Some(state) = LabelState::from_labels(labels) else { return deleted_source(id) };
    let Ok(body) = JsonText::of(&state) else { return unreadable(id) };
    let item = Item { external_id: id.to_owned(), body, partial: true, ..Item::default() };
    Source { etag: etag.map(str::to_owned), items: vec![item], ..bare_source(id) }
}

/// Reads a message that was just stored. Fails with `unavailable` if it is missing, because Gmail shows some messages only after a while.
pub fn read_stored(context: &Context, id: &str, draft_id: Option<&str>) -> Outcome<Source> {
    read_source(context, id, draft_id).map_err(|failure| match failure.code == code::NOT_FOUND {
        true => Failure::unavailable("the provider does not show the message that it stored yet"),
        false => failure,
    })
}

/// Reads the current state of a message. `draft_id` is the id of its draft. Fails with `not-found` if the message does not exist.
pub fn read_source(context: &Context, id: &str, draft_id: Option<&str>) -> Outcome<Source> {
    let mask = fields::message(false);
    let query = [("format", "full"), ("fields", mask.as_str())];
    let request = Request::get(roots::message(id, &query)?).units(roots::GET_UNITS);
    let message: Message = ask(context, request, "reading the message")?;
    let drafts = draft_id.map(|draft_id| DraftIndex::only(&message.id, draft_id)).unwrap_or_default();
    let source = MessageMapping { drafts: &drafts, now_ms: context.now_ms() }.source(&message);
    match source.deleted {
        true => Err(Failure::not_found("there is no such message at the provider")),
        false => Ok(source),
    }
}

/// Converts a message to the model.
fn email(message: &Message, state: LabelState) -> EmailMessage {
    let mut email = mail::read::headers(&header_block(message.payload.as_ref()));
    MessageParts::from_message(message).describe(&mut email);
    let received = message.received_ms().map(Instant::from_millis);
    EmailMessage {
        thread_id: message.thread_id.clone().filter(|id| !id.is_empty()),
        received_at: received.or(email.sent_at).unwrap_or_default(),
        // Gmail's snippet is HTML-escaped.
        snippet: mail::text::snippet(None, Some(&message.snippet)),
        folder_ids: state.folder_ids,
        label_ids: state.label_ids,
        unread: state.unread,
        starred: state.starred,
        draft: state.draft,
        importance: state.importance,
        size: message.size_estimate.max(0),
        ..email
    }
}

/// The header fields that Gmail returns, as a header block. The values are decoded, which header parsers accept.
fn header_block(payload: Option<&MessagePart>) -> Vec<u8> {
    // Neither a name nor a value can inject another field.
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
    let fields = payload.map(|part| part.headers.as_slice()).unwrap_or_default();
    let mut block = String::new();
    for field in fields.iter().filter(|field| is_name(&field.name)) {
        let value = field.value.chars().map(|c| if matches!(c, '\r' | '\n') { ' ' } else { c });
        block.push_str(&field.name);
        block.push_str(": ");
        block.extend(value);
        block.push_str("\r\n");
    }
    block.push_str("\r\n");
    block.into_bytes()
}

fn headers(payload: Option<&MessagePart>) -> Vec<EmailHeader> {
    let mut headers = mail::read::raw_headers(&header_block(payload));
    headers.truncate(MAX_HEADERS);
    headers
}

#[cfg(test)]
mod tests {
    use model::email::Importance;
    use serde_json::json;

    use super::*;

    fn mapping(drafts: &DraftIndex) -> MessageMapping<'_> {
        MessageMapping { drafts, now_ms: 1_772_445_620_000 }
    }

    fn message(value: &Value) -> Message {
        serde_json::from_value(value.clone()).unwrap()
    }

    #[test]
    fn a_message_is_mapped() {
        let field = |name: &str, value: &str| json!({ "name": name, "value": value });
        let theirs = message(&json!({
            "id": "18a", "threadId": "18t", "labelIds": ["INBOX", "UNREAD", "IMPORTANT", "Label_1"],
            "snippet": "Tom &amp; Ann said &quot;5 &lt; 6&quot;", "historyId": "912", "internalDate": "1772445600500",
            "sizeEstimate": 4210,
            "payload": { "mimeType": "text/plain", "headers": [
                field("Message-Id", "<a@example.test>"), field("Subject", "Gr\u{fc}\u{df}e\r\nBcc: x@example.test"),
                field("From", "J\u{f6}rg Ann <ann@example.test>"), field("To", "bob@example.test, \"C, D\" <cd@example.test>"),
                field("Date", "Mon, 2 Mar 2026 10:59:00 +0100"), field("Importance", "low"), field("x y", "z"),
            ] },
        }));
        let drafts = DraftIndex::default();
        let source = mapping(&drafts).source(&theirs);
        assert_eq!((source.external_id.as_str(), source.etag.as_deref()), ("18a", Some("912")));
        let item = &source.items[0];
        assert_eq!((&item.hint, &item.fingerprint, item.partial), (&None, &None, false));
        let ours: EmailMessage = item.body.read().unwrap();
        assert_eq!(ours.thread_id.as_deref(), Some("18t"));
        assert_eq!(ours.internet_message_id.as_deref(), Some("a@example.test"));
        assert!(ours.subject.is_some_and(|subject| subject.starts_with("Gr\u{fc}\u{df}e ")));
        assert!(ours.bcc.is_empty());
        assert_eq!(ours.from[0].name.as_deref(), Some("J\u{f6}rg Ann"));
        assert_eq!(ours.to[1].name.as_deref(), Some("C, D"));
        assert_eq!(ours.snippet, "Tom & Ann said \"5 < 6\"");
        assert_eq!(ours.received_at.to_string(), "2026-03-02T10:00:00.500Z");
        // The importance is Gmail's own, not the sender's.
        assert_eq!((ours.importance, ours.size, ours.unread), (Importance::High, 4210, true));
        assert_eq!((ours.folder_ids, ours.label_ids), (vec!["INBOX".to_owned()], vec!["Label_1".to_owned()]));
        assert!(ours.headers.is_empty() && ours.body.is_none());
        let extras = MessageExtras { headers: true, body: Some(EmailBody::default()) };
        let ours: EmailMessage = mapping(&drafts).source_with(&theirs, extras).items[0].body.read().unwrap();
        assert_eq!((ours.headers.len(), ours.headers[0].name.as_str()), (6, "Message-Id"));
        assert!(ours.body.is_some());
    }

    #[test]
    fn a_draft_is_known_by_its_id() {
        let drafts = DraftIndex::only("18d", "r77");
        let draft = message(&json!({ "id": "18d", "labelIds": ["DRAFT"] }));
        let item = mapping(&drafts).source(&draft).items.remove(0);
        assert_eq!((item.fingerprint.as_deref(), item.hint), (Some("r77"), Some(json!({ "d": "r77" }))));
        assert_eq!(Hint::read(Some(&json!({ "d": "r77" }))).draft.as_deref(), Some("r77"));
        assert_eq!(Hint::read(Some(&json!("odd"))), Hint::default());
        let sent = message(&json!({ "id": "18d", "labelIds": ["SENT"] }));
        assert_eq!(mapping(&drafts).source(&sent).items[0].fingerprint, None);
    }

    #[test]
    fn what_is_no_mail_is_left_out() {
        let drafts = DraftIndex::default();
        let ahead = "1999999999000";
        for (labels, date, is_left_out) in [
            (json!(["CHAT"]), "1772445600000", true),
            (json!(["SENT"]), "1772445600000", false),
            (json!(["SENT"]), ahead, true),
            (json!([]), ahead, true),
            (json!(["INBOX"]), ahead, false),
        ] {
            let one = message(&json!({ "id": "a", "labelIds": labels, "internalDate": date }));
            assert_eq!(mapping(&drafts).source(&one).deleted, is_left_out, "{labels} {date}");
        }
    }

    #[test]
    fn labels_alone_are_a_partial_item() {
        let labels = ["INBOX".to_owned(), "Label_1".to_owned()];
        let source = partial("a", Some("7"), &labels);
        let body: Value = source.items[0].body.read().unwrap();
        let expected = json!({ "unread": false, "starred": false, "draft": false, "importance": "normal",
            "folderIds": ["INBOX"], "labelIds": ["Label_1"] });
        assert_eq!((body, source.items[0].partial, source.etag.as_deref()), (expected, true, Some("7")));
        assert!(partial("a", None, &["CHAT".to_owned()]).deleted);
    }
}
