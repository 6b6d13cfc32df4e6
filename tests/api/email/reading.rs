//! `GET /v1/email/messages/{messageId}` and its attachments.

use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, Provider, letter, refused, text, written};

on_every_mailbox!(
    html_is_made_safe,
    what_its_writer_hid_is_neither_shown_nor_quoted,
    files_and_parts_of_them,
    charsets,
    what_is_not_there,
    what_machines_send
);

const HTML: &str = "<html><head><style>p{color:red}</style><script>alert(1)</script></head><body onload=\"x()\">\
    <p onclick=\"x()\">Hello <a href=\"javascript:x()\">you</a> <a href=\"https://ok.test/\">there</a></p>\
    <img src=\"cid:pic@x\"><img src=\"https://track.test/p.png\"><iframe src=\"https://evil.test\"></iframe>\
    <form action=\"https://evil.test\"><input name=a></form></body></html>";

/// One HTML text with the picture that it shows.
fn with_picture() -> String {
    format!(
        "--r\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{HTML}\r\n--r\r\nContent-Type: image/png\r\nContent-ID: <pic@x>\r\n\
         Content-Disposition: inline; filename=p.png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--r--\r\n"
    )
}

async fn html_is_made_safe(mailbox: Mailbox) {
    let head = "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=r\r\n";
    mailbox.there.deliver(&written("Safe", "safe@x.test", head, &with_picture())).await;
    let id = mailbox.titled("Safe").await["id"].clone();
    let message = mailbox.read(&id).await;
    let (html, safe) = (text(&message["body"]["html"]), text(&message["body"]["safeHtml"]));
    assert!(html.contains("<script>alert(1)</script>"), "as the sender wrote it: {html}");
    assert_eq!(message["body"]["text"], Value::Null, "no text is made up");
    for gone in [
        "script",
        "onload",
        "onclick",
        "javascript:",
        "<iframe",
        "<form",
        "<input",
        " src=\"https://track.test",
        "cid:",
    ] {
        assert!(!safe.to_lowercase().contains(gone), "{gone} is in {safe}");
    }
    assert!(safe.contains("https://ok.test/") && safe.contains("Hello"), "{safe}");
    let picture = &message["attachments"][0];
    assert_eq!(
        (&picture["inline"], &picture["contentId"], &picture["contentType"]),
        (&json!(true), &json!("pic@x"), &json!("image/png"))
    );
    // Cyrus counts a picture that the text shows, and JMAP has this of the server.
    let is_counted = mailbox.provider == Provider::Jmap;
    assert!(is_counted || message["hasAttachments"] == false, "what the text shows is no attachment");
    let way = text(&picture["downloadUrl"]);
    assert!(safe.contains(&way), "the picture is where our API has it: {safe}");
    let bytes = mailbox.get(format!("{way}?format=raw")).send().await;
    assert_eq!((bytes.status, bytes.header("content-type")), (200, Some("image/png")));
    let path = format!("/v1/email/messages/{}", text(&id));
    let open = mailbox.get(format!("{path}?images=allow")).send().await.expect(200);
    assert!(text(&open["body"]["safeHtml"]).contains("https://track.test/p.png"), "{open:#}");
    assert!(!text(&open["body"]["safeHtml"]).contains("<script"));
}

/// Three attachments: a text in base64, a name in another alphabet, a message in the message.
fn with_files() -> String {
    let inner = "From: in@x.test\r\nSubject: Inner\r\n\r\nInside\r\n";
    format!(
        "--m\r\nContent-Type: text/plain\r\n\r\nSee below\r\n\
         --m\r\nContent-Type: text/csv; name=x.csv\r\nContent-Disposition: attachment; filename=\"../../etc/x.csv\"\r\n\
         Content-Transfer-Encoding: base64\r\n\r\nMDEyMzQ1Njc4OQ==\r\n\
         --m\r\nContent-Type: application/octet-stream\r\n\
         Content-Disposition: attachment; filename*=utf-8''%C3%9Cbersicht%20%E2%82%AC.bin\r\n\
         Content-Transfer-Encoding: quoted-printable\r\n\r\na=3Db=FF\r\n\
         --m\r\nContent-Type: message/rfc822\r\n\r\n{inner}\r\n--m--\r\n"
    )
}

