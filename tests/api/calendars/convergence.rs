//! `/v1/calendars/{calendarId}/sync`: after any sequence of events, a client that follows the feed has the provider's data in the end,
//! and has seen no false change.
//!
//! `CONVERGENCE_SEED` and `CONVERGENCE_CASES` try other histories than the usual ones. A history that fails is printed as the list of its
//! steps: it is added below as a test of its own.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use std::collections::{BTreeMap, BTreeSet};

use base::tenant::Tenant;
use harness::{Actor, TestServer, reconnected};
use proptest::prelude::*;
use serde_json::{Value, json};
use service::retention;
use storage::api_keys;
use storage::log::{self, FeedLine};

use crate::convergence::search;

/// Histories, unless the environment says otherwise.
const CASES: u32 = 20;
/// Events that the provider's other program knows by name.
const NAMES: u8 = 5;
/// How long a held answer is held.
const HELD_MS: u64 = 120;

/// A change of an event, by one of two programs. Numbers choose among the existing events.
#[derive(Clone, Debug)]
enum Write {
    /// By another program, at the provider.
    TheirMake(u8),
    TheirSeries(u8),
    TheirChange(u8),
    /// One instance of a series; of a single event nothing.
    TheirInstance(u8),
    TheirDrop(u8),
    /// Through Switchboard.
    Make,
    Change(u8),
    /// With the etag that the client has.
    ChangeIf(u8),
    Note(u8),
    Drop(u8),
}

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Write(Write),
    /// The client reads the feed to its end in pages of this size, or one page of it.
    Read(u8),
    Peek(u8),
    /// The host pulls by itself.
    Poll,
    Clean,
    /// The next sync token is refused.
    Forget,
    /// Lets the first number of requests pass, then fails the second number.
    Fail(u8, u8),
    /// The next write happens, but its answer is lost.
    Lose,
    /// Holds the next pull (a full read if true, else changes) back after this number of pages, and makes this write meanwhile.
    HeldRead(bool, u8, Write),
    /// The answer to a write of ours is held back while others drop or change the same event and the feed is read.
    HeldWrite(Write, bool),
    /// Hard or soft.
    Reset(bool),
    Restart,
    Wait(i64),
}

fn writes() -> impl Strategy<Value = Write> {
    prop_oneof![
        3 => (0..NAMES).prop_map(Write::TheirMake),
        1 => (0..NAMES).prop_map(Write::TheirSeries),
        3 => (0..NAMES).prop_map(Write::TheirChange),
        1 => (0..NAMES).prop_map(Write::TheirInstance),
        2 => (0..NAMES).prop_map(Write::TheirDrop),
        8 => ours(),
    ]
}

fn ours() -> impl Strategy<Value = Write> {
    prop_oneof![
        2 => Just(Write::Make),
        2 => any::<u8>().prop_map(Write::Change),
        1 => any::<u8>().prop_map(Write::ChangeIf),
        1 => any::<u8>().prop_map(Write::Note),
        2 => any::<u8>().prop_map(Write::Drop),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    const DAY_MS: i64 = 86_400_000;
    let waits = prop_oneof![6 => Just(1), 3 => Just(70_000), 1 => Just(8 * DAY_MS), 1 => Just(31 * DAY_MS)];
    prop_oneof![
        8 => writes().prop_map(Step::Write),
        4 => (1..6_u8).prop_map(Step::Read),
        2 => (1..4_u8).prop_map(Step::Peek),
        2 => Just(Step::Poll),
        1 => Just(Step::Clean),
        1 => Just(Step::Forget),
        2 => (0..4_u8, 1..3_u8).prop_map(|(after, times)| Step::Fail(after, times)),
        1 => Just(Step::Lose),
        3 => (any::<bool>(), 0..3_u8, ours()).prop_map(|(anew, after, write)| Step::HeldRead(anew, after, write)),
        3 => (ours(), any::<bool>()).prop_map(|(ours, drop)| Step::HeldWrite(ours, drop)),
        1 => any::<bool>().prop_map(Step::Reset),
        1 => Just(Step::Restart),
        6 => waits.prop_map(Step::Wait),
    ]
}

/// The number of sources that a pull asks for, whether a copy may be a minute old when a write reads it, and the steps.
type History = (u32, bool, Vec<Step>);

fn histories() -> impl Strategy<Value = History> {
    (1..5_u32, any::<bool>(), proptest::collection::vec(steps(), 10..40))
}

/// The parts of an event that both sides can see.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    title: String,
    start: String,
    end: String,
    recurrence: Value,
}

