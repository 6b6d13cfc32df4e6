//! `POST /v1/email/send`: the sent message, its recipients, and its record.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, Provider, letter, text, written};

on_every_mailbox!(
    one_message_as_it_arrives,
    before_the_mailbox_was_read,
    hidden_recipients,
    an_answer,
    an_answer_to_all,
    passed_on_with_its_files,
    who_does_not_take_it,
    who_may_take_it_later,
    no_copy_is_kept,
    one_request_is_one_message,
    while_the_provider_is_away,
);

async fn one_message_as_it_arrives(mailbox: Mailbox) {
    let folder = mailbox.folder("sent").await;
    let body = json!({ "to": [{ "name": "Zwei, \"Gr\u{e4}f\"", "email": mailbox.other.address }],
        "subject": "Gr\u{fc}\u{df}e \u{2713}", "replyTo": [{ "email": "desk@x.test" }],
        "body": { "text": "Hello\n.\n..dots\nend", "html": "<p>Hello <b>you</b></p>" },
        "headers": [{ "name": "X-Case", "value": "17" }, { "name": "List-Id", "value": "<a.list.test>" }],
        "attachments": [{ "filename": "\u{dc}bersicht.txt", "contentType": "text/plain", "contentBase64": BASE64_STANDARD.encode("abc\n".repeat(1000)) }],
        "metadata": { "case": "17" } });
    let taken = mailbox.submit(body).await;
    assert_eq!((&taken["delivery"]["state"], &taken["delivery"]["attempts"]), (&json!("queued"), &json!(0)));
    assert_eq!(taken["delivery"]["recipients"][0]["status"], "queued");
    mailbox.server.hand_over().await;
    let sent = mailbox.read(&taken["id"]).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    assert_eq!(sent["delivery"]["recipients"][0]["status"], "accepted");
    assert_eq!((&sent["id"], &sent["metadata"]), (&taken["id"], &json!({ "case": "17" })));
    assert_eq!(sent["folderIds"], json!([folder]));
    assert_eq!(
        (&sent["unread"], &sent["draft"], &sent["delivery"]["error"]),
        (&json!(false), &json!(false), &Value::Null)
    );
    let id = text(&sent["internetMessageId"]);
    assert_eq!(mailbox.there.folders_of(&id).await, ["sent"]);
    if !mailbox.delivers() {
        return;
    }
    let raw = mailbox.other.arrived(&id).await;
    for part in [
        "X-Case: 17",
        "List-Id: <a.list.test>",
        "Reply-To: desk@x.test",
        "=?utf-8?",
        "\r\n.\r\n..dots\r\nend",
    ] {
        assert!(raw.contains(part), "{part} is not in {raw}");
    }
    assert!(!raw.contains("Gr\u{e4}f"), "header fields are ASCII");
}

/// An account that was just connected sends: its message is where sent messages are, as soon as there is a folder to name.
async fn before_the_mailbox_was_read(mailbox: Mailbox) {
    let sent = mailbox.send(json!({})).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    let listed = mailbox.list("").await;
    assert_eq!((listed.len(), &listed[0]["id"]), (1, &sent["id"]), "{listed:#?}");
    assert_eq!(listed[0]["folderIds"], json!([mailbox.folder("sent").await]));
    assert_eq!(listed[0]["delivery"]["state"], "sent");
}

async fn hidden_recipients(mailbox: Mailbox) {
    let body =
        json!({ "to": [{ "email": "outside@elsewhere.test" }], "bcc": [{ "email": mailbox.other.address }] });
    let sent = mailbox.send(body).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    let taken: Vec<&Value> =
        sent["delivery"]["recipients"].as_array().expect("a list").iter().map(|r| &r["email"]).collect();
    assert_eq!(taken, ["outside@elsewhere.test", mailbox.other.address.as_str()]);
    assert_eq!(sent["bcc"][0]["email"], mailbox.other.address, "who sent it sees to whom");
    let id = text(&sent["internetMessageId"]);
    assert!(mailbox.there.raw(&id).await.to_lowercase().contains("\nbcc:"));
    if mailbox.delivers() {
        let raw = mailbox.other.arrived(&id).await;
        assert!(!raw.to_lowercase().contains("\nbcc:"), "{raw}");
    }
}

