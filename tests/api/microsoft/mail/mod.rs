//! Mailboxes of Microsoft 365 through `/v1/email`.

mod changes;
mod reading;
mod sending;
mod writing;

use fakes::graph::{AccountKind, GraphRequest, GraphState, MailStore};
use harness::Builder;
use serde_json::{Value, json};

use crate::email::mailbox::{escaped, text};
use crate::microsoft::{ALICE, BOB, World, ZONE, builder};

const MINUTE_MS: i64 = 60_000;
/// Pulls after which a feed has to be complete.
const MAX_PULLS: usize = 40;

/// Alice's account with its mail. Pulls run only when a test says so, and data pulled within the last hour is served from the copy.
pub struct MailAccount {
    pub world: World,
    pub connection: String,
    cursor: Option<String>,
}

impl MailAccount {
    /// The account, whose mailbox `prepare` fills before it is connected; none where the extract of Microsoft's SDK is not installed.
    pub async fn start(prepare: impl FnOnce(&mut GraphState)) -> Option<MailAccount> {
        MailAccount::on(builder(), prepare).await
    }

    /// Starts with a server that the test has configured.
    pub async fn on(builder: Builder, prepare: impl FnOnce(&mut GraphState)) -> Option<MailAccount> {
        let builder = builder.config(|c| c.freshness_ms = 60 * MINUTE_MS).without_pulls();
        let world = World::on(builder).await?;
        world.graph.with(|state| {
            state.add_account(BOB, "Bob Example", ZONE, AccountKind::Work);
            prepare(state);
        });
        let connection = world.connect_for(&["email.read", "email.write", "email.send"]).await;
        Some(MailAccount { world, connection: text(&connection["id"]), cursor: None })
    }

    /// Starts with the mailbox followed and read to its end.
    pub async fn followed(prepare: impl FnOnce(&mut GraphState)) -> Option<MailAccount> {
        let mut account = MailAccount::start(prepare).await?;
        account.follow().await;
        Some(account)
    }

    /// Follows the mailbox, and returns the initial items of its feed.
    pub async fn follow(&mut self) -> Vec<String> {
        let start = json!({ "connectionId": self.connection });
        self.world.api.post("/v1/email/sync/start", start).send().await.expect(202);
        self.pull_all().await
    }

    /// Lets time pass and pulls, until two pulls in a row have no changes. Returns the changes of messages in the feed.
    pub async fn pull_all(&mut self) -> Vec<String> {
        let (mut told, mut quiet) = (Vec::new(), 0);
        for _ in 0..MAX_PULLS {
            let new = self.pull().await;
            quiet = if new.is_empty() { quiet + 1 } else { 0 };
            told.extend(new);
            if quiet == 2 {
                told.sort();
                return told;
            }
        }
        panic!("the feed does not end: {told:?}");
    }

    /// Lets a quarter of an hour pass, after which a pull is due, and pulls. Returns the changes of messages in the feed since then.
    pub async fn pull(&mut self) -> Vec<String> {
        self.world.advance(15 * MINUTE_MS);
        self.world.server.pull().await;
        self.changes().await
    }

    /// The changes of messages in the feed since it was read last, as in `created Lunch`; sorted. Graph is not asked.
    pub async fn changes(&mut self) -> Vec<String> {
        let mut changes = Vec::new();
        loop {
            let cursor = self.cursor.as_ref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            let path = format!("/v1/email/sync/changes?connection_id={}&limit=100{cursor}", self.connection);
            let page = self.world.api.get(path).send().await.expect(200);
            let of_messages = page["data"].as_array().expect("a list").iter();
            for change in of_messages.filter(|change| change["resourceType"] == "email.message") {
                let subject = change["resource"]["subject"].as_str().unwrap_or_default();
                changes.push(format!("{} {subject}", text(&change["changeType"])).trim_end().to_owned());
            }
            self.cursor = page["sync_cursor"].as_str().map(str::to_owned);
            if page["next_cursor"].is_null() {
                changes.sort();
                return changes;
            }
        }
    }

    /// The messages that a query takes, as the copy has them.
    pub async fn list(&self, query: &str) -> Vec<Value> {
        self.world
            .api
            .all(&format!("/v1/email/messages?connection_id={}&limit=100&{query}", self.connection))
            .await
    }

    /// The one message with this subject.
    pub async fn titled(&self, subject: &str) -> Value {
        let mut found = self.list(&format!("subject={}", escaped(subject))).await;
        found.retain(|message| message["subject"] == subject);
        assert_eq!(found.len(), 1, "{subject}: {found:#?}");
        found.remove(0)
    }

    /// A message as it is at Graph now.
    pub async fn read(&self, id: &Value) -> Value {
        self.world.get(&format!("/v1/email/messages/{}", text(id))).await
    }

