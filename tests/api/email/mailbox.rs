//! A mailbox to test with: connected through the API, and accessible to the test from the provider's side too, like another program of
//! its owner. Each test has a separate, empty one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use harness::imap::Imap;
use harness::{Actor, Ask, Exchange, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::OwnedMutexGuard;

use crate::dav::peer;

/// The provider of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    Sandbox,
    /// Dovecot by IMAP, and Exim.
    Dovecot,
    /// Cyrus by IMAP, and Exim.
    CyrusImap,
    /// Cyrus by JMAP.
    Jmap,
}

/// An account with one more beside it, to write to.
pub struct Mailbox {
    pub provider: Provider,
    pub server: TestServer,
    pub api: Actor,
    /// The connection's id.
    pub connection: String,
    pub address: String,
    /// The account as its provider has it.
    pub there: There,
    /// Another user's account at the same provider.
    pub other: There,
}

/// A mailbox from its provider's side.
pub struct There {
    pub address: String,
    way: Way,
}

enum Way {
    Sandbox(Actor),
    Imap { line: Box<Mutex<Imap>>, _taken: Option<Arc<OwnedMutexGuard<()>>> },
}

/// A message for a mailbox.
#[derive(Clone, Debug)]
pub struct Letter {
    /// `inbox`, `archive`, … or a folder's own name.
    pub folder: String,
    pub raw: String,
    /// Flags: `seen`, `starred`, `answered`.
    pub flags: Vec<&'static str>,
    /// When it came, ms; none: now.
    pub at: Option<i64>,
}

/// The folders that every account has.
const FOLDERS: [&str; 6] = ["INBOX", "Archive", "Drafts", "Junk", "Sent", "Trash"];
/// Accounts that these tests write to, in pairs.
const PAIRS: [[&str; 2]; 3] = [["t05", "t06"], ["t07", "t08"], ["t09", "t10"]];

/// A pair of accounts of a server that no other test has now.
async fn pair(server: &'static str) -> ([&'static str; 2], OwnedMutexGuard<()>) {
    type Locks = [Arc<tokio::sync::Mutex<()>>; PAIRS.len()];
    static OF_SERVERS: OnceLock<Mutex<BTreeMap<&'static str, Locks>>> = OnceLock::new();
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let locks = {
        let mut all = OF_SERVERS.get_or_init(Mutex::default).lock().expect("nobody panics here");
        all.entry(server).or_default().clone()
    };
    for (names, lock) in PAIRS.iter().zip(&locks) {
        if let Ok(taken) = lock.clone().try_lock_owned() {
            return (*names, taken);
        }
    }
    let turn = TURN.fetch_add(1, Ordering::Relaxed) % PAIRS.len();
    (PAIRS[turn], locks[turn].clone().lock_owned().await)
}

/// The port that a variable of the peers names; none when the peer is not up.
pub fn port(variable: &str) -> Option<u16> {
    peer(variable).map(|port| port.parse().expect("a port"))
}

/// Returns whether Cyrus sends mail that it gets by JMAP through Exim.
pub fn cyrus_delivers() -> bool {
    let (way, exim) = (std::env::var("CYRUS_SMTP_PORT").ok(), std::env::var("EXIM_PORT").ok());
    way.is_some() && way == exim
}

/// Returns the body that connects an account of a provider.
fn credentials(provider: Provider, address: &str) -> Option<Value> {
    let server = |port: u16| json!({ "host": "127.0.0.1", "port": port, "tls": "none" });
    let imap = |variable: &str| {
        let (imap, smtp) = (server(port(variable)?), server(port("EXIM_PORT")?));
        Some(json!({ "provider": "imap",
            "credentials": { "username": address, "password": "secret", "imap": imap, "smtp": smtp } }))
    };
    match provider {
        Provider::Sandbox => Some(json!({ "provider": "sandbox",
            "credentials": { "username": address, "password": "sandbox" } })),
        Provider::Dovecot => imap("DOVECOT_IMAP_PORT"),
        Provider::CyrusImap => imap("CYRUS_IMAP_PORT"),
        Provider::Jmap => Some(json!({ "provider": "jmap", "settings": { "serverUrl": peer("CYRUS_URL")? },
            "credentials": { "username": address, "password": "secret" } })),
    }
}

