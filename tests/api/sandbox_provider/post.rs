//! Drafts and sending in the sandbox provider.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use serde_json::{Value, json};

use crate::sandbox_provider::mail::{MAIL, MESSAGES, base64, ids, raw_message};
use crate::sandbox_provider::{Answer, Api};

/// A message to send to these recipients.
fn order(raw: &str, recipients: &[&str]) -> Value {
    json!({ "raw": base64(raw), "sender": "alice@sandbox.test", "recipients": recipients, "keepCopy": true })
}

impl Api {
    async fn draft(&self, query: &str, headers: &[(&str, &str)], raw: &str) -> Answer {
        self.bytes("POST", &format!("{MAIL}/drafts?{query}"), headers, raw.as_bytes().to_vec()).await.0
    }

    async fn post_off(&self, order: Value) -> Answer {
        self.post(&format!("{MAIL}/send"), order).await
    }

    async fn subject_in(&self, folder: &str, subject: &str) -> Vec<Value> {
        self.messages(&format!("folder={folder}&q=subject:{subject}")).await
    }
}

/// Every version of a draft is a separate message, which replaces the one before.
#[tokio::test]
async fn drafts() {
    let api = Api::start();
    let first = api.draft("id=version-1", &[], &raw_message("Draft", "d@x.test", "")).await.expect(201);
    let entry = &first["entry"];
    assert_eq!(
        (&entry["folderIds"], &entry["draft"], &entry["unread"]),
        (&json!(["drafts"]), &json!(true), &json!(false))
    );
    api.patch(&format!("{MESSAGES}/version-1"), json!({ "addLabels": ["label-later"] })).await.expect(200);
    let stale = [("if-match", entry["etag"].as_str().unwrap())];
    let next = raw_message("Draft, longer", "d@x.test", "");
    api.draft("id=version-2&replaces=version-1", &stale, &next).await.refused(412, "stale");
    let token = api.mail_token().await;
    let second = api.draft("id=version-2&replaces=version-1", &[], &next).await.expect(201);
    assert_eq!(
        (&second["entry"]["previousId"], &second["dropped"]),
        (&json!("version-1"), &json!(["version-1"]))
    );
    assert_eq!(second["entry"]["labelIds"], json!(["label-later"]), "what was the old one's own stays");
    assert_eq!(second["entry"]["threadId"], entry["threadId"]);
    assert_eq!(ids(&api.mail_changes(&token).await.0), ["version-2", "version-1"]);
    api.draft("replaces=version-1", &[], &next).await.refused(404, "notFound");
    api.draft("replaces=msg-cake-1", &[], &next).await.refused(409, "notADraft");
    api.draft("id=version-2", &[], &next).await.refused(409, "exists");
}

