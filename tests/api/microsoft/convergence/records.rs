//! Mail, contacts and tasks of Alice's, which both programs change in one history.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::Entropy;
use fakes::graph::{AccountKind, GraphState};
use harness::{Ask, Exchange};
use reqwest::Method;
use serde_json::{Value, json};

use crate::email::mailbox::{letter, text};
use crate::microsoft::convergence::{
    COMMON_TRAPS, MINUTE_MS, PATIENCE_MS, ROUND, STEPS, calm, failure, killed_during, killed_during_pull,
    killed_during_sends, lose_changes, number, restarted,
};
use crate::microsoft::{ALICE, BOB, World, ZONE, builder};

const SCOPES: [&str; 7] = [
    "email.read",
    "email.write",
    "email.send",
    "contacts.read",
    "contacts.write",
    "tasks.read",
    "tasks.write",
];
/// Rounds after which everything is sent and reported. Between two rounds the service waits longer than after failures.
const MAX_SETTLING_ROUNDS: usize = 16;
/// The beginning of the subjects of messages that come from elsewhere.
const LETTER: &str = "Letter";
/// The folders in which messages of this history can be: Graph's names, and our roles.
const FOLDERS: [(&str, &str); 5] = [
    ("inbox", "inbox"),
    ("archive", "archive"),
    ("deleteditems", "trash"),
    ("sentitems", "sent"),
    ("drafts", "drafts"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordKind {
    Mail,
    Contact,
    Task,
}

const KINDS: [RecordKind; 3] = [RecordKind::Mail, RecordKind::Contact, RecordKind::Task];

/// One step of a history. Numbers choose an existing record, and a change of it.
#[derive(Clone, Copy, Debug)]
enum RecordStep {
    /// By the other program, in Outlook.
    TheirMake(RecordKind),
    TheirChange(RecordKind, u8),
    TheirDrop(RecordKind, u8),
    /// Through Switchboard. A new message is queued to be sent.
    Make(RecordKind),
    Change(RecordKind, u8),
    Drop(RecordKind, u8),
    /// The service sends queued messages.
    Send,
    /// The client reads a feed to its end.
    Read(RecordKind),
    /// The service pulls by itself.
    Poll,
    Trap(&'static str),
    Fail(RecordKind, u8),
    /// The next change happens at Graph, and its answer is lost.
    Lose(RecordKind),
    Restart,
    /// The client makes or changes a record, and the hosts are killed as soon as Graph has the change.
    Kill(RecordKind, u8),
    KillPull,
    /// A message is queued, and the hosts are killed as soon as Graph has it as a draft, or has sent it.
    KillSend(u8),
    Wait(i64),
}

/// The spellings of an expired token, for the next delta with one.
const EXPIRIES: [&str; 6] = [
    "delta_410_sync_state_not_found",
    "delta_404_sync_state_not_found",
    "delta_400_sync_state_invalid",
    "delta_410_resync_required",
    "delta_400_invalid_sync_state_data",
    "delta_400_id_malformed",
];
const TRAPS: [&str; 6] = [
    "removed_a_b_a",
    "partial_updates",
    "repeated_ids",
    "sent_copy_late",
    "sent_copy_renamed",
    "irresolvable_conflict",
];

fn step(random: &Entropy) -> RecordStep {
    let [what, a, b] = random.bytes::<3>();
    let kind = KINDS[usize::from(a) % KINDS.len()];
    let of = |names: &[&'static str]| RecordStep::Trap(names[usize::from(b) % names.len()]);
    match what % 64 {
        0..=6 => RecordStep::TheirMake(kind),
        7..=12 => RecordStep::TheirChange(kind, b),
        13..=15 => RecordStep::TheirDrop(kind, b),
        16..=22 => RecordStep::Make(kind),
        23..=28 => RecordStep::Change(kind, b),
        29..=31 => RecordStep::Drop(kind, b),
        32..=35 => RecordStep::Send,
        36..=44 => RecordStep::Read(kind),
        45 | 46 => RecordStep::Poll,
        47 => of(&TRAPS),
        48 if a.is_multiple_of(2) => of(&EXPIRIES),
        48 => of(&COMMON_TRAPS),
        49..=51 => RecordStep::Fail(kind, b),
        52 | 53 => RecordStep::Lose(kind),
        54 if b.is_multiple_of(2) => RecordStep::Restart,
        55 => RecordStep::Kill(kind, b),
        56 if b.is_multiple_of(2) => RecordStep::KillPull,
        57 => RecordStep::KillSend(b),
        58 => RecordStep::Wait(70_000),
        59 => RecordStep::Wait(40 * MINUTE_MS),
        _ => RecordStep::Wait(1_000),
    }
}

/// The records of a kind, each as its id and the compared fields.
type RecordSet = BTreeMap<String, String>;

/// The records of a kind as the API has them.
struct FollowedRecords {
    kind: RecordKind,
    /// The paths of feed and list, each with a parameter already.
    feed: String,
    list: String,
    /// The records from the feed, by id.
    replica: BTreeMap<String, Value>,
    cursor: Option<String>,
    /// Records that a request can be about: those that were listed last.
    seen: Vec<Value>,
}

/// A request for a change, which can be sent again under its key.
struct RecordRequest {
    kind: RecordKind,
    method: Method,
    path: String,
    body: Option<Value>,
    key: String,
}

/// The history so far, and both sides of it.
struct RecordHistory {
    world: World,
    connection: String,
    /// The path of the default task list's tasks.
    tasks: String,
    /// In the order of `KINDS`.
    followed: [FollowedRecords; 3],
    /// The messages that are to be sent: their ids by their subjects.
    queued: BTreeMap<String, String>,
    /// The ids at Graph of contacts and tasks that were acknowledged, and that neither side has tried to delete since.
    kept: BTreeSet<String>,
    /// Tokens have expired since both sides were compared last.
    has_expiries: bool,
    /// No two titles are the same.
    titles: u32,
    steps: Vec<RecordStep>,
}

impl RecordKind {
    /// The beginning of the paths of its calls.
    fn api(self) -> &'static str {
        match self {
            // `messages` and `mailFolders`.
            RecordKind::Mail => "/v1.0/me/m",
            RecordKind::Contact => "/v1.0/me/contact",
            RecordKind::Task => "/v1.0/me/todo",
        }
    }

    /// The type of its changes in feeds.
    fn resource_type(self) -> &'static str {
        match self {
            RecordKind::Mail => "email.message",
            RecordKind::Contact => "contact",
            RecordKind::Task => "task",
        }
    }

    /// The part of a record that is compared. `roles` has those of the folders by their ids.
    fn line(self, record: &Value, roles: &BTreeMap<String, String>) -> String {
        match self {
            RecordKind::Contact => text(&record["givenName"]),
            RecordKind::Task => format!("{} {}", text(&record["title"]), record["status"] == "completed"),
            RecordKind::Mail => {
                let ids = record["folderIds"].as_array().into_iter().flatten();
                let folders = ids.map(|id| roles.get(&text(id)).cloned().unwrap_or_else(|| text(id)));
                let folders: BTreeSet<String> = folders.collect();
                let (unread, starred) = (&record["unread"], &record["starred"]);
                format!("{} {unread} {starred} {folders:?}", text(&record["subject"]))
            }
        }
    }

    /// The set as Graph has it.
    fn set_there(self, state: &mut GraphState) -> RecordSet {
        let mut set = RecordSet::new();
        match self {
            RecordKind::Mail => {
                for id in state.mail_ids(ALICE) {
                    let line = message_there(state, &id);
                    set.insert(id, line);
                }
            }
            RecordKind::Contact => {
                for id in state.contact_ids(ALICE, "") {
                    let contact = state.stored_contact(ALICE, &id).unwrap_or_default();
                    set.insert(id, text(&contact["givenName"]));
                }
            }
            RecordKind::Task => {
                for id in state.task_ids(ALICE, "") {
                    let task = state.stored_task(ALICE, &id).unwrap_or_default();
                    let line = format!("{} {}", text(&task["title"]), task["status"] == "completed");
                    set.insert(id, line);
                }
            }
        }
        set
    }
}

fn message_there(state: &mut GraphState, id: &str) -> String {
    let role = folder_there(state, id);
    let item = state.mail_item(ALICE, id);
    let folders = BTreeSet::from([role]);
    format!("{} {} {} {folders:?}", item.content.subject, !item.is_read, item.flag == "flagged")
}

/// The role of the folder in which a message is at Graph.
fn folder_there(state: &mut GraphState, id: &str) -> String {
    let number = state.mail_item(ALICE, id).number;
    let folder = state.mailbox(ALICE).folder_of(number).unwrap_or_default().to_owned();
    let known = FOLDERS.iter().find(|(name, _)| *name == folder);
    known.map_or(folder, |(_, role)| (*role).to_owned())
}

/// The subject of a message.
fn subject(raw: &[u8]) -> String {
    let raw = String::from_utf8_lossy(raw);
    let field = raw.lines().take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("subject").then(|| value.trim().to_owned())
    });
    field.unwrap_or_default()
}

