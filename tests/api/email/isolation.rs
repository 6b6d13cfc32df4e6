//! Mail of one application is invisible to another, for any request and any id.

use reqwest::Method;
use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, letter, text};

on_every_mailbox!(another_applications_mail);

async fn another_applications_mail(mailbox: Mailbox) {
    let file = "MIME-Version: 1.0\r\nContent-Disposition: attachment; filename=a.txt\r\n";
    mailbox.there.deliver(&letter("Mine", "mine@x.test", file)).await;
    let message = mailbox.titled("Mine").await;
    let draft = json!({ "connectionId": mailbox.connection, "subject": "Draft" });
    let draft = mailbox.api.post("/v1/email/drafts", draft).send().await.expect(201);
    let sent = mailbox
        .submit(json!({ "sendAt": model::Instant::from_millis(mailbox.server.clock.now_ms() + 60_000) }))
        .await;
    mailbox
        .api
        .post("/v1/email/sync/start", json!({ "connectionId": mailbox.connection }))
        .send()
        .await
        .expect(202);
    let stranger = mailbox.server.key("stranger", |_| {}).await;
    let (connection, id) = (&mailbox.connection, text(&message["id"]));
    let of_message = format!("/v1/email/messages/{id}");
    let of_draft = format!("/v1/email/drafts/{}", text(&draft["id"]));
    let of_sent = format!("/v1/email/messages/{}", text(&sent["id"]));
    let file = message["attachments"][0]["id"].as_str().unwrap_or("att_x").to_owned();
    let gets = [
        format!("/v1/email/messages?connection_id={connection}"),
        of_message.clone(),
        of_sent.clone(),
        format!("{of_message}/attachments/{file}"),
        format!("/v1/email/threads?connection_id={connection}"),
        format!("/v1/email/threads/{}", text(&message["threadId"])),
        format!("/v1/email/folders?connection_id={connection}"),
        format!("/v1/email/labels?connection_id={connection}"),
        format!("/v1/email/drafts?connection_id={connection}"),
        of_draft.clone(),
        format!("/v1/email/sync/changes?connection_id={connection}"),
        format!("/v1/email/sync/status/{connection}"),
        format!("/v1/email/capabilities/{connection}"),
    ];
    for path in gets {
        stranger.get(path).send().await.refused(404, "not_found");
    }
    let body =
        json!({ "connectionId": connection, "to": [{ "email": "a@x.test" }], "body": { "text": "x" } });
    let raw = json!({ "connectionId": connection, "rawBase64": "U3ViamVjdDogeA0KDQp4DQo=" });
    for (method, path, body) in [
        (Method::PATCH, of_message.clone(), json!({ "starred": true })),
        (Method::DELETE, of_message.clone(), json!({})),
        (Method::DELETE, of_sent.clone(), json!({})),
        (Method::POST, "/v1/email/messages".to_owned(), raw),
        (Method::POST, "/v1/email/drafts".to_owned(), body.clone()),
        (Method::PATCH, of_draft.clone(), json!({ "subject": "x", "etag": draft["etag"] })),
        (Method::DELETE, of_draft.clone(), json!({})),
        (Method::POST, format!("{of_draft}/send"), json!({})),
        (Method::POST, "/v1/email/send".to_owned(), body),
        (Method::POST, "/v1/email/sync/start".to_owned(), json!({ "connectionId": connection })),
        (Method::POST, "/v1/email/sync/reset".to_owned(), json!({ "connectionId": connection })),
    ] {
        stranger.ask(method, path, Some(body)).send().await.refused(404, "not_found");
    }
    for query in ["", "?q=mine"] {
        assert_eq!(stranger.all(&format!("/v1/email/messages{query}")).await, Vec::<Value>::new());
    }
    for path in ["threads", "folders", "labels", "drafts"] {
        assert_eq!(stranger.all(&format!("/v1/email/{path}")).await, Vec::<Value>::new(), "{path}");
    }
    for (filter, id) in [("folder_id", &message["folderIds"][0]), ("thread_id", &message["threadId"])] {
        let asked = stranger.get(format!("/v1/email/messages?{filter}={}", text(id))).send().await;
        asked.refused(400, "invalid_parameter");
    }
    // Nothing of it had an effect, and the owner has it all.
    let now = mailbox.read(&message["id"]).await;
    assert_eq!((&now["starred"], &now["subject"]), (&json!(false), &json!("Mine")));
    assert_eq!(mailbox.read(&sent["id"]).await["delivery"]["state"], "queued");
    // A key of the owner's that is bound to another connection sees as little.
    let bound = mailbox.server.key("test", |key| key.connection_ids = vec!["conn_x".to_owned()]).await;
    bound.get(of_message).send().await.refused(404, "not_found");
    bound.get(of_draft).send().await.refused(404, "not_found");
    assert_eq!(bound.all("/v1/email/messages").await, Vec::<Value>::new());
    // A key without the scope is refused with that reason.
    let reader = mailbox.server.client_with(&["email.read"]).await;
    let change = reader.patch(format!("/v1/email/messages/{id}"), json!({ "starred": true })).send().await;
    change.refused(403, "insufficient_scope");
    let send = reader.post("/v1/email/send", mailbox.message(json!({}))).send().await;
    send.refused(403, "insufficient_scope");
}