    /// The id of the folder or label with this role or name.
    pub async fn place(&self, kind: &str, name: &str) -> String {
        let all = self.world.api.all(&format!("/v1/email/{kind}?connection_id={}", self.connection)).await;
        let found = all.iter().find(|one| one["role"] == name || one["name"] == name);
        text(&found.unwrap_or_else(|| panic!("no {name} among the {kind}: {all:#?}"))["id"])
    }

    /// The roles of the folders in which a message is, or their names.
    pub async fn folders_of(&self, message: &Value) -> Vec<String> {
        let all = self.world.api.all(&format!("/v1/email/folders?connection_id={}", self.connection)).await;
        let ids = message["folderIds"].as_array().expect("a list").iter();
        let named = ids.map(|id| {
            let folder = all.iter().find(|folder| folder["id"] == *id);
            let folder = folder.unwrap_or_else(|| panic!("no folder {id}: {all:#?}"));
            text(if folder["role"].is_string() { &folder["role"] } else { &folder["name"] })
        });
        named.collect()
    }

    /// Changes a message.
    pub async fn patch(&self, id: &Value, change: Value) -> Value {
        self.world.api.patch(format!("/v1/email/messages/{}", text(id)), change).send().await.expect(200)
    }

    /// Sends a message to Bob; `more` overrides default fields. Returns the message after the first attempt.
    pub async fn send(&self, more: Value) -> Value {
        let mut message = json!({
            "connectionId": self.connection, "to": [{ "email": BOB }], "subject": "Hello", "body": { "text": "Hello" },
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            message[name.as_str()] = value.clone();
        }
        let sent = self.world.api.post("/v1/email/send", message).send().await.expect(202);
        self.world.server.hand_over().await;
        self.shown(&sent["id"]).await
    }

    /// Lets time pass until a message is sent, or has failed. Returns the message.
    pub async fn delivered(&self, message: Value) -> Value {
        let mut message = message;
        for _ in 0..10 {
            if ["sent", "failed"].iter().any(|state| message["delivery"]["state"] == *state) {
                break;
            }
            self.world.advance(10 * MINUTE_MS);
            self.world.server.hand_over().await;
            message = self.shown(&message["id"]).await;
        }
        message
    }

    /// A message as the copy has it.
    pub async fn shown(&self, id: &Value) -> Value {
        self.world.api.get(format!("/v1/email/messages/{}", text(id))).send().await.expect(200)
    }

    /// Reads or changes Alice's mailbox at Graph.
    pub fn mailbox<T>(&self, access: impl FnOnce(&mut MailStore) -> T) -> T {
        self.world.graph.with(|state| access(state.mailbox(ALICE)))
    }

    /// Delivers a message to Alice; its immutable id at Graph.
    pub fn deliver(&self, subject: &str) -> String {
        self.world.graph.with(|state| state.deliver(ALICE, letter(subject, "").as_bytes()))
    }

    /// The subjects of the messages in a folder at Graph, by its well-known name or its own; sorted.
    pub fn subjects_in(&self, folder: &str) -> Vec<String> {
        self.mailbox(|mailbox| {
            let key = mailbox.folder_key(folder);
            let inside = mailbox.messages.values().filter(|message| message.folder == key);
            let mut subjects: Vec<String> = inside.map(|message| message.content.subject.clone()).collect();
            subjects.sort();
            subjects
        })
    }

    /// The requests to Graph since `clear_requests`, parts of batches each for itself.
    pub fn requests(&self) -> Vec<GraphRequest> {
        let all = self.world.graph.requests().into_iter();
        let all = all.flat_map(|request| match request.parts.is_empty() {
            true => vec![request],
            false => request.parts,
        });
        all.filter(|request| request.path.starts_with("/v1.0/me/")).collect()
    }

    /// Ends a test: the account is as it was, and everybody kept to Microsoft's documents.
    pub async fn assert_sound(&self) {
        let connection = self.world.connection(&self.connection).await;
        assert_eq!(connection["status"], "active", "{connection:#}");
        self.world.assert_allowed();
    }
}

/// A message to Alice; `more` has further header fields, each with its line end.
pub fn letter(subject: &str, more: &str) -> String {
    written(subject, more, &format!("About {subject}.\r\n"))
}

/// Returns a message with this text.
pub fn written(subject: &str, more: &str, body: &str) -> String {
    format!(
        "From: Ann <ann@elsewhere.test>\r\nTo: Alice <{ALICE}>\r\nSubject: {subject}\r\n\
         Message-ID: <{}>\r\nDate: Sun, 01 Feb 2026 10:00:00 +0000\r\n{more}\r\n{body}",
        message_id(subject)
    )
}

/// The Message-ID of the message with this subject.
pub fn message_id(subject: &str) -> String {
    format!("{}@elsewhere.test", subject.to_lowercase().replace([' ', ':'], "-"))
}

/// The creations of messages with these subjects as in a feed; sorted.
pub fn created(subjects: &[String]) -> Vec<String> {
    let mut created: Vec<String> = subjects.iter().map(|subject| format!("created {subject}")).collect();
    created.sort();
    created
}
