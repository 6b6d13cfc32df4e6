//! The mailbox of the sandbox provider: folders, labels, messages, and what changes in it.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::sandbox_provider::{Answer, Api, NOW_MS};

pub const MAIL: &str = "/sandbox/v1/mail";
pub const MESSAGES: &str = "/sandbox/v1/mail/messages";

/// A small message.
pub fn raw_message(subject: &str, id: &str, more: &str) -> String {
    format!(
        "From: Ann <ann@x.test>\r\nTo: alice@sandbox.test\r\nSubject: {subject}\r\nMessage-ID: <{id}>\r\n{more}\r\nHello!\r\n"
    )
}

pub fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

impl Api {
    /// A request whose body or answer is no JSON.
    pub async fn bytes(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> (Answer, Vec<u8>) {
        let mut request = Request::builder().method(method).uri(path).header("authorization", &self.login);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = self.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        let bytes = answer.into_body().collect().await.map(|b| b.to_bytes().to_vec()).unwrap_or_default();
        (Answer { status, headers, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }, bytes)
    }

    /// Puts a message into the mailbox.
    pub async fn import(&self, query: &str, raw: &str) -> Answer {
        let path = format!("{MESSAGES}?{query}");
        let kind = [("content-type", "message/rfc822")];
        self.bytes("POST", &path, &kind, raw.as_bytes().to_vec()).await.0
    }

    /// All messages that a query string takes.
    pub async fn messages(&self, query: &str) -> Vec<Value> {
        let mut all = Vec::new();
        let mut token = String::new();
        loop {
            let page = self.get(&format!("{MESSAGES}?limit=25&{query}{token}")).await.expect(200);
            all.extend(page["messages"].as_array().unwrap().clone());
            match page["nextPageToken"].as_str() {
                Some(next) => token = format!("&pageToken={next}"),
                None => return all,
            }
        }
    }

    /// The token of now.
    pub async fn mail_token(&self) -> String {
        let now = self.get(&format!("{MAIL}/changes")).await.expect(200);
        assert_eq!(now["entries"], json!([]));
        now["nextSyncToken"].as_str().unwrap().to_owned()
    }

    /// Returns the changes since a token, and the current token.
    pub async fn mail_changes(&self, token: &str) -> (Vec<Value>, String) {
        let (mut entries, mut query) = (Vec::new(), format!("syncToken={token}"));
        loop {
            let page = self.get(&format!("{MAIL}/changes?limit=2&{query}")).await.expect(200);
            entries.extend(page["entries"].as_array().unwrap().clone());
            match page["nextPageToken"].as_str() {
                Some(token) => query = format!("pageToken={token}"),
                None => return (entries, page["nextSyncToken"].as_str().unwrap().to_owned()),
            }
        }
    }
}

pub fn ids(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["id"].as_str().unwrap()).collect()
}

