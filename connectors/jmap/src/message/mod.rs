//! Converts JMAP messages to the model, and their ids to external ids.

pub mod body;
pub mod parts;
pub mod text;

use connector_sdk::{Failure, Outcome};
use model::Instant;
use model::email::{EmailAddress, EmailMessage, Importance};
use model::wire::{Item, ItemError, JsonText, Source};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::client::Message;
use crate::folders;
use crate::protocol::email::{Address, Email};

/// The prefix of messages' external ids, because folders and messages share one namespace.
const PREFIX: &str = "M:";

/// The maximum number of addresses of a field that are kept.
const ADDRESSES: usize = 1000;

/// Keywords that have a field of their own in the model (RFC 8621 section 4.1.1, RFC 5788).
const FLAGS: [&str; 5] = ["$seen", "$flagged", "$answered", "$forwarded", "$draft"];

/// The external id for a server's message id.
pub fn external_id(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// The server's message id for an external id.
pub fn id(external_id: &str) -> Outcome<String> {
    let id = external_id.strip_prefix(PREFIX).filter(|id| !id.is_empty());
    id.map(str::to_owned)
        .ok_or_else(|| Failure::not_found("there is no message with this id at the provider"))
}

/// The version of a message: everything in it that can change.
pub fn etag(email: &Email) -> String {
    let mut hash = Sha256::new();
    for (mark, names) in [("k", email.keywords().collect::<Vec<_>>()), ("m", email.mailboxes().collect())] {
        for name in names {
            hash.update(format!("{mark}{}:{name}", name.len()));
        }
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The source of a message with all fields that were read.
pub fn whole(message: Message) -> Source {
    whole_up_to(message, usize::MAX)
}

/// The source of a message with at most this many bytes of its text and of its HTML.
pub fn whole_up_to(message: Message, max_body_bytes: usize) -> Source {
    message_source(message, |email| (JsonText::of(&email_message(email, max_body_bytes)), false))
}

/// A partial source with the changeable fields of a known message.
pub fn partial(message: Message) -> Source {
    message_source(message, |email| (state(email), true))
}

/// A source with only the id and version of a message.
pub fn bare_source(message: Message) -> Source {
    match message {
        Ok(email) => {
            Source { external_id: external_id(&email.id), etag: Some(etag(&email)), ..Source::default() }
        }
        Err(id) => unreadable(&id),
    }
}

/// The source of a deleted message.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: external_id(id), deleted: true, ..Source::default() }
}

/// The source of an existing message that cannot be parsed.
fn unreadable(id: &str) -> Source {
    let message = "the provider's description of this message cannot be read".to_owned();
    let error = ItemError { code: "unreadable".to_owned(), message };
    Source { external_id: external_id(id), error: Some(error), ..Source::default() }
}

fn message_source(message: Message, body: impl Fn(&Email) -> (JsonBody, bool)) -> Source {
    let email = match message {
        Ok(email) => email,
        Err(id) => return unreadable(&id),
    };
    let (body, partial) = body(&email);
    let Ok(body) = body else { return unreadable(&email.id) };
    let hint = if partial { None } else { parts::hint(&email) };
    let item = Item { external_id: external_id(&email.id), body, partial, hint, ..Item::default() };
    Source {
        external_id: external_id(&email.id),
        etag: Some(etag(&email)),
        items: vec![item],
        ..Source::default()
    }
}

type JsonBody = serde_json::Result<JsonText>;

/// The fields that `wire::email` lists for changes of a known message, without `importance`, which is in the message's header and cannot
/// change.
fn state(email: &Email) -> JsonBody {
    let flags = Flags::from_email(email);
    JsonText::of(&json!({
        "unread": flags.unread,
        "starred": flags.starred,
        "answered": flags.answered,
        "forwarded": flags.forwarded,
        "draft": flags.draft,
        "keywords": flags.keywords,
        "folderIds": folder_ids(email),
        "labelIds": [],
    }))
}

/// Converts a message to the model.
fn email_message(email: &Email, max_body_bytes: usize) -> EmailMessage {
    let flags = Flags::from_email(email);
    let attachments = parts::attachments(email);
    EmailMessage {
        thread_id: email.thread_id.clone(),
        internet_message_id: email.message_id.iter().flatten().next().cloned(),
        in_reply_to: email.in_reply_to.clone().unwrap_or_default(),
        references: email.references.clone().unwrap_or_default(),
        subject: email.subject.as_deref().map(text::line),
        from: addresses(&email.from),
        sender: addresses(&email.sender).into_iter().next(),
        to: addresses(&email.to),
        cc: addresses(&email.cc),
        bcc: addresses(&email.bcc),
        reply_to: addresses(&email.reply_to),
        received_at: instant(&email.received_at).unwrap_or_default(),
        sent_at: instant(&email.sent_at),
        snippet: mail::text::snippet(email.preview.as_deref(), None),
        body: body::email_body(email, max_body_bytes),
        folder_ids: folder_ids(email),
        unread: flags.unread,
        starred: flags.starred,
        draft: flags.draft,
        answered: flags.answered,
        forwarded: flags.forwarded,
        keywords: flags.keywords,
        importance: importance(email),
        has_attachments: email.has_attachment.unwrap_or(!attachments.is_empty()),
        calendar_method: parts::calendar_method(email),
        attachments,
        size: email.size.unwrap_or_default().max(0),
        headers: body::headers(email),
        auto_reply: is_auto_reply(email),
        list_unsubscribe: email.list_unsubscribe.as_deref().map(text::unfold).filter(|text| !text.is_empty()),
        ..EmailMessage::default()
    }
}

struct Flags {
    unread: bool,
    starred: bool,
    answered: bool,
    forwarded: bool,
    draft: bool,
    keywords: Vec<String>,
}

impl Flags {
    fn from_email(email: &Email) -> Self {
        let all: Vec<String> = email.keywords().map(str::to_lowercase).collect();
        let has = |name: &str| all.iter().any(|keyword| keyword == name);
        Flags {
            unread: !has("$seen"),
            starred: has("$flagged"),
            answered: has("$answered"),
            forwarded: has("$forwarded"),
            draft: has("$draft"),
            keywords: all.iter().filter(|keyword| !FLAGS.contains(&keyword.as_str())).cloned().collect(),
        }
    }
}

fn folder_ids(email: &Email) -> Vec<String> {
    email.mailboxes().map(folders::external_id).collect()
}

fn addresses(field: &Option<Vec<Address>>) -> Vec<EmailAddress> {
    let read = |address: &Address| {
        let name = address.name.as_deref().map(text::line).filter(|name| !name.is_empty());
        let email = address.email.as_deref().unwrap_or_default();
        let email = if email.contains("=?") { text::words(email) } else { email.to_owned() };
        // A name without an address is used as the address: `To: root`.
        match (email.is_empty(), name) {
            (false, name) => Some(EmailAddress { name, email }),
            (true, name) => name.map(|email| EmailAddress { name: None, email }),
        }
    };
    field.iter().flatten().filter_map(read).take(ADDRESSES).collect()
}

/// Parses a JMAP date (RFC 8620 section 1.4).
pub fn instant(date: &Option<String>) -> Option<Instant> {
    date.as_deref().and_then(|text| text.parse().ok())
}

/// The importance by the fields of RFC 2156 sections 5.3.4 and 5.3.6 and by the non-standard ones of mail programs.
fn importance(email: &Email) -> Importance {
    let first = |field: &Option<String>| {
        let value = field.as_deref().unwrap_or_default().trim().to_lowercase();
        value.split([' ', '(', ';']).next().unwrap_or_default().to_owned()
    };
    match (
        first(&email.importance).as_str(),
        first(&email.x_priority).as_str(),
        first(&email.priority).as_str(),
    ) {
        ("high", _, _) => Importance::High,
        ("low", _, _) => Importance::Low,
        ("normal", _, _) => Importance::Normal,
        (_, "1" | "2", _) => Importance::High,
        (_, "4" | "5", _) => Importance::Low,
        (_, _, "urgent") => Importance::High,
        (_, _, "non-urgent") => Importance::Low,
        _ => Importance::Normal,
    }
}

/// Whether the message is an automatic reply (RFC 3834 section 5): `auto-replied`, with or without parameters.
fn is_auto_reply(email: &Email) -> bool {
    let value = email.auto_submitted.as_deref().unwrap_or_default().trim().to_lowercase();
    value.split([';', ' ', '(']).next() == Some("auto-replied")
}

#[cfg(test)]
mod tests {
    use model::email::{CalendarMethod, Disposition, EmailMessage, Importance};
    use serde_json::{Value, json};

    use super::{email_message, etag, id, partial, whole};
    use crate::protocol::email::Email;

    fn email(value: Value) -> Email {
        serde_json::from_value(value).unwrap()
    }

    fn read(value: Value) -> EmailMessage {
        email_message(&email(value), usize::MAX)
    }

    #[test]
    fn a_message_is_mapped() {
        let message = read(json!({
            "id": "e1", "blobId": "b1", "threadId": "t1", "size": 42,
            "mailboxIds": { "in": true, "x": true }, "keywords": { "$seen": true, "$flagged": true, "$Junk": true },
            "receivedAt": "2026-03-01T10:00:00Z", "sentAt": "2026-03-01T11:00:00+01:00",
            "messageId": ["a@b"], "inReplyTo": null, "references": ["x@y", "z@y"], "subject": "Cafe\u{301}",
            "from": [{ "name": "Ann", "email": "ann@example.com" }], "to": [{ "name": null, "email": null }],
            "preview": "  one\n two ", "hasAttachment": true, "header:Importance:asText": "High",
            "header:Auto-Submitted:asText": "auto-replied; x=y",
            "header:List-Unsubscribe:asRaw": " <mailto:u@example.com>,\r\n <https://example.com/u>",
            "attachments": [
                { "partId": "2", "blobId": "b2", "size": 3, "name": "../a\r\nb.ics", "type": "text/calendar",
                  "header:Content-Type": " text/calendar; charset=utf-8;\r\n method=\"REQUEST\"" },
                { "partId": "3", "blobId": "b3", "size": 4, "type": "image/png", "cid": "c@d", "disposition": "inline" },
            ],
        }));
        let first = &message.attachments[0];
        assert_eq!((first.id.as_str(), first.filename.as_deref()), ("2:b2", Some("_ab.ics")));
        let second = &message.attachments[1];
        assert!(second.inline && second.disposition == Some(Disposition::Inline), "{second:?}");
        assert_eq!(second.content_id.as_deref(), Some("c@d"));
        let expected = EmailMessage {
            thread_id: Some("t1".into()),
            internet_message_id: Some("a@b".into()),
            references: vec!["x@y".into(), "z@y".into()],
            subject: Some("Caf\u{e9}".into()),
            from: message.from.clone(),
            received_at: "2026-03-01T10:00:00Z".parse().unwrap(),
            sent_at: "2026-03-01T10:00:00Z".parse().ok(),
            snippet: "one two".into(),
            folder_ids: vec!["F:in".into(), "F:x".into()],
            starred: true,
            keywords: vec!["$junk".into()],
            importance: Importance::High,
            has_attachments: true,
            attachments: message.attachments.clone(),
            size: 42,
            auto_reply: true,
            list_unsubscribe: Some("<mailto:u@example.com>, <https://example.com/u>".into()),
            calendar_method: Some(CalendarMethod::Request),
            ..EmailMessage::default()
        };
        assert_eq!(message.from[0].email, "ann@example.com");
        assert_eq!(message, expected);
    }

    #[test]
    fn importance_comes_from_whatever_header_tells_it() {
        let told = |name: &str, value: &str| read(json!({ "id": "e", name: value })).importance;
        assert_eq!(told("header:X-Priority:asText", "1 (Highest)"), Importance::High);
        assert_eq!(told("header:X-Priority:asText", "5"), Importance::Low);
        assert_eq!(told("header:Priority:asText", "non-urgent"), Importance::Low);
        assert_eq!(told("header:Importance:asText", "odd"), Importance::Normal);
    }

    #[test]
    fn the_etag_is_of_what_can_change() {
        let one = etag(&email(
            json!({ "id": "e", "keywords": { "a": true, "b": false }, "mailboxIds": { "m": true } }),
        ));
        let same = etag(&email(
            json!({ "id": "e", "keywords": { "a": true }, "mailboxIds": { "m": true }, "size": 1 }),
        ));
        let other =
            etag(&email(json!({ "id": "e", "keywords": { "m": true }, "mailboxIds": { "a": true } })));
        assert_eq!(one, same);
        assert_ne!(one, other);
    }

    #[test]
    fn a_partial_message_says_what_can_change_and_no_more() {
        let source = partial(Ok(email(json!({ "id": "e", "keywords": null, "mailboxIds": { "m": true } }))));
        let body: Value = source.items[0].body.read().unwrap();
        let expected = json!({ "unread": true, "starred": false, "answered": false, "forwarded": false, "draft": false,
            "keywords": [], "folderIds": ["F:m"], "labelIds": [] });
        assert!(source.items[0].partial);
        assert_eq!(body, expected);
    }

    #[test]
    fn an_unreadable_message_is_named_with_an_error() {
        let source = whole(Err("e9".into()));
        assert_eq!((source.external_id.as_str(), source.items.len()), ("M:e9", 0));
        assert_eq!(source.error.unwrap().code, "unreadable");
        assert_eq!(id("M:e9").unwrap(), "e9");
        assert_eq!(id("F:e9").unwrap_err().code, "not-found");
    }
}