/// A change succeeds, or its record is not there, has changed or cannot be changed so, or Graph fails or is too busy.
#[track_caller]
fn accept(what: &str, answer: &Exchange) {
    let fits = matches!(answer.status, 200..=202 | 204 | 400 | 403 | 404 | 409 | 429 | 502..=504);
    assert!(fits, "{what}: {answer}");
}

impl FollowedRecords {
    fn new(kind: RecordKind, feed: String, list: String) -> FollowedRecords {
        FollowedRecords { kind, feed, list, replica: BTreeMap::new(), cursor: None, seen: Vec::new() }
    }

    /// Reads the feed to its end, as far as it can be read now, and the list.
    async fn read(&mut self, world: &World) {
        loop {
            let cursor = self.cursor.as_ref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            world.advance(1);
            let path = format!("{}{cursor}", self.feed);
            let page = world.api.get(path).header("cache-control", "no-cache").send().await;
            match page.status {
                200 => {}
                409 => {
                    page.refused(409, "sync_reset_required");
                    (self.cursor, self.replica) = (None, BTreeMap::new());
                    continue;
                }
                _ => {
                    assert!(matches!(page.status, 429 | 502..=504), "{page}");
                    return;
                }
            }
            let page = page.answer;
            self.take(page["data"].as_array().expect("a list"));
            self.cursor = page["sync_cursor"].as_str().map(str::to_owned);
            if page["next_cursor"].is_null() {
                break;
            }
        }
        let listed = world.api.get(&self.list).send().await;
        if listed.status == 200 {
            self.seen = listed.answer["data"].as_array().expect("a list").clone();
        }
    }

