//! `/v1/email/sync`: a client's replica follows a mailbox through any changes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::email::mailbox::{Contents, Letter, Mailbox, Provider, letter, merge, refused, text, until};

on_every_mailbox!(
    a_replica_follows_the_mailbox,
    resets,
    random_changes_converge,
    many_messages_in_small_pages,
    what_the_feed_refuses,
);

/// A client's replica of everything in the feed, by id.
#[derive(Default)]
pub struct Replica {
    cursor: String,
    pub resources: BTreeMap<String, Value>,
    /// Kind of resource and of change, and the id.
    told: Vec<(String, String)>,
    /// It has caught up once.
    has_all: bool,
}

impl Replica {
    pub async fn catch_up(&mut self, mailbox: &Mailbox, limit: usize) {
        loop {
            let base = format!("/v1/email/sync/changes?connection_id={}&limit={limit}", mailbox.connection);
            let page = mailbox.get(format!("{base}{}", self.cursor)).send().await.expect(200);
            for change in page["data"].as_array().expect("a list") {
                self.take(change);
            }
            self.cursor = format!("&cursor={}", text(&page["sync_cursor"]));
            if page["next_cursor"].is_null() {
                self.has_all |= page["sync_status"] == "caught_up";
                return;
            }
        }
    }

    fn take(&mut self, change: &Value) {
        let (id, kind) = (text(&change["resourceId"]), text(&change["changeType"]));
        let of = text(&change["resourceType"]);
        match kind.as_str() {
            "deleted" => assert!(self.resources.remove(&id).is_some(), "deleted before created: {change:#}"),
            kind => {
                let before = self.resources.insert(id.clone(), change["resource"].clone());
                // During the initial items, changes may be reported together with them.
                assert!(!self.has_all || (kind == "created") == before.is_none(), "{change:#}");
            }
        }
        self.told.push((format!("{of} {kind}"), id));
    }

    /// Returns the changes of messages and drafts since the last call. Counts of folders change with every message.
    fn news(&mut self) -> Vec<String> {
        let told = std::mem::take(&mut self.told).into_iter().map(|(kind, _)| kind);
        told.filter(|kind| !kind.starts_with("email.folder")).collect()
    }

    pub fn messages(&self) -> Vec<&Value> {
        self.resources.iter().filter(|(id, _)| id.starts_with("msg_")).map(|(_, message)| message).collect()
    }
}

pub async fn start(mailbox: &Mailbox) -> Replica {
    let start = json!({ "connectionId": mailbox.connection });
    mailbox.api.post("/v1/email/sync/start", start).send().await.expect(202);
    Replica::default()
}

async fn status(mailbox: &Mailbox) -> Value {
    let path = format!("/v1/email/sync/status/{}", mailbox.connection);
    mailbox.get(path).send().await.expect(200)
}

async fn a_replica_follows_the_mailbox(mailbox: Mailbox) {
    for number in 0..7 {
        let folder = if number % 2 == 0 { "inbox" } else { "archive" };
        mailbox
            .there
            .deliver(&letter(&format!("S{number}"), &format!("s{number}@x.test"), "").into_folder(folder))
            .await;
    }
    let feed = format!("/v1/email/sync/changes?connection_id={}", mailbox.connection);
    mailbox.get(&feed).send().await.refused(409, "sync_not_started");
    let mut replica = start(&mailbox).await;
    let again = json!({ "connectionId": mailbox.connection });
    mailbox.api.post("/v1/email/sync/start", again).send().await.expect(200);
    replica.catch_up(&mailbox, 3).await;
    assert_eq!(replica.messages().len(), 7);
    let folders = replica.resources.keys().filter(|id| id.starts_with("fld_")).count();
    assert!(folders >= 6, "{folders}");
    assert_eq!(replica.news().len(), 7, "each once");
    assert_eq!(status(&mailbox).await["status"], "caught_up");
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.news(), [""; 0]);

    // By another program.
    mailbox.there.deliver(&letter("New", "new@x.test", "")).await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.news(), ["email.message created"]);
    mailbox.there.flag("new@x.test", "seen", true).await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.news(), ["email.message updated"]);
    mailbox.there.r#move("new@x.test", "archive").await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.news(), ["email.message updated"], "a message that moves is the same message");
    mailbox.there.destroy("new@x.test").await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.news(), ["email.message deleted"]);
    // By the API.
    let one = mailbox.titled("S0").await;
    mailbox.patch(&one["id"], json!({ "starred": true })).send().await.expect(200);
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.news(), ["email.message updated"], "once, though the provider tells of it too");
    assert_eq!(replica.resources[&text(&one["id"])]["starred"], true);
    let draft = json!({ "connectionId": mailbox.connection, "subject": "Draft", "body": { "text": "x" } });
    let draft = mailbox.api.post("/v1/email/drafts", draft).send().await.expect(201);
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.news(), ["email.draft created"]);
    mailbox.api.delete(format!("/v1/email/drafts/{}", text(&draft["id"]))).send().await.expect(204);
    mailbox
        .api
        .delete(format!("/v1/email/messages/{}?permanent=true", text(&one["id"])))
        .send()
        .await
        .expect(204);
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.news(), ["email.draft deleted", "email.message deleted"]);
    agree(&mailbox, &replica).await;
}

