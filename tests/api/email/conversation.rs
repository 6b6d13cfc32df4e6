//! Two mailboxes on different servers that write to each other: Dovecot and Cyrus, with Exim between them.

use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, Provider, cyrus_delivers, text, until};

/// Returns a message of a mailbox, as soon as the API lists it.
async fn received(mailbox: &Mailbox, subject: &str) -> Value {
    let query = format!("folder_id={}", mailbox.folder("inbox").await);
    let what = format!("{subject} at {}", mailbox.address);
    until(&what, async || mailbox.list(&query).await.into_iter().find(|m| m["subject"] == subject)).await
}

/// Returns the changes of a feed since a cursor, and the current cursor.
async fn news(mailbox: &Mailbox, cursor: &str) -> (Vec<Value>, String) {
    let (mut all, mut cursor) = (Vec::new(), cursor.to_owned());
    loop {
        let path = format!("/v1/email/sync/changes?connection_id={}&limit=100{cursor}", mailbox.connection);
        let page = mailbox.get(path).send().await.expect(200);
        all.extend(page["data"].as_array().expect("a list").iter().cloned());
        cursor = format!("&cursor={}", text(&page["sync_cursor"]));
        if page["next_cursor"].is_null() {
            return (all, cursor);
        }
    }
}

async fn followed(mailbox: &Mailbox) -> String {
    let start = json!({ "connectionId": mailbox.connection });
    mailbox.api.post("/v1/email/sync/start", start).send().await.expect(202);
    news(mailbox, "").await.1
}

/// Returns the changes of messages: type and subject.
fn told(changes: &[Value]) -> Vec<(String, String)> {
    let of_messages = changes.iter().filter(|c| c["resourceType"] == "email.message");
    let told = of_messages.map(|c| (text(&c["changeType"]), text(&c["resource"]["subject"])));
    told.collect()
}

async fn talk(one: Mailbox, two: Mailbox) {
    let (cursor_one, cursor_two) = (followed(&one).await, followed(&two).await);
    let question = json!({ "to": [{ "name": "Two", "email": two.address }], "subject": "Question \u{fc}",
        "body": { "text": "Shall we?", "html": "<p>Shall <b>we</b>?</p>" } });
    let sent = one.send(question).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    let got = received(&two, "Question \u{fc}").await;
    assert_eq!((&got["from"][0]["email"], &got["unread"]), (&json!(one.address), &json!(true)));
    assert_eq!(got["internetMessageId"], sent["internetMessageId"]);
    let whole = two.read(&got["id"]).await;
    assert_eq!(text(&whole["body"]["text"]).trim_end(), "Shall we?");

    // The servers' clocks have moved on: the answered message is older than the answer.
    two.server.clock.advance_ms(60_000);
    let answer = json!({ "to": got["from"], "subject": null, "replyToMessageId": got["id"], "body": { "text": "Yes" } });
    let answered = two.send(answer).await;
    assert_eq!(
        (&answered["delivery"]["state"], &answered["threadId"]),
        (&json!("sent"), &got["threadId"]),
        "{answered:#}"
    );
    let back = received(&one, "Re: Question \u{fc}").await;
    assert_eq!(
        (&back["threadId"], &back["inReplyTo"]),
        (&sent["threadId"], &json!([sent["internetMessageId"]]))
    );
    for (mailbox, thread) in [(&one, &sent["threadId"]), (&two, &got["threadId"])] {
        let thread = mailbox.get(format!("/v1/email/threads/{}", text(thread))).send().await.expect(200);
        assert_eq!((&thread["messageCount"], &thread["subject"]), (&json!(2), &json!("Question \u{fc}")));
        let people: Vec<&Value> =
            thread["participants"].as_array().expect("a list").iter().map(|p| &p["email"]).collect();
        assert_eq!(people, [&json!(one.address), &json!(two.address)]);
    }
    let (of_one, _) = news(&one, &cursor_one).await;
    let (of_two, _) = news(&two, &cursor_two).await;
    let created = |subject: &str| ("created".to_owned(), subject.to_owned());
    for (told, subjects) in [
        (told(&of_one), ["Question \u{fc}", "Re: Question \u{fc}"]),
        (told(&of_two), ["Question \u{fc}", "Re: Question \u{fc}"]),
    ] {
        for subject in subjects {
            assert_eq!(told.iter().filter(|t| **t == created(subject)).count(), 1, "{subject}: {told:?}");
        }
    }
    // Nothing more to tell, and nothing arrives twice.
    assert_eq!(one.list("").await.len(), 2);
    assert_eq!(two.list("").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dovecot_and_cyrus_by_imap() {
    let Some(one) = Mailbox::open(Provider::Dovecot).await else { return };
    let Some(two) = Mailbox::open(Provider::CyrusImap).await else { return };
    talk(one, two).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dovecot_and_cyrus_by_jmap() {
    let Some(one) = Mailbox::open(Provider::Dovecot).await else { return };
    let Some(two) = Mailbox::open(Provider::Jmap).await else { return };
    if !cyrus_delivers() {
        println!("NOT RUN: Cyrus does not send through Exim; start it with PEERS_CYRUS_SMTP_PORT");
        return;
    }
    talk(one, two).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_of_the_sandbox() {
    let Some(one) = Mailbox::open(Provider::Sandbox).await else { return };
    // The other account of the pair, connected at the same service.
    let body = json!({ "provider": "sandbox", "credentials": { "username": one.other.address, "password": "sandbox" },
        "scopes": ["email.read", "email.write", "email.send"] });
    let connection = text(&one.api.connect(body).await["id"]);
    let sent = one.send(json!({ "subject": "Hi" })).await;
    let inbox = one.all(&format!("/v1/email/messages?connection_id={connection}")).await;
    assert_eq!((inbox.len(), &inbox[0]["subject"]), (1, &json!("Hi")));
    let answer = json!({ "connectionId": connection, "to": [{ "email": one.address }], "body": { "text": "Ho" },
        "replyToMessageId": inbox[0]["id"] });
    one.api.post("/v1/email/send", answer).send().await.expect(202);
    one.server.hand_over().await;
    let back = one.titled("Re: Hi").await;
    assert_eq!(back["threadId"], sent["threadId"]);
    // Lists over both show both sides.
    assert_eq!(one.all("/v1/email/messages").await.len(), 4);
}