    fn take(&mut self, changes: &[Value]) {
        for change in changes.iter().filter(|change| change["resourceType"] == self.kind.resource_type()) {
            let id = text(&change["resourceId"]);
            match change["changeType"] == "deleted" {
                true => self.replica.remove(&id),
                false => self.replica.insert(id, change["resource"].clone()),
            };
        }
    }
}

impl RecordHistory {
    /// None where the extract of Microsoft's SDK is not installed.
    async fn start() -> Option<RecordHistory> {
        let world = World::on(builder().config(|c| c.pull_page = 5)).await?;
        world.graph.with(|state| state.add_account(BOB, "Bob Example", ZONE, AccountKind::Work));
        let connection = text(&world.connect_for(&SCOPES).await["id"]);
        let lists = world.get(&format!("/v1/task-lists?connection_id={connection}")).await;
        let mut lists = lists["data"].as_array().expect("a list").iter();
        let list = lists.find(|list| list["role"] == "default").expect("the default list");
        let list = format!("/v1/task-lists/{}", text(&list["id"]));
        for surface in ["/v1/email", "/v1/contacts", list.as_str()] {
            let body = if surface == list { json!({}) } else { json!({ "connectionId": connection }) };
            world.api.post(format!("{surface}/sync/start"), body).send().await.expect(202);
        }
        let feed = |surface: &str| format!("{surface}/sync/changes?connection_id={connection}&limit=7");
        let all = |path: &str| format!("{path}?connection_id={connection}&limit=100");
        let tasks = format!("{list}/tasks");
        let followed = [
            FollowedRecords::new(RecordKind::Mail, feed("/v1/email"), all("/v1/email/messages")),
            FollowedRecords::new(RecordKind::Contact, feed("/v1/contacts"), all("/v1/contacts")),
            FollowedRecords::new(
                RecordKind::Task,
                format!("{list}/sync/changes?limit=7"),
                format!("{tasks}?limit=100"),
            ),
        ];
        Some(RecordHistory {
            world,
            connection,
            tasks,
            followed,
            queued: BTreeMap::new(),
            kept: BTreeSet::new(),
            has_expiries: false,
            titles: 0,
            steps: Vec::new(),
        })
    }