/// Returns folder names and flags of each message, by Message-ID, as the API lists them.
async fn shown(mailbox: &Mailbox, messages: &[&Value]) -> Contents {
    let folders = mailbox.all(&format!("/v1/email/folders?connection_id={}", mailbox.connection)).await;
    let name = |id: &Value| {
        let folder = folders.iter().find(|f| f["id"] == *id).unwrap_or_else(|| panic!("no folder {id}"));
        folder["role"].as_str().or(folder["name"].as_str()).unwrap_or_default().to_owned()
    };
    let mut contents = Contents::new();
    for message in messages {
        let has = [
            ("seen", message["unread"] == false),
            ("starred", message["starred"] == true),
            ("answered", message["answered"] == true),
        ];
        let mut flags: Vec<String> =
            has.iter().filter(|(_, on)| *on).map(|(flag, _)| (*flag).to_owned()).collect();
        flags.sort();
        for folder in message["folderIds"].as_array().expect("a list") {
            contents
                .entry(text(&message["internetMessageId"]))
                .or_default()
                .push((name(folder), flags.clone()));
        }
    }
    contents
}

/// Asserts that the provider, the lists and the feed agree.
async fn agree(mailbox: &Mailbox, replica: &Replica) {
    let mut there = mailbox.there.contents().await;
    for (_, flags) in there.values_mut().flatten() {
        flags.retain(|flag| ["seen", "starred", "answered"].contains(&flag.as_str()));
        flags.sort();
    }
    let listed = mailbox.list("limit=200").await;
    assert_eq!(shown(mailbox, &listed.iter().collect::<Vec<_>>()).await, there, "the list and the provider");
    let replicated = replica.messages();
    assert_eq!(shown(mailbox, &replicated).await, there, "the feed and the provider");
    for mut message in listed {
        let mut told = replica.resources[&text(&message["id"])].clone();
        // The provider's own id may change without any other difference; that is not reported.
        for one in [&mut told, &mut message] {
            one["externalId"] = Value::Null;
        }
        assert_eq!(told, message, "the feed and the list");
    }
}

