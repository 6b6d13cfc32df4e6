//! Sync of contacts and of tasks: after any sequence of events, with pages of any size, a client that follows the feed has the provider's
//! data in the end. (For events, with their special cases: `calendars/convergence.rs`.)
//!
//! `CONVERGENCE_SEED` and `CONVERGENCE_CASES` try other histories than the usual ones.

use std::collections::{BTreeMap, BTreeSet};

use harness::{Actor, Ask, Exchange, TestServer, reconnected};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use serde_json::{Value, json};

/// Histories of each surface, unless the environment says otherwise.
const CASES: u32 = 16;
/// Items that the provider's other program knows by name.
const NAMES: u8 = 6;
const DAY_MS: i64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Surface {
    Contacts,
    Tasks,
}

/// One step of a history. Numbers choose among the existing items.
#[derive(Clone, Debug)]
enum Step {
    /// By another program, at the provider.
    TheirMake(u8),
    TheirChange(u8),
    /// A person joins a circle, or a todo gets a parent.
    TheirLink(u8, u8),
    TheirUnlink(u8),
    TheirDrop(u8),
    /// Through Switchboard.
    Make,
    Change(u8),
    Link(u8, u8),
    Unlink(u8),
    Note(u8),
    Drop(u8),
    /// The client reads the feed to its end in pages of this size, or one page of it.
    Read(u16),
    Peek(u16),
    /// The host pulls by itself.
    Poll,
    /// The next sync token is refused.
    Forget,
    /// Lets the first number of requests pass, then fails the second number.
    Fail(u8, u8),
    /// The next write happens, but its answer is lost.
    Lose,
    /// Hard or soft.
    Reset(bool),
    Restart,
    Wait(i64),
}

fn steps() -> impl Strategy<Value = Step> {
    let name = || 0..NAMES;
    let page = || prop_oneof![3 => 1..6_u16, 1 => 6..=500_u16];
    prop_oneof![
        4 => name().prop_map(Step::TheirMake),
        3 => name().prop_map(Step::TheirChange),
        3 => (name(), name()).prop_map(|(a, b)| Step::TheirLink(a, b)),
        1 => name().prop_map(Step::TheirUnlink),
        2 => name().prop_map(Step::TheirDrop),
        2 => Just(Step::Make),
        2 => any::<u8>().prop_map(Step::Change),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Step::Link(a, b)),
        1 => any::<u8>().prop_map(Step::Unlink),
        1 => any::<u8>().prop_map(Step::Note),
        2 => any::<u8>().prop_map(Step::Drop),
        5 => page().prop_map(Step::Read),
        2 => page().prop_map(Step::Peek),
        2 => Just(Step::Poll),
        1 => Just(Step::Forget),
        2 => (0..4_u8, 1..3_u8).prop_map(|(after, times)| Step::Fail(after, times)),
        1 => Just(Step::Lose),
        1 => any::<bool>().prop_map(Step::Reset),
        1 => Just(Step::Restart),
        6 => prop_oneof![6 => Just(1), 3 => Just(70_000), 1 => Just(8 * DAY_MS), 1 => Just(31 * DAY_MS)]
            .prop_map(Step::Wait),
    ]
}

/// The number of sources that a pull asks for, and the steps.
type History = (u32, Vec<Step>);

fn histories() -> impl Strategy<Value = History> {
    let pages = prop_oneof![3 => 1..5_u32, 1 => 5..=500_u32];
    (pages, proptest::collection::vec(steps(), 10..40))
}

/// The parts of an item that both sides can see: its name, and the external ids of the items linked with it.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    name: String,
    links: BTreeSet<String>,
}