    fn title(&mut self) -> String {
        self.titles += 1;
        format!("Title {}", self.titles)
    }

    /// A record that can be changed, of those at Graph.
    fn theirs(&self, kind: RecordKind, number: u8) -> Option<String> {
        self.world.graph.with(|state| {
            let mut ids: Vec<String> = kind.set_there(state).into_keys().collect();
            if kind == RecordKind::Mail {
                ids.retain(|id| !["sent", "drafts"].contains(&folder_there(state, id).as_str()));
            }
            ids.get(usize::from(number) % ids.len().max(1)).cloned()
        })
    }

    fn make_there(&mut self, kind: RecordKind) {
        let title = self.title();
        let message =
            letter(&format!("{LETTER} {}", self.titles), &format!("{}@elsewhere.test", self.titles), "");
        self.world.graph.with(|state| match kind {
            RecordKind::Mail => state.deliver(ALICE, message.raw.as_bytes()),
            RecordKind::Contact => state.put_contact(ALICE, "", json!({ "givenName": title })),
            RecordKind::Task => state.put_task(ALICE, "", json!({ "title": title })),
        });
    }

    fn change_there(&mut self, kind: RecordKind, number: u8) {
        let title = self.title();
        let Some(id) = self.theirs(kind, number) else { return };
        self.world.graph.with(|state| match kind {
            RecordKind::Mail => match number % 5 {
                0 => state.flag_mail(ALICE, &id, "flagged"),
                1 => state.mark_mail_read(ALICE, &id, true),
                2 => state.move_mail(ALICE, &id, "archive"),
                3 => state.move_mail(ALICE, &id, "deleteditems"),
                _ => state.move_mail(ALICE, &id, "inbox"),
            },
            RecordKind::Contact => state.edit_contact(ALICE, &id, json!({ "givenName": title })),
            RecordKind::Task if number.is_multiple_of(3) => {
                state.edit_task(ALICE, &id, json!({ "status": "completed" }));
            }
            RecordKind::Task => state.edit_task(ALICE, &id, json!({ "title": title })),
        });
    }

    fn drop_there(&mut self, kind: RecordKind, number: u8) {
        let Some(id) = self.theirs(kind, number) else { return };
        self.kept.remove(&id);
        self.world.graph.with(|state| match kind {
            RecordKind::Mail => state.delete_mail(ALICE, &id),
            RecordKind::Contact => state.delete_contact(ALICE, &id),
            RecordKind::Task => state.delete_task(ALICE, &id),
        });
    }

