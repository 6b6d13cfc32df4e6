//! `/v1/email/drafts`, from the first word to the sent message.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use storage::mail;

use crate::email::mailbox::{Mailbox, letter, merge, refused, text};

on_every_mailbox!(
    a_life,
    files_that_stay_and_files_that_go,
    versions,
    sent_once,
    sent_later_or_not_at_all,
    an_answer_in_the_making,
    what_is_refused,
    of_another_program,
);

fn file(name: &str, content: &str) -> Value {
    json!({ "filename": name, "contentType": "text/plain", "contentBase64": BASE64_STANDARD.encode(content) })
}

async fn create(mailbox: &Mailbox, body: Value) -> Value {
    let mut new = json!({ "connectionId": mailbox.connection, "to": [{ "email": mailbox.other.address }],
        "subject": "Draft", "body": { "text": "one" } });
    merge(&mut new, body);
    mailbox.api.post("/v1/email/drafts", new).send().await.expect(201)
}

fn path(draft: &Value) -> String {
    format!("/v1/email/drafts/{}", text(&draft["id"]))
}

async fn get(mailbox: &Mailbox, draft: &Value) -> Value {
    mailbox.get(path(draft)).send().await.expect(200)
}

fn body_text(of: &Value) -> String {
    text(&of["body"]["text"]).trim_end().to_owned()
}