impl Provider {
    fn domain(self) -> &'static str {
        match self {
            Provider::Sandbox => "sandbox.test",
            Provider::Dovecot => "example.test",
            Provider::CyrusImap | Provider::Jmap => "cyrus.test",
        }
    }

    /// Returns the name and port of the server for the test's IMAP client.
    fn imap(self) -> Option<(&'static str, u16)> {
        match self {
            Provider::Sandbox => None,
            Provider::Dovecot => Some(("dovecot", port("DOVECOT_IMAP_PORT")?)),
            Provider::CyrusImap | Provider::Jmap => Some(("cyrus", port("CYRUS_IMAP_PORT")?)),
        }
    }
}

impl Mailbox {
    /// An empty one; none when the provider's servers are not up.
    pub async fn open(provider: Provider) -> Option<Mailbox> {
        Mailbox::open_with(provider, provider.server()).await
    }

    /// Opens a mailbox at a service that the test has configured.
    pub async fn open_with(provider: Provider, server: harness::Builder) -> Option<Mailbox> {
        credentials(provider, "")?;
        let server = server.start().await;
        let (there, other) = accounts(provider, &server).await?;
        let api = server.client().await;
        let (address, connection) = (there.address.clone(), String::new());
        let mut mailbox = Mailbox { provider, server, api, connection, address, there, other };
        mailbox.connection = mailbox.connect().await;
        Some(mailbox)
    }

    /// Connects the account; the connection's id. Once more gives another connection.
    pub async fn connect(&self) -> String {
        self.connect_as(&self.address).await
    }

    /// Connects the account of the other one.
    pub async fn connect_other(&self) -> String {
        self.connect_as(&self.other.address).await
    }

    async fn connect_as(&self, address: &str) -> String {
        let mut body = credentials(self.provider, address).expect("it is up");
        body["scopes"] = json!(["email.read", "email.write", "email.send"]);
        let connection = self.api.connect(body).await;
        assert_eq!(connection["missingScopes"], json!([]), "{connection:#}");
        text(&connection["id"])
    }

    /// Makes a request for fresh data of the provider.
    pub fn get(&self, path: impl Into<String>) -> Ask {
        // Requests of the same millisecond share a fresh read.
        self.server.clock.advance_ms(1);
        self.api.get(path).header("cache-control", "no-cache")
    }

    /// All messages that a query takes, page by page.
    pub async fn list(&self, query: &str) -> Vec<Value> {
        self.all(&format!("/v1/email/messages?connection_id={}&{query}", self.connection)).await
    }

    /// All of a list.
    pub async fn all(&self, path: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), String::new());
        loop {
            let joint = if path.contains('?') { '&' } else { '?' };
            let page = self.get(format!("{path}{joint}{cursor}")).send().await.expect(200);
            items.extend(page["data"].as_array().expect("a list").iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("cursor={next}"),
                None => return items,
            }
        }
    }

    /// The one message with this subject.
    pub async fn titled(&self, subject: &str) -> Value {
        let found = self.list(&format!("subject={}", escaped(subject))).await;
        let found: Vec<&Value> = found.iter().filter(|m| m["subject"] == subject).collect();
        assert_eq!(found.len(), 1, "{subject}: {found:#?}");
        found[0].clone()
    }

    /// A message as it is at the provider now.
    pub async fn read(&self, id: &Value) -> Value {
        self.get(format!("/v1/email/messages/{}", text(id))).send().await.expect(200)
    }

    /// The id of a folder, by role or name.
    pub async fn folder(&self, name: &str) -> String {
        let all = self.all(&format!("/v1/email/folders?connection_id={}", self.connection)).await;
        let found = all.iter().find(|f| f["role"] == name || f["name"] == name);
        text(&found.unwrap_or_else(|| panic!("no folder {name}: {all:#?}"))["id"])
    }

    /// Makes a folder at the provider; its id.
    pub async fn new_folder(&self) -> (String, String) {
        let name = self.there.make_folder().await;
        (self.folder(&name).await, name)
    }

    /// A change of a message.
    pub fn patch(&self, id: &Value, body: Value) -> Ask {
        self.api.patch(format!("/v1/email/messages/{}", text(id)), body)
    }

    /// A message to send from here. `body` adds to what every message has.
    pub fn message(&self, body: Value) -> Value {
        let mut message = json!({ "connectionId": self.connection, "to": [{ "email": self.other.address }],
            "subject": "Hello", "body": { "text": "Hello" } });
        merge(&mut message, body);
        message
    }

    /// Asks for a message to be sent: 202 and the message.
    pub async fn submit(&self, body: Value) -> Value {
        self.api.post("/v1/email/send", self.message(body)).send().await.expect(202)
    }

    /// Sends a message; it as it is afterwards.
    pub async fn send(&self, body: Value) -> Value {
        let sent = self.submit(body).await;
        self.server.hand_over().await;
        self.read(&sent["id"]).await
    }

    /// The next round of the clock, with everything that is due then.
    pub async fn later(&self, seconds: i64) {
        self.server.clock.advance_ms(seconds * 1000);
        self.server.hand_over().await;
    }

    /// Returns whether mail sent here arrives at the other accounts of the peers.
    pub fn delivers(&self) -> bool {
        self.provider != Provider::Jmap || cyrus_delivers()
    }
}

