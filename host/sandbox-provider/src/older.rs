//! Journals in which records had members of the provider's own: their lines, read into the model's.

use std::sync::LazyLock;

use model::Instant;
use serde_json::{Map, Value, json};

use crate::ops::Op;

/// The present names of the members of older folders and records, each alone or with the present words of its values or the names of the
/// members inside it. Those inside an object without a name are members of the record now.
static NAMES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("older.json")).unwrap_or_default());

/// Reads the changes of a line of the journal.
pub fn read_line(line: &[u8]) -> serde_json::Result<Vec<Op>> {
    if let Ok(ops) = serde_json::from_slice(line) {
        return Ok(ops);
    }
    let ops: Vec<Value> = serde_json::from_slice(line)?;
    ops.into_iter().map(|op| serde_json::from_value(convert_op(op))).collect()
}

fn convert_op(mut op: Value) -> Value {
    let kind = op["op"].as_str().unwrap_or_default().to_owned();
    let present = match kind.as_str() {
        "calendar" => "calendarHead",
        "event" => "calendarEvent",
        "book" => "contactBook",
        "card" => "contact",
        "list" => "taskList",
        "todo" => "task",
        "entry" => "mailEntry",
        "receipt" => {
            // Repetitions of the request may have the present names.
            if let Some(receipt) = op.get_mut("receipt").and_then(Value::as_object_mut) {
                receipt.insert("print".to_owned(), json!(""));
            }
            return op;
        }
        _ => return op,
    };
    op["op"] = json!(present);
    // The first journals name the folder or record by its kind.
    for name in ["head", "record", kind.as_str()] {
        if let Some(old) = op.get_mut(name).filter(|old| old.is_object()) {
            *old = if kind == "entry" { convert_entry(old) } else { convert_record(&kind, old) };
        }
    }
    op
}

/// The folder or record in its present form, with the members that only some kinds have.
fn convert_record(kind: &str, old: &Value) -> Value {
    let is_circle = old["kind"] == "circle";
    let mut body = convert(old, &NAMES[if is_circle { "circle" } else { kind }]);
    if let (Some(media_type), Some(bytes)) =
        (old["picture"]["type"].as_str(), old["picture"]["bytes"].as_str())
    {
        body["photo"]["url"] = json!(format!("data:{media_type};base64,{bytes}"));
    }
    if kind == "event" && body.is_object() {
        body["allDay"] = json!(body["startDate"].is_string());
        if body["endTimeZone"] == body["timeZone"] {
            body["endTimeZone"] = Value::Null;
        }
    }
    if kind == "card" {
        let wrapper = if is_circle { "group" } else { "contact" };
        body = json!({ wrapper: body });
    }
    let changed = old["overrides"].as_object().into_iter().flatten();
    let overrides: Value =
        changed.map(|(name, instance)| (name.clone(), convert_record(kind, instance))).collect();
    let text = |name: &str| old[name].as_str().unwrap_or_default();
    json!({
        "id": text("id"), "body": body, "createdAt": text("createdAt"), "updatedAt": text("updatedAt"),
        "apart": old["apart"] == true, "series": old["series"], "overrides": overrides,
    })
}

