//! Events of a calendar and tasks: after any sequence of changes, at the provider and through the API, a client that follows the feeds,
//! one with a webhook and one that reads the stream of events have the same data in the end, namely the provider's. The endpoint fails in
//! between, is turned off for a while and then asks for a replay; the stream is cut.
//!
//! `CONVERGENCE_SEED` and `CONVERGENCE_CASES` try other histories than the usual ones.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;
use harness::{Actor, Ask, TestServer, reconnected};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::convergence::search;

/// Histories, unless the environment says otherwise.
const CASES: u32 = 8;
/// Items of each surface that the provider's other program knows by name.
const NAMES: u8 = 5;
/// The longest pause of an endpoint.
const PAUSE_MS: i64 = 16 * 60_000;
/// Rounds after which everybody has everything.
const ROUNDS: usize = 12;
/// How long a test waits for a piece of the stream: far longer than one takes.
const LIMIT: Duration = Duration::from_secs(60);
/// The event types that all readers ask for.
const TYPES: &str = "calendar.event.*,task.*";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    Events,
    Tasks,
}

const SURFACES: [Surface; 2] = [Surface::Events, Surface::Tasks];

/// One step of a history. Numbers choose among the existing items.
#[derive(Clone, Debug)]
enum Step {
    /// By another program, at the provider.
    TheirMake(Surface, u8),
    TheirChange(Surface, u8),
    TheirDrop(Surface, u8),
    /// Through Switchboard.
    Make(Surface),
    Change(Surface, u8),
    Drop(Surface, u8),
    /// A client reads the feed to its end in pages of this size.
    Read(Surface, u16),
    /// The host pulls by itself.
    Poll,
    /// The host delivers by itself.
    Deliver,
    /// The endpoint fails this often with this status; `true`: but it has accepted the notification.
    EndpointFails(u16, bool, u8),
    Pause,
    Disable,
    Activate,
    /// A client reads this many events of the stream, which is cut then.
    Stream(usize),
    /// The next sync token is refused.
    Forget(Surface),
    /// Lets the first number of requests to the provider pass, then fails the second number.
    ProviderFails(Surface, u8, u8),
    Restart,
    Wait(i64),
}

fn surface() -> impl Strategy<Value = Surface> {
    prop_oneof![Just(Surface::Events), Just(Surface::Tasks)]
}

fn named() -> impl Strategy<Value = (Surface, u8)> {
    (surface(), 0..NAMES)
}

fn steps() -> impl Strategy<Value = Step> {
    let any_of = || (surface(), any::<u8>());
    let status = prop_oneof![Just(302_u16), Just(429), Just(500), Just(503)];
    prop_oneof![
        4 => named().prop_map(|(surface, n)| Step::TheirMake(surface, n)),
        3 => named().prop_map(|(surface, n)| Step::TheirChange(surface, n)),
        2 => named().prop_map(|(surface, n)| Step::TheirDrop(surface, n)),
        4 => surface().prop_map(Step::Make),
        4 => any_of().prop_map(|(surface, n)| Step::Change(surface, n)),
        2 => any_of().prop_map(|(surface, n)| Step::Drop(surface, n)),
        5 => (surface(), 1..20_u16).prop_map(|(surface, limit)| Step::Read(surface, limit)),
        2 => Just(Step::Poll),
        5 => Just(Step::Deliver),
        3 => (status, any::<bool>(), 1..4_u8)
            .prop_map(|(status, takes, times)| Step::EndpointFails(status, takes, times)),
        1 => Just(Step::Pause),
        1 => Just(Step::Disable),
        2 => Just(Step::Activate),
        4 => (1..8_usize).prop_map(Step::Stream),
        1 => surface().prop_map(Step::Forget),
        1 => (surface(), 0..4_u8, 1..3_u8)
            .prop_map(|(surface, after, times)| Step::ProviderFails(surface, after, times)),
        1 => Just(Step::Restart),
        5 => prop_oneof![4 => Just(1), 3 => Just(70_000), 1 => Just(PAUSE_MS)].prop_map(Step::Wait),
    ]
}

/// The number of sources that a pull asks for, and the steps.
type History = (u32, Vec<Step>);