impl Provider {
    /// Returns a service for it, with a clock that stands still until the test moves it.
    pub fn server(self) -> harness::Builder {
        match self {
            Provider::Sandbox => TestServer::builder(),
            _ => {
                let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
                TestServer::builder().from_now().config(|c| c.egress_allow = loopback)
            }
        }
    }
}

async fn accounts(provider: Provider, server: &TestServer) -> Option<(There, There)> {
    if provider != Provider::Sandbox {
        return imap_accounts(provider).await;
    }
    let open = |name: &str| There {
        address: format!("{name}@sandbox.test"),
        way: Way::Sandbox(server.provider(name)),
    };
    Some((open("ci-writer"), open("ci-reader")))
}

/// Two empty accounts of a real server; none when it is not up.
pub async fn imap_accounts(provider: Provider) -> Option<(There, There)> {
    let (name, port) = provider.imap()?;
    let (names, taken) = pair(name).await;
    let taken = Arc::new(taken);
    let open = |name: &str| {
        let address = format!("{name}@{}", provider.domain());
        let mut line = Imap::login(port, &address, "secret");
        line.empty(&FOLDERS);
        let line = Box::new(Mutex::new(line));
        There { address, way: Way::Imap { line, _taken: Some(taken.clone()) } }
    };
    Some((open(names[0]), open(names[1])))
}

/// The content of a mailbox: the folders (`inbox`, `trash`, or their names) with the flags of each message, by Message-ID.
pub type Contents = BTreeMap<String, Vec<(String, Vec<String>)>>;

const MESSAGES: &str = "/sandbox/v1/mail/messages";

impl There {
    /// Puts a message there.
    pub async fn deliver(&self, letter: &Letter) {
        match &self.way {
            Way::Sandbox(api) => {
                let mut path = format!("{MESSAGES}?folders={}", letter.folder);
                for flag in &letter.flags {
                    let (member, value) = sandbox_member(flag, true);
                    path.push_str(&format!("&{member}={value}"));
                }
                if let Some(at) = letter.at {
                    path.push_str(&format!("&receivedAt={}", model::Instant::from_millis(at)));
                }
                let ask = api.ask(Method::POST, path, None).raw("message/rfc822", letter.raw.clone());
                ask.send().await.expect(201);
            }
            Way::Imap { .. } => {
                let flags: Vec<String> = letter.flags.iter().map(|flag| imap_flag(flag)).collect();
                let folder = imap_folder(&letter.folder);
                self.imap(|line| line.append(&folder, &flags.join(" "), letter.at, &letter.raw));
            }
        }
    }

    /// The line of the test's own, where there is one.
    pub fn imap<T>(&self, work: impl FnOnce(&mut Imap) -> T) -> T {
        match &self.way {
            Way::Imap { line, .. } => work(&mut line.lock().expect("one test, one line")),
            Way::Sandbox(_) => panic!("there is no IMAP here"),
        }
    }

    /// The sandbox provider's own API.
    pub fn sandbox(&self) -> Option<&Actor> {
        match &self.way {
            Way::Sandbox(api) => Some(api),
            Way::Imap { .. } => None,
        }
    }