struct World {
    surface: Surface,
    server: TestServer,
    api: Actor,
    provider: Actor,
    /// The provider's path of the items, written so that no fault applies to it.
    theirs: String,
    /// The same path as connectors write it.
    faulty: String,
    /// The API's path of the items, and that of their feed.
    ours: String,
    feed: String,
    sync: (String, String, Value),
    cursor: Option<String>,
    replica: BTreeMap<String, Value>,
    /// No two names are the same.
    names: u32,
    there: BTreeMap<String, Seen>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

impl World {
    async fn new(surface: Surface, pull_page: u32) -> World {
        let server = TestServer::builder().config(|c| c.pull_page = pull_page).start().await;
        let (api, provider) = (server.client().await, server.provider("zoe"));
        let connection = api.connect_account("zoe").await;
        let (folder, ours, feed, sync) = match surface {
            Surface::Contacts => {
                let feed = format!("/v1/contacts/sync/changes?connection_id={connection}&");
                let sync = (
                    "/v1/contacts/sync".into(),
                    format!("/status/{connection}"),
                    json!({ "connectionId": connection }),
                );
                ("books/contacts/cards", "/v1/contacts".to_owned(), feed, sync)
            }
            Surface::Tasks => {
                let list = api.named("/v1/task-lists", "Tasks").await;
                let base = format!("/v1/task-lists/{list}");
                let sync = (format!("{base}/sync"), "/status".into(), json!({}));
                ("lists/tasks/todos", format!("{base}/tasks"), format!("{base}/sync/changes?"), sync)
            }
        };
        let masked = folder.replace("/contacts/", "/%63ontacts/").replace("/tasks/", "/%74asks/");
        let mut world = World {
            surface,
            server,
            api,
            provider,
            theirs: format!("/sandbox/v1/{masked}"),
            faulty: format!("/sandbox/v1/{folder}"),
            ours,
            feed,
            sync,
            cursor: None,
            replica: BTreeMap::new(),
            names: 0,
            there: BTreeMap::new(),
        };
        if surface == Surface::Contacts {
            for n in 0..2 {
                let circle = json!({ "id": format!("circle-{n}"), "type": "contact_group", "name": format!("circle {n}") });
                world.provider.post(&world.theirs, circle).send().await.expect(201);
            }
        }
        for n in 0..NAMES - 2 {
            world = world.step(Step::TheirMake(n)).await;
        }
        let (path, _, body) = world.sync.clone();
        world.api.post(format!("{path}/start"), body).send().await.expect(202);
        world
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("name {}", self.names)
    }

    /// Everything that the provider has, by external id.
    async fn look(&mut self) {
        let mut items = Vec::new();
        let mut page_token = String::new();
        loop {
            let page =
                self.provider.get(format!("{}?limit=250{page_token}", self.theirs)).send().await.expect(200);
            let list = if self.surface == Surface::Contacts { &page["cards"] } else { &page["todos"] };
            items.extend(list.as_array().expect("a list").iter().cloned());
            match page["nextPageToken"].as_str() {
                Some(token) => page_token = format!("&pageToken={token}"),
                None => break,
            }
        }
        let circles: Vec<&Value> = items.iter().filter(|i| i["type"] == "contact_group").collect();
        let seen = |item: &Value| match self.surface {
            Surface::Tasks => {
                let links = item["parentId"].as_str().map(str::to_owned).into_iter().collect();
                Seen { name: text(&item["title"]), links }
            }
            Surface::Contacts if item["type"] == "contact_group" => {
                Seen { name: text(&item["name"]), links: texts(&item["contactIds"]) }
            }
            Surface::Contacts => {
                let of = circles
                    .iter()
                    .filter(|c| texts(&c["contactIds"]).contains(item["id"].as_str().unwrap_or_default()));
                Seen { name: text(&item["displayName"]), links: of.map(|c| text(&c["id"])).collect() }
            }
        };
        self.there = items.iter().map(|item| (text(&item["id"]), seen(item))).collect();
    }

    /// One of the contacts or tasks that the client knows.
    fn known(&self, n: u8) -> Option<&Value> {
        let is_one = |r: &&Value| self.surface == Surface::Tasks || r["displayName"].is_string();
        let all: Vec<&Value> = self.replica.values().filter(is_one).collect();
        all.get(usize::from(n) % all.len().max(1)).copied()
    }

    fn group(&self, n: u8) -> Option<&Value> {
        let all: Vec<&Value> = self.replica.values().filter(|r| r.get("contactIds").is_some()).collect();
        all.get(usize::from(n) % all.len().max(1)).copied()
    }