async fn an_answer(mailbox: Mailbox) {
    let head = "References: <older@x.test>\r\nCc: third@x.test\r\nReply-To: desk@x.test\r\n";
    mailbox.there.deliver(&letter("Re: Question", "question@x.test", head)).await;
    let question = mailbox.titled("Re: Question").await;
    let body = json!({ "subject": null, "replyToMessageId": question["id"] });
    let sent = mailbox.send(body).await;
    assert_eq!((&sent["subject"], &sent["inReplyTo"]), (&json!("Re: Question"), &json!(["question@x.test"])));
    assert_eq!(sent["references"], json!(["older@x.test", "question@x.test"]));
    assert_eq!(sent["to"], json!([{ "name": null, "email": mailbox.other.address }]), "nobody is added");
    assert_eq!((&sent["cc"], &sent["threadId"]), (&json!([]), &question["threadId"]));
    assert_eq!(mailbox.read(&question["id"]).await["answered"], true);
    let named =
        json!({ "subject": "Something else", "replyToMessageId": question["id"], "replyMode": "reply" });
    assert_eq!(mailbox.send(named).await["subject"], "Something else");
}

async fn an_answer_to_all(mailbox: Mailbox) {
    let own = mailbox.address.to_uppercase();
    let head = format!("Cc: {own}, Third <third@x.test>, {}\r\n", mailbox.other.address);
    let question = letter("All", "all@x.test", &head).with("To", &format!("{own}, second@x.test"));
    mailbox.there.deliver(&question).await;
    let question = mailbox.titled("All").await;
    let body =
        json!({ "subject": null, "to": [], "replyToMessageId": question["id"], "replyMode": "replyAll" });
    let sent = mailbox.submit(body).await;
    let people = |field: &str| -> Vec<String> {
        sent[field].as_array().expect("a list").iter().map(|a| text(&a["email"])).collect()
    };
    assert_eq!(people("to"), ["ann@elsewhere.test", "second@x.test"]);
    assert_eq!(people("cc"), ["third@x.test".to_owned(), mailbox.other.address.clone()]);
    assert_eq!(sent["subject"], "Re: All");
}

async fn passed_on_with_its_files(mailbox: Mailbox) {
    let head = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n";
    let body = "--m\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Look</p><script>x</script>\r\n--m\r\nContent-Type: text/plain; name=a.txt\r\n\
        Content-Disposition: attachment; filename=a.txt\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--m--\r\n";
    mailbox.there.deliver(&written("Look", "look@x.test", head, body)).await;
    let original = mailbox.titled("Look").await;
    let body = json!({ "subject": null, "body": { "html": "<p>See</p>" }, "replyToMessageId": original["id"], "replyMode": "forward" });
    let sent = mailbox.send(body).await;
    assert_eq!((&sent["subject"], &sent["inReplyTo"]), (&json!("Fwd: Look"), &json!([])));
    assert_eq!(
        (&sent["delivery"]["state"], &sent["attachments"][0]["filename"]),
        (&json!("sent"), &json!("a.txt"))
    );
    let html = text(&sent["body"]["html"]);
    assert!(html.contains("See") && html.contains("Look") && html.contains("ann@elsewhere.test"), "{html}");
    assert!(!html.contains("<script"), "what could act is not passed on: {html}");
    let way = text(&sent["attachments"][0]["downloadUrl"]);
    assert_eq!(mailbox.get(format!("{way}?format=raw")).send().await.text, "hello");
    let original = mailbox.read(&original["id"]).await;
    assert_eq!((&original["forwarded"], &original["answered"]), (&json!(true), &json!(false)));
}

/// An address that the provider refuses, and one that it refuses for now.
fn trouble(mailbox: &Mailbox) -> (&'static str, &'static str) {
    match mailbox.provider {
        Provider::Sandbox => ("reject@x.test", "defer@x.test"),
        _ => ("reject@example.test", "tempfail@example.test"),
    }
}