fn histories() -> impl Strategy<Value = History> {
    (1..20_u32, proptest::collection::vec(steps(), 15..45))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Returns the parts of a resource that both sides of a feed can see.
fn seen(resource: &Value) -> Value {
    json!([resource["externalId"], resource["etag"], resource["title"]])
}

/// The knowledge of a reader that gets every event, perhaps several times and in any order.
#[derive(Default)]
struct Told {
    /// The events.
    ids: BTreeSet<String>,
    /// By the id of the resource: the newest event, and the resource, if that was not its end.
    newest: BTreeMap<String, (i64, Option<Value>)>,
}

impl Told {
    /// Takes an event; one that is older than the known state is ignored.
    fn take(&mut self, event: &Value) {
        let data = &event["data"];
        self.ids.insert(text(&event["id"]));
        let (id, sequence) = (text(&data["resourceId"]), event["sequence"].as_i64().expect("a number"));
        if self.newest.get(&id).is_some_and(|(known, _)| *known >= sequence) {
            return;
        }
        let resource = match data["changeType"] == "deleted" {
            true => None,
            false => Some(data["resource"].clone()),
        };
        assert!(resource.as_ref().is_none_or(Value::is_object), "told without the resource: {event:#}");
        self.newest.insert(id, (sequence, resource));
    }

    /// Returns the resources that exist, by id.
    fn live(&self) -> BTreeMap<String, Value> {
        let live = self.newest.iter().filter_map(|(id, (_, resource))| Some((id.clone(), resource.clone()?)));
        live.collect()
    }
}

/// The notifications that an endpoint has, and its next responses.
#[derive(Default)]
struct Inbox {
    /// Statuses, and whether the notification is accepted nevertheless.
    failures: VecDeque<(u16, bool)>,
    told: Told,
}

/// The endpoint of the webhook.
#[derive(Clone)]
struct Endpoint {
    address: SocketAddr,
    inbox: Arc<Mutex<Inbox>>,
}

impl Endpoint {
    async fn start() -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let endpoint = Endpoint { address, inbox: Arc::default() };
        let held = endpoint.clone();
        let app = axum::Router::new().fallback(async move |body: Bytes| held.receive(&body));
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the endpoint stays") });
        endpoint
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().expect("no test panics with it")
    }

    fn receive(&self, body: &Bytes) -> StatusCode {
        let mut inbox = self.inbox();
        let (status, is_taken) = inbox.failures.pop_front().unwrap_or((204, true));
        if is_taken {
            let event: Value = serde_json::from_slice(body).expect("JSON");
            inbox.told.take(&event);
        }
        StatusCode::from_u16(status).expect("a status")
    }
}

/// A client of the stream.
#[derive(Default)]
struct Listener {
    told: Told,
    /// The position of the last event, at which the stream resumes.
    last: i64,
}

impl Listener {
    /// Opens the stream at the last position, reads at most this many events, none after the one with the number `until`, and cuts it.
    async fn read(&mut self, server: &TestServer, key: &str, most: usize, until: i64) {
        if self.last >= until {
            return;
        }
        let http = harness::http_client().build().expect("an HTTP client");
        let url = format!("http://{}/v1/events/stream?type={TYPES}&include_backfill=true", server.address);
        let request = http.get(url).bearer_auth(key).header("last-event-id", self.last.to_string());
        let mut response = request.send().await.expect("the service answers");
        assert_eq!(response.status(), 200, "the stream is not opened");
        let (mut bytes, mut count) = (Vec::new(), 0);
        while count < most && self.last < until {
            let piece = tokio::time::timeout(LIMIT, response.chunk()).await.expect("an event in time");
            bytes.extend_from_slice(&piece.expect("the stream goes on").expect("the stream does not end"));
            while let Some(end) = bytes.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = bytes.drain(..end + 2).collect();
                if count < most {
                    count += usize::from(self.block(std::str::from_utf8(&block).expect("UTF-8")));
                }
            }
        }
    }

    /// Takes a block between two empty lines; returns whether it is an event.
    fn block(&mut self, block: &str) -> bool {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let id = field("id: ").map(|id| id.parse::<i64>().expect("a number"));
        let data = field("data: ").map(|data| serde_json::from_str::<Value>(data).expect("JSON"));
        if let Some(event) = &data {
            assert_eq!(event["sequence"].as_i64(), id, "{event:#}");
            assert_eq!(event["type"].as_str(), field("event: "), "{event:#}");
            assert!(id > Some(self.last), "not in order: {event:#}");
            self.told.take(event);
        }
        self.last = id.unwrap_or(self.last);
        data.is_some()
    }
}

/// A collection on both sides, and the data of a client that reads its feed.
struct Collection {
    /// The provider's path of the items, written so that no fault applies to it.
    theirs: String,
    /// The same path as connectors write it.
    faulty: String,
    /// The API's path of the collection; the items are below `items` there.
    ours: String,
    items: &'static str,
    cursor: Option<String>,
    replica: BTreeMap<String, Value>,
}

