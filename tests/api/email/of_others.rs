//! Odd mail of other programs can be answered, forwarded and edited. A user of the API cannot change another program's Message-ID,
//! Content-ID or malformed address: none of them is a reason to refuse the user's request.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::email::mailbox::{Letter, Mailbox, Provider, letter, refused, text, written};

on_every_mailbox!(
    a_reply_names_its_message_however_odd_the_id,
    an_id_that_cannot_be_written_is_left_out_alone,
    an_html_message_is_forwarded_in_every_text_that_the_caller_wrote,
    a_picture_is_forwarded_with_its_odd_content_id,
    a_picture_is_shown_however_its_id_is_escaped,
    an_address_with_odd_dots_is_written_in_quotes,
    a_draft_takes_half_an_address_and_is_sent_with_a_whole_one,
    a_draft_of_another_program_is_written_on_however_odd_it_is,
    a_message_is_stored_under_its_own_odd_id,
);

/// Ids that programs make: RFC 5322 section 3.6.4 allows the first and the third, and all of them are in mailboxes.
const IDS: [&str; 5] = [
    "2026.11@[192.0.2.7]",
    "urn:uuid:0f8a@host.test",
    "\"x y\"@host.test",
    "no-at-sign",
    "a(b),c;d@host.test",
];

/// Cyrus reads header fields itself for JMAP, and odd ones in its own way.
fn reads_as_we_do(mailbox: &Mailbox) -> bool {
    mailbox.provider != Provider::Jmap
}

async fn a_reply_names_its_message_however_odd_the_id(mailbox: Mailbox) {
    for (number, id) in IDS.into_iter().enumerate() {
        let subject = format!("Question {number}");
        mailbox.there.deliver(&letter(&subject, id, "")).await;
        let question = mailbox.titled(&subject).await;
        let answer = json!({ "subject": null, "replyToMessageId": question["id"] });
        let sent = mailbox.send(answer).await;
        assert_eq!(sent["delivery"]["state"], "sent", "{id}: {sent:#}");
        let raw = mailbox.there.raw(&text(&sent["internetMessageId"])).await;
        if reads_as_we_do(&mailbox) {
            assert_eq!(question["internetMessageId"], id);
            assert_eq!(sent["threadId"], question["threadId"], "{id}");
        }
        if let Some(known) = question["internetMessageId"].as_str() {
            assert!(raw.contains(&format!("\r\nIn-Reply-To: <{known}>\r\n")), "{raw}");
            assert!(raw.contains(&format!("\r\nReferences: <{known}>\r\n")), "{raw}");
        }
    }
}

async fn an_id_that_cannot_be_written_is_left_out_alone(mailbox: Mailbox) {
    // A line of mail has 998 bytes: this id is read, and no field has room for it.
    let long = format!("{}@host.test", "a".repeat(940));
    let head = format!("References: <older@x.test>\r\n <{long}>\r\n <\"b c\"@host.test>\r\n");
    mailbox.there.deliver(&letter("Thread", "thread@x.test", &head)).await;
    let question = mailbox.titled("Thread").await;
    let sent = mailbox.send(json!({ "subject": null, "replyToMessageId": question["id"] })).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    let raw = mailbox.there.raw(&text(&sent["internetMessageId"])).await;
    assert!(raw.contains("<older@x.test>") && raw.contains("<thread@x.test>"), "{raw}");
    assert!(!raw.contains(&long), "{raw}");
    if reads_as_we_do(&mailbox) {
        assert_eq!(sent["references"], json!(["older@x.test", "\"b c\"@host.test", "thread@x.test"]));
    }
}