fn outcome<'a>(sent: &'a Value, address: &str) -> &'a Value {
    let all = sent["delivery"]["recipients"].as_array().expect("a list");
    all.iter().find(|r| r["email"] == address).unwrap_or_else(|| panic!("no {address} in {sent:#}"))
}

async fn who_does_not_take_it(mailbox: Mailbox) {
    if !mailbox.delivers() {
        return;
    }
    let (never, _) = trouble(&mailbox);
    let good = mailbox.other.address.clone();
    let sent = mailbox.send(json!({ "to": [{ "email": never }, { "email": good }] })).await;
    if mailbox.provider == Provider::Jmap {
        // Cyrus takes it for all or for none (RFC 8621 section 7.5), and has said so.
        assert_eq!(sent["delivery"]["state"], "failed", "{sent:#}");
        return;
    }
    assert_eq!(sent["delivery"]["state"], "partially_failed", "{sent:#}");
    assert_eq!(
        (&outcome(&sent, never)["status"], &outcome(&sent, &good)["status"]),
        (&json!("bounced"), &json!("accepted"))
    );
    let said = outcome(&sent, never);
    assert!(text(&said["smtpReply"]).starts_with("550") && said["enhancedStatus"] == "5.1.1", "{said}");
    let id = text(&sent["internetMessageId"]);
    mailbox.other.arrived(&id).await;

    let nobody = mailbox.send(json!({ "to": [{ "email": never }] })).await;
    assert_eq!(
        (&nobody["delivery"]["state"], &nobody["delivery"]["attempts"]),
        (&json!("failed"), &json!(1))
    );
    let id = text(&nobody["internetMessageId"]);
    assert_eq!(mailbox.there.folders_of(&id).await, [""; 0], "nobody got it: no copy among what was sent");
    mailbox.later(86_400).await;
    assert_eq!(mailbox.read(&nobody["id"]).await["delivery"]["attempts"], 1, "it is not tried again");
}

async fn who_may_take_it_later(mailbox: Mailbox) {
    if !mailbox.delivers() {
        return;
    }
    let (_, later) = trouble(&mailbox);
    let good = mailbox.other.address.clone();
    let mut sent = mailbox.send(json!({ "to": [{ "email": good }], "cc": [{ "email": later }] })).await;
    if mailbox.provider == Provider::Jmap {
        let state = text(&sent["delivery"]["state"]);
        assert!(
            state == "queued" || state == "failed",
            "Cyrus took it for nobody, and has said so: {sent:#}"
        );
        return;
    }
    assert_eq!(
        (&outcome(&sent, &good)["status"], &outcome(&sent, later)["status"]),
        (&json!("accepted"), &json!("deferred")),
        "{sent:#}"
    );
    assert!(text(&outcome(&sent, later)["smtpReply"]).starts_with("45"), "{sent:#}");
    assert_eq!((&sent["delivery"]["state"], &sent["delivery"]["attempts"]), (&json!("queued"), &json!(1)));
    let id = text(&sent["internetMessageId"]);
    mailbox.other.arrived(&id).await;
    let mut attempts = 1;
    while sent["delivery"]["state"] == "queued" {
        attempts += 1;
        assert!(attempts < 20, "it is tried for ever: {sent:#}");
        mailbox.later(36_000).await;
        sent = mailbox.read(&sent["id"]).await;
        assert_eq!(sent["delivery"]["attempts"], attempts, "{sent:#}");
    }
    assert_eq!(sent["delivery"]["state"], "partially_failed");
    assert_eq!(
        (&outcome(&sent, &good)["status"], &outcome(&sent, later)["status"]),
        (&json!("accepted"), &json!("bounced"))
    );
    assert_eq!(mailbox.other.folders_of(&id).await, ["inbox"], "who had taken it got it once");
    assert_eq!(mailbox.there.folders_of(&id).await, ["sent"], "and one copy is kept");
}