/// The entry of a mailbox in its present form.
fn convert_entry(old: &Value) -> Value {
    let kind = old["kind"].as_str().unwrap_or_default();
    let mut body = convert(old, &NAMES[kind]);
    match kind {
        "folder" => {
            let is_own = !old["purpose"].is_null();
            body["rights"] = json!({
                "read": true, "add": true, "remove": true, "setFlags": true, "rename": !is_own, "delete": !is_own,
            });
            (body["system"], body["subscribed"], body["selectable"]) =
                (json!(is_own), json!(true), json!(true));
        }
        "label" => {
            let color = json!({ "background": old["colour"], "text": old["textColour"] });
            let has_color = color.as_object().is_some_and(|color| color.values().any(Value::is_string));
            body["color"] = if has_color { color } else { Value::Null };
        }
        _ => {
            let received_ms = old["receivedMs"].as_i64().unwrap_or_default();
            body["receivedAt"] = json!(Instant::from_millis(received_ms));
            let files = old["content"]["files"].as_array();
            body["hasAttachments"] =
                json!(files.is_some_and(|all| all.iter().any(|one| one["inline"] != true)));
            // Both came as the sender wrote them. A value that the model does not have is left out.
            if serde_json::from_value::<Instant>(body["sentAt"].clone()).is_err() {
                body["sentAt"] = Value::Null;
            }
            let files = body.get_mut("attachments").and_then(Value::as_array_mut);
            for file in files.into_iter().flatten() {
                if !matches!(file["disposition"].as_str(), Some("attachment" | "inline")) {
                    file["disposition"] = Value::Null;
                }
            }
        }
    }
    let text = |name: &str| old[name].as_str().unwrap_or_default();
    json!({
        "kind": kind, "id": text("id"), "body": body, "createdAt": text("createdAt"), "updatedAt": text("updatedAt"),
        "born": old["born"].as_u64().unwrap_or_default(), "previousId": old["replaces"], "search": text("search"),
    })
}