/// The knowledge of a client that only reads the feed.
#[derive(Default)]
struct Replica {
    cursor: Option<String>,
    events: BTreeMap<String, Value>,
    /// The log's last sequence at its start: later entries are news.
    began: i64,
    last: i64,
}

struct World {
    server: TestServer,
    api: Actor,
    provider: Actor,
    calendar: String,
    /// The provider's path of the events, written so that no fault applies to it.
    theirs: String,
    /// The same path as connectors write it.
    faulty: String,
    replica: Replica,
    /// No two titles are the same.
    titles: u32,
    /// External ids that the provider had and had no more, at some time.
    ever_gone: BTreeSet<String>,
    there: BTreeMap<String, Seen>,
}

fn moment(value: &Value) -> String {
    let text = value.as_str().unwrap_or_else(|| panic!("no time: {value}"));
    text.parse::<jiff::Timestamp>().unwrap_or_else(|e| panic!("{text}: {e}")).to_string()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

impl World {
    async fn new(pull_page: u32, is_lax: bool) -> World {
        let server = TestServer::builder().config(|c| {
            c.pull_page = pull_page;
            c.freshness_ms = if is_lax { 60_000 } else { 0 };
        });
        let server = server.start().await;
        let (api, provider) = (server.client().await, server.provider("zoe"));
        let made = json!({ "name": "Converging", "timeZone": "Europe/Berlin" });
        let made = provider.post("/sandbox/v1/calendars", made).send().await.expect(201);
        let id = text(&made["id"]);
        let connection = api
            .connect(json!({
                "provider": "sandbox", "scopes": ["calendar.read", "calendar.write"],
                "credentials": { "username": "zoe@sandbox.test", "password": "sandbox" },
            }))
            .await;
        let calendar = api.calendar(&connection, "Converging").await;
        let masked = format!("%{:02X}{}", id.as_bytes()[0], &id[1..]);
        let mut world = World {
            server,
            api,
            provider,
            calendar,
            theirs: format!("/sandbox/v1/calendars/{masked}/events"),
            faulty: format!("/sandbox/v1/calendars/{id}/events"),
            replica: Replica::default(),
            titles: 0,
            ever_gone: BTreeSet::new(),
            there: BTreeMap::new(),
        };
        for n in 0..NAMES - 1 {
            world.write(Write::TheirMake(n)).await;
        }
        let path = format!("/v1/calendars/{}/sync/start", world.calendar);
        world.api.post(path, json!({})).send().await.expect(202);
        world
    }

    fn title(&mut self) -> String {
        self.titles += 1;
        format!("title {}", self.titles)
    }

    /// Everything that the provider has, by external id.
    async fn look(&mut self) {
        let mut found = BTreeMap::new();
        let mut page_token = String::new();
        loop {
            let path = format!("{}?limit=250{page_token}", self.theirs);
            let page = self.provider.get(path).send().await.expect(200);
            for event in page["events"].as_array().expect("a list") {
                let overrides = event["exceptions"].as_array().cloned().unwrap_or_default();
                for event in overrides.iter().chain([event]) {
                    let seen = Seen {
                        title: text(&event["title"]),
                        start: moment(&event["start"]),
                        end: moment(&event["end"]),
                        recurrence: event["recurrence"].clone(),
                    };
                    found.insert(text(&event["id"]), seen);
                }
            }
            match page["nextPageToken"].as_str() {
                Some(token) => page_token = format!("&pageToken={token}"),
                None => break,
            }
        }
        self.ever_gone.extend(self.there.keys().filter(|id| !found.contains_key(*id)).cloned());
        self.there = found;
    }

    /// One of the events that the client knows.
    fn known(&self, n: u8) -> Option<(&String, &Value)> {
        let at = usize::from(n) % self.replica.events.len().max(1);
        self.replica.events.iter().nth(at)
    }

    /// Returns a request for a change, chosen from the known events; none if there are none.
    fn request(&mut self, write: &Write) -> Option<harness::Ask> {
        let title = self.title();
        let name = |n: u8| format!("{}/name-{n}", self.theirs);
        let hour = 6 + self.titles % 12;
        let at = |minutes: u32| json!(format!("2026-03-02T{hour:02}:{minutes:02}:00Z"));
        let event = |n: &u8| json!({ "id": format!("name-{n}"), "title": title, "start": at(0), "end": at(30), "timeZone": "UTC" });
        let events = format!("/v1/calendars/{}/events", self.calendar);
        let known = |n: u8| self.known(n).map(|(id, event)| (format!("{events}/{id}"), text(&event["etag"])));
        Some(match write {
            Write::TheirMake(n) => self.provider.post(&self.theirs, event(n)),
            Write::TheirSeries(n) => {
                let mut series = event(n);
                series["recurrence"] = json!(["RRULE:FREQ=DAILY;COUNT=5"]);
                self.provider.post(&self.theirs, series)
            }
            Write::TheirChange(n) => self.provider.patch(name(*n), json!({ "title": title })),
            Write::TheirInstance(n) => {
                let series = self.there.get(&format!("name-{n}")).filter(|s| s.recurrence != json!([]))?;
                let local = series.start.trim_end_matches('Z').to_owned();
                self.provider.patch(format!("{}/instances/{local}", name(*n)), json!({ "title": title }))
            }
            Write::TheirDrop(n) => self.provider.delete(name(*n)),
            Write::Make => {
                let body =
                    json!({ "title": title, "start": "2026-03-03T10:00:00Z", "end": "2026-03-03T11:00:00Z" });
                self.api.post(events.clone(), body)
            }
            Write::Change(n) => self.api.patch(known(*n)?.0, json!({ "title": title })),
            Write::ChangeIf(n) => {
                let (path, etag) = known(*n)?;
                self.api.patch(path, json!({ "title": title })).if_match(&etag)
            }
            Write::Note(n) => self.api.patch(known(*n)?.0, json!({ "metadata": { "note": title } })),
            Write::Drop(n) => self.api.delete(known(*n)?.0),
        })
    }

    async fn write(&mut self, write: Write) {
        if let Some(request) = self.request(&write) {
            accept(&write, &request.send().await);
        }
        self.look().await;
    }

    async fn fault(&self, fault: Value) {
        let mut fault = fault;
        fault["pathPrefix"] = json!(self.faulty);
        self.provider.post("/sandbox/faults", fault).send().await.expect(201);
    }

    async fn clear_faults(&self) {
        self.provider.delete("/sandbox/faults").send().await.expect(204);
    }

    /// One page of the feed; true when there is more.
    async fn peek(&mut self, limit: u8) -> bool {
        let asked = feed(&self.api, &self.calendar, self.replica.cursor.as_deref(), limit).send().await;
        self.take(asked).await
    }

    async fn read(&mut self, limit: u8) {
        while self.peek(limit).await {}
    }

    /// Puts a page of the feed into the replica, if it is one, and checks it.
    async fn take(&mut self, asked: harness::Exchange) -> bool {
        match asked.status {
            200 => {}
            409 => {
                asked.refused(409, "sync_reset_required");
                self.replica = Replica::default();
                return true;
            }
            // Nothing was ever read, and now nothing can be.
            503 => return false,
            _ => panic!("{asked}"),
        }
        let page = asked.answer;
        self.look().await;
        if self.replica.cursor.is_none() {
            self.replica.began = self.last_sequence().await;
        }
        for change in page["data"].as_array().expect("a list") {
            self.told(change);
        }
        self.replica.cursor = page["sync_cursor"].as_str().map(str::to_owned);
        assert!(self.replica.cursor.is_some(), "there is always a cursor to keep");
        !page["next_cursor"].is_null()
    }

    fn told(&mut self, change: &Value) {
        let (id, sequence) = (text(&change["resourceId"]), change["sequence"].as_i64().expect("a number"));
        let is_news = sequence > self.replica.began;
        if is_news {
            assert!(sequence > self.replica.last, "not in order: {change:#}");
            self.replica.last = sequence;
        }
        if change["changeType"] == "deleted" {
            // An instance that was made and undone between two reads is reported, too.
            if let Some(event) = self.replica.events.remove(&id) {
                let external = text(&event["externalId"]);
                let may_be = self.ever_gone.contains(&external) || !self.there.contains_key(&external);
                assert!(may_be, "told as deleted, and it is there: {event:#}");
            }
            return;
        }
        let event = change["resource"].clone();
        assert_eq!(change["etag"], event["etag"]);
        let before = self.replica.events.insert(id, event.clone());
        if let Some(before) = before.filter(|_| is_news && change["changeType"] == "updated") {
            let content = |mut event: Value| {
                event["etag"] = Value::Null;
                event["updatedAt"] = Value::Null;
                event
            };
            let is_new = content(before.clone()) != content(event.clone());
            // A version that was part of the initial items may be reported once more.
            assert!(is_new || before["etag"] == event["etag"], "nothing changed: {before:#} {event:#}");
        }
    }

    async fn tenant(&self) -> Tenant {
        let tenants = api_keys::tenants(self.server.app.db.reader()).await.expect("a query");
        tenants.into_iter().next().expect("an application")
    }

    async fn last_sequence(&self) -> i64 {
        log::last_sequence(self.server.app.db.reader(), &self.tenant().await).await.expect("a query")
    }

    /// The log, read line by line as webhooks do, has no false deletion either.
    async fn check_log(&self) {
        let (reader, tenant) = (self.server.app.db.reader(), self.tenant().await);
        let (mut lines, mut after) = (Vec::new(), 0);
        loop {
            let whole = |line: FeedLine<'_>| {
                let (change, id) = (line.change_type.to_owned(), line.resource_id.to_owned());
                (line.sequence, change, id, line.resource.map(str::to_owned))
            };
            let read = log::of_collection(reader, &tenant, &self.calendar, after, 10_000, whole).await;
            let chunk = read.expect("a query");
            after = chunk.rows.last().map_or(after, |(sequence, ..)| *sequence);
            lines.extend(chunk.rows);
            if chunk.is_last {
                break;
            }
        }
        let mut externals = BTreeMap::new();
        for (sequence, change, id, resource) in lines {
            if let Some(resource) = &resource {
                let event: Value = serde_json::from_str(resource).expect("JSON");
                externals.insert(id.clone(), text(&event["externalId"]));
            }
            if let Some(external) = externals.get(&id).filter(|_| change == "deleted") {
                assert!(self.ever_gone.contains(external), "{external} was never gone: line {sequence}");
            }
        }
    }

    /// Until the provider holds an answer back, or it is clear that it will not be asked.
    async fn held(provider: Actor, planned: usize) {
        for _ in 0..20 {
            let faults = provider.get("/sandbox/faults").send().await.expect(200);
            let faults = faults["faults"].as_array().expect("a list");
            if faults.iter().filter(|f| f["answerDelayMs"] == HELD_MS).count() < planned {
                return;
            }
        }
    }

    async fn held_read(&mut self, anew: bool, after: u8, write: Write) {
        self.clear_faults().await;
        if anew {
            self.fault(json!({ "status": 410, "syncTokenOnly": true })).await;
        }
        self.fault(json!({ "method": "GET", "answerDelayMs": HELD_MS, "after": after })).await;
        self.server.clock.advance_ms(1);
        let read = feed(&self.api, &self.calendar, self.replica.cursor.as_deref(), 100).send();
        let request = self.request(&write);
        let provider = self.provider.clone();
        let written = async move {
            World::held(provider, 1).await;
            sent(request).await
        };
        let (asked, written) = tokio::join!(read, written);
        self.clear_faults().await;
        if let Some(written) = written {
            accept(&write, &written);
        }
        self.look().await;
        self.take(asked).await;
    }

    async fn held_write(&mut self, ours: Write, drop: bool) {
        self.clear_faults().await;
        let methods = ["POST", "PATCH", "DELETE"];
        for method in methods {
            self.fault(json!({ "method": method, "answerDelayMs": HELD_MS })).await;
        }
        let request = self.request(&ours);
        let title = self.title();
        let same = match ours {
            Write::Change(n) | Write::ChangeIf(n) | Write::Note(n) | Write::Drop(n) => self.known(n),
            _ => None,
        };
        let theirs = same.map(|(_, event)| {
            let external = text(&event["externalId"]);
            let path = format!("{}/{}", self.theirs, external.split('@').next().unwrap_or_default());
            match drop {
                true => self.provider.delete(path),
                false => self.provider.patch(path, json!({ "title": title })),
            }
        });
        let (provider, clock) = (self.provider.clone(), self.server.clock.clone());
        let read = feed(&self.api, &self.calendar, self.replica.cursor.as_deref(), 100);
        let others = async move {
            World::held(provider, methods.len()).await;
            sent(theirs).await;
            clock.advance_ms(1);
            read.send().await
        };
        let (written, asked) = tokio::join!(sent(request), others);
        if let Some(written) = written {
            accept(&ours, &written);
        }
        self.clear_faults().await;
        self.look().await;
        self.take(asked).await;
    }

    async fn step(mut self, step: Step) -> World {
        match step {
            Step::Write(write) => self.write(write).await,
            Step::Read(limit) => self.read(limit).await,
            Step::Peek(limit) => {
                self.peek(limit).await;
            }
            Step::Poll => {
                self.server.pull().await;
            }
            Step::Clean => {
                retention::clean(&self.server.app).await.expect("a clean-up");
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
            Step::HeldRead(anew, after, write) => self.held_read(anew, after, write).await,
            Step::HeldWrite(ours, drop) => self.held_write(ours, drop).await,
            Step::Reset(hard) => {
                let body = json!({ "mode": if hard { "hard" } else { "soft" } });
                let path = format!("/v1/calendars/{}/sync/reset", self.calendar);
                self.api.post(path, body).send().await.expect(202);
            }
            Step::Restart => {
                self.server = self.server.restart().await;
                self.api = reconnected(&self.server, &self.api);
                self.provider = self.server.provider("zoe");
            }
            Step::Wait(ms) => self.server.clock.advance_ms(ms),
        }
        self
    }

    /// After a last pull without faults all three are the same.
    async fn settle(mut self) {
        self.clear_faults().await;
        let path = format!("/v1/calendars/{}/events?show_cancelled=true", self.calendar);
        let mut listed = BTreeMap::new();
        // Held and background requests come to their end; that takes longer on some databases.
        for round in 0..6 {
            self.server.clock.advance_ms(60_000);
            self.read(100).await;
            listed = self.api.all(&path).await.into_iter().map(|e| (text(&e["id"]), e)).collect();
            if round > 0 && listed == self.replica.events {
                break;
            }
        }
        self.check_log().await;
        for id in self.replica.events.keys().chain(listed.keys()) {
            assert_eq!(self.replica.events.get(id), listed.get(id), "the replica and the list");
        }
        let seen = listed.values().map(|e| {
            let seen = Seen {
                title: text(&e["title"]),
                start: moment(&e["start"]),
                end: moment(&e["end"]),
                recurrence: e["recurrence"].clone(),
            };
            (text(&e["externalId"]), seen)
        });
        let seen: BTreeMap<String, Seen> = seen.collect();
        for id in seen.keys().chain(self.there.keys()) {
            assert_eq!(seen.get(id), self.there.get(id), "{id}: the list and the provider");
        }
        let status = format!("/v1/calendars/{}/sync/status", self.calendar);
        let status = self.api.get(status).send().await.expect(200);
        assert_eq!((&status["status"], &status["itemErrors"]), (&json!("caught_up"), &json!([])));
    }
}

async fn sent(request: Option<harness::Ask>) -> Option<harness::Exchange> {
    match request {
        Some(request) => Some(request.send().await),
        None => None,
    }
}

/// A request for a page of the feed, as fresh as can be.
fn feed(api: &Actor, calendar: &str, cursor: Option<&str>, limit: u8) -> harness::Ask {
    let mut path = format!("/v1/calendars/{calendar}/sync/changes?limit={limit}");
    if let Some(cursor) = cursor {
        path.push_str(&format!("&cursor={cursor}"));
    }
    api.get(path).header("cache-control", "no-cache")
}

/// Asserts the result: a write succeeds, or its event is deleted or changed, or the provider fails.
fn accept(write: &Write, exchange: &harness::Exchange) {
    let fits = matches!(exchange.status, 200 | 201 | 204 | 404 | 409 | 502 | 503 | 504);
    assert!(fits, "{write:?}: {exchange}");
}

fn run((pull_page, is_lax, steps): History) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let mut world = World::new(pull_page, is_lax).await;
        for step in steps {
            world = world.step(step).await;
        }
        world.settle().await;
    });
}

