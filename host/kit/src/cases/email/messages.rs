//! Messages as the kit writes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hex::encode;
use model::wire::email::{MessageAppend, MessageDelete, MessageUpdate};
use runtime::Surface;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::mail_bench::reference;
use crate::surface_bench::{Collection, ItemChange, ItemKind, whole_args};

/// The operations on messages. A change of the name marks the message: a message that is stored keeps its subject.
pub static MAIL: ItemKind = ItemKind {
    surface: Surface::Email,
    item: "message",
    collection: "folder",
    list_op: "",
    changes_op: "mail",
    get_op: "messages.get",
    create_op: "messages.append",
    update_op: "messages.update",
    delete_op: "messages.delete",
    name: "subject",
    other: "text",
    body: fields,
    write,
    delete,
};

/// The members of [`MessageUpdate`] that a case changes.
const CHANGES: [&str; 8] =
    ["unread", "starred", "answered", "forwarded", "importance", "addKeywords", "removeKeywords", "folders"];

fn fields(subject: &str) -> Value {
    json!({
        "subject": subject,
        "from": "swkit@example.test",
        "text": "first line\r\nsecond line, with ünïcödé",
    })
}

fn write(folder: &Collection, change: ItemChange) -> Value {
    let Some(source) = change.source else {
        return json!(append(folder, subject_of(&change.body), plain(&change.body).as_bytes()));
    };
    let mut args = json!({ "source": source, "hint": null, "ifMatch": change.if_match });
    for name in change.changed.iter().filter(|name| CHANGES.contains(&name.as_str())) {
        args[name.as_str()] = change.body[name.as_str()].clone();
    }
    if !change.changed.iter().any(|name| CHANGES.contains(&name.as_str())) {
        args["starred"] = json!(true);
    }
    whole_args::<MessageUpdate>(args)
}

fn delete(_: &Collection, id: &str) -> Value {
    json!(MessageDelete { message: reference(id), permanent: true, if_match: None })
}

fn subject_of(fields: &Value) -> &str {
    fields["subject"].as_str().unwrap_or_default()
}

/// The Message-ID of the message with this label.
pub fn message_id(label: &str) -> String {
    format!("{:.24}@swkit.test", encode(Sha256::digest(label)))
}

/// A message in plain text with these fields.
fn plain(fields: &Value) -> String {
    let (subject, from) = (subject_of(fields), fields["from"].as_str().unwrap_or_default());
    let text = fields["text"].as_str().unwrap_or_default();
    format!(
        "{}Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{text}\r\n",
        head(subject, from, from)
    )
}

/// The header fields of a message that every message of the kit has; MIME-Version is the last one.
pub fn head(subject: &str, from: &str, to: &str) -> String {
    let id = message_id(subject);
    format!(
        "Date: Thu, 01 Jan 2026 00:00:00 +0000\r\nFrom: Kit <{from}>\r\nTo: <{to}>\r\nSubject: {subject}\r\n\
         Message-ID: <{id}>\r\nMIME-Version: 1.0\r\n"
    )
}

/// The arguments that put the bytes of a message into a folder, unread.
pub fn append(folder: &Collection, label: &str, message: &[u8]) -> MessageAppend {
    MessageAppend {
        blob: content(message),
        internet_message_id: message_id(label),
        folders: vec![folder.id.clone()],
        unread: true,
        ..MessageAppend::default()
    }
}

/// The bytes of a message as an argument: the call makes a blob of them.
pub fn content(message: &[u8]) -> String {
    STANDARD.encode(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_without_flags_stars_the_message() {
        let folder = Collection { id: "in".to_owned(), body: Value::Null };
        let change = |changed: &[&str], body: Value| ItemChange {
            source: Some("m".to_owned()),
            body,
            changed: changed.iter().map(|name| (*name).to_owned()).collect(),
            if_match: None,
        };
        let renamed = write(&folder, change(&["subject"], json!({ "subject": "x" })));
        assert_eq!(
            (&renamed["source"], &renamed["starred"], &renamed["unread"]),
            (&json!("m"), &json!(true), &Value::Null)
        );
        let moved = write(&folder, change(&["folders"], json!({ "folders": ["b"], "starred": true })));
        assert_eq!((&moved["folders"], &moved["starred"]), (&json!(["b"]), &Value::Null));
    }
}