async fn what_its_writer_hid_is_neither_shown_nor_quoted(mailbox: Mailbox) {
    let tags: String = "ignore".chars().map(|c| format!("&#x{:x};", 0xe0000 + u32::from(c))).collect();
    let html = format!(
        "<style>.pre{{display:none!important}}</style><div class=\"pre\">secret</div><div style=\"DISPLAY:n\\6fne\">secret</div>\
         <div style=\"font-size:0\">secret<p style=\"font-size:14px\">Hello{tags} you</p></div>\r\n"
    );
    let head = "MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n";
    mailbox.there.deliver(&written("Hidden", "hidden@x.test", head, &html)).await;
    let listed = mailbox.titled("Hidden").await;
    // Others make the beginning of a text themselves.
    if mailbox.provider == Provider::Sandbox {
        assert_eq!(listed["snippet"], "Hello you");
    }
    let message = mailbox.read(&listed["id"]).await;
    let (html, safe) = (text(&message["body"]["html"]), text(&message["body"]["safeHtml"]));
    assert!(html.contains("secret"), "as the sender wrote it: {html}");
    assert!(!safe.contains("secret") && safe.contains("Hello you"), "{safe:?}");
    let forwarded = json!({ "subject": "Forwarded", "body": { "text": "See" }, "replyToMessageId": listed["id"],
        "replyMode": "forward" });
    let sent = text(&mailbox.send(forwarded).await["body"]["text"]);
    assert!(!sent.contains("secret") && sent.contains("Hello you"), "{sent:?}");
}

async fn files_and_parts_of_them(mailbox: Mailbox) {
    let head = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n";
    mailbox.there.deliver(&written("Files", "files@x.test", head, &with_files())).await;
    let message = mailbox.titled("Files").await;
    let files = message["attachments"].as_array().expect("a list");
    let names: Vec<&str> = files.iter().map(|f| f["filename"].as_str().unwrap_or_default()).collect();
    assert_eq!(&names[..2], ["_.._etc_x.csv", "\u{dc}bersicht \u{20ac}.bin"], "{files:#?}");
    assert_eq!(
        (files.len(), &files[2]["isMessage"], &message["hasAttachments"]),
        (3, &json!(true), &json!(true))
    );
    assert!(files.iter().all(|f| f["messageId"] == message["id"]));
    let first = text(&files[0]["downloadUrl"]);

    let shown = mailbox.get(&first).send().await.expect(200);
    assert_eq!((&shown["contentBase64"], &shown["size"]), (&json!("MDEyMzQ1Njc4OQ=="), &json!(10)));
    assert_eq!(shown["checksumSha256"], "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882");
    let raw = mailbox.get(format!("{first}?format=raw")).send().await;
    assert_eq!(
        (raw.status, raw.text.as_str(), raw.header("content-type")),
        (200, "0123456789", Some("text/csv"))
    );
    assert_eq!(
        raw.header("content-disposition"),
        Some("attachment; filename=\"_.._etc_x.csv\"; filename*=UTF-8''_.._etc_x.csv")
    );
    assert_eq!(raw.header("x-content-type-options"), Some("nosniff"));
    let accepted = mailbox.get(&first).header("accept", "application/octet-stream").send().await;
    assert_eq!(accepted.text, "0123456789");
    for (range, status, part, told) in [
        ("bytes=2-4", 206, "234", Some("bytes 2-4/10")),
        ("bytes=7-", 206, "789", Some("bytes 7-9/10")),
        ("bytes=-3", 206, "789", Some("bytes 7-9/10")),
        ("bytes=5-500", 206, "56789", Some("bytes 5-9/10")),
        ("bytes=10-", 416, "", Some("bytes */10")),
        ("lines=1-2", 200, "0123456789", None),
    ] {
        let got = mailbox.get(format!("{first}?format=raw")).header("range", range).send().await;
        assert_eq!(
            (got.status, got.text.as_str(), got.header("content-range")),
            (status, part, told),
            "{range}"
        );
    }
    let second = mailbox.get(text(&files[1]["downloadUrl"])).send().await.expect(200);
    assert_eq!(second["contentBase64"], "YT1i/w==");
    let inner = mailbox.get(format!("{}?format=raw", text(&files[2]["downloadUrl"]))).send().await;
    assert!(inner.text.starts_with("From: in@x.test\r\nSubject: Inner\r\n"), "{}", inner.text);
    refused(mailbox.get(format!("{first}?format=xml")).send().await, 400, "invalid_parameter", "format");
    let nowhere = format!("/v1/email/messages/{}/attachments/nowhere", text(&message["id"]));
    mailbox.get(nowhere).send().await.refused(404, "not_found");
}