async fn no_copy_is_kept(mailbox: Mailbox) {
    let sent = mailbox.send(json!({ "saveToSent": false, "subject": "Unsaved" })).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    assert!(mailbox.there.contents().await.is_empty());
    if mailbox.delivers() {
        mailbox.other.arrived(&text(&sent["internetMessageId"])).await;
    }
    mailbox.list("").await;
    assert_eq!(
        mailbox.read(&sent["id"]).await["delivery"]["state"],
        "sent",
        "what became of it can be read still"
    );
}

async fn one_request_is_one_message(mailbox: Mailbox) {
    let body = mailbox.message(json!({ "subject": "Same" }));
    let ask = || mailbox.api.post("/v1/email/send", body.clone()).keyed("same").send();
    let (one, two) = tokio::join!(ask(), ask());
    let first = if one.status == 202 { one } else { two }.expect(202);
    mailbox.server.hand_over().await;
    let again = ask().await.expect(202);
    assert_eq!(again["id"], first["id"]);
    mailbox.server.hand_over().await;
    let other = mailbox.message(json!({ "subject": "Another" }));
    let other = mailbox.api.post("/v1/email/send", other).keyed("same").send().await;
    other.refused(409, "idempotency_key_reused");
    let id = text(&first["internetMessageId"]);
    assert_eq!(mailbox.there.contents().await.keys().collect::<Vec<_>>(), [&id]);
    if mailbox.delivers() {
        mailbox.other.arrived(&id).await;
        assert_eq!(mailbox.other.contents().await.len(), 1);
    }
}

/// A provider that does not answer is tried again, for a day; and then the message says that it failed.
async fn while_the_provider_is_away(mailbox: Mailbox) {
    let Some(sandbox) = mailbox.there.sandbox() else { return };
    let away = json!({ "status": 503, "times": 1000, "pathPrefix": "/sandbox/v1/mail/send" });
    sandbox.post("/sandbox/faults", away.clone()).send().await.expect(201);
    let waiting = mailbox.send(json!({ "subject": "Waiting" })).await;
    assert_eq!(
        (&waiting["delivery"]["state"], &waiting["delivery"]["attempts"]),
        (&json!("queued"), &json!(1))
    );
    assert_eq!(waiting["delivery"]["error"]["code"], "provider_unavailable", "{waiting:#}");
    mailbox.later(14).await;
    assert_eq!(mailbox.read(&waiting["id"]).await["delivery"]["attempts"], 1, "not yet");
    mailbox.later(1).await;
    assert_eq!(mailbox.read(&waiting["id"]).await["delivery"]["attempts"], 2);
    sandbox.delete("/sandbox/faults").send().await.expect(204);
    mailbox.later(60).await;
    let sent = mailbox.read(&waiting["id"]).await;
    assert_eq!(
        (&sent["delivery"]["state"], &sent["delivery"]["error"]),
        (&json!("sent"), &Value::Null),
        "{sent:#}"
    );

    sandbox.post("/sandbox/faults", away).send().await.expect(201);
    let mut failing = mailbox.send(json!({ "subject": "Failing" })).await;
    let mut rounds = 0;
    while failing["delivery"]["state"] == "queued" {
        rounds += 1;
        assert!(rounds < 20, "{failing:#}");
        mailbox.later(36_000).await;
        failing = mailbox.read(&failing["id"]).await;
    }
    assert_eq!(failing["delivery"]["state"], "failed");
    assert_eq!(failing["delivery"]["error"]["code"], "provider_unavailable");
    // A lost answer: the message went, and is found.
    sandbox.delete("/sandbox/faults").send().await.expect(204);
    let lost = json!({ "lostAnswer": true, "pathPrefix": "/sandbox/v1/mail/send" });
    sandbox.post("/sandbox/faults", lost).send().await.expect(201);
    let mut lost = mailbox.send(json!({ "subject": "Lost" })).await;
    for _ in 0..5 {
        if lost["delivery"]["state"] == "sent" {
            break;
        }
        mailbox.later(600).await;
        lost = mailbox.read(&lost["id"]).await;
    }
    assert_eq!(lost["delivery"]["state"], "sent", "{lost:#}");
    assert_eq!(mailbox.other.folders_of(&text(&lost["internetMessageId"])).await, ["inbox"]);
}