async fn an_html_message_is_forwarded_in_every_text_that_the_caller_wrote(mailbox: Mailbox) {
    let head = "MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n";
    let html = "<style type=\"text/css\">p { color: red }</style><p>The harvest is <b>in</b>.</p><ul><li>apples</li></ul>\r\n";
    mailbox.there.deliver(&written("Harvest", "harvest@x.test", head, html)).await;
    let original = mailbox.titled("Harvest").await;
    let forward = async |subject: &str, body: Value| {
        let body = json!({ "subject": subject, "body": body, "replyToMessageId": original["id"],
            "replyMode": "forward" });
        let sent = mailbox.send(body).await;
        assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
        sent["body"].clone()
    };
    let plain = forward("One", json!({ "text": "See" })).await;
    let both = forward("Two", json!({ "text": "See", "html": "<p>See</p>" })).await;
    let rich = forward("Three", json!({ "html": "<p>See</p>" })).await;
    for body in [&plain, &both] {
        let text = text(&body["text"]);
        for part in ["See", "ann@elsewhere.test", "The harvest is in.", "- apples"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert!(!text.contains("color"), "styles are no text: {text}");
    }
    for body in [&both, &rich] {
        let html = text(&body["html"]);
        assert!(html.contains("See") && html.contains("The harvest is <b>in</b>."), "{html}");
    }
    assert_eq!((&plain["html"], &rich["text"]), (&Value::Null, &Value::Null), "no kind is made up");
}

/// One HTML text that shows the picture with this Content-ID by this link.
fn with_picture(subject: &str, content_id: &str, link: &str) -> Letter {
    let head = "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=r\r\n";
    let body = format!(
        "--r\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Look</p><img src=\"cid:{link}\">\r\n--r\r\n\
         Content-Type: image/png\r\nContent-ID: <{content_id}>\r\nContent-Disposition: inline; filename=p.png\r\n\
         Content-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--r--\r\n"
    );
    written(subject, &format!("{}@x.test", subject.to_lowercase().replace(' ', "-")), head, &body)
}

async fn a_picture_is_forwarded_with_its_odd_content_id(mailbox: Mailbox) {
    let picture = with_picture("Picture", "image 1 (2)@x.test", "image%201%20(2)%40x.test");
    mailbox.there.deliver(&picture).await;
    let original = mailbox.titled("Picture").await;
    let body = json!({ "subject": null, "body": { "html": "<p>See</p>" }, "replyToMessageId": original["id"],
        "replyMode": "forward" });
    let sent = mailbox.send(body).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    assert_eq!(sent["attachments"][0]["contentId"], original["attachments"][0]["contentId"]);
    if reads_as_we_do(&mailbox) {
        assert_eq!(sent["attachments"][0]["contentId"], "image 1 (2)@x.test");
        let way = text(&sent["attachments"][0]["downloadUrl"]);
        let safe = text(&sent["body"]["safeHtml"]);
        assert!(safe.contains(&way), "the forwarded HTML shows the forwarded picture: {safe}");
    }
}

async fn a_picture_is_shown_however_its_id_is_escaped(mailbox: Mailbox) {
    for (number, link) in
        ["dot@x.test", "dot%40x.test", "%64%6Ft@x%2etest", "dot&#64;x.test"].into_iter().enumerate()
    {
        let subject = format!("Escaped {number}");
        mailbox.there.deliver(&with_picture(&subject, "dot@x.test", link)).await;
        let message = mailbox.read(&mailbox.titled(&subject).await["id"]).await;
        let (safe, way) =
            (text(&message["body"]["safeHtml"]), text(&message["attachments"][0]["downloadUrl"]));
        assert!(safe.contains(&way), "{link}: {safe}");
    }
}

async fn an_address_with_odd_dots_is_written_in_quotes(mailbox: Mailbox) {
    // Some providers have given out such addresses; RFC 5321 section 4.1.2 allows them in quotes.
    let odd = "mia..rose.@elsewhere.test";
    let taken = mailbox.submit(json!({ "to": [{ "name": "Mia", "email": odd }] })).await;
    assert_eq!(taken["delivery"]["recipients"][0]["email"], odd, "as the caller wrote it");
    mailbox.server.hand_over().await;
    let sent = mailbox.read(&taken["id"]).await;
    // Whether Cyrus takes it for JMAP is its own affair.
    if reads_as_we_do(&mailbox) {
        assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
        assert_eq!(sent["delivery"]["recipients"][0]["status"], "accepted", "{sent:#}");
        let raw = mailbox.there.raw(&text(&sent["internetMessageId"])).await;
        assert!(raw.contains("\r\nTo: Mia <\"mia..rose.\"@elsewhere.test>\r\n"), "{raw}");
    }

    let question = letter("Dots", "dots@x.test", "").with("From", "Mia <\"mia..rose.\"@elsewhere.test>");
    mailbox.there.deliver(&question).await;
    let question = mailbox.titled("Dots").await;
    let answer =
        json!({ "subject": null, "to": [], "replyToMessageId": question["id"], "replyMode": "replyAll" });
    let answer = mailbox.submit(answer).await;
    assert_eq!(text(&answer["to"][0]["email"]).replace('"', ""), odd, "{answer:#}");
}

fn path(draft: &Value) -> String {
    format!("/v1/email/drafts/{}", text(&draft["id"]))
}

/// Its first recipient is judged now.
async fn cannot_be_sent(mailbox: &Mailbox, draft: &Value) {
    let send = mailbox.api.post(format!("{}/send", path(draft)), json!({})).send().await;
    if reads_as_we_do(mailbox) {
        return refused(send, 400, "invalid_parameter", "to[0].email");
    }
    assert_eq!(send.status, 400, "{send}");
}

async fn a_draft_takes_half_an_address_and_is_sent_with_a_whole_one(mailbox: Mailbox) {
    for (number, half) in ["mia", "mia@", "mia rose", "mia, rose <"].into_iter().enumerate() {
        let new = json!({ "connectionId": mailbox.connection, "to": [{ "email": half }],
            "subject": format!("Half {number}"), "body": { "text": "one" } });
        let draft = mailbox.api.post("/v1/email/drafts", new).send().await.expect(201);
        let change = json!({ "body": { "text": "two" }, "etag": draft["etag"] });
        let draft = mailbox.api.patch(path(&draft), change).send().await.expect(200);
        assert_eq!(text(&draft["body"]["text"]).trim_end(), "two");
        if reads_as_we_do(&mailbox) {
            assert_eq!(draft["to"], json!([{ "name": null, "email": half }]));
        }
        cannot_be_sent(&mailbox, &draft).await;
        let whole = json!({ "to": [{ "email": mailbox.other.address }], "etag": draft["etag"] });
        let draft = mailbox.api.patch(path(&draft), whole).send().await.expect(200);
        mailbox.api.post(format!("{}/send", path(&draft)), json!({})).send().await.expect(202);
    }
    // A message for immediate sending is validated at once, and a text that would begin another field is never accepted.
    let sent = mailbox.message(json!({ "to": [{ "email": "mia@" }] }));
    let sent = mailbox.api.post("/v1/email/send", sent).send().await;
    refused(sent, 400, "invalid_parameter", "to[0].email");
    let evil = json!({ "connectionId": mailbox.connection, "to": [{ "email": "mia\r\nBcc: evil@x.test" }] });
    let evil = mailbox.api.post("/v1/email/drafts", evil).send().await;
    refused(evil, 400, "invalid_parameter", "to[0].email");
}

/// Puts a draft where another program of the account's owner would put it.
async fn draft_of_another_program(mailbox: &Mailbox, draft: Letter) {
    match mailbox.there.sandbox() {
        Some(sandbox) => {
            let ask = sandbox.ask(reqwest::Method::POST, "/sandbox/v1/mail/drafts".to_owned(), None);
            ask.raw("message/rfc822", draft.raw).send().await.expect(201);
        }
        None => mailbox.there.deliver(&draft.into_folder("drafts").flagged(&["seen", "draft"])).await,
    }
}

async fn a_draft_of_another_program_is_written_on_however_odd_it_is(mailbox: Mailbox) {
    let long = "long ".repeat(220);
    let head = format!(
        "In-Reply-To: <\"x y\"@host.test>\r\nReferences: <2026.11@[192.0.2.7]> <\"x y\"@host.test>\r\n\
         X-Tag: kept\r\nX-Long: {}\r\n",
        "a".repeat(950)
    );
    let draft = letter(long.trim_end(), "their draft (1)@host.test", &head).with("To", "mia rose");
    draft_of_another_program(&mailbox, draft).await;
    let list = format!("/v1/email/drafts?connection_id={}", mailbox.connection);
    let before = mailbox.all(&list).await.remove(0);
    let change = json!({ "body": { "text": "ours" }, "etag": before["etag"] });
    let after = mailbox.api.patch(path(&before), change).send().await.expect(200);
    assert_eq!((&after["id"], text(&after["body"]["text"]).trim_end()), (&before["id"], "ours"));
    assert_eq!(after["subject"], before["subject"], "it stays, though a caller could not write it so long");
    let headers = after["headers"].as_array().expect("a list");
    assert!(headers.iter().any(|h| h["name"] == "X-Tag" && h["value"] == "kept"), "{headers:#?}");
    if reads_as_we_do(&mailbox) {
        assert_eq!(after["to"], json!([{ "name": null, "email": "mia rose" }]));
        assert_eq!(
            (&after["inReplyTo"], &after["references"]),
            (&before["inReplyTo"], &before["references"])
        );
        assert_eq!(after["inReplyTo"], json!(["\"x y\"@host.test"]));
    }
    cannot_be_sent(&mailbox, &after).await;
    let own = json!([{ "email": mailbox.there.address }]);
    let whole = json!({ "from": own, "to": [{ "email": mailbox.other.address }], "etag": after["etag"] });
    let whole = mailbox.api.patch(path(&after), whole).send().await.expect(200);
    mailbox.api.post(format!("{}/send", path(&whole)), json!({})).send().await.expect(202);
}

async fn a_message_is_stored_under_its_own_odd_id(mailbox: Mailbox) {
    let raw = "From: a@b.test\r\nSubject: Odd\r\nMessage-ID: <2026.12@[192.0.2.7]>\r\n\r\nHello\r\n";
    let new = json!({ "connectionId": mailbox.connection, "rawBase64": BASE64_STANDARD.encode(raw) });
    let made = mailbox.api.post("/v1/email/messages", new).send().await.expect(201);
    let stored = mailbox.there.raw("2026.12@[192.0.2.7]").await;
    assert_eq!(stored.matches("Message-ID:").count(), 1, "it gets no second id: {stored}");
    if reads_as_we_do(&mailbox) {
        assert_eq!(made["internetMessageId"], "2026.12@[192.0.2.7]");
    }
}
