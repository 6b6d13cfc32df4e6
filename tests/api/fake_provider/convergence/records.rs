//! Mail, contacts and tasks of Alice's, which both programs change in one history.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::Entropy;
use harness::{Ask, Exchange};
use reqwest::Method;
use serde_json::{Value, json};

use crate::email::mailbox::{letter, text};
use crate::fake_provider::convergence::{
    FaultyProvider, History, MINUTE_MS, PATIENCE_MS, Replica, Titles, failure, killed_during,
    killed_during_pull, killed_during_sends, last_steps, lose_changes, restarted,
};
use crate::fake_provider::{World, builder};

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
pub enum RecordKind {
    Mail,
    Contact,
    Task,
}

const KINDS: [RecordKind; 3] = [RecordKind::Mail, RecordKind::Contact, RecordKind::Task];

/// One step of a history. Numbers choose an existing record, and a change of it.
#[derive(Clone, Copy, Debug)]
pub enum RecordStep {
    /// By the other program, at the provider.
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
    /// The next change happens at the provider, and its answer is lost.
    Lose(RecordKind),
    Restart,
    /// The client makes or changes a record, and the hosts are killed as soon as the provider has the change.
    Kill(RecordKind, u8),
    KillPull,
    /// A message is queued, and the hosts are killed as soon as the provider has it.
    KillSend(u8),
    Wait(i64),
}

/// The records of a kind, each as its id and the compared fields.
pub type RecordSet = BTreeMap<String, String>;

/// A fake with records that another program changes.
pub trait RecordProvider: FaultyProvider {
    /// Further statuses of refused changes.
    const REFUSALS: &'static [u16];

    /// A part of the paths of calls about this kind.
    fn calls(kind: RecordKind) -> &'static str;
    /// A part of the paths of requests by which the provider gets a message that is sent; `number` chooses.
    fn sending_path(number: u8) -> &'static str;
    /// Returns a trap, chosen by these numbers.
    fn trap_by(is_first: bool, a: u8, b: u8) -> &'static str;
    fn set_there(state: &mut Self::State, kind: RecordKind) -> RecordSet;
    /// Whether the other program may change this record: no message that was sent.
    fn is_changeable(state: &mut Self::State, kind: RecordKind, id: &str) -> bool;
    /// Makes a record by the other program; `message` is the one for mail.
    fn make_there(state: &mut Self::State, kind: RecordKind, title: &str, message: &[u8]);
    /// Changes a record by the other program; `number` chooses the change.
    fn change_there(state: &mut Self::State, kind: RecordKind, id: &str, title: &str, number: u8);
    fn drop_there(state: &mut Self::State, kind: RecordKind, id: &str);
    /// Returns the messages that Alice sent, the oldest first.
    fn sent(state: &mut Self::State) -> Vec<Vec<u8>>;
}

fn step<P: RecordProvider>(random: &Entropy) -> RecordStep {
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
        number @ (47 | 48) => RecordStep::Trap(P::trap_by(number == 47, a, b)),
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

/// The records of a kind as the API has them.
struct FollowedRecords {
    /// The path of the list, with a parameter already.
    list: String,
    replica: Replica,
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
pub struct RecordHistory<P: RecordProvider> {
    world: World<P>,
    connection: String,
    /// The path of the default task list's tasks.
    tasks: String,
    /// In the order of `KINDS`.
    followed: [FollowedRecords; 3],
    /// The messages that are to be sent: their ids by their subjects.
    queued: BTreeMap<String, String>,
    /// The provider's ids of contacts and tasks that were acknowledged, and that neither side has tried to delete since.
    kept: BTreeSet<String>,
    titles: Titles,
    steps: Vec<RecordStep>,
}

impl RecordKind {
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
}

/// The subject of a message.
pub fn subject(raw: &[u8]) -> String {
    let raw = String::from_utf8_lossy(raw);
    let field = raw.lines().take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("subject").then(|| value.trim().to_owned())
    });
    field.unwrap_or_default()
}

/// A change succeeds, or its record is not there, has changed or cannot be changed so, or the provider fails or is too busy.
#[track_caller]
fn accept<P: RecordProvider>(what: &str, answer: &Exchange) {
    let fits = matches!(answer.status, 200..=202 | 204 | 400 | 404 | 409 | 429 | 502..=504);
    assert!(fits || P::REFUSALS.contains(&answer.status), "{what}: {answer}");
}

impl FollowedRecords {
    fn new(kind: RecordKind, feed: String, list: String) -> FollowedRecords {
        let replica = Replica::new(feed, Some(kind.resource_type()));
        FollowedRecords { list, replica, seen: Vec::new() }
    }

    /// Reads the feed to its end, as far as it can be read now, and the list.
    async fn read<P: RecordProvider>(&mut self, world: &World<P>) {
        if !self.replica.read(world).await {
            return;
        }
        let listed = world.api.get(&self.list).send().await;
        if listed.status == 200 {
            self.seen = listed.answer["data"].as_array().expect("a list").clone();
        }
    }
}

impl<P: RecordProvider> RecordHistory<P> {
    /// A record that can be changed, of those at the provider.
    fn theirs(&self, kind: RecordKind, number: u8) -> Option<String> {
        self.world.fake.with(|state| {
            let mut ids: Vec<String> = P::set_there(state, kind).into_keys().collect();
            ids.retain(|id| P::is_changeable(state, kind, id));
            ids.get(usize::from(number) % ids.len().max(1)).cloned()
        })
    }

    fn make_there(&mut self, kind: RecordKind) {
        let title = self.titles.make();
        let number = self.titles.last;
        let message = letter(&format!("{LETTER} {number}"), &format!("{number}@elsewhere.test"), "");
        self.world.fake.with(|state| P::make_there(state, kind, &title, message.raw.as_bytes()));
    }

