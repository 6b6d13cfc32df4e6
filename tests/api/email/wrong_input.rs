//! Refusals of `POST /v1/email/send`, each with the name of the field; no part of a refused message is sent.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use std::io::{Read, Write};
use std::net::TcpStream;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::TestServer;
use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, Provider, refused};

on_every_mailbox!(wrong_fields, what_is_missing_or_too_much, nothing_breaks_out_of_a_header);

fn to(email: &str) -> Value {
    json!([{ "email": email }])
}

fn attached(file: Value) -> Value {
    json!({ "attachments": [file] })
}

/// Bodies that are wrong in one place, with its name.
fn wrong() -> Vec<(Value, &'static str)> {
    let nothing = json!({ "messageId": "msg_00000000000000000000000000", "attachmentId": "att_x" });
    vec![
        (json!({ "connectionId": 5 }), "connectionId"),
        (json!({ "to": "x" }), "to"),
        (json!({ "to": to("nobody") }), "to[0].email"),
        (json!({ "to": [{ "email": "a@x.test" }, { "email": "@x.test" }] }), "to[1].email"),
        (json!({ "cc": to("a b@x.test") }), "cc[0].email"),
        (json!({ "bcc": to("a@") }), "bcc[0].email"),
        (json!({ "replyTo": to("x") }), "replyTo[0].email"),
        (json!({ "from": to("x") }), "from[0].email"),
        (json!({ "subject": "x".repeat(999) }), "subject"),
        (json!({ "body": "x" }), "body"),
        (json!({ "body": { "text": 5 } }), "body.text"),
        (json!({ "body": { "text": "a\u{0}b" } }), "body.text"),
        (json!({ "headers": [{ "name": "Bcc", "value": "x" }] }), "headers[0].name"),
        (json!({ "headers": [{ "name": "X A", "value": "x" }] }), "headers[0].name"),
        (json!({ "headers": [{ "name": "DKIM-Signature", "value": "x" }] }), "headers[0].name"),
        (json!({ "sendAt": "soon" }), "sendAt"),
        (json!({ "sendAt": "2090-01-01T00:00:00Z" }), "sendAt"),
        (json!({ "sendAt": "2020-01-01T00:00:00Z" }), "sendAt"),
        (attached(json!({ "contentBase64": "#" })), "attachments[0].contentBase64"),
        (attached(json!({ "uploadId": "u" })), "attachments[0].uploadId"),
        (attached(json!({ "attachmentRef": nothing })), "attachments[0].attachmentRef"),
        (attached(json!({ "contentBase64": "aGk=", "inline": "yes" })), "attachments[0].inline"),
        (json!({ "replyToMessageId": "msg_00000000000000000000000000" }), "replyToMessageId"),
        (json!({ "replyMode": "reply" }), "replyMode"),
        (json!({ "replyMode": "shout" }), "replyMode"),
        (json!({ "metadata": { "a": 1 } }), "metadata.a"),
        (json!({ "tracking": { "label": "x".repeat(2049) } }), "tracking.label"),
        (json!({ "saveToSent": "no" }), "saveToSent"),
    ]
}

async fn nothing_was_sent(mailbox: &Mailbox) {
    mailbox.server.hand_over().await;
    assert!(mailbox.there.contents().await.is_empty());
    assert_eq!(mailbox.list("").await, Vec::<Value>::new());
}

async fn wrong_fields(mailbox: Mailbox) {
    for (body, param) in wrong() {
        let asked = mailbox.api.post("/v1/email/send", mailbox.message(body)).send().await;
        refused(asked, 400, "invalid_parameter", param);
    }
    nothing_was_sent(&mailbox).await;
}

async fn what_is_missing_or_too_much(mailbox: Mailbox) {
    let send = async |body: Value| mailbox.api.post("/v1/email/send", mailbox.message(body)).send().await;
    refused(send(json!({ "connectionId": "" })).await, 400, "missing_field", "connectionId");
    refused(send(json!({ "to": [] })).await, 400, "missing_field", "to");
    refused(send(attached(json!({ "filename": "x" }))).await, 400, "missing_field", "attachments[0]");
    let two = attached(json!({ "contentBase64": "aGk=", "uploadId": "u" }));
    refused(send(two).await, 400, "conflicting_fields", "attachments[0]");
    let many: Vec<Value> = (0..501).map(|n| json!({ "email": format!("a{n}@x.test") })).collect();
    refused(send(json!({ "to": many })).await, 400, "invalid_parameter", "to");
    let many = vec![json!({ "contentBase64": "aGk=" }); 101];
    refused(send(json!({ "attachments": many })).await, 400, "invalid_parameter", "attachments");
    let half = json!({ "contentBase64": BASE64_STANDARD.encode(vec![b'x'; 13 << 20]) });
    let large = json!({ "attachments": [half, half] });
    refused(send(large).await, 413, "payload_too_large", "attachments[1]");
    send(json!({ "body": { "text": "x".repeat(41 << 20) } })).await.refused(413, "payload_too_large");
    let nowhere = send(json!({ "connectionId": "conn_00000000000000000000000000" })).await;
    nowhere.refused(404, "not_found");
    nothing_was_sent(&mailbox).await;
    // At the limit it is accepted; unknown fields are reported.
    let fits = json!({ "attachments": [{ "contentBase64": BASE64_STANDARD.encode(vec![b'x'; 1 << 20]) }], "colour": "red" });
    let taken = mailbox.submit(fits).await;
    assert_eq!(taken["warnings"][0]["code"], "unknown_field", "{taken:#}");
    let strict = mailbox.api.post("/v1/email/send", mailbox.message(json!({ "colour": "red" })));
    let strict = strict.header("prefer", "handling=strict").send().await;
    refused(strict, 400, "unknown_field", "colour");
}