    /// One of the records that the client has seen and can change.
    fn chosen(&self, kind: RecordKind, number: u8) -> Option<Value> {
        let is_letter =
            |one: &&Value| one["subject"].as_str().is_some_and(|subject| subject.starts_with(LETTER));
        let seen = self.followed[kind as usize].seen.iter();
        let seen: Vec<&Value> = seen.filter(|one| kind != RecordKind::Mail || is_letter(one)).collect();
        seen.get(usize::from(number) % seen.len().max(1)).map(|one| (*one).clone())
    }

    fn path(&self, kind: RecordKind, record: &Value) -> String {
        let below = match kind {
            RecordKind::Mail => "/v1/email/messages",
            RecordKind::Contact => "/v1/contacts",
            RecordKind::Task => self.tasks.as_str(),
        };
        format!("{below}/{}", text(&record["id"]))
    }

    /// A request for a change through Switchboard; none where there is nothing to change.
    fn request(&mut self, step: RecordStep) -> Option<RecordRequest> {
        let key = self.title();
        let (kind, method, path, body) = match step {
            RecordStep::Make(kind) => {
                let (path, mut body) = match kind {
                    RecordKind::Mail => {
                        let to = json!([{ "email": BOB }]);
                        let body = json!({ "subject": key, "to": to, "body": { "text": key } });
                        ("/v1/email/send", body)
                    }
                    RecordKind::Contact => ("/v1/contacts", json!({ "givenName": key })),
                    RecordKind::Task => (self.tasks.as_str(), json!({ "title": key })),
                };
                if kind != RecordKind::Task {
                    body["connectionId"] = json!(self.connection);
                }
                (kind, Method::POST, path.to_owned(), Some(body))
            }
            RecordStep::Change(kind, number) => {
                let chosen = self.chosen(kind, number)?;
                let body = match kind {
                    RecordKind::Mail => {
                        json!({ "unread": number.is_multiple_of(2), "starred": number.is_multiple_of(3) })
                    }
                    RecordKind::Contact => json!({ "givenName": key }),
                    RecordKind::Task if number.is_multiple_of(4) => json!({ "status": "completed" }),
                    RecordKind::Task => json!({ "title": key }),
                };
                (kind, Method::PATCH, self.path(kind, &chosen), Some(body))
            }
            RecordStep::Drop(kind, number) => {
                let chosen = self.chosen(kind, number)?;
                if let Some(id) = chosen["externalId"].as_str() {
                    self.kept.remove(id);
                }
                (kind, Method::DELETE, self.path(kind, &chosen), None)
            }
            _ => return None,
        };
        Some(RecordRequest { kind, method, path, body, key })
    }

    fn ask(&self, request: &RecordRequest) -> Ask {
        let ask = self.world.api.ask(request.method.clone(), request.path.clone(), request.body.clone());
        ask.keyed(&request.key)
    }

    /// Notes what an answer acknowledges.
    fn note(&mut self, request: &RecordRequest, answer: &Exchange) {
        accept(&request.path, answer);
        match (request.kind, answer.status) {
            (RecordKind::Mail, 202) => {
                self.queued.insert(request.key.clone(), text(&answer.answer["id"]));
            }
            (RecordKind::Contact | RecordKind::Task, 201) => {
                self.kept.insert(text(&answer.answer["externalId"]));
            }
            _ => {}
        }
    }

    /// Makes a change through Switchboard. If its outcome is unknown, the client repeats it once under the same key.
    async fn change_here(&mut self, step: RecordStep) {
        let Some(request) = self.request(step) else { return };
        for _ in 0..2 {
            let answer = self.ask(&request).send().await;
            self.note(&request, &answer);
            if answer.status < 500 {
                break;
            }
        }
    }

    /// Makes a change with the hosts killed during the first request.
    async fn change_during_kill(mut self, kind: RecordKind, number: u8) -> RecordHistory {
        let is_change = number.is_multiple_of(3);
        let step = if is_change { RecordStep::Change(kind, number) } else { RecordStep::Make(kind) };
        let Some(request) = self.request(step) else { return self };
        let ask = self.ask(&request);
        let (world, answer) = killed_during(self.world, ask, request.method.as_str()).await;
        self.world = world;
        if let Some(answer) = &answer {
            self.note(&request, answer);
        }
        let again = self.ask(&request).send().await;
        self.note(&request, &again);
        self
    }

