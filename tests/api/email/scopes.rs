//! Sending does not include reading: a key cannot get at unreadable data by sending it.

use serde_json::json;

use crate::email::mailbox::{Mailbox, Provider, text, written};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_sends_nothing_that_it_may_not_read() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("the sandbox needs no server");
    let head = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n";
    let body = "--m\r\nContent-Type: text/plain\r\n\r\nSee the list\r\n--m\r\nContent-Type: text/plain; name=list.txt\r\n\
        Content-Disposition: attachment; filename=list.txt\r\n\r\nAnn: 1\r\n--m--\r\n";
    mailbox.there.deliver(&written("Salaries", "salaries@x.test", head, body)).await;
    let message = mailbox.titled("Salaries").await;
    let draft = json!({ "connectionId": mailbox.connection, "to": [{ "email": mailbox.other.address }], "subject": "Not yet",
        "body": { "text": "This is not finished" } });
    let draft = mailbox.api.post("/v1/email/drafts", draft).send().await.expect(201);
    let send_draft = format!("/v1/email/drafts/{}/send", text(&draft["id"]));
    let file = &message["attachments"][0]["id"];
    let attached = json!({ "attachmentRef": { "messageId": message["id"], "attachmentId": file } });

    let sender = mailbox.server.client_with(&["email.send"]).await;
    for mode in ["reply", "replyAll", "forward"] {
        let body = mailbox.message(json!({ "replyToMessageId": message["id"], "replyMode": mode }));
        let refused = sender.post("/v1/email/send", body).send().await.refused(403, "insufficient_scope");
        assert_eq!(refused["param"], "replyToMessageId", "{mode}");
        assert!(refused["message"].as_str().is_some_and(|text| text.contains("email.read")), "{refused:#}");
    }
    // The answer does not reveal whether such a message exists.
    let unknown = mailbox.message(json!({ "replyToMessageId": "msg_00000000000000000000000000" }));
    let refused = sender.post("/v1/email/send", unknown).send().await.refused(403, "insufficient_scope");
    assert_eq!(refused["param"], "replyToMessageId");
    let small = json!({ "filename": "a.txt", "contentBase64": "YQ==" });
    let body = mailbox.message(json!({ "attachments": [small, attached] }));
    let refused = sender.post("/v1/email/send", body).send().await.refused(403, "insufficient_scope");
    assert_eq!(refused["param"], "attachments[1].attachmentRef");
    let refused = sender.post(&send_draft, json!({})).send().await.refused(403, "insufficient_scope");
    assert_eq!(refused["param"], "draftId");
    mailbox.server.hand_over().await;
    let read = mailbox.api.get(format!("/v1/email/drafts/{}", text(&draft["id"]))).send().await.expect(200);
    assert_eq!(read["status"], "draft");

    sender.post("/v1/email/send", mailbox.message(json!({}))).send().await.expect(202);
    let both = mailbox.server.client_with(&["email.send", "email.read"]).await;
    let body = mailbox.message(
        json!({ "replyToMessageId": message["id"], "replyMode": "forward", "attachments": [attached] }),
    );
    both.post("/v1/email/send", body).send().await.expect(202);
    both.post(&send_draft, json!({})).send().await.expect(202);
}