/// Three people with a full mailbox; anybody else begins with empty folders.
#[tokio::test]
async fn seeded_mailboxes() {
    let api = Api::start();
    let folders = api.get(&format!("{MAIL}/folders")).await.expect(200);
    let folders = folders["folders"].as_array().unwrap().clone();
    let named = ["inbox", "archive", "drafts", "sent", "trash", "junk", "projects", "projects-launch"];
    assert_eq!(ids(&folders), named);
    let (inbox, launch) = (&folders[0], &folders[7]);
    assert_eq!(
        (&inbox["role"], &inbox["system"], &inbox["rights"]["rename"]),
        (&json!("inbox"), &json!(true), &json!(false))
    );
    assert_eq!((&launch["role"], &launch["parentId"]), (&Value::Null, &json!("projects")));
    assert_eq!(
        (&launch["path"], &launch["rights"]["delete"]),
        (&json!(["Projects", "Launch"]), &json!(true))
    );
    let labels = api.get(&format!("{MAIL}/labels")).await.expect(200);
    assert_eq!(labels["labels"].as_array().unwrap().len(), 3);
    assert_eq!(labels["labels"][0]["color"], json!({ "background": "#fde68a", "text": "#78350f" }));

    for name in ["alice", "bob", "carol"] {
        let all = api.as_person(name).messages("").await;
        assert!((55..=75).contains(&all.len()), "{name} has {} messages", all.len());
        let has = |test: &dyn Fn(&Value) -> bool| all.iter().filter(|m| test(m)).count();
        assert!((5..15).contains(&has(&|m| m["unread"] == true)));
        assert!(has(&|m| m["starred"] == true) > 1);
        assert!(has(&|m| m["answered"] == true) > 3);
        assert_eq!(has(&|m| m["draft"] == true), 2);
        assert_eq!(has(&|m| m["folderIds"][0] == "junk" && m["keywords"][0] == "$junk"), 3);
        assert!(has(&|m| m["folderIds"][0] == "sent") > 5);
        assert!(folders.iter().all(|folder| has(&|m| m["folderIds"][0] == folder["id"]) > 0));
        assert!(has(&|m| !m["listUnsubscribe"].is_null()) > 5);
        assert_eq!((has(&|m| m["calendarMethod"] == "request"), has(&|m| m["autoReply"] == true)), (1, 7));
        assert!(has(&|m| m["hasAttachments"] == true) > 5);
        assert_eq!(has(&|m| m["attachments"][0]["inline"] == true && m["hasAttachments"] == false), 1);
        assert_eq!(has(&|m| m["attachments"][0]["isMessage"] == true), 1);
        let mut threads = BTreeMap::new();
        all.iter().for_each(|m| *threads.entry(m["threadId"].as_str().unwrap()).or_insert(0) += 1);
        assert_eq!(threads.values().max(), Some(&5));
        let received = |m: &Value| m["receivedAt"].as_str().unwrap().to_owned();
        assert!(all.is_sorted_by(|a, b| received(a) >= received(b)), "newest first");
        assert!(received(&all[0]).as_str() < "2026-03-10T07:00:00", "nothing lies ahead");
    }
    let fresh = api.as_person("ci-4711");
    assert_eq!(fresh.messages("").await.len(), 0);
    let folders = fresh.get(&format!("{MAIL}/folders")).await.expect(200);
    assert_eq!(folders["folders"].as_array().unwrap().len(), 6);
}

/// Messages in any charset are read.
#[tokio::test]
async fn charsets() {
    let api = Api::start();
    for (id, subject, text) in [
        ("invoice-1", "Rechnung für März", "anbei die Rechnung für den März"),
        ("japan-1", "打ち合わせの資料", "佐藤花子です"),
        ("trains-1", "Расписание поездов", "Высылаю расписание"),
        ("prices-1", "三月份报价", "附件是三月份的报价"),
        ("interview-1", "طلب مقابلة", "ليلى"),
    ] {
        let message = api.get(&format!("{MESSAGES}/msg-{id}?body=true")).await.expect(200);
        assert_eq!(message["subject"], subject);
        assert!(message["body"]["text"].as_str().unwrap().contains(text), "{message}");
        assert_eq!(ids(&api.messages(&format!("text={}", escaped(text))).await), [format!("msg-{id}")]);
    }
}

fn escaped(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02X}")).collect()
}

#[tokio::test]
async fn folders_and_labels() {
    let api = Api::start();
    let folders = format!("{MAIL}/folders");
    let made = api
        .post(&folders, json!({ "id": "trips", "name": "Trips", "parentId": "projects" }))
        .await
        .expect(201);
    assert_eq!(
        (&made["entry"]["type"], &made["entry"]["path"]),
        (&json!("email_folder"), &json!(["Projects", "Trips"]))
    );
    api.post(&folders, json!({ "id": "trips", "name": "Again" })).await.refused(409, "exists");
    api.post(&folders, json!({ "id": "label-later", "name": "One space of ids" }))
        .await
        .refused(409, "exists");
    let path = format!("{folders}/trips");
    let etag = made["entry"]["etag"].as_str().unwrap();
    api.send("PATCH", &path, &[("if-match", etag)], Some(json!({ "name": "Journeys" }))).await.expect(200);
    api.send("PATCH", &path, &[("if-match", etag)], Some(json!({ "sortOrder": 1 })))
        .await
        .refused(412, "stale");
    for parent in ["trips", "nowhere", "label-later"] {
        let refused = api.patch(&path, json!({ "parentId": parent })).await;
        assert_eq!(refused.body["error"]["field"], "parentId");
        refused.refused(422, "invalidField");
    }
    api.patch(&format!("{folders}/projects"), json!({ "parentId": "trips" }))
        .await
        .refused(422, "invalidField");
    api.patch(&format!("{folders}/inbox"), json!({ "name": "In" })).await.refused(403, "systemFolder");
    api.delete(&format!("{folders}/trash")).await.refused(403, "systemFolder");
    api.delete(&format!("{folders}/projects")).await.refused(409, "notEmpty");
    api.delete(&path).await.expect(200);
    api.get(&path).await.refused(404, "notFound");

    // A label that goes leaves the messages that had it.
    let labels = format!("{MAIL}/labels");
    let label = json!({ "name": "Hot", "color": { "background": "#ff0000" }, "visibility": "hide", "id": "label-hot" });
    assert_eq!(api.post(&labels, label).await.expect(201)["entry"]["visibility"], "hide");
    let red = json!({ "color": { "background": "red" } });
    api.patch(&format!("{labels}/label-hot"), red).await.refused(422, "invalidField");
    api.patch(&format!("{MESSAGES}/msg-cake-1"), json!({ "addLabels": ["label-hot"] })).await.expect(200);
    let gone = api.delete(&format!("{labels}/label-hot")).await.expect(200);
    assert_eq!(
        (&gone["others"][0]["id"], &gone["others"][0]["labelIds"]),
        (&json!("msg-cake-1"), &json!([]))
    );
}