/// Each recipient has a separate result, accounts get the message.
#[tokio::test]
async fn send() {
    let api = Api::start();
    let raw = raw_message("Hello-post", "hello@x.test", "");
    let everybody = [
        "Bob@sandbox.test",
        "bob+tag@sandbox.test",
        "reject@x.test",
        "defer@sandbox.test",
        "dana@customer.example",
        "nobody",
        "newcomer@sandbox.test",
    ];
    let sent = api.post_off(order(&raw, &everybody)).await.expect(200);
    let outcomes: Vec<_> = sent["recipients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| (o["accepted"].as_bool().unwrap(), &o["reply"].as_str().unwrap()[..9]))
        .collect();
    let (yes, no) = ((true, "250 2.1.5"), |reply| (false, reply));
    assert_eq!(outcomes, [yes, yes, no("550 5.1.1"), no("451 4.3.0"), yes, no("553 5.1.3"), yes]);
    let deferred = json!({
        "email": "defer@sandbox.test", "accepted": false, "temporary": true, "reply": "451 4.3.0 try again later", "enhancedStatus": "4.3.0",
    });
    assert_eq!(
        (&sent["recipients"][0]["email"], &sent["recipients"][3]),
        (&json!("bob@sandbox.test"), &deferred)
    );
    let copy = &sent["entry"];
    assert_eq!(
        (&copy["folderIds"], &copy["unread"], &copy["draft"]),
        (&json!(["sent"]), &json!(false), &json!(false))
    );
    for name in ["bob", "newcomer"] {
        let got = api.as_person(name).subject_in("inbox", "hello-post").await;
        assert_eq!(got.len(), 1, "{name} got it once");
        assert_eq!((&got[0]["unread"], &got[0]["internetMessageId"]), (&json!(true), &json!("hello@x.test")));
    }

    // The answer is in the conversation.
    let bob = api.as_person("bob");
    let answer = raw_message("Re: Hello-post", "answer@x.test", "In-Reply-To: <hello@x.test>\r\n");
    let mut back = order(&answer, &["alice@sandbox.test"]);
    back["sender"] = json!("bob@sandbox.test");
    bob.post_off(back).await.expect(200);
    let got = api.subject_in("inbox", "re:").await;
    let got = got.iter().find(|m| m["internetMessageId"] == "answer@x.test").unwrap();
    assert_eq!(got["threadId"], copy["threadId"]);
}

#[tokio::test]
async fn refused_orders() {
    let api = Api::start();
    let raw = raw_message("Refused-post", "refused@x.test", "");
    let nobody = api.post_off(order(&raw, &["reject@x.test", "defer@x.test"])).await.expect(200);
    assert_eq!((&nobody["entry"], nobody["recipients"].as_array().unwrap().len()), (&Value::Null, 2));
    let with = |field: &str, value: Value| {
        let mut order = order(&raw, &["bob@sandbox.test"]);
        order[field] = value;
        order
    };
    api.post_off(with("sender", json!("carol@sandbox.test"))).await.refused(403, "notYourAddress");
    api.post_off(with("draft", json!("nowhere"))).await.refused(404, "notFound");
    for (field, value) in [
        ("recipients", json!([])),
        ("recipients", json!(vec!["a@x.test"; 101])),
        ("raw", json!("#")),
        ("raw", json!("")),
        ("copy", json!("#")),
        ("id", json!("NO")),
    ] {
        let refused = api.post_off(with(field, value)).await;
        assert_eq!(refused.body["error"]["field"], field, "{}", refused.body);
        refused.refused(422, "invalidField");
    }
    assert_eq!(api.subject_in("sent", "refused-post").await.len(), 0);
    assert_eq!(api.as_person("bob").subject_in("inbox", "refused-post").await.len(), 0);
}

/// The copy may contain data that recipients do not see; the draft is deleted; without `keepCopy` no copy is stored.
#[tokio::test]
async fn copies() {
    let api = Api::start();
    let raw = raw_message("Copied-post", "copied@x.test", "");
    api.draft("id=the-draft", &[], &raw).await.expect(201);
    let mut order = order(&raw, &["bob@sandbox.test", "carol@sandbox.test"]);
    order["copy"] =
        json!(base64(&raw_message("Copied-post", "copied@x.test", "Bcc: carol@sandbox.test\r\n")));
    (order["draft"], order["id"]) = (json!("the-draft"), json!("the-copy"));
    let sent = api.post_off(order.clone()).await.expect(200);
    assert_eq!((&sent["entry"]["id"], &sent["dropped"]), (&json!("the-copy"), &json!(["the-draft"])));
    assert_eq!(sent["entry"]["bcc"][0]["email"], "carol@sandbox.test");
    let got = api.as_person("carol").subject_in("inbox", "copied-post").await;
    assert_eq!((got.len(), &got[0]["bcc"]), (1, &json!([])));
    (order["draft"], order["id"], order["keepCopy"]) = (Value::Null, Value::Null, json!(false));
    assert_eq!(api.post_off(order).await.expect(200)["entry"], Value::Null);
    assert_eq!(api.subject_in("sent", "copied-post").await.len(), 1);
}

/// Messages of megabytes go all ways, and outlive the process.
#[tokio::test]
async fn large_messages() {
    let dir = tempfile::tempdir().unwrap();
    let api = Api::open(Some(dir.path()));
    let raw = raw_message("Large-post", "large@x.test", "") + &"0123456789 large text\r\n".repeat(150_000);
    assert!(raw.len() > 3 << 20);
    api.import("id=large", &raw).await.expect(201);
    api.draft("", &[], &raw).await.expect(201);
    let mut order = order(&raw, &["bob@sandbox.test"]);
    order["copy"] = json!(base64(&raw));
    api.post_off(order).await.expect(200);
    drop(api);
    let api = Api::open(Some(dir.path()));
    let got = api.as_person("bob").subject_in("inbox", "large-post").await;
    let path = format!("{MESSAGES}/{}/raw", got[0]["id"].as_str().unwrap());
    let (_, bytes) = api.as_person("bob").bytes("GET", &path, &[], Vec::new()).await;
    assert!(bytes == raw.as_bytes());
    api.post_off(json!({ "raw": "x".repeat(80 << 20) })).await.refused(413, "tooLarge");
}

/// Some addresses send an answer back.
#[tokio::test]
async fn answers() {
    let api = Api::start();
    let raw = raw_message("Answered-post", "answered@x.test", "");
    let sent = api
        .post_off(order(&raw, &["bounce@x.test", "away@x.test", "replies@sandbox.test"]))
        .await
        .expect(200);
    assert!(sent["recipients"].as_array().unwrap().iter().all(|o| o["accepted"] == true));
    let inbox = api.messages("folder=inbox&unread=true").await;
    let back: Vec<&Value> = inbox.iter().filter(|m| m["inReplyTo"] == json!(["answered@x.test"])).collect();
    assert!(back.len() == 3 && back.iter().all(|m| m["threadId"] == sent["entry"]["threadId"]));
    let from = |mail: &str| *back.iter().find(|m| m["from"][0]["email"] == mail).unwrap();
    let bounce = from("mailer-daemon@sandbox.test");
    assert_eq!((&bounce["autoReply"], &from("away@x.test")["autoReply"]), (&json!(false), &json!(true)));
    assert_eq!(from("replies@sandbox.test")["autoReply"], false);
    assert_eq!(from("replies@sandbox.test")["subject"], "Re: Answered-post");
    let path = format!("{MESSAGES}/{}", bounce["id"].as_str().unwrap());
    let (_, raw) = api.bytes("GET", &format!("{path}/raw"), &[], Vec::new()).await;
    let raw = String::from_utf8(raw).unwrap();
    assert!(
        raw.contains("report-type=delivery-status") && raw.contains("Final-Recipient: rfc822; bounce@x.test")
    );
    assert!(raw.contains("Message-ID: <answered@x.test>"));
}

/// A request can be repeated after a lost answer: no recipient gets the message twice.
#[tokio::test]
async fn repeated_orders() {
    let api = Api::start();
    let path = format!("{MAIL}/send");
    let key = [("idempotency-key", "k1")];
    let body =
        || Some(order(&raw_message("Once-post", "once@x.test", ""), &["bob@sandbox.test", "reject@x.test"]));
    let fault = json!({ "lostAnswer": true, "method": "POST", "pathPrefix": "/sandbox/v1/mail" });
    api.post("/sandbox/faults", fault).await.expect(201);
    assert_eq!(api.send("POST", &path, &key, body()).await.body, Value::Null);
    let again = api.send("POST", &path, &key, body()).await.expect(200);
    assert_eq!(again["recipients"][1]["reply"], "550 5.1.1 no such user");
    assert_eq!(again["entry"]["internetMessageId"], "once@x.test");
    assert_eq!(api.as_person("bob").subject_in("inbox", "once-post").await.len(), 1);
    assert_eq!(api.subject_in("sent", "once-post").await.len(), 1);
    let other = Some(order(&raw_message("Other-post", "other@x.test", ""), &["bob@sandbox.test"]));
    api.send("POST", &path, &key, other).await.refused(422, "keyReused");

    // Drafts and imports can be repeated too.
    for path in [format!("{MAIL}/drafts"), MESSAGES.to_owned()] {
        let raw = raw_message("Kept-once", "kept-once@x.test", "").into_bytes();
        let key = [("idempotency-key", path.as_str())];
        let first = api.bytes("POST", &path, &key, raw.clone()).await.0.expect(201);
        assert_eq!(api.bytes("POST", &path, &key, raw).await.0.expect(201), first);
    }
    assert_eq!(api.messages("q=subject:kept-once").await.len(), 2);
}

/// Trouble on demand reaches mail as it reaches the rest: planned, and by words in a subject.
#[tokio::test]
async fn faults() {
    let api = Api::start();
    for (fault, status, code) in [
        (json!({ "status": 429, "retryAfterS": 3 }), 429, "tooManyRequests"),
        (json!({ "status": 401 }), 401, "unauthorized"),
        (json!({ "status": 503, "pathPrefix": MAIL }), 503, "unavailable"),
    ] {
        api.post("/sandbox/faults", fault).await.expect(201);
        api.get(MESSAGES).await.refused(status, code);
    }
    api.post("/sandbox/faults", json!({ "garbled": true })).await.expect(201);
    let garbled = api.get(&format!("{MESSAGES}?limit=3")).await.expect(200);
    assert!(garbled["messages"].as_array().unwrap().iter().all(|m| m["folderIds"] == 42));

    let raw = |word: &str| raw_message(&format!("[sandbox:{word}]"), &format!("{word}@x.test"), "");
    for (word, status, code) in [
        ("rate-limit", 429, "tooManyRequests"),
        ("forbidden", 403, "forbidden"),
        ("invalid", 422, "invalidField"),
    ] {
        api.import("", &raw(word)).await.refused(status, code);
        api.draft("", &[], &raw(word)).await.refused(status, code);
        api.post_off(order(&raw(word), &["bob@sandbox.test"])).await.refused(status, code);
        assert_eq!(api.messages(&format!("messageId={word}@x.test")).await.len(), 0);
    }
    assert_eq!(api.post_off(order(&raw("lost-answer"), &["bob@sandbox.test"])).await.body, Value::Null);
    let got = api.as_person("bob").messages("messageId=lost-answer@x.test").await;
    assert_eq!(got.len(), 1, "it was sent all the same");
}