struct World {
    server: TestServer,
    api: Actor,
    provider: Actor,
    events: Collection,
    tasks: Collection,
    endpoint: Endpoint,
    /// The path of the subscription, and its status.
    webhook: String,
    status: &'static str,
    listener: Listener,
    /// The log's sequence at which the webhook and the stream begin.
    began: i64,
    /// No two titles are the same.
    titles: u32,
}

impl World {
    async fn new(pull_page: u32) -> World {
        let loopback = "127.0.0.0/8".parse().expect("a network");
        let builder = TestServer::builder().config(|config| {
            config.pull_page = pull_page;
            config.webhook_allow = vec![loopback];
            config.event_streams.look_every = Duration::from_millis(50);
        });
        let server = builder.start().await;
        let (api, provider, endpoint) =
            (server.client().await, server.provider("zoe"), Endpoint::start().await);
        let made = json!({ "name": "Converging", "timeZone": "Europe/Berlin" });
        let made = provider.post("/sandbox/v1/calendars", made).send().await.expect(201);
        let connection = api.connect_account("zoe").await;
        let calendar = api.named(&format!("/v1/calendars?connection_id={connection}"), "Converging").await;
        let list = api.named("/v1/task-lists", "Tasks").await;
        let events = Collection::new(
            ("calendars", &text(&made["id"]), "events"),
            format!("/v1/calendars/{calendar}"),
            "events",
        );
        let tasks = Collection::new(("lists", "tasks", "todos"), format!("/v1/task-lists/{list}"), "tasks");
        let webhook = json!({
            "url": format!("http://{}/hook", endpoint.address),
            "eventTypes": TYPES.split(',').collect::<Vec<_>>(), "includeBackfill": true,
        });
        let webhook = api.post("/v1/webhooks", webhook).send().await.expect(201);
        let began = webhook["cursor"].as_i64().expect("a number");
        let mut world = World {
            webhook: format!("/v1/webhooks/{}", text(&webhook["id"])),
            status: "active",
            listener: Listener { last: began, ..Listener::default() },
            server,
            api,
            provider,
            events,
            tasks,
            endpoint,
            began,
            titles: 0,
        };
        for surface in SURFACES {
            for n in 0..NAMES - 2 {
                world = world.step(Step::TheirMake(surface, n)).await;
            }
            let path = format!("{}/sync/start", world.of(surface).ours);
            world.api.post(path, json!({})).send().await.expect(202);
        }
        world
    }

    fn of(&self, surface: Surface) -> &Collection {
        match surface {
            Surface::Events => &self.events,
            Surface::Tasks => &self.tasks,
        }
    }

    fn of_mut(&mut self, surface: Surface) -> &mut Collection {
        match surface {
            Surface::Events => &mut self.events,
            Surface::Tasks => &mut self.tasks,
        }
    }

    /// Returns a request for a change, chosen from the known items; none if there are none.
    fn request(&mut self, step: &Step) -> Option<Ask> {
        self.titles += 1;
        let title = format!("title {}", self.titles);
        let at = |time: &str| json!(format!("2026-03-02T{time}:00Z"));
        let theirs = |surface: &Surface, n: &u8| format!("{}/name-{n}", self.of(*surface).theirs);
        Some(match step {
            Step::TheirMake(surface, n) => {
                let mut body = json!({ "id": format!("name-{n}"), "title": title });
                if *surface == Surface::Events {
                    (body["start"], body["end"]) = (at("10:00"), at("10:30"));
                }
                self.provider.post(&self.of(*surface).theirs, body)
            }
            Step::TheirChange(surface, n) => {
                self.provider.patch(theirs(surface, n), json!({ "title": title }))
            }
            Step::TheirDrop(surface, n) => self.provider.delete(theirs(surface, n)),
            Step::Make(surface) => {
                let mut body = json!({ "title": title });
                if *surface == Surface::Events {
                    body["start"] = json!("2026-03-03T10:00:00Z");
                    body["end"] = json!("2026-03-03T11:00:00Z");
                }
                let of = self.of(*surface);
                self.api.post(format!("{}/{}", of.ours, of.items), body)
            }
            Step::Change(surface, n) => {
                self.api.patch(self.of(*surface).known(*n)?, json!({ "title": title }))
            }
            Step::Drop(surface, n) => self.api.delete(self.of(*surface).known(*n)?),
            _ => return None,
        })
    }

    async fn fault(&self, surface: Surface, fault: Value) {
        let mut fault = fault;
        fault["pathPrefix"] = json!(self.of(surface).faulty);
        self.provider.post("/sandbox/faults", fault).send().await.expect(201);
    }