    /// Makes a folder with a unique name.
    pub async fn make_folder(&self) -> String {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        // Cyrus keeps deleted mailboxes under their name and the second: each name is used once.
        let name = format!("f{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        match &self.way {
            Way::Sandbox(api) => {
                let folder = json!({ "id": name, "name": name });
                api.post("/sandbox/v1/mail/folders", folder).send().await.expect(201);
            }
            Way::Imap { .. } => drop(self.imap(|line| line.run(&format!("CREATE {name}")))),
        }
        name
    }

    /// Sets or takes away a flag.
    pub async fn flag(&self, message_id: &str, flag: &'static str, is_set: bool) {
        match &self.way {
            Way::Sandbox(api) => {
                let path = sandbox_path(api, message_id).await;
                let (member, value) = sandbox_member(flag, is_set);
                api.patch(path, json!({ member: value })).send().await.expect(200);
            }
            Way::Imap { .. } => self.imap(|line| {
                let sign = if is_set { '+' } else { '-' };
                let found = one(line, message_id);
                line.store(&found, &format!("{sign}FLAGS ({})", imap_flag(flag)));
            }),
        }
    }

    pub async fn r#move(&self, message_id: &str, folder: &str) {
        match &self.way {
            Way::Sandbox(api) => {
                let path = sandbox_path(api, message_id).await;
                api.patch(path, json!({ "folders": [folder] })).send().await.expect(200);
            }
            Way::Imap { .. } => self.imap(|line| {
                let found = one(line, message_id);
                line.r#move(&found, &imap_folder(folder));
            }),
        }
    }

    pub async fn destroy(&self, message_id: &str) {
        match &self.way {
            Way::Sandbox(api) => {
                let path = format!("{}?forever=true", sandbox_path(api, message_id).await);
                api.delete(path).send().await.expect(200);
            }
            Way::Imap { .. } => self.imap(|line| {
                let found = one(line, message_id);
                line.destroy(&found);
            }),
        }
    }

    /// Returns all content.
    pub async fn contents(&self) -> Contents {
        let mut contents = Contents::new();
        match &self.way {
            Way::Sandbox(api) => {
                for message in sandbox_messages(api, "").await {
                    let names = ["answered", "draft", "forwarded", "seen", "starred"].into_iter();
                    let is_set = |flag: &&str| {
                        let (member, value) = sandbox_member(flag, true);
                        message[member] == value
                    };
                    let flags: Vec<String> = names.filter(is_set).map(str::to_owned).collect();
                    for folder in message["folderIds"].as_array().expect("folders") {
                        let places = contents.entry(text(&message["internetMessageId"])).or_default();
                        places.push((text(folder), flags.clone()));
                    }
                }
            }
            Way::Imap { .. } => {
                for stored in self.imap(Imap::all) {
                    let flags = stored.flags.iter().filter_map(|flag| plain_flag(flag));
                    let mut flags: Vec<String> = flags.map(str::to_owned).collect();
                    flags.sort();
                    contents
                        .entry(stored.message_id)
                        .or_default()
                        .push((plain_folder(&stored.folder), flags));
                }
            }
        }
        contents
    }

    /// The folders in which messages with this Message-ID are, one entry each.
    pub async fn folders_of(&self, message_id: &str) -> Vec<String> {
        let places = self.contents().await.remove(message_id).unwrap_or_default();
        places.into_iter().map(|(folder, _)| folder).collect()
    }

    /// The bytes of the message with this Message-ID.
    pub async fn raw(&self, message_id: &str) -> String {
        match &self.way {
            Way::Sandbox(api) => {
                let path = format!("{}/raw", sandbox_path(api, message_id).await);
                api.get(path).send().await.text
            }
            Way::Imap { .. } => self.imap(|line| {
                let found = one(line, message_id);
                line.raw(&found)
            }),
        }
    }

    /// The message with this Message-ID, as soon as it has arrived.
    pub async fn arrived(&self, message_id: &str) -> String {
        until(&format!("{message_id} arrives at {}", self.address), async || {
            let is_here = self.contents().await.contains_key(message_id);
            is_here.then_some(())
        })
        .await;
        self.raw(message_id).await
    }
}

fn one(line: &mut Imap, message_id: &str) -> harness::imap::Stored {
    let mut found = line.find(message_id);
    assert_eq!(found.len(), 1, "{message_id} is there {} times", found.len());
    found.remove(0)
}