#[test]
fn every_history_converges() {
    search(&histories(), CASES, 150, run);
}

/// A page that was read before a change of ours and arrives after it.
#[test]
fn a_late_page_does_not_undo_a_write() {
    for write in [Write::Change(0), Write::Drop(0)] {
        for anew in [false, true] {
            let theirs = Step::Write(Write::TheirChange(0));
            run((
                4,
                true,
                vec![Step::Read(5), theirs, Step::HeldRead(anew, 0, write.clone()), Step::Wait(1)],
            ));
        }
    }
}

/// An event that is made while everything is enumerated, and that the enumeration did not see.
#[test]
fn an_enumeration_does_not_delete_what_it_could_not_see() {
    // One page, so that nothing that comes later can be on a later one.
    run((200, true, vec![Step::Read(5), Step::HeldRead(true, 0, Write::Make), Step::Wait(1)]));
}

/// The answer to a write of ours arrives after others have changed the same event, and a pull has read that change.
#[test]
fn a_late_answer_does_not_undo_what_was_read() {
    for write in [Write::Change(0), Write::Note(0), Write::Drop(0)] {
        for drop in [false, true] {
            run((4, true, vec![Step::Read(5), Step::HeldWrite(write.clone(), drop), Step::Wait(1)]));
        }
    }
}

/// An event that comes back under the id that it had.
#[test]
fn an_event_comes_back() {
    let (gone, back) = (Step::Write(Write::TheirDrop(1)), Step::Write(Write::TheirSeries(1)));
    run((4, false, vec![Step::Read(5), gone, Step::Wait(1), Step::Read(5), back, Step::Wait(1)]));
}