async fn resets(mailbox: Mailbox) {
    for number in 0..3 {
        mailbox.there.deliver(&letter(&format!("R{number}"), &format!("r{number}@x.test"), "")).await;
    }
    let mut replica = start(&mailbox).await;
    replica.catch_up(&mailbox, 100).await;
    replica.told.clear();
    let reset = |mode: &str| json!({ "connectionId": mailbox.connection, "mode": mode });
    mailbox.api.post("/v1/email/sync/reset", reset("soft")).send().await.expect(202);
    mailbox.there.flag("r1@x.test", "seen", true).await;
    // It is read again in the background.
    until("it is read again", async || {
        replica.catch_up(&mailbox, 100).await;
        (!replica.told.is_empty() && status(&mailbox).await["status"] == "caught_up").then_some(())
    })
    .await;
    assert_eq!(replica.news(), ["email.message updated"], "true differences alone");
    mailbox.api.post("/v1/email/sync/reset", reset("hard")).send().await.expect(202);
    let old = format!("/v1/email/sync/changes?connection_id={}{}", mailbox.connection, replica.cursor);
    mailbox.get(old).send().await.refused(409, "sync_reset_required");
    let mut anew = Replica::default();
    anew.catch_up(&mailbox, 2).await;
    let ids = |replica: &Replica| replica.resources.keys().cloned().collect::<Vec<_>>();
    assert_eq!(ids(&anew), ids(&replica), "everything has the id that it had");
    agree(&mailbox, &anew).await;
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

/// Two hundred changes by two programs: in the end all views agree, and no message has changed its id.
async fn random_changes_converge(mailbox: Mailbox) {
    const FOLDERS: [&str; 3] = ["inbox", "archive", "junk"];
    const FLAGS: [&str; 3] = ["seen", "starred", "answered"];
    let mut numbers = Numbers(4711);
    let mut replica = start(&mailbox).await;
    let mut there: Vec<String> = Vec::new();
    let mut ids: BTreeMap<String, Value> = BTreeMap::new();
    for turn in 0..200 {
        let at = if there.is_empty() { 0 } else { numbers.below(there.len()) };
        let action = numbers.below(10);
        println!("turn {turn}: {action} of {:?}", there.get(at));
        match action {
            0..=2 if there.len() < 12 => {
                let id = format!("turn{turn}@x.test");
                mailbox
                    .there
                    .deliver(&letter(&format!("Turn {turn}"), &id, "").into_folder(FOLDERS[numbers.below(3)]))
                    .await;
                there.push(id);
            }
            _ if there.is_empty() => {}
            3..=5 => mailbox.there.flag(&there[at], FLAGS[numbers.below(3)], numbers.below(2) == 0).await,
            6 => mailbox.there.r#move(&there[at], FOLDERS[numbers.below(3)]).await,
            7 => {
                mailbox.there.destroy(&there[at]).await;
                ids.remove(&there.remove(at));
            }
            _ => by_the_api(&mailbox, &mut numbers, &ids, &there[at]).await,
        }
        if turn % 10 == 9 {
            replica.catch_up(&mailbox, 1 + numbers.below(20)).await;
            for message in replica.messages() {
                let id =
                    ids.entry(text(&message["internetMessageId"])).or_insert_with(|| message["id"].clone());
                assert_eq!(*id, message["id"], "a message changed its id");
            }
        }
        if turn % 40 == 39 {
            agree(&mailbox, &replica).await;
        }
    }
}

async fn by_the_api(
    mailbox: &Mailbox,
    numbers: &mut Numbers,
    ids: &BTreeMap<String, Value>,
    message_id: &str,
) {
    let Some(id) = ids.get(message_id) else { return };
    let change = match numbers.below(3) {
        0 => json!({ "folderIds": [mailbox.folder(["inbox", "archive"][numbers.below(2)]).await] }),
        1 => json!({ "unread": numbers.below(2) == 0 }),
        _ => json!({ "starred": numbers.below(2) == 0, "addKeywords": ["random"] }),
    };
    mailbox.patch(id, change).send().await.expect(200);
}

async fn many_messages_in_small_pages(mailbox: Mailbox) {
    let provider = mailbox.provider;
    drop(mailbox);
    let mailbox = Mailbox::open_with(provider, provider.server().config(|c| c.pull_page = 3)).await;
    let mailbox = mailbox.expect("it was there a moment ago");
    for number in 0..20 {
        mailbox.there.deliver(&letter(&format!("P{number}"), &format!("p{number}@x.test"), "")).await;
    }
    let mut replica = start(&mailbox).await;
    replica.catch_up(&mailbox, 4).await;
    while status(&mailbox).await["status"] != "caught_up" {
        mailbox.server.clock.advance_ms(1);
        replica.catch_up(&mailbox, 4).await;
    }
    replica.catch_up(&mailbox, 4).await;
    assert_eq!(replica.messages().len(), 20);
    agree(&mailbox, &replica).await;
}

async fn what_the_feed_refuses(mailbox: Mailbox) {
    for path in ["start", "reset"] {
        let asked = mailbox.api.post(format!("/v1/email/sync/{path}"), json!({})).send().await;
        refused(asked, 400, "missing_field", "connectionId");
    }
    refused(mailbox.get("/v1/email/sync/changes").send().await, 400, "missing_field", "connection_id");
    start(&mailbox).await;
    let feed = format!("/v1/email/sync/changes?connection_id={}", mailbox.connection);
    mailbox.get(format!("{feed}&cursor=x")).send().await.refused(400, "invalid_cursor");
    refused(mailbox.get(format!("{feed}&limit=0")).send().await, 400, "invalid_parameter", "limit");
    let mode = json!({ "connectionId": mailbox.connection, "mode": "gentle" });
    refused(mailbox.api.post("/v1/email/sync/reset", mode).send().await, 400, "invalid_parameter", "mode");
}

/// A folder that was deleted and created again with the same messages: the server has other numbers for them, the API the same ids.
async fn a_folder_made_anew(provider: Provider) {
    let Some(mailbox) = Mailbox::open(provider).await else { return };
    let name = mailbox.there.make_folder().await;
    let letters: Vec<Letter> = (0..5)
        .map(|n| {
            letter(&format!("V{n}"), &format!("v{n}@x.test"), "")
                .into_folder(&name)
                .at(&format!("2026-01-0{}T10:00:00Z", n + 1))
        })
        .collect();
    for letter in &letters {
        mailbox.there.deliver(letter).await;
    }
    let mut replica = start(&mailbox).await;
    replica.catch_up(&mailbox, 100).await;
    let noted = mailbox.titled("V3").await;
    mailbox.patch(&noted["id"], json!({ "metadata": { "kept": "yes" } })).send().await.expect(200);
    let before: BTreeMap<String, Value> =
        mailbox.list("").await.iter().map(|m| (text(&m["subject"]), m["id"].clone())).collect();
    assert_eq!(before.len(), 5);
    let validity =
        |line: &mut harness::imap::Imap| line.run(&format!("STATUS {name} (UIDVALIDITY)")).join("");
    let old = mailbox.there.imap(validity);
    // UIDVALIDITY counts seconds on Dovecot: the folder is created again until it differs.
    let new = mailbox.there.imap(|line| {
        // Nothing may be selected, and nothing need be.
        let _ = line.try_run("UNSELECT");
        loop {
            line.run(&format!("DELETE {name}"));
            line.run(&format!("CREATE {name}"));
            let new = validity(line);
            if new != old {
                return new;
            }
        }
    });
    assert_ne!(new, old);
    for letter in letters.iter().rev() {
        mailbox.there.deliver(letter).await;
    }
    let after: BTreeMap<String, Value> =
        mailbox.list("").await.iter().map(|m| (text(&m["subject"]), m["id"].clone())).collect();
    assert_eq!(after, before, "every message has the id that it had");
    assert_eq!(mailbox.read(&noted["id"]).await["metadata"], json!({ "kept": "yes" }));
    replica.catch_up(&mailbox, 100).await;
    agree(&mailbox, &replica).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_made_anew_on_dovecot() {
    a_folder_made_anew(Provider::Dovecot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_made_anew_on_cyrus() {
    a_folder_made_anew(Provider::CyrusImap).await;
}

/// An unreadable record is quarantined and shown; all others go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_kills_the_connector() {
    let Some(mailbox) = Mailbox::open(Provider::Sandbox).await else { return };
    mailbox.there.deliver(&letter("Good", "good@x.test", "")).await;
    mailbox.there.deliver(&letter("Bad [sandbox:crash]", "bad@x.test", "")).await;
    mailbox.there.deliver(&letter("Better", "better@x.test", "")).await;
    let mut replica = start(&mailbox).await;
    replica.catch_up(&mailbox, 100).await;
    let mut subjects: Vec<String> = replica.messages().iter().map(|m| text(&m["subject"])).collect();
    subjects.sort();
    assert_eq!(subjects, ["Better", "Good"]);
    let state = status(&mailbox).await;
    assert_eq!((&state["status"], &state["itemErrorCount"]), (&json!("caught_up"), &json!(1)), "{state:#}");
    mailbox.there.deliver(&letter("After", "after@x.test", "")).await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.messages().len(), 3);
    mailbox.there.destroy("bad@x.test").await;
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(status(&mailbox).await["itemErrorCount"], 0);
}

/// While the provider is away the copy is served, and changes are reported afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage() {
    let Some(mailbox) = Mailbox::open(Provider::Sandbox).await else { return };
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    mailbox.there.deliver(&letter("Before", "before@x.test", "")).await;
    let mut replica = start(&mailbox).await;
    replica.catch_up(&mailbox, 100).await;
    replica.told.clear();
    let ways = [
        json!({ "method": "GET" }),
        json!({ "method": "PATCH" }),
        json!({ "pathPrefix": "/sandbox/v1/mail/batch" }),
    ];
    for mut away in ways {
        merge(&mut away, json!({ "status": 503, "times": 1000 }));
        sandbox.post("/sandbox/faults", away).send().await.expect(201);
    }
    mailbox.there.deliver(&letter("Meanwhile", "meanwhile@x.test", "")).await;
    mailbox.server.clock.advance_ms(60_000);
    let list = format!("/v1/email/messages?connection_id={}", mailbox.connection);
    let shown = mailbox.api.get(&list).send().await.expect(200);
    assert_eq!(shown["data"].as_array().map(Vec::len), Some(1));
    let message = text(&shown["data"][0]["id"]);
    let whole = mailbox.api.get(format!("/v1/email/messages/{message}")).send().await;
    whole.refused(503, "provider_unavailable");
    let change = mailbox.api.patch(format!("/v1/email/messages/{message}"), json!({ "starred": true }));
    change.send().await.refused(503, "provider_unavailable");
    sandbox.delete("/sandbox/faults").send().await.expect(204);
    mailbox.server.clock.advance_ms(60_000);
    replica.catch_up(&mailbox, 100).await;
    assert_eq!(replica.news(), ["email.message created"]);
    agree(&mailbox, &replica).await;
}