#[tokio::test]
async fn change_a_message() {
    let api = Api::start();
    let path = format!("{MESSAGES}/msg-quote-5");
    let old = api.get(&path).await.expect(200);
    let etag = old["etag"].as_str().unwrap();
    let patch = json!({
        "unread": false,
        "starred": true,
        "importance": "high",
        "folders": ["projects", "archive", "archive"],
        "addLabels": ["label-later"],
        "removeLabels": ["label-customers"],
        "addKeywords": ["$forwarded", "important"],
    });
    let changed =
        api.send("PATCH", &path, &[("if-match", etag)], Some(patch)).await.expect(200)["entry"].clone();
    let expected = json!({
        "unread": false, "starred": true, "answered": false, "importance": "high", "folderIds": ["projects", "archive"],
        "labelIds": ["label-later"], "keywords": ["$forwarded", "important"],
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(changed[name], *value, "{name}");
    }
    assert_eq!(changed["subject"], old["subject"]);
    api.send("PATCH", &path, &[("if-match", etag)], Some(json!({}))).await.refused(412, "stale");
    let same = api.patch(&path, json!({ "unread": false })).await.expect(200);
    assert_eq!(same["entry"]["etag"], changed["etag"], "what changes nothing makes no version");
    let less = api.patch(&path, json!({ "removeKeywords": ["important"] })).await.expect(200);
    assert_eq!(less["entry"]["keywords"], json!(["$forwarded"]));
    for (body, field) in [
        (json!({ "folders": [] }), "folders"),
        (json!({ "folders": ["label-later"] }), "folders"),
        (json!({ "addLabels": ["inbox"] }), "labels"),
        (json!({ "addKeywords": ["Two words"] }), "keywords"),
        (json!({ "draft": true }), "draft"),
        (json!({ "subject": "other" }), "subject"),
    ] {
        let refused = api.patch(&path, body).await;
        assert_eq!(refused.body["error"]["field"], field, "{}", refused.body);
        refused.refused(422, "invalidField");
    }
}

#[tokio::test]
async fn searches() {
    let api = Api::start();
    let found = async |query: &str| -> Vec<String> {
        let messages = api.messages(query).await;
        messages.iter().map(|m| m["id"].as_str().unwrap().trim_start_matches("msg-").to_owned()).collect()
    };
    assert_eq!(found("text=LISBON%20bengaluru").await, ["team-offsite-2"]);
    assert_eq!(found("q=subject:%22import%20and%20launch%22%20from:dana%20-in:trash").await.len(), 4);
    assert_eq!(found("q=has:file%20to:dana").await, ["quote-3"]);
    assert_eq!(found("q=is:draft").await, ["draft-1", "draft-2"]);
    assert_eq!(found("folder=projects").await, ["budget-1"]);
    assert_eq!(found("label=label-later").await, ["hotel-1"]);
    assert_eq!(found("folder=junk&unread=true").await, ["junk-2", "junk-1"]);
    assert_eq!(found("folder=inbox&starred=true&label=label-finance").await, ["quote-4"]);
    assert_eq!(found("messageId=team-launch-1@sandbox.test").await, ["team-launch-1"]);
    assert_eq!(found("q=before:2025-12-15").await, ["badge-1", "welcome-1"]);
    let range = "after=2026-01-29T08:45:00Z&before=2026-01-29T10:15:00Z&q=launch";
    assert_eq!(found(range).await, ["team-launch-4"], "the later bound is not in it");
    assert_eq!(found("q=nowhere-to-be-found").await, [""; 0]);
    for wrong in ["q=is:blue", "after=yesterday", "limit=0"] {
        api.get(&format!("{MESSAGES}?{wrong}")).await.refused(422, "invalidField");
    }
    let page = api.get(&format!("{MESSAGES}?limit=1")).await.expect(200);
    let token = page["nextPageToken"].as_str().unwrap();
    api.get(&format!("{MESSAGES}?pageToken={token}&q=x")).await.refused(400, "badRequest");
    api.get(&format!("{MESSAGES}?pageToken=x")).await.refused(400, "badRequest");
}

/// Folders, labels and messages change in one order, and a message says whether it came or only changed.
#[tokio::test]
async fn follow_changes() {
    let api = Api::start();
    let token = api.mail_token().await;
    api.patch(&format!("{MESSAGES}/msg-quote-5"), json!({ "unread": false })).await.expect(200);
    api.import("id=fresh&unread=false", &raw_message("Fresh", "fresh@x.test", "")).await.expect(201);
    api.patch(&format!("{MAIL}/folders/projects"), json!({ "name": "Plans" })).await.expect(200);
    api.delete(&format!("{MESSAGES}/msg-cake-1?forever=true")).await.expect(200);
    let (changes, token) = api.mail_changes(&token).await;
    let reported: Vec<_> =
        changes.iter().map(|c| (c["id"].as_str().unwrap(), &c["new"], &c["deleted"])).collect();
    let (yes, no, none) = (json!(true), json!(false), Value::Null);
    assert_eq!(
        reported,
        [
            ("msg-quote-5", &no, &none),
            ("fresh", &yes, &none),
            ("projects", &none, &none),
            ("projects-launch", &none, &none),
            ("msg-cake-1", &none, &yes)
        ]
    );
    assert_eq!(changes[3]["path"], json!(["Plans", "Launch"]), "its path has changed");
    assert!(api.mail_changes(&token).await.0.is_empty());

    api.get(&format!("{MAIL}/changes?syncToken=x")).await.refused(400, "badRequest");
    let fault = json!({ "status": 410, "syncTokenOnly": true });
    api.post("/sandbox/faults", fault).await.expect(201);
    let path = format!("{MAIL}/changes?syncToken={token}");
    api.get(&path).await.refused(410, "syncTokenExpired");
    api.now_ms.fetch_add(8 * 24 * 3_600_000, Ordering::Relaxed);
    api.get(&path).await.refused(410, "syncTokenExpired");
    let token = api.mail_token().await;
    api.send("POST", "/sandbox/reset", &[], None).await.expect(204);
    api.get(&format!("{MAIL}/changes?syncToken={token}")).await.refused(410, "syncTokenExpired");
    api.get(&format!("{MESSAGES}/msg-cake-1")).await.expect(200);
}

#[tokio::test]
async fn imports() {
    let api = Api::start();
    let raw = raw_message("Imported", "i@x.test", "In-Reply-To: <team-offsite-4@sandbox.test>\r\n");
    let query = "id=imported&folders=archive,projects&labels=label-later&unread=false&starred=true&keywords=$old&receivedAt=2020-02-02T02:02:02Z";
    let made = api.import(query, &raw).await.expect(201)["entry"].clone();
    assert_eq!(
        (&made["folderIds"], &made["labelIds"]),
        (&json!(["archive", "projects"]), &json!(["label-later"]))
    );
    assert_eq!(
        (&made["receivedAt"], &made["keywords"]),
        (&json!("2020-02-02T02:02:02.000Z"), &json!(["$old"]))
    );
    assert_eq!(
        (&made["unread"], &made["starred"], &made["answered"]),
        (&json!(false), &json!(true), &json!(false))
    );
    let parent = api.get(&format!("{MESSAGES}/msg-team-offsite-4")).await.expect(200);
    assert_eq!(made["threadId"], parent["threadId"]);
    api.import(query, &raw).await.refused(409, "exists");
    let all = api.messages("").await;
    assert_eq!(all.last().unwrap()["id"], "imported");

    let plain = api.import("", &raw).await.expect(201)["entry"].clone();
    assert_eq!((&plain["folderIds"], &plain["unread"]), (&json!(["inbox"]), &json!(true)));
    for wrong in ["folders=nowhere", "keywords=(", "receivedAt=soon", "id=A"] {
        api.import(wrong, &raw).await.refused(422, "invalidField");
    }
    api.import("", "").await.refused(422, "invalidField");
    api.import("colour=blue", &raw).await.expect(400);
    let large = raw.clone() + &"x".repeat(26 << 20);
    api.import("", &large).await.refused(413, "tooLarge");
    assert_eq!(api.messages("").await.len(), all.len() + 1, "nothing came of what was refused");
}

/// The mailbox outlives the process, with the bytes of its messages.
#[tokio::test]
async fn restart() {
    let dir = tempfile::tempdir().unwrap();
    let api = Api::open(Some(dir.path()));
    let token = api.mail_token().await;
    api.import("id=kept", &raw_message("Kept", "kept@x.test", "")).await.expect(201);
    api.patch(&format!("{MESSAGES}/kept"), json!({ "starred": true })).await.expect(200);
    api.delete(&format!("{MESSAGES}/msg-cake-1?forever=true")).await.expect(200);
    let before = api.messages("").await;
    drop(api);
    let api = Api::open(Some(dir.path()));
    assert_eq!(api.messages("").await, before);
    let (_, raw) = api.bytes("GET", &format!("{MESSAGES}/kept/raw"), &[], Vec::new()).await;
    assert_eq!(raw, raw_message("Kept", "kept@x.test", "").into_bytes());
    let (changes, _) = api.mail_changes(&token).await;
    assert_eq!(ids(&changes), ["kept", "msg-cake-1"]);
    let answer = raw_message("Re: Kept", "answer@x.test", "In-Reply-To: <kept@x.test>\r\n");
    let answer = api.import("", &answer).await.expect(201);
    let kept = api.get(&format!("{MESSAGES}/kept")).await.expect(200);
    assert_eq!(answer["entry"]["threadId"], kept["threadId"], "threads go on");
    let all: HashSet<_> = before.iter().map(|m| m["id"].as_str().unwrap()).collect();
    assert_eq!(all.len(), before.len());
}

/// A journal in which mail has an older form is read: threads, bytes and sync tokens go on.
#[tokio::test]
async fn older_mailboxes() {
    let dir = tempfile::tempdir().unwrap();
    let ann = "ann@sandbox.test";
    let put = |seq: u64, record: Value| json!({ "op": "entry", "mail": ann, "folder": "mailbox", "seq": seq, "atMs": 5, "record": record });
    let raw = raw_message("Old", "old@x.test", "");
    let old = json!({
        "kind": "message", "id": "old", "thread": "thread-1", "born": 3, "receivedMs": 1_000, "folders": ["inbox"], "words": ["$old"],
        "flags": { "seen": true }, "content": { "messageId": "old@x.test", "subject": "Old" }, "search": "old",
    });
    let lines = [
        json!({ "sandboxJournal": 1, "epoch": "before" }),
        json!([
            { "op": "account", "mail": ann, "name": "ann", "zone": "UTC" },
            { "op": "mailbox", "mail": ann, "seq": 1, "floor": 1, "head": { "id": "mailbox" } },
            put(2, json!({ "kind": "folder", "id": "inbox", "title": "Inbox", "purpose": "inbox" })),
        ]),
        json!([{ "op": "letter", "copies": [{ "mail": ann, "id": "old" }], "bytes": base64(&raw) }, put(3, old)]),
    ];
    let api = Api::replay(dir.path(), &lines).as_person("ann");
    let folders = api.get(&format!("{MAIL}/folders")).await.expect(200);
    assert_eq!(
        (&folders["folders"][0]["name"], &folders["folders"][0]["role"]),
        (&json!("Inbox"), &json!("inbox"))
    );
    let place = json!({ "epoch": "before", "kind": "mail", "folder": "mailbox", "after": 2, "filters": "", "at_ms": NOW_MS });
    let (changes, _) = api.mail_changes(&URL_SAFE_NO_PAD.encode(place.to_string())).await;
    assert_eq!((ids(&changes), &changes[0]["new"]), (vec!["old"], &json!(true)));
    let (subject, received) = (&changes[0]["subject"], &changes[0]["receivedAt"]);
    assert_eq!((subject, received), (&json!("Old"), &json!("1970-01-01T00:00:01.000Z")));
    assert_eq!((&changes[0]["unread"], &changes[0]["keywords"]), (&json!(false), &json!(["$old"])));
    let (_, bytes) = api.bytes("GET", &format!("{MESSAGES}/old/raw"), &[], Vec::new()).await;
    assert_eq!(bytes, raw.into_bytes());
    let reply = raw_message("Re: Old", "reply@x.test", "In-Reply-To: <old@x.test>\r\n");
    assert_eq!(api.import("", &reply).await.expect(201)["entry"]["threadId"], "thread-1");
}