    async fn take(mut self, step: RecordStep) -> RecordHistory {
        self.steps.push(step);
        match step {
            RecordStep::TheirMake(kind) => self.make_there(kind),
            RecordStep::TheirChange(kind, number) => self.change_there(kind, number),
            RecordStep::TheirDrop(kind, number) => self.drop_there(kind, number),
            RecordStep::Make(_) | RecordStep::Change(..) | RecordStep::Drop(..) => {
                self.change_here(step).await
            }
            RecordStep::Send => self.world.server.hand_over().await,
            RecordStep::Read(kind) => self.followed[kind as usize].read(&self.world).await,
            RecordStep::Poll => {
                self.world.server.pull().await;
            }
            RecordStep::Trap(name) => {
                self.has_expiries |= EXPIRIES.contains(&name);
                self.world.graph.trap(name, 1);
            }
            RecordStep::Fail(kind, number) => self.world.graph.fault(failure(kind.api(), number)),
            RecordStep::Lose(kind) => lose_changes(&self.world.graph, kind.api()),
            RecordStep::Restart => self.world = restarted(self.world).await,
            RecordStep::Kill(kind, number) => self = self.change_during_kill(kind, number).await,
            RecordStep::KillPull => self.world = killed_during_pull(self.world).await,
            RecordStep::KillSend(number) => {
                self.change_here(RecordStep::Make(RecordKind::Mail)).await;
                let path = if number.is_multiple_of(2) { "/me/messages" } else { "/send" };
                self.world = killed_during_sends(self.world, path).await;
            }
            RecordStep::Wait(ms) => self.world.advance(ms),
        }
        self
    }

    /// The roles of the folders, or their names, by their ids.
    async fn roles(&self) -> BTreeMap<String, String> {
        let folders = format!("/v1/email/folders?connection_id={}", self.connection);
        let folders = self.world.api.all(&folders).await;
        let role =
            |folder: &Value| text(if folder["role"].is_string() { &folder["role"] } else { &folder["name"] });
        folders.iter().map(|folder| (text(&folder["id"]), role(folder))).collect()
    }

    /// Returns the set of a kind in the list, in the feed, and at Graph.
    async fn sets(&self, kind: RecordKind) -> [RecordSet; 3] {
        let roles = self.roles().await;
        let followed = &self.followed[kind as usize];
        let listed = self.world.api.all(&followed.list).await;
        let mut sets = [RecordSet::new(), RecordSet::new(), RecordSet::new()];
        let listed: Vec<&Value> = listed.iter().collect();
        let told: Vec<&Value> = followed.replica.values().collect();
        for (set, records) in sets.iter_mut().zip([listed, told]) {
            for record in records {
                // A message that waits is not at Graph yet.
                let id = record["externalId"].as_str().map_or_else(|| text(&record["id"]), str::to_owned);
                let known = set.insert(id, kind.line(record, &roles));
                assert!(known.is_none(), "there twice: {record:#} {}", self.told());
            }
        }
        sets[2] = self.world.graph.with(|state| kind.set_there(state));
        sets
    }

    async fn is_settled(&self) -> bool {
        for id in self.queued.values() {
            let path = format!("/v1/email/messages/{id}?fields=summary");
            let message = self.world.api.get(path).send().await.expect(200);
            if message["delivery"]["state"] != "sent" {
                return false;
            }
        }
        for kind in KINDS {
            let [here, told, there] = self.sets(kind).await;
            if here != there || told != there {
                return false;
            }
        }
        true
    }

