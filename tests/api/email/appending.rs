//! `POST /v1/email/messages`: a message put into a folder without being sent.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, merge, refused, text};

on_every_mailbox!(a_whole_message, of_its_parts, what_is_refused);

const RAW: &str = "From: a@b.test\nTo: d@e.test\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nMessage-ID: <raw@x.test>\n\
    Date: Thu, 01 Jan 2026 10:00:00 +0000\n\nHello\n.\nend\n";

fn append(mailbox: &Mailbox, body: Value) -> harness::Ask {
    let mut new = json!({ "connectionId": mailbox.connection });
    merge(&mut new, body);
    mailbox.api.post("/v1/email/messages", new)
}

async fn a_whole_message(mailbox: Mailbox) {
    let archive = mailbox.folder("archive").await;
    let new = json!({ "rawBase64": BASE64_STANDARD.encode(RAW), "folderIds": [archive], "unread": true, "starred": true,
        "keywords": ["Kept"], "receivedAt": "2026-01-05T10:00:00Z", "metadata": { "from": "elsewhere" } });
    let made = append(&mailbox, new.clone()).keyed("append").send().await.expect(201);
    assert_eq!(
        append(&mailbox, new).keyed("append").send().await.expect(201),
        made,
        "one request, one message"
    );
    assert_eq!((&made["subject"], &made["folderIds"]), (&json!("Gr\u{fc}\u{df}e"), &json!([archive])));
    assert_eq!(
        (&made["unread"], &made["starred"], &made["keywords"]),
        (&json!(true), &json!(true), &json!(["kept"]))
    );
    assert_eq!(made["receivedAt"], "2026-01-05T10:00:00.000Z");
    assert_eq!(
        (&made["internetMessageId"], &made["metadata"]["from"]),
        (&json!("raw@x.test"), &json!("elsewhere"))
    );
    assert_eq!(mailbox.there.folders_of("raw@x.test").await, ["archive"]);
    let raw = mailbox.there.raw("raw@x.test").await;
    assert!(raw.contains("\r\n\r\nHello\r\n.\r\nend\r\n"), "lines end with CRLF, and no dot is lost: {raw}");
    let read = mailbox.read(&made["id"]).await;
    assert_eq!(text(&read["body"]["text"]).replace("\r\n", "\n").trim_end(), "Hello\n.\nend");
    assert_eq!(mailbox.list("").await.len(), 1);

    // Into the inbox, read, when nothing is said; with a Message-ID of ours when it has none.
    let bare = BASE64_STANDARD.encode("Subject: Bare\r\n\r\nx\r\n");
    let bare = append(&mailbox, json!({ "rawBase64": bare })).send().await.expect(201);
    assert_eq!(
        (&bare["unread"], &bare["folderIds"]),
        (&json!(false), &json!([mailbox.folder("inbox").await]))
    );
    let id = text(&bare["internetMessageId"]);
    assert_eq!(mailbox.there.folders_of(&id).await, ["inbox"]);
}

async fn of_its_parts(mailbox: Mailbox) {
    let new = json!({ "from": [{ "name": "Me, myself", "email": "me@x.test" }], "to": [{ "email": "you@x.test" }],
        "cc": [{ "email": "them@x.test" }], "bcc": [{ "email": "hidden@x.test" }], "subject": "Made \u{2713}",
        "body": { "text": "plain", "html": "<b>rich</b>" }, "headers": [{ "name": "X-Case", "value": "17" }],
        "sentAt": "2026-01-02T03:04:05Z",
        "attachments": [{ "filename": "a.txt", "contentType": "text/plain", "contentBase64": "aGVsbG8=" }] });
    let made = append(&mailbox, new).send().await.expect(201);
    let read = mailbox.read(&made["id"]).await;
    assert_eq!(read["from"], json!([{ "name": "Me, myself", "email": "me@x.test" }]));
    assert_eq!(
        (&read["subject"], &read["bcc"][0]["email"]),
        (&json!("Made \u{2713}"), &json!("hidden@x.test"))
    );
    assert_eq!(read["sentAt"], "2026-01-02T03:04:05.000Z", "its Date");
    assert_eq!(text(&read["body"]["text"]).trim_end(), "plain");
    assert!(text(&read["body"]["html"]).contains("<b>rich</b>"));
    assert_eq!((&read["attachments"][0]["filename"], &read["draft"]), (&json!("a.txt"), &json!(false)));
    let headers = read["headers"].as_array().expect("a list");
    assert!(headers.iter().any(|h| h["name"] == "X-Case" && h["value"] == "17"));
    assert_eq!(mailbox.other.contents().await.len(), 0, "nothing was sent");
}

async fn what_is_refused(mailbox: Mailbox) {
    let good = || BASE64_STANDARD.encode(RAW);
    for (body, param) in [
        (json!({ "rawBase64": "#" }), "rawBase64"),
        (json!({ "rawBase64": BASE64_STANDARD.encode("a\u{0}b") }), "rawBase64"),
        (json!({ "rawBase64": good(), "folderIds": ["fld_00000000000000000000000000"] }), "folderIds[0]"),
        (json!({ "rawBase64": good(), "keywords": ["a b"] }), "keywords[0]"),
        (json!({ "rawBase64": good(), "keywords": ["$draft"] }), "keywords[0]"),
        (json!({ "rawBase64": good(), "receivedAt": "soon" }), "receivedAt"),
        (json!({ "rawBase64": good(), "labelIds": ["x"] }), "labelIds[0]"),
        (json!({ "rawBase64": good(), "metadata": { "a": 1 } }), "metadata.a"),
        (json!({ "subject": "a\r\nBcc: b@x.test" }), "subject"),
        (json!({ "sentAt": "1812-01-01T00:00:00Z" }), "sentAt"),
        (json!({ "to": [{ "email": "nobody" }] }), "to[0].email"),
    ] {
        refused(append(&mailbox, body).send().await, 400, "invalid_parameter", param);
    }
    let nowhere = json!({ "connectionId": "conn_00000000000000000000000000", "rawBase64": good() });
    mailbox.api.post("/v1/email/messages", nowhere).send().await.refused(404, "not_found");
    refused(
        mailbox.api.post("/v1/email/messages", json!({})).send().await,
        400,
        "missing_field",
        "connectionId",
    );
    assert!(mailbox.there.contents().await.is_empty());
}
