//! An account with mail at a fake provider, through `/v1/email`.

use harness::Builder;
use serde_json::{Value, json};

use crate::email::mailbox::{escaped, text};
use crate::fake_provider::{FakeProvider, World, builder, change_lines};

pub const MINUTE_MS: i64 = 60_000;
/// Pulls after which a feed has to be complete.
const MAX_PULLS: usize = 40;

/// A fake with mailboxes.
pub trait MailProvider: FakeProvider {
    /// Delivers a message to Alice; its id at the provider.
    fn deliver(state: &mut Self::State, raw: &[u8]) -> String;
}

/// Alice's account with its mail. Pulls run only when a test says so, and data pulled within the last hour is served from the copy.
pub struct MailAccount<P: MailProvider> {
    pub world: World<P>,
    pub connection: String,
    cursor: Option<String>,
}

impl<P: MailProvider> MailAccount<P> {
    /// The account, whose mailbox `prepare` fills before it is connected; none where the provider's document is not installed.
    pub async fn start(prepare: impl FnOnce(&mut P::State)) -> Option<MailAccount<P>> {
        MailAccount::<P>::on(builder(), prepare).await
    }

    /// Starts with a server that the test has configured.
    pub async fn on(builder: Builder, prepare: impl FnOnce(&mut P::State)) -> Option<MailAccount<P>> {
        let builder = builder.config(|c| c.freshness_ms = 60 * MINUTE_MS).without_pulls();
        let world = World::<P>::on(builder).await?;
        world.fake.with(|state| {
            P::add_user(state, P::BOB, "Bob Example");
            prepare(state);
        });
        let connection = world.connect_for(&["email.read", "email.write", "email.send"]).await;
        Some(MailAccount { world, connection: text(&connection["id"]), cursor: None })
    }

    /// Starts with the mailbox followed and read to its end.
    pub async fn followed(prepare: impl FnOnce(&mut P::State)) -> Option<MailAccount<P>> {
        let mut account = MailAccount::<P>::start(prepare).await?;
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

    /// The changes of messages in the feed since it was read last, as in `created Lunch`; sorted. The provider is not asked.
    pub async fn changes(&mut self) -> Vec<String> {
        let mut changes = Vec::new();
        loop {
            let cursor = self.cursor.as_ref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            let path = format!("/v1/email/sync/changes?connection_id={}&limit=100{cursor}", self.connection);
            let page = self.world.api.get(path).send().await.expect(200);
            let of_messages = page["data"].as_array().expect("a list").iter();
            changes.extend(of_messages.filter(|change| change["resourceType"] == "email.message").cloned());
            self.cursor = page["sync_cursor"].as_str().map(str::to_owned);
            if page["next_cursor"].is_null() {
                return change_lines(&changes, "subject");
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

    /// A message as it is at the provider now.
    pub async fn read(&self, id: &Value) -> Value {
        self.world.get(&format!("/v1/email/messages/{}", text(id))).await
    }

    /// The id of the folder or label with this role or name.
    pub async fn place(&self, kind: &str, name: &str) -> String {
        let all = self.world.api.all(&format!("/v1/email/{kind}?connection_id={}", self.connection)).await;
        let found = all.iter().find(|one| one["role"] == name || one["name"] == name);
        text(&found.unwrap_or_else(|| panic!("no {name} among the {kind}: {all:#?}"))["id"])
    }

    /// The roles of the folders in which a message is, or their names; sorted.
    pub async fn folders_of(&self, message: &Value) -> Vec<String> {
        let all = self.world.api.all(&format!("/v1/email/folders?connection_id={}", self.connection)).await;
        let ids = message["folderIds"].as_array().expect("a list").iter();
        let named = ids.map(|id| {
            let folder = all.iter().find(|folder| folder["id"] == *id);
            let folder = folder.unwrap_or_else(|| panic!("no folder {id}: {all:#?}"));
            text(if folder["role"].is_string() { &folder["role"] } else { &folder["name"] })
        });
        let mut named: Vec<String> = named.collect();
        named.sort();
        named
    }

    /// Changes a message.
    pub async fn patch(&self, id: &Value, change: Value) -> Value {
        self.world.api.patch(format!("/v1/email/messages/{}", text(id)), change).send().await.expect(200)
    }

    /// Sends a message to Bob; `more` overrides default fields. Returns the message after the first attempt.
    pub async fn send(&self, more: Value) -> Value {
        let mut message = json!({
            "connectionId": self.connection, "to": [{ "email": P::BOB }], "subject": "Hello", "body": { "text": "Hello" },
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            message[name.as_str()] = value.clone();
        }
        let sent = self.world.api.post("/v1/email/send", message).send().await.expect(202);
        self.world.server.hand_over().await;
        self.shown(&sent["id"]).await
    }

    /// A message as the copy has it.
    pub async fn shown(&self, id: &Value) -> Value {
        self.world.api.get(format!("/v1/email/messages/{}", text(id))).send().await.expect(200)
    }

    /// Delivers a message to Alice; its id at the provider.
    pub fn deliver(&self, subject: &str) -> String {
        self.world.fake.with(|state| P::deliver(state, letter(P::ALICE, subject, "").as_bytes()))
    }

    /// Ends a test: the account is as it was, and everybody kept to the provider's document.
    pub async fn assert_sound(&self) {
        let connection = self.world.connection(&self.connection).await;
        assert_eq!(connection["status"], "active", "{connection:#}");
        self.world.assert_allowed();
    }
}

/// A message to Alice, whose address this is; `more` has further header fields, each with its line end.
pub fn letter(alice: &str, subject: &str, more: &str) -> String {
    written(alice, subject, more, &format!("About {subject}.\r\n"))
}

/// Returns a message with this text.
pub fn written(alice: &str, subject: &str, more: &str, body: &str) -> String {
    format!(
        "From: Ann <ann@elsewhere.test>\r\nTo: Alice <{alice}>\r\nSubject: {subject}\r\n\
         Message-ID: <{}>\r\nDate: Sun, 01 Feb 2026 10:00:00 +0000\r\n{more}\r\n{body}",
        message_id(subject)
    )
}

/// The Message-ID of the message with this subject.
pub fn message_id(subject: &str) -> String {
    format!("{}@elsewhere.test", subject.to_lowercase().replace([' ', ':'], "-"))
}
