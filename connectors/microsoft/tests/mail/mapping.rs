//! Messages, texts and files as Graph has them.

use connector_microsoft::Microsoft;
use connector_sdk::http::SendError;
use connector_sdk::testing::response;
use connector_sdk::{Email as _, code};
use model::email::{CalendarMethod, Importance};
use model::wire::email::{AttachmentRef, MessageRef, MessagesGet};
use serde_json::{Value, json};

use crate::desk::{Asked, Desk, LOST, empty, gone, ok, only, read, refused, whole};

const AT: &str = "2026-03-02T09:00:00Z";

fn get(ids: &[&str], body: bool) -> MessagesGet {
    let message = |id: &&str| MessageRef { source: (*id).to_owned(), hint: None };
    MessagesGet { messages: ids.iter().map(message).collect(), headers: body, body, max_body_bytes: 0 }
}

/// A message with all that Graph says of one.
fn rich() -> Value {
    let mut message = whole("m1", AT, "f1");
    for (name, value) in [
        ("@odata.type", json!("#microsoft.graph.eventMessageRequest")),
        ("receivedDateTime", json!("2026-03-02T09:00:00.5000000Z")),
        ("subject", json!("Gr\u{fc}\u{df}e")),
        ("sender", json!({ "emailAddress": { "name": "Desk", "address": "desk@x.test" } })),
        ("replyTo", json!([{ "emailAddress": { "name": "Only a name" } }, { "emailAddress": null }])),
        ("isRead", json!(true)),
        ("flag", json!({ "flagStatus": "flagged" })),
        ("categories", json!(["Red", "Two: words"])),
        ("importance", json!("high")),
        ("hasAttachments", json!(true)),
        (
            "singleValueExtendedProperties",
            json!([{ "id": "Integer 0x1080", "value": "261" }, { "id": "Integer 0xe08", "value": "1" },
                   { "id": "Integer 0x0e08", "value": "4210" }]),
        ),
        (
            "internetMessageHeaders",
            json!([{ "name": "References", "value": "<a@x.test> <b@x.test>" }, { "name": "In-Reply-To", "value": "<b@x.test>" },
                   { "name": "Auto-Submitted", "value": "auto-replied" }]),
        ),
        (
            "attachments",
            json!([
                { "@odata.type": "#microsoft.graph.fileAttachment", "id": "a1", "name": "../a.csv", "contentType": "Text/CSV; x=y",
                  "size": 170, "isInline": false },
                { "@odata.type": "#microsoft.graph.fileAttachment", "id": "a2", "name": "p.png", "contentType": "image/png", "size": 9,
                  "isInline": true, "contentId": "<p1>" },
                { "@odata.type": "#microsoft.graph.itemAttachment", "id": "a3", "name": "Fwd", "contentType": null },
                { "@odata.type": "#microsoft.graph.referenceAttachment", "id": "a4", "name": "Shared.docx" },
            ]),
        ),
    ] {
        message[name] = value;
    }
    message
}

fn text_of(asked: &Asked) -> Value {
    let is_text = asked.header("prefer").unwrap().contains("outlook.body-content-type=\"text\"");
    let content = if is_text { "Hello\r\nBob" } else { "<p>Hello</p>" };
    json!({ "contentType": if is_text { "text" } else { "html" }, "content": content })
}

#[test]
fn a_message_is_mapped() {
    let desk = Desk::new(|asked| {
        let mut message = rich();
        message["body"] = text_of(asked);
        ok(&message)
    });
    let sources = Microsoft::get_messages(&desk.context(), get(&["m1"], true)).unwrap().sources;
    assert_eq!(desk.take_steps(), ["batch of GET messages/m1, GET messages/m1"]);
    let source = only(&sources);
    assert_eq!((source.external_id.as_str(), source.etag.as_deref()), ("m1", Some("W/\"m1-1\"")));
    assert_eq!(source.items[0].fingerprint.as_deref(), Some("m1@x.test 1772442000"));
    let ours = read(source);
    assert_eq!(ours.received_at.to_string(), "2026-03-02T09:00:00.500Z");
    assert_eq!((ours.thread_id.as_deref(), ours.subject.as_deref()), (Some("c1"), Some("Gr\u{fc}\u{df}e")));
    assert_eq!((ours.from[0].email.as_str(), ours.from[0].name.as_deref()), ("ann@x.test", Some("Ann")));
    assert_eq!(ours.sender.map(|sender| sender.email).as_deref(), Some("desk@x.test"));
    assert_eq!((ours.to[0].email.as_str(), &ours.to[0].name), ("ada@x.test", &None));
    assert_eq!((ours.reply_to.len(), ours.reply_to[0].email.as_str()), (1, "Only a name"));
    assert!(!ours.unread && ours.starred && ours.answered && !ours.forwarded && !ours.draft);
    assert_eq!((ours.importance, ours.size, ours.snippet.as_str()), (Importance::High, 4210, "Hello Bob"));
    assert_eq!(
        (ours.folder_ids, ours.label_ids),
        (vec!["f1".to_owned()], vec!["category:Red".into(), "category:Two: words".into()])
    );
    assert_eq!((ours.references.len(), ours.in_reply_to.as_slice()), (2, &["b@x.test".to_owned()][..]));
    assert!(ours.auto_reply && ours.bcc.is_empty() && ours.headers.len() == 3);
    assert_eq!(ours.calendar_method, Some(CalendarMethod::Request));
    let body = ours.body.unwrap();
    assert_eq!((body.text.as_deref(), body.html.as_deref()), (Some("Hello\nBob"), Some("<p>Hello</p>")));
    let [file, picture, item, link] = ours.attachments.as_slice() else { panic!("four files") };
    assert_eq!(
        (file.filename.as_deref(), file.content_type.as_str(), file.size),
        (Some("_a.csv"), "text/csv", None)
    );
    assert_eq!(
        (file.encoded_size, picture.inline, picture.content_id.as_deref()),
        (Some(170), true, Some("p1"))
    );
    assert_eq!((item.is_message, item.content_type.as_str()), (true, "message/rfc822"));
    assert_eq!(link.id, "reference:a4");
}

