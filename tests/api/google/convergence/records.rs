//! Mail, contacts and tasks of Alice's, which both programs change in one history.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::Entropy;
use fakes::google::State;
use harness::{Ask, Exchange};
use reqwest::Method;
use serde_json::{Value, json};

use crate::email::mailbox::{letter, text};
use crate::google::convergence::{
    MINUTE_MS, PATIENCE_MS, ROUND, STEPS, calm, failure, killed_during, killed_during_pull,
    killed_during_sends, lose_changes, number, restarted,
};
use crate::google::{ALICE, BOB, World, ZONE, builder};

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
    /// By the other program, at Google.
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
    /// The next change happens at Google, and its answer is lost.
    Lose(RecordKind),
    Restart,
    /// The client makes or changes a record, and the hosts are killed as soon as Google has the change.
    Kill(RecordKind, u8),
    KillPull,
    /// A message is queued, and the hosts are killed as soon as Google has one.
    KillSend,
    Wait(i64),
}

const TRAPS: [&str; 9] = [
    "history_404",
    "history_empty_page",
    "batch_429",
    "batch_part_missing",
    "late_message",
    "expired_sync_token",
    "sync_token_expired_text",
    "people_busy",
    "rate_limit_exceeded",
];

fn step(random: &Entropy) -> RecordStep {
    let [what, a, b] = random.bytes::<3>();
    let kind = KINDS[usize::from(a) % KINDS.len()];
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
        47 | 48 => RecordStep::Trap(TRAPS[usize::from(b) % TRAPS.len()]),
        49..=51 => RecordStep::Fail(kind, b),
        52 | 53 => RecordStep::Lose(kind),
        54 if b.is_multiple_of(2) => RecordStep::Restart,
        55 => RecordStep::Kill(kind, b),
        56 if b.is_multiple_of(2) => RecordStep::KillPull,
        57 => RecordStep::KillSend,
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
    /// The ids at Google of contacts and tasks that were acknowledged, and that neither side has tried to delete since.
    kept: BTreeSet<String>,
    /// No two titles are the same.
    titles: u32,
    steps: Vec<RecordStep>,
}

impl RecordKind {
    /// A part of the paths of its API at Google.
    fn api(self) -> &'static str {
        match self {
            RecordKind::Mail => "/gmail/v1/",
            RecordKind::Contact => "/v1/people",
            RecordKind::Task => "/tasks/v1/",
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

    /// The set as Google has it.
    fn set_there(self, state: &mut State) -> RecordSet {
        match self {
            RecordKind::Mail => mail_there(state),
            RecordKind::Contact => {
                let names = state.contact_names(ALICE).into_iter();
                let line = |name: &String| text(&state.contact(ALICE, name)["names"][0]["givenName"]);
                names.map(|name| (name.clone(), line(&name))).collect()
            }
            RecordKind::Task => tasks_there(state),
        }
    }
}

fn mail_there(state: &mut State) -> RecordSet {
    let mut set = RecordSet::new();
    for (id, message) in &state.mailbox(ALICE).messages {
        let has = |label: &str| message.labels.contains(label);
        let folders = [("INBOX", "inbox"), ("SENT", "sent")].into_iter().filter(|(label, _)| has(label));
        let mut folders: BTreeSet<&str> = folders.map(|(_, role)| role).collect();
        if has("TRASH") {
            folders = BTreeSet::from(["trash"]);
        } else if folders.is_empty() {
            folders.insert("archive");
        }
        let line = format!("{} {} {} {folders:?}", subject(&message.raw), has("UNREAD"), has("STARRED"));
        set.insert(id.clone(), line);
    }
    set
}

fn tasks_there(state: &mut State) -> RecordSet {
    let list = state.task_book(ALICE).lists.first().expect("the default list");
    let mut set = RecordSet::new();
    for (id, task) in list.tasks.iter().filter(|(_, task)| !task.is_deleted) {
        let line = format!("{} {}", task.text("title").unwrap_or_default(), task.is_completed());
        set.insert(id.clone(), line);
    }
    set
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

/// A change succeeds, or its record is not there, has changed or cannot be changed so, or Google fails or is too busy.
#[track_caller]
fn accept(what: &str, answer: &Exchange) {
    let fits = matches!(answer.status, 200..=202 | 204 | 400 | 404 | 409 | 429 | 502..=504);
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
    /// None where Google's documents are not installed.
    async fn start() -> Option<RecordHistory> {
        let world = World::on(builder().config(|c| c.pull_page = 5)).await?;
        world.google.with(|state| state.add_user(BOB, "Bob Example", ZONE));
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
            titles: 0,
            steps: Vec::new(),
        })
    }

    fn title(&mut self) -> String {
        self.titles += 1;
        format!("Title {}", self.titles)
    }

    /// A record that can be changed, of those at Google.
    fn theirs(&self, kind: RecordKind, number: u8) -> Option<String> {
        self.world.google.with(|state| {
            let is_sent = |id: &String, state: &mut State| {
                let message = state.mailbox(ALICE).messages.get(id);
                kind == RecordKind::Mail && message.is_some_and(|message| message.labels.contains("SENT"))
            };
            let mut ids: Vec<String> = kind.set_there(state).into_keys().collect();
            ids.retain(|id| !is_sent(id, state));
            ids.get(usize::from(number) % ids.len().max(1)).cloned()
        })
    }