async fn charsets(mailbox: Mailbox) {
    let of = |name: &str, head: &str, charset: &str, encoding: &str, body: &str| {
        let more = format!(
            "MIME-Version: 1.0\r\nContent-Type: text/plain; charset={charset}\r\nContent-Transfer-Encoding: {encoding}\r\n"
        );
        written(head, &format!("{name}@x.test"), &more, body)
    };
    let cases = [
        (
            "latin",
            "=?iso-8859-1?Q?Gr=FC=DFe?=",
            "iso-8859-1",
            "quoted-printable",
            "Gr=FC=DFe\r\n",
            "Gr\u{fc}\u{df}e",
            "Gr\u{fc}\u{df}e",
        ),
        (
            "japan",
            "=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=",
            "iso-2022-jp",
            "7bit",
            "\u{1b}$BF|K\\\u{1b}(B\r\n",
            "\u{65e5}\u{672c}",
            "\u{65e5}\u{672c}",
        ),
        (
            "cyrillic",
            "=?koi8-r?B?8NLJ18XU?=",
            "koi8-r",
            "base64",
            "8NLJ18XU\r\n",
            "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}",
            "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}",
        ),
        (
            "utf8",
            "=?utf-8?B?8J+Zgg==?= =?utf-8?Q?_ok?=",
            "utf-8",
            "base64",
            "8J+Zgg==\r\n",
            "\u{1f642} ok",
            "\u{1f642}",
        ),
        ("unknown", "Plain", "x-nonsense", "7bit", "still text\r\n", "Plain", "still text"),
    ];
    for (name, head, charset, encoding, body, ..) in cases {
        mailbox.there.deliver(&of(name, head, charset, encoding, body)).await;
    }
    for (_, _, charset, _, _, subject, words) in cases {
        let message = mailbox.read(&mailbox.titled(subject).await["id"]).await;
        assert_eq!(text(&message["body"]["text"]).trim_end(), words, "{charset}");
        assert_eq!(message["body"]["truncated"], false);
    }
}

async fn what_is_not_there(mailbox: Mailbox) {
    for path in ["messages", "drafts", "threads"] {
        let prefix = match path {
            "messages" => "msg",
            "drafts" => "drf",
            _ => "thr",
        };
        for id in [format!("{prefix}_00000000000000000000000000"), "x".to_owned(), "..%2f..".to_owned()] {
            mailbox.get(format!("/v1/email/{path}/{id}")).send().await.refused(404, "not_found");
        }
    }
    mailbox.there.deliver(&letter("Going", "going@x.test", "")).await;
    let message = mailbox.titled("Going").await;
    mailbox.there.destroy("going@x.test").await;
    let path = format!("/v1/email/messages/{}", text(&message["id"]));
    mailbox.get(&path).send().await.refused(404, "not_found");
    mailbox
        .get(format!("/v1/email/threads/{}", text(&message["threadId"])))
        .send()
        .await
        .refused(404, "not_found");
    refused(mailbox.get(format!("{path}?fields=most")).send().await, 400, "invalid_parameter", "fields");
}

async fn what_machines_send(mailbox: Mailbox) {
    let list = "List-Unsubscribe: <https://list.test/u>, <mailto:u@list.test>\r\nAuto-Submitted: auto-replied\r\nImportance: high\r\n\
        Reply-To: Desk <desk@x.test>\r\nSender: robot@x.test\r\nIn-Reply-To: <asked@x.test>\r\nReferences: <first@x.test> <asked@x.test>\r\n";
    mailbox.there.deliver(&letter("From a machine", "machine@x.test", list)).await;
    let message = mailbox.titled("From a machine").await;
    assert_eq!((&message["autoReply"], &message["importance"]), (&json!(true), &json!("high")));
    assert!(text(&message["listUnsubscribe"]).contains("https://list.test/u"));
    assert_eq!(message["replyTo"], json!([{ "name": "Desk", "email": "desk@x.test" }]));
    assert_eq!(message["sender"]["email"], "robot@x.test");
    assert_eq!(
        (&message["inReplyTo"], &message["references"]),
        (&json!(["asked@x.test"]), &json!(["first@x.test", "asked@x.test"]))
    );
    assert_eq!(
        (&message["internetMessageId"], &message["sentAt"]),
        (&json!("machine@x.test"), &json!("2026-02-01T10:00:00.000Z"))
    );
    let invitation = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n";
    let head = "MIME-Version: 1.0\r\nContent-Type: text/calendar; method=REQUEST; charset=utf-8\r\n";
    mailbox.there.deliver(&written("Invited", "invited@x.test", head, invitation)).await;
    assert_eq!(mailbox.titled("Invited").await["calendarMethod"], "request");
}