/// A client that sends everything before it reads gets its response, even if the body is too large.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_to_more_than_is_taken() {
    let server = TestServer::start().await;
    let key = server.key("large", |_| {}).await.key.expect("a key");
    let address = server.address;
    for (key, status) in [(key.as_str(), 413), ("sb_nobody", 401)] {
        let size = 41 << 20;
        let head = format!(
            "POST /v1/email/send HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nidempotency-key: a\r\n\
             content-type: application/json\r\ncontent-length: {size}\r\nconnection: close\r\n\r\n"
        );
        let said = tokio::task::spawn_blocking(move || {
            let mut line = TcpStream::connect(address).expect("a line");
            line.write_all(head.as_bytes())
                .and_then(|()| line.write_all(&vec![b' '; size]))
                .expect("it listens");
            let mut answer = String::new();
            line.read_to_string(&mut answer).map(|_| answer)
        });
        let answer = said.await.expect("no panic").expect("an answer");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

/// A sender that is not among the addresses which the provider reports is refused at once, and not when the message is sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_that_is_not_the_accounts_is_refused_at_once() {
    let Some(mailbox) = Mailbox::open(Provider::Sandbox).await else { return };
    let own = mailbox.there.address.clone();
    for other in ["ceo@elsewhere.test", mailbox.other.address.as_str()] {
        let asked =
            mailbox.api.post("/v1/email/send", mailbox.message(json!({ "from": to(other) }))).send().await;
        let error = asked.refused(400, "invalid_parameter");
        assert_eq!(error["param"], "from[0].email", "{error:#}");
        let message = error["message"].as_str().expect("a text");
        assert!(message.contains(&own) && message.contains(other), "{message}");
    }
    let new =
        json!({ "connectionId": mailbox.connection, "from": to("ceo@elsewhere.test"), "to": to("a@x.test") });
    let draft = mailbox.api.post("/v1/email/drafts", new).send().await.expect(201);
    let send = format!("/v1/email/drafts/{}/send", draft["id"].as_str().expect("an id"));
    refused(mailbox.api.post(send, json!({})).send().await, 400, "invalid_parameter", "from[0].email");
    let sent = mailbox.send(json!({ "from": to(&own.to_uppercase()) })).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
}

/// A draft whose time has come can still be changed by a client that sends all of it back; another time must lie ahead.
#[tokio::test]
async fn a_draft_keeps_a_time_that_has_come() {
    let Some(mailbox) = Mailbox::open(Provider::Sandbox).await else { return };
    let at = |minute: u32| format!("2026-03-01T08:{minute:02}:00Z");
    let new = json!({ "connectionId": mailbox.connection, "to": to("a@x.test"), "sendAt": at(20) });
    let draft = mailbox.api.post("/v1/email/drafts", new).send().await.expect(201);
    mailbox.server.clock.advance_ms(30 * 60_000);
    let path = format!("/v1/email/drafts/{}", draft["id"].as_str().expect("an id"));
    let same = json!({ "subject": "x", "sendAt": draft["sendAt"], "etag": draft["etag"] });
    let changed = mailbox.api.patch(&path, same).send().await.expect(200);
    assert_eq!(changed["subject"], "x");
    let earlier = json!({ "sendAt": at(10), "etag": changed["etag"] });
    let earlier = mailbox.api.patch(&path, earlier).send().await;
    refused(earlier, 400, "invalid_parameter", "sendAt");
}

/// A value with a line break could add header fields: it is refused, and no part of it is in a message.
async fn nothing_breaks_out_of_a_header(mailbox: Mailbox) {
    let evil = ["a\r\nBcc: evil@x.test", "a\nBcc: evil@x.test", "a\rBcc: evil@x.test"];
    for evil in evil {
        let as_address = format!("a@x.test{}", &evil[1..]);
        for (body, param) in [
            (json!({ "subject": evil }), "subject"),
            (json!({ "to": [{ "email": "a@x.test", "name": evil }] }), "to[0].name"),
            (json!({ "to": to(&as_address) }), "to[0].email"),
            (json!({ "from": to(&as_address) }), "from[0].email"),
            (json!({ "headers": [{ "name": "X-A", "value": evil }] }), "headers[0].value"),
            (json!({ "headers": [{ "name": format!("X-{evil}"), "value": "a" }] }), "headers[0].name"),
            (attached(json!({ "contentBase64": "aGk=", "filename": evil })), "attachments[0].filename"),
            (attached(json!({ "contentBase64": "aGk=", "contentType": evil })), "attachments[0].contentType"),
            (attached(json!({ "contentBase64": "aGk=", "contentId": evil })), "attachments[0].contentId"),
        ] {
            let asked = mailbox.api.post("/v1/email/send", mailbox.message(body)).send().await;
            refused(asked, 400, "invalid_parameter", param);
        }
    }
    nothing_was_sent(&mailbox).await;
}