    /// Reads a feed to its end.
    async fn read(&mut self, surface: Surface, limit: u16) {
        let api = self.api.clone();
        while self.of_mut(surface).peek(&api, limit).await {}
    }

    async fn set(&mut self, status: &'static str) {
        self.api.patch(&self.webhook, json!({ "status": status })).send().await.expect(200);
        self.status = status;
    }

    /// Returns all events that the readers should get, as in the log.
    async fn logged(&self) -> Vec<Value> {
        let (mut events, mut position) = (Vec::new(), self.began);
        loop {
            let path =
                format!("/v1/events?after_sequence={position}&type={TYPES}&include_backfill=true&limit=100");
            let page = self.api.get(path).send().await.expect(200);
            events.extend(page["data"].as_array().expect("a list").iter().cloned());
            if page["next_cursor"].is_null() {
                return events;
            }
            position = page["last_sequence"].as_i64().expect("a number");
        }
    }

    /// Lets the client of the stream read at most this many events.
    async fn listen(&mut self, most: usize) {
        let last = self.logged().await.last().and_then(|event| event["sequence"].as_i64());
        let key = self.api.key.clone().expect("a key");
        self.listener.read(&self.server, &key, most, last.unwrap_or(0)).await;
    }

    async fn step(mut self, step: Step) -> World {
        if let Some(request) = self.request(&step) {
            // It succeeds, or its item is deleted or changed, or the provider fails.
            let exchange = request.send().await;
            let fits = matches!(exchange.status, 200 | 201 | 204 | 400 | 404 | 409 | 502 | 503 | 504);
            assert!(fits, "{step:?}: {exchange}");
            return self;
        }
        match step {
            Step::Read(surface, limit) => self.read(surface, limit).await,
            Step::Poll => {
                self.server.pull().await;
            }
            Step::Deliver => self.server.deliver().await,
            Step::EndpointFails(status, takes, times) => {
                let failures = (0..times).map(|_| (status, takes));
                self.endpoint.inbox().failures.extend(failures);
            }
            Step::Pause if self.status == "active" => self.set("paused").await,
            Step::Disable if self.status == "active" => self.set("disabled").await,
            Step::Activate if self.status != "active" => self.set("active").await,
            Step::Stream(most) => self.listen(most).await,
            Step::Forget(surface) => {
                self.fault(surface, json!({ "status": 410, "syncTokenOnly": true })).await
            }
            Step::ProviderFails(surface, after, times) => {
                self.fault(surface, json!({ "status": 503, "after": after, "times": times })).await
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

    /// Returns the resources of both surfaces, as the feeds have reported them.
    fn followed(&self) -> BTreeMap<String, Value> {
        let all = self.events.replica.iter().chain(&self.tasks.replica);
        all.map(|(id, resource)| (id.clone(), seen(resource))).collect()
    }

    /// Returns the resources as the endpoint has received them.
    fn hooked(&self) -> BTreeMap<String, Value> {
        let live = self.endpoint.inbox().told.live();
        live.into_iter().map(|(id, resource)| (id, seen(&resource))).collect()
    }

    /// The events of the log that the endpoint has not.
    async fn missing(&self) -> Vec<String> {
        let logged: Vec<String> = self.logged().await.iter().map(|event| text(&event["id"])).collect();
        let inbox = self.endpoint.inbox();
        logged.into_iter().filter(|id| !inbox.told.ids.contains(id)).collect()
    }

    /// Without faults, and after the endpoint's replay, all readers have the same data.
    async fn settle(mut self) {
        self.provider.delete("/sandbox/faults").send().await.expect(204);
        self.endpoint.inbox().failures.clear();
        self.set("active").await;
        let mut missing = Vec::new();
        for round in 0..ROUNDS {
            self.server.clock.advance_ms(PAUSE_MS);
            for surface in SURFACES {
                self.read(surface, 100).await;
            }
            self.server.deliver().await;
            missing = self.missing().await;
            if round > 0 && missing.is_empty() && self.followed() == self.hooked() {
                break;
            }
            // Failed deliveries are retried for days, and events from the time when the webhook was disabled are not sent by themselves.
            if !missing.is_empty() {
                let body = json!({ "eventIds": missing });
                self.api.post(format!("{}/replay", self.webhook), body).send().await.expect(202);
            }
        }
        assert!(missing.is_empty(), "the endpoint was never told of {missing:?}");
        self.listen(usize::MAX).await;
        self.check().await;
    }

    async fn check(&self) {
        let logged = self.logged().await;
        let ids: BTreeSet<String> = logged.iter().map(|event| text(&event["id"])).collect();
        assert_eq!(self.listener.told.ids, ids, "the stream and the log");
        let (followed, hooked) = (self.followed(), self.hooked());
        for id in followed.keys().chain(hooked.keys()) {
            assert_eq!(followed.get(id), hooked.get(id), "{id}: the feed and the webhook");
        }
        let (streamed, told) = (self.listener.told.live(), self.endpoint.inbox().told.live());
        assert_eq!(streamed, told, "the stream and the webhook");
        let mut there = BTreeMap::new();
        for surface in SURFACES {
            there.extend(self.at_provider(surface).await);
        }
        let ours = told.values().map(|resource| (text(&resource["externalId"]), text(&resource["title"])));
        assert_eq!(ours.collect::<BTreeMap<_, _>>(), there, "what was told and the provider");
    }

    /// The titles of everything that the provider has, by its ids.
    async fn at_provider(&self, surface: Surface) -> BTreeMap<String, String> {
        let list = if surface == Surface::Events { "events" } else { "todos" };
        let (mut found, mut page_token) = (BTreeMap::new(), String::new());
        loop {
            let path = format!("{}?limit=250{page_token}", self.of(surface).theirs);
            let page = self.provider.get(path).send().await.expect(200);
            let items = page[list].as_array().expect("a list").iter();
            found.extend(items.map(|item| (text(&item["id"]), text(&item["title"]))));
            match page["nextPageToken"].as_str() {
                Some(token) => page_token = format!("&pageToken={token}"),
                None => return found,
            }
        }
    }
}

impl Collection {
    /// `at_provider`: the kind of the folder, its id, and the kind of its items.
    fn new(at_provider: (&str, &str, &str), ours: String, items: &'static str) -> Collection {
        let (kind, id, of) = at_provider;
        let (first, rest) = id.split_at(1);
        Collection {
            theirs: format!("/sandbox/v1/{kind}/%{:02X}{rest}/{of}", first.as_bytes()[0]),
            faulty: format!("/sandbox/v1/{kind}/{id}/{of}"),
            ours,
            items,
            cursor: None,
            replica: BTreeMap::new(),
        }
    }

    /// The path of one of the items that the client of the feed knows.
    fn known(&self, n: u8) -> Option<String> {
        let id = self.replica.keys().nth(usize::from(n) % self.replica.len().max(1))?;
        Some(format!("{}/{}/{id}", self.ours, self.items))
    }

    /// Reads a page of the feed; whether there is more.
    async fn peek(&mut self, api: &Actor, limit: u16) -> bool {
        let mut path = format!("{}/sync/changes?limit={limit}", self.ours);
        if let Some(cursor) = &self.cursor {
            path.push_str(&format!("&cursor={cursor}"));
        }
        let asked = api.get(path).header("cache-control", "no-cache").send().await;
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
        for change in page["data"].as_array().expect("a list") {
            let id = text(&change["resourceId"]);
            match change["changeType"] == "deleted" {
                true => self.replica.remove(&id),
                false => self.replica.insert(id, change["resource"].clone()),
            };
        }
        self.cursor = Some(text(&page["sync_cursor"]));
        !page["next_cursor"].is_null()
    }
}

fn run((pull_page, steps): History) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let mut world = World::new(pull_page).await;
        for step in steps {
            world = world.step(step).await;
        }
        world.settle().await;
    });
}

#[test]
fn whoever_is_told_by_feed_webhook_or_stream_knows_the_same() {
    search(&histories(), CASES, 100, run);
}

/// An endpoint that was disabled asks for the events by their ids, and has everything again.
#[test]
fn what_was_missed_comes_by_replay() {
    use Surface::{Events, Tasks};
    run((
        5,
        vec![
            Step::Read(Events, 10),
            Step::Read(Tasks, 10),
            Step::Deliver,
            Step::Disable,
            Step::Make(Tasks),
            Step::TheirChange(Events, 0),
            Step::TheirDrop(Tasks, 1),
            Step::Wait(70_000),
            Step::Read(Events, 10),
            Step::Read(Tasks, 10),
            Step::Activate,
            Step::Make(Events),
            Step::Deliver,
        ],
    ));
}

/// A stream that is cut after each event misses none and repeats none.
#[test]
fn a_stream_that_is_cut_goes_on() {
    let round = [Step::Make(Surface::Events), Step::Make(Surface::Tasks), Step::Wait(1), Step::Stream(1)];
    let mut steps = vec![Step::Read(Surface::Events, 10)];
    steps.extend(round.iter().cycle().take(16).cloned());
    run((5, steps));
}