async fn a_life(mailbox: Mailbox) {
    let new = json!({ "metadata": { "a": "b" }, "bcc": [{ "email": "hidden@x.test" }] });
    let draft = create(&mailbox, new).await;
    assert_eq!(
        (&draft["status"], &draft["draft"], body_text(&draft)),
        (&json!("draft"), &json!(true), "one".into())
    );
    assert_eq!(
        (&draft["sendAt"], &draft["sentMessageId"], &draft["sendError"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert!(draft.get("receivedAt").is_none(), "a draft was received by nobody");
    assert_eq!(
        (&draft["from"][0]["email"], &draft["metadata"]),
        (&json!(mailbox.address), &json!({ "a": "b" }))
    );
    let read = get(&mailbox, &draft).await;
    assert_eq!(
        (&read["etag"], body_text(&read), &read["bcc"]),
        (&draft["etag"], "one".into(), &draft["bcc"])
    );
    // Other programs see it where drafts are.
    let id = text(&draft["internetMessageId"]);
    assert_eq!(
        mailbox.there.contents().await[&id],
        [("drafts".to_owned(), vec!["draft".to_owned(), "seen".to_owned()])]
    );

    let change = json!({ "subject": "Draft 2", "body": { "html": "<b>two</b>" }, "etag": read["etag"] });
    let changed = mailbox.api.patch(path(&draft), change).send().await.expect(200);
    assert_eq!(
        (&changed["id"], &changed["subject"], &changed["metadata"]),
        (&draft["id"], &json!("Draft 2"), &draft["metadata"])
    );
    assert_eq!(body_text(&changed), "one", "what is not named stays");
    assert!(text(&changed["body"]["html"]).contains("<b>two</b>"));
    assert_eq!(mailbox.there.contents().await.len(), 1, "the version before is gone");
    // A draft that was read is sent back with one change.
    let mut whole = get(&mailbox, &draft).await;
    whole["cc"] = json!([{ "name": "C, c", "email": "cc@x.test" }]);
    let changed = mailbox.api.patch(path(&draft), whole).send().await.expect(200);
    assert_eq!(changed["cc"], json!([{ "name": "C, c", "email": "cc@x.test" }]));
    assert_eq!((body_text(&changed), &changed["bcc"]), ("one".into(), &draft["bcc"]));
    let cleared = json!({ "metadata": null, "cc": null, "etag": changed["etag"] });
    let changed = mailbox.api.patch(path(&draft), cleared).send().await.expect(200);
    assert_eq!((&changed["metadata"], &changed["cc"]), (&json!({}), &json!([])), "null clears");

    let list = format!("/v1/email/drafts?connection_id={}", mailbox.connection);
    let listed = mailbox.all(&list).await;
    assert_eq!((listed.len(), &listed[0]["id"], &listed[0]["etag"]), (1, &draft["id"], &changed["etag"]));
    assert!(listed[0].get("receivedAt").is_none());
    let as_message = mailbox.read(&draft["id"]).await;
    assert_eq!((&as_message["draft"], &as_message["subject"]), (&json!(true), &json!("Draft 2")));
    mailbox.api.delete(path(&draft)).send().await.expect(204);
    mailbox.get(path(&draft)).send().await.refused(404, "not_found");
    assert_eq!(mailbox.all(&list).await, Vec::<Value>::new());
    assert!(mailbox.there.contents().await.is_empty(), "destroyed, not put into the trash");
}

async fn files_that_stay_and_files_that_go(mailbox: Mailbox) {
    let files = json!([file("a.txt", "aaa"), file("b.txt", "bbb")]);
    let draft = create(&mailbox, json!({ "attachments": files })).await;
    let names = |of: &Value| -> Vec<String> {
        of["attachments"].as_array().expect("a list").iter().map(|f| text(&f["filename"])).collect()
    };
    assert_eq!(names(&draft), ["a.txt", "b.txt"]);
    let change = json!({ "body": { "text": "two" }, "etag": draft["etag"] });
    let same = mailbox.api.patch(path(&draft), change).send().await.expect(200);
    assert_eq!(
        (names(&same), body_text(&same)),
        (vec!["a.txt".to_owned(), "b.txt".to_owned()], "two".into())
    );
    // An existing attachment, by its id, and a new one.
    let kept = json!([{ "id": same["attachments"][1]["id"] }, file("c.txt", "ccc")]);
    let change = json!({ "attachments": kept, "etag": same["etag"] });
    let other = mailbox.api.patch(path(&draft), change).send().await.expect(200);
    assert_eq!(names(&other), ["b.txt", "c.txt"]);
    let way = text(&other["attachments"][0]["downloadUrl"]);
    assert_eq!(mailbox.get(format!("{way}?format=raw")).send().await.text, "bbb");
    let change = json!({ "attachments": [], "etag": other["etag"] });
    let none = mailbox.api.patch(path(&draft), change).send().await.expect(200);
    assert_eq!((names(&none), &none["hasAttachments"]), (Vec::new(), &json!(false)));
    // An attachment of another message of the same account.
    let first = create(&mailbox, json!({ "attachments": [file("z.txt", "zzz")] })).await;
    let of = json!({ "attachmentRef": { "messageId": first["id"], "attachmentId": first["attachments"][0]["id"] } });
    let second = create(&mailbox, json!({ "attachments": [of] })).await;
    assert_eq!(names(&second), ["z.txt"]);
}

async fn versions(mailbox: Mailbox) {
    let draft = create(&mailbox, json!({})).await;
    let without = mailbox.api.patch(path(&draft), json!({ "subject": "x" })).send().await;
    refused(without, 400, "missing_field", "etag");
    let first = mailbox.api.patch(path(&draft), json!({ "subject": "x" })).if_match(&text(&draft["etag"]));
    let first = first.keyed("save").send().await.expect(200);
    let again = mailbox.api.patch(path(&draft), json!({ "subject": "x" })).if_match(&text(&draft["etag"]));
    assert_eq!(again.keyed("save").send().await.expect(200), first, "the same request again");
    let stale = mailbox.api.patch(path(&draft), json!({ "subject": "y" })).if_match(&text(&draft["etag"]));
    let error = stale.send().await.refused(409, "stale_etag");
    assert_eq!(error["current_etag"], first["etag"]);
    assert_eq!(mailbox.there.contents().await.len(), 1);
    mailbox.api.delete(path(&draft)).if_match(&text(&draft["etag"])).send().await.refused(409, "stale_etag");
    mailbox.api.delete(path(&draft)).if_match(&text(&first["etag"])).send().await.expect(204);
}

async fn sent_once(mailbox: Mailbox) {
    let draft = create(&mailbox, json!({ "subject": "Once", "attachments": [file("a.txt", "aaa")] })).await;
    let send = format!("{}/send", path(&draft));
    let (one, two) = tokio::join!(
        mailbox.api.post(&send, json!({})).keyed("one").send(),
        mailbox.api.post(&send, json!({})).keyed("two").send()
    );
    let (taken, late) = if one.status == 202 { (one, two) } else { (two, one) };
    let message = taken.expect(202);
    late.refused(409, "draft_already_sent");
    assert_eq!(message["delivery"]["state"], "queued");
    assert_eq!(get(&mailbox, &draft).await["status"], "sending");
    let change = mailbox.api.patch(path(&draft), json!({ "subject": "x" })).if_match("*");
    change.send().await.refused(409, "draft_already_sent");
    mailbox.server.hand_over().await;
    let sent = mailbox.read(&message["id"]).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    assert_eq!(
        (&sent["delivery"]["attempts"], &sent["draft"], &sent["hasAttachments"]),
        (&json!(1), &json!(false), &json!(true))
    );
    let id = text(&sent["internetMessageId"]);
    let there = mailbox.there.contents().await;
    assert_eq!(there.len(), 1, "a copy among what was sent, and no draft: {there:#?}");
    assert_eq!(there[&id][0].0, "sent");
    let after = get(&mailbox, &draft).await;
    assert_eq!(
        (&after["status"], &after["sentMessageId"], &after["sendError"]),
        (&json!("sent"), &message["id"], &Value::Null)
    );
    let latest = mail::latest_of(mailbox.server.app.db.reader(), &text(&draft["threadId"])).await;
    let is_in_its_thread = sent["threadId"] == draft["threadId"];
    assert_eq!(latest.expect("a query").is_some(), is_in_its_thread, "a thread without messages is empty");
    mailbox.api.post(&send, json!({})).send().await.refused(409, "draft_already_sent");
    let list = format!("/v1/email/drafts?connection_id={}", mailbox.connection);
    assert_eq!(mailbox.all(&list).await, Vec::<Value>::new());
    mailbox.server.hand_over().await;
    if mailbox.delivers() {
        let raw = mailbox.other.arrived(&id).await;
        assert!(raw.contains("Subject: Once"), "{raw}");
        assert_eq!(mailbox.other.folders_of(&id).await, ["inbox"], "once");
    }
}

async fn sent_later_or_not_at_all(mailbox: Mailbox) {
    let at = |seconds: i64| {
        model::Instant::from_millis(mailbox.server.clock.now_ms() + seconds * 1000).to_string()
    };
    let draft = create(&mailbox, json!({ "subject": "Later", "sendAt": at(3600) })).await;
    let message = mailbox.api.post(format!("{}/send", path(&draft)), json!({})).send().await.expect(202);
    assert_eq!(
        (&message["delivery"]["state"], &message["delivery"]["sendAt"]),
        (&json!("queued"), &draft["sendAt"])
    );
    assert_eq!(get(&mailbox, &draft).await["status"], "scheduled");
    mailbox.later(3599).await;
    assert_eq!(mailbox.read(&message["id"]).await["delivery"]["attempts"], 0);
    let change = mailbox.api.patch(path(&draft), json!({ "subject": "x" })).if_match("*");
    change.send().await.refused(409, "invalid_state");
    // It is taken back, changed, and sent at another time.
    mailbox.api.delete(format!("/v1/email/messages/{}", text(&message["id"]))).send().await.expect(204);
    let free = get(&mailbox, &draft).await;
    assert_eq!((&free["status"], &free["sentMessageId"]), (&json!("draft"), &Value::Null));
    mailbox.later(10).await;
    assert_eq!(mailbox.there.contents().await.len(), 1, "the draft alone is there");
    let send = json!({ "sendAt": at(60), "etag": free["etag"] });
    let message = mailbox.api.post(format!("{}/send", path(&draft)), send).send().await.expect(202);
    mailbox.later(60).await;
    let sent = mailbox.read(&message["id"]).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    mailbox.api.delete(path(&draft)).send().await.expect(204);

    // The same without a draft.
    let message = mailbox.submit(json!({ "subject": "Never", "sendAt": at(60) })).await;
    let read = mailbox.read(&message["id"]).await;
    assert_eq!((body_text(&read), &read["folderIds"]), ("Hello".into(), &json!([])));
    mailbox.api.delete(format!("/v1/email/messages/{}", text(&message["id"]))).send().await.expect(204);
    mailbox.later(120).await;
    mailbox
        .get(format!("/v1/email/messages/{}", text(&message["id"])))
        .send()
        .await
        .refused(404, "not_found");
    let id = text(&message["internetMessageId"]);
    assert!(!mailbox.there.contents().await.contains_key(&id));
}

async fn an_answer_in_the_making(mailbox: Mailbox) {
    mailbox.there.deliver(&letter("Question", "question@x.test", "References: <older@x.test>\r\n")).await;
    let question = mailbox.titled("Question").await;
    let new = json!({ "subject": null, "replyToMessageId": question["id"], "replyMode": "reply" });
    let draft = create(&mailbox, new).await;
    assert_eq!(
        (&draft["subject"], &draft["inReplyTo"]),
        (&json!("Re: Question"), &json!(["question@x.test"]))
    );
    assert_eq!(draft["references"], json!(["older@x.test", "question@x.test"]));
    assert_eq!((&draft["replyToMessageId"], &draft["threadId"]), (&question["id"], &question["threadId"]));
    let change = json!({ "body": { "text": "better" }, "etag": draft["etag"] });
    let changed = mailbox.api.patch(path(&draft), change).send().await.expect(200);
    assert_eq!((&changed["references"], &changed["threadId"]), (&draft["references"], &draft["threadId"]));
    let thread =
        mailbox.get(format!("/v1/email/threads/{}", text(&question["threadId"]))).send().await.expect(200);
    assert_eq!(
        (&thread["draftIds"], &thread["hasDrafts"], &thread["messageCount"]),
        (&json!([draft["id"]]), &json!(true), &json!(1))
    );
    let sent = mailbox.api.post(format!("{}/send", path(&draft)), json!({})).send().await.expect(202);
    mailbox.server.hand_over().await;
    let question = mailbox.read(&question["id"]).await;
    assert_eq!(question["answered"], true, "the provider's other programs see that it was answered");
    assert_eq!(mailbox.read(&sent["id"]).await["threadId"], question["threadId"]);
}

async fn what_is_refused(mailbox: Mailbox) {
    let new = |body: Value| {
        let mut new = json!({ "connectionId": mailbox.connection });
        merge(&mut new, body);
        mailbox.api.post("/v1/email/drafts", new)
    };
    for (body, param) in [
        (json!({ "to": [{ "email": "a@b\r\nBcc: c@d" }] }), "to[0].email"),
        (json!({ "subject": "a\nb" }), "subject"),
        (json!({ "sendAt": "2090-01-01T00:00:00Z" }), "sendAt"),
        (json!({ "replyMode": "forward" }), "replyMode"),
        (json!({ "replyToMessageId": "msg_00000000000000000000000000" }), "replyToMessageId"),
        (
            json!({ "attachments": [{ "attachmentRef": { "messageId": "x", "attachmentId": "y" } }] }),
            "attachments[0].attachmentRef",
        ),
        (json!({ "headers": [{ "name": "Received", "value": "x" }] }), "headers[0].name"),
        (json!({ "metadata": { "a": 1 } }), "metadata.a"),
    ] {
        refused(new(body).send().await, 400, "invalid_parameter", param);
    }
    refused(
        mailbox.api.post("/v1/email/drafts", json!({})).send().await,
        400,
        "missing_field",
        "connectionId",
    );
    let empty = new(json!({})).send().await.expect(201);
    let send = mailbox.api.post(format!("{}/send", path(&empty)), json!({})).send().await;
    refused(send, 400, "missing_field", "to");
    let change = mailbox.api.patch(path(&empty), json!({ "status": "sent" })).if_match("*").send().await;
    refused(change, 400, "invalid_parameter", "status");
    assert_eq!(get(&mailbox, &empty).await["status"], "draft");
}

/// A draft that another program wrote is a draft like any other; one that it changes is changed.
async fn of_another_program(mailbox: Mailbox) {
    let Some(sandbox) = mailbox.there.sandbox() else {
        mailbox
            .there
            .deliver(&letter("Theirs", "theirs@x.test", "").into_folder("drafts").flagged(&["seen", "draft"]))
            .await;
        return theirs(&mailbox).await;
    };
    let raw = letter("Theirs", "theirs@x.test", "").raw;
    let ask = sandbox.ask(reqwest::Method::POST, "/sandbox/v1/mail/drafts".to_owned(), None);
    ask.raw("message/rfc822", raw).send().await.expect(201);
    theirs(&mailbox).await;
}

async fn theirs(mailbox: &Mailbox) {
    let list = format!("/v1/email/drafts?connection_id={}", mailbox.connection);
    let all = mailbox.all(&list).await;
    assert_eq!((all.len(), &all[0]["subject"], &all[0]["status"]), (1, &json!("Theirs"), &json!("draft")));
    let change = json!({ "body": { "text": "ours" }, "etag": all[0]["etag"] });
    let changed = mailbox.api.patch(path(&all[0]), change).send().await.expect(200);
    assert_eq!(
        (&changed["id"], &changed["to"][0]["email"]),
        (&all[0]["id"], &json!("somebody@elsewhere.test"))
    );
    let there = mailbox.there.contents().await;
    assert_eq!(there.len(), 1);
    let id = there.keys().next().expect("one").clone();
    mailbox.there.destroy(&id).await;
    mailbox.get(path(&all[0])).send().await.refused(404, "not_found");
    assert_eq!(mailbox.all(&list).await, Vec::<Value>::new());
}