    fn change_there(&mut self, kind: RecordKind, number: u8) {
        let title = self.titles.make();
        let Some(id) = self.theirs(kind, number) else { return };
        self.world.fake.with(|state| P::change_there(state, kind, &id, &title, number));
    }

    fn drop_there(&mut self, kind: RecordKind, number: u8) {
        let Some(id) = self.theirs(kind, number) else { return };
        self.kept.remove(&id);
        self.world.fake.with(|state| P::drop_there(state, kind, &id));
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
        let key = self.titles.make();
        let (kind, method, path, body) = match step {
            RecordStep::Make(kind) => {
                let (path, mut body) = match kind {
                    RecordKind::Mail => {
                        let to = json!([{ "email": P::BOB }]);
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
        accept::<P>(&request.path, answer);
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
    async fn change_during_kill(mut self, kind: RecordKind, number: u8) -> RecordHistory<P> {
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

    /// The roles of the folders, or their names, by their ids.
    async fn roles(&self) -> BTreeMap<String, String> {
        let folders = format!("/v1/email/folders?connection_id={}", self.connection);
        let folders = self.world.api.all(&folders).await;
        let role =
            |folder: &Value| text(if folder["role"].is_string() { &folder["role"] } else { &folder["name"] });
        folders.iter().map(|folder| (text(&folder["id"]), role(folder))).collect()
    }

    /// Returns the set of a kind in the list, in the feed, and at the provider.
    async fn sets(&self, kind: RecordKind) -> [RecordSet; 3] {
        let roles = self.roles().await;
        let followed = &self.followed[kind as usize];
        let listed = self.world.api.all(&followed.list).await;
        let mut sets = [RecordSet::new(), RecordSet::new(), RecordSet::new()];
        let listed: Vec<&Value> = listed.iter().collect();
        let reported: Vec<&Value> = followed.replica.by_id.values().collect();
        for (set, records) in sets.iter_mut().zip([listed, reported]) {
            for record in records {
                // A message that waits is not at the provider yet.
                let id = record["externalId"].as_str().map_or_else(|| text(&record["id"]), str::to_owned);
                let known = set.insert(id, kind.line(record, &roles));
                assert!(known.is_none(), "there twice: {record:#} {}", last_steps(&self.steps));
            }
        }
        sets[2] = self.world.fake.with(|state| P::set_there(state, kind));
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
            let [here, reported, there] = self.sets(kind).await;
            if here != there || reported != there {
                return false;
            }
        }
        true
    }

    /// Each message that was acknowledged was sent, and no message twice.
    async fn assert_sent_once(&self) {
        let steps = last_steps(&self.steps);
        let sent = self.world.fake.with(P::sent);
        let sent: Vec<String> = sent.iter().map(|raw| subject(raw)).collect();
        let mut once = BTreeSet::new();
        for subject in &sent {
            assert!(once.insert(subject.as_str()), "sent twice: {subject} {steps}");
        }
        for (subject, id) in &self.queued {
            let message = self.world.api.get(format!("/v1/email/messages/{id}")).send().await.expect(200);
            assert_eq!(message["delivery"]["state"], "sent", "{message:#} {steps}");
            assert!(once.contains(subject.as_str()), "not sent: {subject} {steps}");
        }
    }
}

impl<P: RecordProvider> History for RecordHistory<P> {
    type Provider = P;
    type Step = RecordStep;

    async fn start() -> Option<RecordHistory<P>> {
        let world = World::<P>::on(builder().config(|c| c.pull_page = 5)).await?;
        world.fake.with(|state| P::add_user(state, P::BOB, "Bob Example"));
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
            titles: Titles::default(),
            steps: Vec::new(),
        })
    }

    fn draw(random: &Entropy) -> RecordStep {
        step::<P>(random)
    }

    async fn take(mut self, step: RecordStep) -> RecordHistory<P> {
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
            RecordStep::Trap(name) => self.world.fake.trap(name, 1),
            RecordStep::Fail(kind, number) => self.world.fake.fault(failure::<P>(P::calls(kind), number)),
            RecordStep::Lose(kind) => lose_changes(&self.world.fake, P::calls(kind)),
            RecordStep::Restart => self.world = restarted(self.world).await,
            RecordStep::Kill(kind, number) => self = self.change_during_kill(kind, number).await,
            RecordStep::KillPull => self.world = killed_during_pull(self.world).await,
            RecordStep::KillSend(number) => {
                self.change_here(RecordStep::Make(RecordKind::Mail)).await;
                self.world = killed_during_sends(self.world, P::sending_path(number)).await;
            }
            RecordStep::Wait(ms) => self.world.advance(ms),
        }
        self
    }

    async fn settle(&mut self) {
        self.world.fake.calm();
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
        let steps = last_steps(&self.steps);
        let mut all_there = BTreeSet::new();
        for kind in KINDS {
            let [here, reported, there] = self.sets(kind).await;
            let ids: BTreeSet<&String> = here.keys().chain(reported.keys()).chain(there.keys()).collect();
            for id in ids {
                let sides = (here.get(id), reported.get(id));
                assert_eq!(sides, (there.get(id), there.get(id)), "{kind:?} {id}: {steps}");
            }
            if kind != RecordKind::Mail {
                assert_made_once(kind, &there, &steps);
            }
            all_there.extend(there.into_keys());
        }
        let lost: Vec<&String> = self.kept.difference(&all_there).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?} {steps}");
        self.assert_sent_once().await;
    }

    fn world(&self) -> &World<P> {
        &self.world
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