    /// Returns a request for a change, chosen from the known items; none if there are none.
    fn request(&mut self, step: &Step) -> Option<Ask> {
        let name = self.name();
        let is_contacts = self.surface == Surface::Contacts;
        let title = if is_contacts { "displayName" } else { "title" };
        let at = |n: &u8| format!("{}/name-{n}", self.theirs);
        let ours = |item: &Value| format!("{}/{}", self.ours, text(&item["id"]));
        let circle = |n: u8| format!("circle-{}", n % 2);
        let members = |circle: &str| self.there.get(circle).map(|c| c.links.clone()).unwrap_or_default();
        Some(match step {
            Step::TheirMake(n) => {
                self.provider.post(&self.theirs, json!({ "id": format!("name-{n}"), title: name }))
            }
            Step::TheirChange(n) => self.provider.patch(at(n), json!({ title: name })),
            Step::TheirLink(a, b) if is_contacts => {
                let mut members = members(&circle(*b));
                members.insert(format!("name-{a}"));
                self.provider
                    .patch(format!("{}/{}", self.theirs, circle(*b)), json!({ "contactIds": members }))
            }
            Step::TheirLink(a, b) => self.provider.patch(at(a), json!({ "parentId": format!("name-{b}") })),
            Step::TheirUnlink(a) if is_contacts => {
                let mut members = members(&circle(*a));
                members.pop_first();
                self.provider
                    .patch(format!("{}/{}", self.theirs, circle(*a)), json!({ "contactIds": members }))
            }
            Step::TheirUnlink(a) => self.provider.patch(at(a), json!({ "parentId": null })),
            Step::TheirDrop(n) => self.provider.delete(at(n)),
            Step::Make => {
                let mut body = json!({ title: name });
                if is_contacts {
                    body["connectionId"] = self.sync.2["connectionId"].clone();
                }
                self.api.post(&self.ours, body)
            }
            Step::Change(n) => self.api.patch(ours(self.known(*n)?), json!({ title: name })),
            Step::Note(n) => self.api.patch(ours(self.known(*n)?), json!({ "metadata": { "note": name } })),
            Step::Link(a, b) if is_contacts => {
                let group = self.group(*b)?["id"].clone();
                self.api.patch(ours(self.known(*a)?), json!({ "groupIds": [group] }))
            }
            Step::Link(a, b) => {
                let parent = self.known(*b)?["id"].clone();
                self.api.patch(ours(self.known(*a)?), json!({ "parentId": parent }))
            }
            Step::Unlink(a) => {
                let none = if is_contacts { json!({ "groupIds": [] }) } else { json!({ "parentId": null }) };
                self.api.patch(ours(self.known(*a)?), none)
            }
            Step::Drop(n) => self.api.delete(ours(self.known(*n)?)),
            _ => return None,
        })
    }

    async fn fault(&self, fault: Value) {
        let mut fault = fault;
        fault["pathPrefix"] = json!(self.faulty);
        self.provider.post("/sandbox/faults", fault).send().await.expect(201);
    }

    /// One page of the feed; true when there is more.
    async fn peek(&mut self, limit: u16) -> bool {
        let mut path = format!("{}limit={limit}", self.feed);
        if let Some(cursor) = &self.cursor {
            path.push_str(&format!("&cursor={cursor}"));
        }
        let asked = self.api.get(path).header("cache-control", "no-cache").send().await;
        match asked.status {
            200 => {}
            409 => {
                asked.refused(409, "sync_reset_required");
                (self.cursor, self.replica) = (None, BTreeMap::new());
                return true;
            }
            // Nothing was ever read, and now nothing can be.
            503 => return false,
            _ => panic!("{asked}"),
        }
        let page = asked.answer;
        let mut ids = BTreeSet::new();
        for change in page["data"].as_array().expect("a list") {
            let id = text(&change["resourceId"]);
            assert!(ids.insert(id.clone()), "twice on one page: {id}");
            if change["changeType"] == "deleted" {
                self.replica.remove(&id);
                continue;
            }
            assert_eq!(change["etag"], change["resource"]["etag"]);
            self.replica.insert(id, change["resource"].clone());
        }
        self.cursor = page["sync_cursor"].as_str().map(str::to_owned);
        assert!(self.cursor.is_some(), "there is always a cursor to keep");
        !page["next_cursor"].is_null()
    }

    async fn read(&mut self, limit: u16) {
        while self.peek(limit).await {}
    }

    async fn step(mut self, step: Step) -> World {
        if let Some(request) = self.request(&step) {
            accept(&step, &request.send().await);
            self.look().await;
            return self;
        }
        match step {
            Step::Read(limit) => self.read(limit).await,
            Step::Peek(limit) => {
                self.peek(limit).await;
            }
            Step::Poll => {
                self.server.pull().await;
            }
            Step::Forget => self.fault(json!({ "status": 410, "syncTokenOnly": true })).await,
            Step::Fail(after, times) => {
                self.fault(json!({ "status": 503, "after": after, "times": times })).await
            }
            Step::Lose => {
                for method in ["POST", "PATCH", "DELETE"] {
                    self.fault(json!({ "method": method, "lostAnswer": true })).await;
                }
            }
            Step::Reset(hard) => {
                let (path, _, mut body) = self.sync.clone();
                body["mode"] = json!(if hard { "hard" } else { "soft" });
                self.api.post(format!("{path}/reset"), body).send().await.expect(202);
            }
            Step::Restart => {
                self.server = self.server.restart().await;
                self.api = reconnected(&self.server, &self.api);
                self.provider = self.server.provider("zoe");
            }
            Step::Wait(ms) => self.server.clock.advance_ms(ms),
            // There was nothing to choose from.
            _ => {}
        }
        self
    }