    /// Reads the messages that Graph does not have. One that was destroyed before the token of its folder expired is in no later change, and
    /// leaves the copy as soon as it is read.
    async fn read_destroyed(&self) {
        let there = self.world.graph.with(|state| RecordKind::Mail.set_there(state));
        let listed = self.world.api.all(&self.followed[RecordKind::Mail as usize].list).await;
        // Messages of ours stay: one that was sent just now has another id at Graph, which the next pull reads.
        let is_destroyed = |one: &&Value| {
            one["externalId"].as_str().is_some_and(|id| !there.contains_key(id))
                && !self.queued.values().any(|id| one["id"] == id.as_str())
        };
        for message in listed.iter().filter(is_destroyed) {
            let path = self.path(RecordKind::Mail, message);
            let read = self.world.api.get(path).header("cache-control", "no-cache").send().await;
            accept("a read", &read);
        }
    }

    /// Without faults and traps both sides become equal; so do the list and the feed.
    async fn settle(&mut self) {
        calm(&self.world.graph);
        for _ in 0..MAX_SETTLING_ROUNDS {
            self.world.advance(PATIENCE_MS);
            self.world.server.hand_over().await;
            self.world.server.pull().await;
            if self.has_expiries {
                self.read_destroyed().await;
            }
            for followed in &mut self.followed {
                followed.read(&self.world).await;
            }
            if self.is_settled().await {
                break;
            }
        }
        self.has_expiries = false;
        let mut all_there = BTreeSet::new();
        for kind in KINDS {
            let [here, told, there] = self.sets(kind).await;
            let ids: BTreeSet<&String> = here.keys().chain(told.keys()).chain(there.keys()).collect();
            for id in ids {
                let sides = (here.get(id), told.get(id));
                assert_eq!(sides, (there.get(id), there.get(id)), "{kind:?} {id}: {}", self.told());
            }
            if kind != RecordKind::Mail {
                assert_made_once(kind, &there, &self.told());
            }
            all_there.extend(there.into_keys());
        }
        let lost: Vec<&String> = self.kept.difference(&all_there).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?} {}", self.told());
        self.assert_sent_once().await;
    }

    /// Each message that was acknowledged was sent, and no message twice.
    async fn assert_sent_once(&self) {
        let sent: Vec<String> = self
            .world
            .graph
            .with(|state| state.mailbox(ALICE).sent.iter().map(|sent| subject(&sent.raw)).collect());
        let mut once = BTreeSet::new();
        for subject in &sent {
            assert!(once.insert(subject.as_str()), "sent twice: {subject} {}", self.told());
        }
        for (subject, id) in &self.queued {
            let message = self.world.api.get(format!("/v1/email/messages/{id}")).send().await.expect(200);
            assert_eq!(message["delivery"]["state"], "sent", "{message:#} {}", self.told());
            assert!(once.contains(subject.as_str()), "not sent: {subject} {}", self.told());
        }
    }

    /// The last steps, for messages of failures.
    fn told(&self) -> String {
        let from = self.steps.len().saturating_sub(2 * usize::try_from(ROUND).unwrap_or_default());
        format!(
            "step {}, the last ones were {:?}",
            self.steps.len(),
            self.steps.get(from..).unwrap_or_default()
        )
    }
}

/// Asserts that no request has made two records, which would have the same title.
fn assert_made_once(kind: RecordKind, set: &RecordSet, steps: &str) {
    let mut titles = BTreeSet::new();
    for line in set.values() {
        let title = match kind {
            RecordKind::Task => line.rsplit_once(' ').map_or(line.as_str(), |(title, _)| title),
            _ => line.as_str(),
        };
        assert!(titles.insert(title), "made twice: {title}; {steps}");
    }
}

#[tokio::test]
async fn both_sides_have_the_same_records() {
    let Some(mut history) = RecordHistory::start().await else { return };
    let random = Entropy::seeded(number("CONVERGENCE_SEED", 1));
    for count in 1..=number("MICROSOFT_CONVERGENCE_STEPS", STEPS) {
        history = history.take(step(&random)).await;
        if count.is_multiple_of(ROUND) {
            history.settle().await;
        }
    }
    history.settle().await;
    history.world.assert_allowed();
}