/// A message of plain text has no HTML, and one that is too long for the host is cut.
#[test]
fn a_plain_message_has_one_text() {
    let desk = Desk::new(|_| {
        let mut message = whole("m1", AT, "f1");
        message["body"] = json!({ "contentType": "text", "content": "0123456789\r\n" });
        ok(&message)
    });
    let args = MessagesGet { max_body_bytes: 4, ..get(&["m1"], true) };
    let body = read(only(&Microsoft::get_messages(&desk.context(), args).unwrap().sources)).body.unwrap();
    assert_eq!((body.text.as_deref(), body.html, body.truncated), (Some("0123"), None, true));
}

#[test]
fn twenty_messages_are_one_batch_and_a_missing_one_is_gone() {
    let desk = Desk::new(|asked| match asked.path.as_str() {
        "messages/m3" => gone(),
        "messages/m4" => refused(400, "ErrorInvalidProperty"),
        "messages/m5" => refused(403, "ErrorAccessDenied"),
        path => ok(&whole(path.trim_start_matches("messages/"), AT, "f1")),
    });
    let ids: Vec<String> = (0..25).map(|number| format!("m{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let sources = Microsoft::get_messages(&desk.context(), get(&ids, false)).unwrap().sources;
    assert_eq!((desk.take_steps().len(), sources.len()), (2, 25));
    assert!(sources[3].deleted && sources[4].error.is_some() && sources[5].error.is_some());
    assert_eq!(sources[24].external_id, "m24");
    // Where none can be read it is the account that may not.
    let desk = Desk::new(|_| refused(403, "ErrorAccessDenied"));
    let failure = Microsoft::get_messages(&desk.context(), get(&["m0", "m1"], false)).unwrap_err();
    assert_eq!(failure.code, code::FORBIDDEN);
    let desk = Desk::new(|_| gone());
    // What can be no id is not asked for.
    let odd = Microsoft::get_messages(&desk.context(), get(&[".."], false)).unwrap().sources;
    assert!(only(&odd).deleted && desk.take_steps().is_empty());
    // What Graph does not say now is no deletion.
    let desk = Desk::new(|asked| match asked.path.as_str() {
        "messages/m1" => empty(LOST),
        _ => ok(&whole("m0", AT, "f1")),
    });
    let failure = Microsoft::get_messages(&desk.context(), get(&["m0", "m1"], false)).unwrap_err();
    assert_eq!(failure.code, code::UNAVAILABLE);
}

#[test]
fn files_are_streamed_and_links_have_none() {
    let part = |part: &str| AttachmentRef {
        message: MessageRef { source: "m1".to_owned(), hint: None },
        part: part.to_owned(),
    };
    let desk = Desk::new(|asked| match asked.path.as_str() {
        "messages/m1/attachments/a1/$value" => Ok(response(200, &[("content-type", "text/csv")], "1;2")),
        "messages/m1/$value" => Ok(response(200, &[], "Subject: a\r\n\r\n")),
        _ => gone(),
    });
    let file = Microsoft::attachment(&desk.context(), part("a1")).unwrap();
    assert_eq!(
        (desk.content(&file.blob).unwrap(), file.content_type.as_deref()),
        (b"1;2".to_vec(), Some("text/csv"))
    );
    let raw = Microsoft::raw(&desk.context(), part("").message).unwrap();
    assert_eq!(raw.content_type.as_deref(), Some("message/rfc822"));
    assert_eq!(Microsoft::attachment(&desk.context(), part("a9")).unwrap_err().code, code::NOT_FOUND);
    assert_eq!(
        Microsoft::attachment(&desk.context(), part("reference:a4")).unwrap_err().code,
        code::UNSUPPORTED
    );
    // A long answer that breaks off is asked for once more.
    let desk = Desk::new(|_| Err(SendError::new("unavailable", "cut")));
    assert_eq!(Microsoft::attachment(&desk.context(), part("a1")).unwrap_err().code, code::UNAVAILABLE);
    assert_eq!(desk.take_steps().len(), 2);
}

/// Capabilities are those of the rights that the account gives.
#[test]
fn abilities_follow_the_rights() {
    let desk = |access: &str| Desk::new(|_| gone()).with_access(access);
    let all = Microsoft::features(&desk("readWrite").context()).unwrap();
    assert!(all.search && all.drafts && all.append && all.permanent_delete && all.send && all.send_as_alias);
    assert_eq!((all.max_message_bytes, all.aliases.len(), all.keywords), (Some(36_700_160), 2, false));
    let reading = Microsoft::features(&desk("read").context()).unwrap();
    assert!(
        reading.search
            && reading.folders
            && !reading.drafts
            && !reading.modify_flags
            && !reading.send_as_alias
    );
    let sending = Microsoft::features(&desk("sendOnly").context()).unwrap();
    assert!(sending.send && !sending.search && !sending.folders && !sending.labels && !sending.delete);
    assert_eq!(sending.max_message_bytes, Some(2_000_000));
    let refused = Microsoft::get_messages(&desk("sendOnly").context(), get(&["m1"], false)).unwrap_err();
    assert_eq!(refused.code, code::FORBIDDEN);
}