async fn sandbox_messages(api: &Actor, query: &str) -> Vec<Value> {
    let (mut all, mut token) = (Vec::new(), String::new());
    loop {
        let page = api.get(format!("{MESSAGES}?limit=200{query}{token}")).send().await.expect(200);
        all.extend(page["messages"].as_array().expect("messages").iter().cloned());
        match page["nextPageToken"].as_str() {
            Some(next) => token = format!("&pageToken={next}"),
            None => return all,
        }
    }
}

async fn sandbox_path(api: &Actor, message_id: &str) -> String {
    let found = sandbox_messages(api, &format!("&messageId={message_id}")).await;
    assert_eq!(found.len(), 1, "{message_id} is there {} times", found.len());
    format!("{MESSAGES}/{}", text(&found[0]["id"]))
}

/// The member of a message of the sandbox provider that is this flag, and its value where the flag is set or not.
fn sandbox_member(flag: &str, is_set: bool) -> (&str, bool) {
    match flag {
        "seen" => ("unread", !is_set),
        flag => (flag, is_set),
    }
}

const FLAGS: [(&str, &str); 5] = [
    ("seen", "\\Seen"),
    ("starred", "\\Flagged"),
    ("answered", "\\Answered"),
    ("draft", "\\Draft"),
    ("deleted", "\\Deleted"),
];

fn imap_flag(flag: &str) -> String {
    let known = FLAGS.iter().find(|(plain, _)| *plain == flag);
    known.unwrap_or_else(|| panic!("no flag {flag}")).1.to_owned()
}

fn plain_flag(flag: &str) -> Option<&'static str> {
    FLAGS.iter().find(|(_, imap)| imap.eq_ignore_ascii_case(flag)).map(|(plain, _)| *plain)
}

fn imap_folder(folder: &str) -> String {
    let known = FOLDERS.iter().find(|known| known.eq_ignore_ascii_case(folder));
    known.map_or_else(|| folder.to_owned(), |known| (*known).to_owned())
}

fn plain_folder(folder: &str) -> String {
    match FOLDERS.contains(&folder) {
        true => folder.to_lowercase(),
        false => folder.to_owned(),
    }
}

/// Returns a message for the inbox. `more`: further header fields, each with its line end.
pub fn letter(subject: &str, message_id: &str, more: &str) -> Letter {
    written(subject, message_id, more, "Hello!\r\n")
}

/// Returns a message with this text.
pub fn written(subject: &str, message_id: &str, more: &str, body: &str) -> Letter {
    let raw = format!(
        "From: Ann <ann@elsewhere.test>\r\nTo: Somebody <somebody@elsewhere.test>\r\nSubject: {subject}\r\n\
         Message-ID: <{message_id}>\r\nDate: Sun, 01 Feb 2026 10:00:00 +0000\r\n{more}\r\n{body}"
    );
    Letter { folder: "inbox".to_owned(), raw, flags: Vec::new(), at: None }
}

impl Letter {
    /// Replaces the value of a field that every message has.
    pub fn with(self, field: &str, value: &str) -> Self {
        let lines = self.raw.split_inclusive("\r\n");
        let mark = format!("{field}: ");
        let changed = lines.map(|line| match line.starts_with(&mark) {
            true => format!("{mark}{value}\r\n"),
            false => line.to_owned(),
        });
        Letter { raw: changed.collect(), ..self }
    }

    pub fn at(self, at: &str) -> Self {
        let at: model::Instant = at.parse().expect("an instant");
        Letter { at: Some(at.as_millis()), ..self }
    }

    pub fn into_folder(self, folder: &str) -> Self {
        Letter { folder: folder.to_owned(), ..self }
    }

    pub fn flagged(self, flags: &[&'static str]) -> Self {
        Letter { flags: flags.to_vec(), ..self }
    }
}

/// Looks again and again until there is something, at most half a minute.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(std::time::Instant::now() < end, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Text for a query string.
pub fn escaped(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02X}")).collect()
}

/// Subjects, in order.
pub fn subjects(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|m| m["subject"].as_str().unwrap_or_default()).collect()
}

/// Puts the fields of one object over those of another.
pub fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}

/// Asserts that a request was refused with this status, code and field.
#[track_caller]
pub fn refused(exchange: Exchange, status: u16, code: &str, param: &str) {
    let shown = format!("{exchange}");
    let error = exchange.refused(status, code);
    assert_eq!(error["param"], param, "{shown}");
}