    /// Returns all items that the API lists, of every kind in the feed.
    async fn listed(&self) -> BTreeMap<String, Value> {
        let paths = match self.surface {
            Surface::Contacts => vec!["/v1/contacts".to_owned(), "/v1/contact-groups".to_owned()],
            Surface::Tasks => vec![self.ours.clone()],
        };
        let mut listed = BTreeMap::new();
        for path in paths {
            listed.extend(self.api.all(&path).await.into_iter().map(|item| (text(&item["id"]), item)));
        }
        listed
    }

    /// Returns what both sides can see of a resource of ours, with the provider's ids.
    fn seen(&self, all: &BTreeMap<String, Value>, item: &Value) -> Seen {
        let links = match (&item["parentId"], &item["contactIds"], &item["groupIds"]) {
            (Value::String(parent), ..) => BTreeSet::from([parent.clone()]),
            (_, members @ Value::Array(_), _) | (_, _, members) => texts(members),
        };
        let external = |id: &String| {
            text(&all.get(id).unwrap_or_else(|| panic!("a link to nothing: {item:#}"))["externalId"])
        };
        let name = ["displayName", "title", "name"].iter().find_map(|f| item[f].as_str()).expect("a name");
        Seen { name: name.to_owned(), links: links.iter().map(external).collect() }
    }

    /// After a last pull without faults all three are the same.
    async fn settle(mut self) {
        self.provider.delete("/sandbox/faults").send().await.expect(204);
        let mut listed = BTreeMap::new();
        for round in 0..6 {
            self.server.clock.advance_ms(60_000);
            self.read(100).await;
            listed = self.listed().await;
            self.replica.retain(|id, _| !id.starts_with("cbk_"));
            if round > 0 && listed == self.replica {
                break;
            }
        }
        for id in self.replica.keys().chain(listed.keys()) {
            assert_eq!(self.replica.get(id), listed.get(id), "the replica and the list");
        }
        self.look().await;
        let seen: BTreeMap<String, Seen> =
            listed.values().map(|item| (text(&item["externalId"]), self.seen(&listed, item))).collect();
        assert_eq!(seen, self.there, "the list and the provider");
        let status = self.api.get(format!("{}{}", self.sync.0, self.sync.1)).send().await.expect(200);
        assert_eq!((&status["status"], &status["itemErrors"]), (&json!("caught_up"), &json!([])));
    }
}

/// Asserts the result: a write succeeds, or its item is deleted or changed, or the provider fails.
fn accept(step: &Step, exchange: &Exchange) {
    let fits = matches!(exchange.status, 200 | 201 | 204 | 400 | 404 | 409 | 502 | 503 | 504);
    assert!(fits, "{step:?}: {exchange}");
}

fn run(surface: Surface, (pull_page, steps): History) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let mut world = World::new(surface, pull_page).await;
        for step in steps {
            world = world.step(step).await;
        }
        world.settle().await;
    });
}

fn number(name: &str, or: u32) -> u32 {
    std::env::var(name).map_or(or, |n| n.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

/// Runs histories and panics with the smallest one that fails. The environment can name other seeds than 1, and other numbers than `cases`.
/// `max_shrink_iters` limits the search for a smaller one.
pub fn search<S: Strategy>(histories: &S, cases: u32, max_shrink_iters: u32, run: impl Fn(S::Value)) {
    let (seed, cases) = (number("CONVERGENCE_SEED", 1), number("CONVERGENCE_CASES", cases));
    let config = Config { cases, failure_persistence: None, max_shrink_iters, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&seed.to_be_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let outcome = runner.run(histories, |history| {
        run(history);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, history)) => panic!("seed {seed}: {reason}\nhistory: {history:?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

#[test]
fn contacts_converge() {
    search(&histories(), CASES, 150, |history| run(Surface::Contacts, history));
}

#[test]
fn tasks_converge() {
    search(&histories(), CASES, 150, |history| run(Surface::Tasks, history));
}