/// The value with the present names of its members, or the present word for it.
fn convert(old: &Value, names: &Value) -> Value {
    match old {
        Value::Array(items) => items.iter().map(|item| convert(item, names)).collect(),
        Value::Object(members) => {
            let mut present = Map::new();
            for (name, value) in members {
                match &names[name] {
                    Value::String(name) => drop(present.insert(name.clone(), value.clone())),
                    Value::Array(rule) => {
                        if let [Value::String(name), inner] = rule.as_slice() {
                            present.insert(name.clone(), convert(value, inner));
                        }
                    }
                    inner @ Value::Object(_) => {
                        if let Value::Object(members) = convert(value, inner) {
                            present.extend(members);
                        }
                    }
                    _ => {}
                }
            }
            Value::Object(present)
        }
        _ => {
            let word = old.as_str().map_or_else(|| old.to_string(), str::to_owned);
            names.get(&word).unwrap_or(old).clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::mail::types::Entry;
    use crate::older::read_line;
    use crate::ops::Op;

    /// The entry that an older line puts into the mailbox.
    fn entry(record: Value) -> Entry {
        let line = json!([
            { "op": "letter", "copies": [{ "mail": "a", "id": "m" }], "bytes": "SGk=" },
            { "op": "entry", "mail": "a", "folder": "mailbox", "seq": 4, "atMs": 5, "record": record },
        ]);
        let ops = read_line(line.to_string().as_bytes()).unwrap();
        let [Op::RawMessage { bytes, .. }, Op::Entry(put)] = &ops[..] else { panic!("{ops:?}") };
        assert_eq!((&bytes[..], put.seq), (&b"Hi"[..], 4));
        (*put.record).clone()
    }

    /// Folders, labels, messages and the replies to sent ones are read.
    #[test]
    fn mail() {
        let now = "2026-03-10T07:00:00.000Z";
        let inbox = entry(
            json!({ "kind": "folder", "id": "inbox", "title": "Inbox", "parent": null, "purpose": "inbox", "rank": 3,
            "createdAt": now, "updatedAt": now }),
        );
        let (folder, expected) = (
            json!(inbox),
            json!({ "name": "Inbox", "role": "inbox", "sortOrder": 3, "system": true,
            "selectable": true, "path": [], "parentId": null }),
        );
        assert_eq!((&folder["id"], &folder["createdAt"]), (&json!("inbox"), &json!(now)));
        assert!(
            expected.as_object().unwrap().iter().all(|(name, value)| folder["body"][name] == *value),
            "{folder}"
        );
        assert_eq!(
            (&folder["body"]["rights"]["add"], &folder["body"]["rights"]["delete"]),
            (&json!(true), &json!(false))
        );

        let hot = entry(
            json!({ "kind": "label", "id": "hot", "title": "Hot", "colour": "#ff0000", "textColour": null, "hidden": true,
            "createdAt": now, "updatedAt": now }),
        );
        let label = json!(hot)["body"].clone();
        assert_eq!((&label["name"], &label["visibility"]), (&json!("Hot"), &json!("hide")));
        assert_eq!(label["color"], json!({ "background": "#ff0000", "text": null }));

        let ann = json!({ "mail": "ann@x.test", "label": "Ann" });
        let message = entry(json!({
            "kind": "message", "id": "m", "thread": "thread-1", "born": 7, "replaces": "m0", "receivedMs": 1_773_126_000_000_i64,
            "folders": ["inbox"], "labels": ["hot"], "words": ["$old"], "weight": "major", "search": "hi",
            "flags": { "seen": false, "starred": true, "answered": false, "forwarded": true, "draft": false },
            "content": {
                "messageId": "m@x", "inReplyTo": ["l@x"], "references": ["k@x", "l@x"], "subject": "Hi", "from": [ann], "sender": ann,
                "to": [], "cc": [], "bcc": [ann], "replyTo": [], "sentAt": now, "preview": "Hi", "bytes": 9, "automatic": true,
                "unsubscribe": "<mailto:l@x.test>", "invitation": "cancel",
                "files": [{ "part": "2", "name": "a.png", "mediaType": "image/png", "bytes": 4, "encodedBytes": 6, "inline": false,
                    "disposition": "attachment", "cid": "c@x", "isMessage": false }],
            },
        }));
        let Entry::Message(message) = message else { panic!("{message:?}") };
        assert_eq!(
            (message.born, message.previous_id.as_deref(), message.search.as_str()),
            (7, Some("m0"), "hi")
        );
        let ann = json!({ "email": "ann@x.test", "name": "Ann" });
        let expected = json!({
            "threadId": "thread-1", "receivedAt": now, "folderIds": ["inbox"], "labelIds": ["hot"], "keywords": ["$old"],
            "importance": "high", "unread": true, "starred": true, "forwarded": true, "answered": false, "internetMessageId": "m@x",
            "inReplyTo": ["l@x"], "references": ["k@x", "l@x"], "subject": "Hi", "from": [ann], "sender": ann, "bcc": [ann], "sentAt": now,
            "snippet": "Hi", "size": 9, "autoReply": true, "listUnsubscribe": "<mailto:l@x.test>", "calendarMethod": "cancel",
            "hasAttachments": true,
        });
        let body = json!(message.body);
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(body[name], *value, "{name}");
        }
        let file = &message.body.attachments[0];
        assert_eq!((file.id.as_str(), file.size, file.encoded_size), ("2", Some(4), Some(6)));
        assert_eq!((file.filename.as_deref(), file.content_id.as_deref()), (Some("a.png"), Some("c@x")));

        let odd = entry(json!({ "kind": "message", "id": "m", "content": {
            "sentAt": "yesterday", "files": [{ "part": "1", "disposition": "form-data" }, { "part": "2" }],
        } }));
        let Entry::Message(odd) = odd else { panic!("{odd:?}") };
        assert_eq!((odd.body.sent_at, odd.body.attachments.len()), (None, 2));
        assert!(odd.body.attachments.iter().all(|file| file.disposition.is_none()));

        let receipt = json!({ "op": "receipt", "mail": "a", "key": "k", "receipt": {
            "print": "p", "kind": "mail",
            "outcomes": [{ "mail": "bob@x.test", "accepted": false, "reply": "550 5.1.1 no such user" }],
        } });
        let label = json!({
            "op": "entry", "mail": "a", "folder": "mailbox", "seq": 4, "atMs": 5, "record": { "kind": "label", "id": "l" },
        });
        let ops = read_line(json!([label, receipt]).to_string().as_bytes()).unwrap();
        let [_, Op::Receipt { receipt: loose, .. }] = &ops[..] else { panic!("{ops:?}") };
        assert_eq!(loose.print, "", "a repetition with the present names is one");
        let ops = read_line(json!([receipt]).to_string().as_bytes()).unwrap();
        let [Op::Receipt { receipt, .. }] = &ops[..] else { panic!("{ops:?}") };
        assert_eq!(receipt.print, "p");
        let outcome = receipt.outcomes[0].outcome();
        assert_eq!(
            (outcome.email.as_str(), outcome.enhanced_status.as_deref()),
            ("bob@x.test", Some("5.1.1"))
        );
    }
}