    fn make_there(&mut self, kind: RecordKind) {
        let title = self.title();
        let message =
            letter(&format!("{LETTER} {}", self.titles), &format!("{}@elsewhere.test", self.titles), "");
        self.world.google.with(|state| match kind {
            RecordKind::Mail => state.deliver(ALICE, message.raw.as_bytes()),
            RecordKind::Contact => state.put_contact(ALICE, json!({ "names": [{ "givenName": title }] })),
            RecordKind::Task => state.put_task(ALICE, json!({ "title": title })),
        });
    }

    fn change_there(&mut self, kind: RecordKind, number: u8) {
        let title = self.title();
        let Some(id) = self.theirs(kind, number) else { return };
        self.world.google.with(|state| match kind {
            RecordKind::Mail => {
                let (add, remove): (&[&str], &[&str]) = match number % 4 {
                    0 => (&["STARRED"], &[]),
                    1 => (&[], &["UNREAD"]),
                    2 => (&[], &["INBOX"]),
                    _ => (&["TRASH"], &["INBOX"]),
                };
                state.mailbox(ALICE).relabel(&id, add, remove);
            }
            RecordKind::Contact => {
                state.change_contact(ALICE, &id, json!({ "names": [{ "givenName": title }] }));
            }
            RecordKind::Task => {
                let is_open = state.task(ALICE, &id)["status"] != "completed";
                match is_open && number.is_multiple_of(3) {
                    true => state.complete_task(ALICE, &id),
                    false => state.change_task(ALICE, &id, json!({ "title": title })),
                }
            }
        });
    }

    fn drop_there(&mut self, kind: RecordKind, number: u8) {
        let Some(id) = self.theirs(kind, number) else { return };
        self.kept.remove(&id);
        self.world.google.with(|state| match kind {
            RecordKind::Mail => {
                state.mailbox(ALICE).remove(&id);
            }
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
                let (path, body) = match kind {
                    RecordKind::Mail => {
                        let to = json!([{ "email": BOB }]);
                        let body = json!({ "subject": key, "to": to, "body": { "text": key } });
                        ("/v1/email/send", body)
                    }
                    RecordKind::Contact => ("/v1/contacts", json!({ "givenName": key })),
                    RecordKind::Task => (self.tasks.as_str(), json!({ "title": key })),
                };
                let mut body = body;
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
                self.kept.remove(&text(&chosen["externalId"]));
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
            RecordStep::Trap(name) => self.world.google.trap(name, 1),
            RecordStep::Fail(kind, number) => self.world.google.fault(failure(kind.api(), number)),
            RecordStep::Lose(kind) => lose_changes(&self.world.google, kind.api()),
            RecordStep::Restart => self.world = restarted(self.world).await,
            RecordStep::Kill(kind, number) => self = self.change_during_kill(kind, number).await,
            RecordStep::KillPull => self.world = killed_during_pull(self.world).await,
            RecordStep::KillSend => {
                self.change_here(RecordStep::Make(RecordKind::Mail)).await;
                self.world = killed_during_sends(self.world).await;
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

    /// Returns the set of a kind in the list, in the feed, and at Google.
    async fn sets(&self, kind: RecordKind) -> [RecordSet; 3] {
        let roles = self.roles().await;
        let followed = &self.followed[kind as usize];
        let listed = self.world.api.all(&followed.list).await;
        let mut sets = [RecordSet::new(), RecordSet::new(), RecordSet::new()];
        let listed: Vec<&Value> = listed.iter().collect();
        let told: Vec<&Value> = followed.replica.values().collect();
        for (set, records) in sets.iter_mut().zip([listed, told]) {
            for record in records {
                // A message that waits is not at Google yet.
                let id = record["externalId"].as_str().map_or_else(|| text(&record["id"]), str::to_owned);
                let known = set.insert(id, kind.line(record, &roles));
                assert!(known.is_none(), "there twice: {record:#} {}", self.told());
            }
        }
        sets[2] = self.world.google.with(|state| kind.set_there(state));
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

    /// Without faults and traps both sides become equal; so do the list and the feed.
    async fn settle(&mut self) {
        calm(&self.world.google);
        for _ in 0..MAX_SETTLING_ROUNDS {
            self.world.advance(PATIENCE_MS);
            self.world.server.hand_over().await;
            self.world.server.pull().await;
            for followed in &mut self.followed {
                followed.read(&self.world).await;
            }
            if self.is_settled().await {
                break;
            }
        }
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
        let sent: Vec<String> =
            self.world.google.with(|state| state.sent.iter().map(|sent| subject(&sent.raw)).collect());
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
    for count in 1..=number("GOOGLE_CONVERGENCE_STEPS", STEPS) {
        history = history.take(step(&random)).await;
        if count.is_multiple_of(ROUND) {
            history.settle().await;
        }
    }
    history.settle().await;
    history.world.assert_allowed();
}
