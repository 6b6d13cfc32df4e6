//! Events of Alice's primary calendar, which both programs change.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::Entropy;
use fakes::google::{EventRecord, State};
use harness::{Ask, Exchange};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::google::convergence::{
    MINUTE_MS, PATIENCE_MS, ROUND, STEPS, calm, failure, killed_during, killed_during_pull, lose_changes,
    number, restarted,
};
use crate::google::{ALICE, FollowedCalendar, MARCH, World, builder, event, shown};

/// The paths of the API in which the calendar is.
const API: &str = "/calendar/v3/";
/// Single events, and series, that the other program has names for.
const SLOTS: u8 = 4;
/// The days of March 2026 on which each series of the other program takes place, an hour from nine on.
const DAYS: [u8; 6] = [2, 3, 4, 5, 6, 7];
const RULE: &str = "RRULE:FREQ=DAILY;COUNT=6";

/// One step of a history. Numbers choose a slot, a day, or something that the client has seen.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The other program, at Google, makes or changes the event with this name.
    TheirEvent(u8, u8),
    TheirSeries(u8),
    /// A day of a series gets another title and hour, or is cancelled. The series may come later.
    TheirException(u8, u8, bool),
    TheirDrop(&'static str, u8),
    /// A single event that was deleted comes back.
    TheirReturn(u8),
    /// Through Switchboard.
    Make(bool),
    Change(u8),
    ChangeIf(u8),
    Move(u8, u8),
    Split(u8),
    Drop(u8),
    /// The client reads the feed to its end.
    Read,
    /// The service pulls by itself.
    Poll,
    Trap(&'static str, u32),
    Fail(u8),
    /// The next change happens at Google, and its answer is lost.
    Lose,
    Restart,
    /// The client makes an event or changes one, and the hosts are killed as soon as Google has the change.
    Kill(u8),
    /// The hosts are killed while one of them pulls.
    KillPull,
    Wait(i64),
}

fn step(random: &Entropy) -> Step {
    let [what, a, b] = random.bytes::<3>();
    let (slot, day) = (a % SLOTS, DAYS.get(usize::from(b) % DAYS.len()).copied().unwrap_or(2));
    let kind = if b.is_multiple_of(2) { "event" } else { "series" };
    match what % 56 {
        0..=4 => Step::TheirEvent(slot, day),
        5..=7 => Step::TheirSeries(slot),
        8..=12 => Step::TheirException(slot, day, a >= 192),
        13..=15 => Step::TheirDrop(kind, slot),
        16 => Step::TheirReturn(slot),
        17..=19 => Step::Make(b.is_multiple_of(3)),
        20..=23 => Step::Change(a),
        24 => Step::ChangeIf(a),
        25 | 26 => Step::Move(a, day),
        27 => Step::Split(a),
        28..=30 => Step::Drop(a),
        31..=37 => Step::Read,
        38 | 39 => Step::Poll,
        40 => Step::Trap("full_sync_required", 1),
        41 => Step::Trap("updated_min_too_long_ago", 1),
        42 => Step::Trap("empty_page", 1),
        43 => Step::Trap("etag_moves", 1),
        44 => Step::Trap("bare_cancelled", u32::from(b % 2)),
        45 => Step::Trap(if b.is_multiple_of(2) { "usage_limits" } else { "rate_limit_exceeded" }, 1),
        46 | 47 => Step::Fail(b),
        48 | 49 => Step::Lose,
        50 if b.is_multiple_of(4) => Step::Restart,
        50 if b.is_multiple_of(2) => Step::KillPull,
        53 if b.is_multiple_of(2) => Step::Kill(a),
        51 => Step::Wait(70_000),
        52 => Step::Wait(40 * MINUTE_MS),
        _ => Step::Wait(1),
    }
}

/// The history so far, and both sides of it.
struct History {
    world: World,
    calendar: FollowedCalendar,
    /// The events from the feed, by id.
    replica: BTreeMap<String, Value>,
    cursor: Option<String>,
    /// Events and instances that a request can be about: those of the last list.
    seen: Vec<Value>,
    /// How often each name of the other program's was given to a new event.
    generations: BTreeMap<(&'static str, u8), u32>,
    /// No two titles are the same.
    titles: u32,
    steps: Vec<Step>,
}

/// A request for a change, which can be sent again.
struct ChangeRequest {
    /// The event that changes; a new one without it.
    chosen: Option<Value>,
    is_deletion: bool,
    body: Value,
    if_match: Option<String>,
    key: String,
}

/// The events, and the cancelled instances of existing series: the visible parts of each by its id at Google.
type EventSet = BTreeMap<String, String>;

fn at(day: u8, hour: u8) -> String {
    format!("2026-03-{day:02}T{hour:02}:00:00Z")
}

fn seconds(text: &Value) -> i64 {
    let text = text.as_str().unwrap_or_else(|| panic!("no time: {text}"));
    text.parse::<jiff::Timestamp>().unwrap_or_else(|error| panic!("{text}: {error}")).as_second()
}

/// The set as Google has it.
fn set_there(state: &State) -> EventSet {
    let events = &state.calendars.get(ALICE).expect("the primary calendar").events;
    let is_live = |id: &str| events.get(id).is_some_and(|event| !event.is_cancelled());
    let mut set = EventSet::new();
    for (id, record) in events {
        let series = record.text("recurringEventId");
        if record.is_cancelled() {
            // Cancelled instances of a deleted or unknown series have no meaning.
            if series.is_some_and(is_live) {
                set.insert(id.clone(), "cancelled".to_owned());
            }
            continue;
        }
        let member = |name: &str| record.members.get(name).cloned().unwrap_or_default();
        let (start, end) = (seconds(&member("start")["dateTime"]), seconds(&member("end")["dateTime"]));
        let rules = member("recurrence").as_array().cloned().unwrap_or_default();
        let title = record.text("summary").unwrap_or_default();
        set.insert(id.clone(), format!("{title}: {start} to {end} {}", Value::Array(rules)));
    }
    set
}

/// The set as the API lists it.
fn set_here(listed: &[Value]) -> EventSet {
    let mut set = EventSet::new();
    for event in listed {
        let line = if event["status"] == "cancelled" {
            if event["seriesId"].is_null() {
                continue;
            }
            "cancelled".to_owned()
        } else {
            let (start, end) = (seconds(&event["start"]), seconds(&event["end"]));
            format!("{}: {start} to {end} {}", text(&event["title"]), event["recurrence"])
        };
        let known = set.insert(text(&event["externalId"]), line);
        assert!(known.is_none(), "listed twice: {event:#}");
    }
    set
}

/// Ends events as Google does: a series is deleted with its changed instances, each reported before it.
fn drop_there(state: &mut State, id: &str) {
    let is_of = |record: &EventRecord| record.text("recurringEventId") == Some(id) && !record.is_cancelled();
    let events = state.calendars.get(ALICE).into_iter().flat_map(|calendar| &calendar.events);
    let mut ids: Vec<String> = events.filter(|(_, record)| is_of(record)).map(|(id, _)| id.clone()).collect();
    ids.push(id.to_owned());
    for id in ids {
        state.change_event(ALICE, &id, json!({ "status": "cancelled" }));
    }
}

/// Asserts the result: a change succeeds, or its event is deleted or changed, or Google fails or blocks writes.
#[track_caller]
fn accept(step: Step, answer: &Exchange) {
    let fits = matches!(answer.status, 200 | 201 | 204 | 400 | 404 | 409 | 429 | 502..=504);
    assert!(fits, "{step:?}: {answer}");
}

impl History {
    /// None where Google's documents are not installed.
    async fn start() -> Option<History> {
        let world = World::on(builder().config(|c| c.pull_page = 3)).await?;
        let calendar = world.primary().await;
        let path = format!("/v1/calendars/{}/sync/start", calendar.id);
        world.api.post(path, json!({})).send().await.expect(202);
        Some(History {
            world,
            calendar,
            replica: BTreeMap::new(),
            cursor: None,
            seen: Vec::new(),
            generations: BTreeMap::new(),
            titles: 0,
            steps: Vec::new(),
        })
    }

    fn title(&mut self) -> String {
        self.titles += 1;
        format!("Title {}", self.titles)
    }

    /// The id of the newest event under a name of the other program's; Google gives no id twice.
    fn id(&self, kind: &'static str, slot: u8) -> String {
        format!("{kind}{slot}g{}", self.generations.get(&(kind, slot)).copied().unwrap_or_default())
    }

    fn there(&self, id: &str) -> Option<Value> {
        self.world.google.with(|state| state.event(ALICE, id))
    }

    /// Makes an event at Google, or gives the existing one these members.
    fn put(&mut self, kind: &'static str, slot: u8, made: Value, changed: Value) {
        let known = self.there(&self.id(kind, slot));
        let is_there = known.as_ref().is_some_and(|event| event["status"] != "cancelled");
        if known.is_some() && !is_there {
            *self.generations.entry((kind, slot)).or_default() += 1;
        }
        let id = self.id(kind, slot);
        self.world.google.with(|state| {
            if is_there {
                state.change_event(ALICE, &id, changed);
                return;
            }
            let mut made = made;
            made["id"] = json!(id);
            state.put_event(ALICE, made);
        });
    }

    /// Changes or cancels a day of a series. A series whose rule was changed since has other days.
    fn put_exception(&mut self, slot: u8, day: u8, is_cancelled: bool) {
        let series = self.id("series", slot);
        let is_as_made =
            |event: Value| event["status"] != "cancelled" && event["recurrence"] == json!([RULE]);
        if !self.there(&series).is_none_or(is_as_made) {
            return;
        }
        let title = self.title();
        let id = format!("{series}_202603{day:02}T090000Z");
        let status = if is_cancelled { "cancelled" } else { "confirmed" };
        let is_known = self.there(&id).is_some();
        self.world.google.with(|state| {
            if is_known {
                state.change_event(ALICE, &id, json!({ "summary": title, "status": status }));
                return;
            }
            let original = json!({ "dateTime": at(day, 9), "timeZone": "UTC" });
            let more = json!({ "recurringEventId": series, "originalStartTime": original, "status": status });
            state.put_event(ALICE, event(&id, &title, &at(day, 15), more));
        });
    }

    /// A change by the other program.
    fn change_there(&mut self, step: Step) {
        match step {
            Step::TheirEvent(slot, day) => {
                let made = event("", &self.title(), &at(day, 11), json!({}));
                let members = ["summary", "start", "end"].map(|name| (name.to_owned(), made[name].clone()));
                let changed = Value::Object(members.into_iter().collect());
                self.put("event", slot, made, changed);
            }
            Step::TheirSeries(slot) => {
                let title = self.title();
                let made = event("", &title, &at(2, 9), json!({ "recurrence": [RULE] }));
                self.put("series", slot, made, json!({ "summary": title }));
            }
            Step::TheirException(slot, day, is_cancelled) => self.put_exception(slot, day, is_cancelled),
            Step::TheirDrop(kind, slot) => {
                let id = self.id(kind, slot);
                if self.there(&id).is_some_and(|event| event["status"] != "cancelled") {
                    self.world.google.with(|state| drop_there(state, &id));
                }
            }
            Step::TheirReturn(slot) => {
                let id = self.id("event", slot);
                let change = json!({ "status": "confirmed" });
                self.world.google.with(|state| state.change_event(ALICE, &id, change));
            }
            _ => {}
        }
    }

    /// One of the events and instances that the client has seen.
    fn chosen(&self, number: u8) -> Option<Value> {
        self.seen.get(usize::from(number) % self.seen.len().max(1)).cloned()
    }

    /// A request for a change through Switchboard; none where there is nothing to change.
    fn request(&mut self, step: Step) -> Option<ChangeRequest> {
        let title = self.title();
        let (mut body, mut if_match) = (json!({ "title": title }), None);
        let (is_deletion, number) = match step {
            Step::Make(recurs) => {
                body["start"] = json!(at(9, 9));
                body["end"] = json!(at(9, 10));
                body["timeZone"] = json!("UTC");
                if recurs {
                    body["recurrence"] = json!(["RRULE:FREQ=DAILY;COUNT=4"]);
                }
                (false, None)
            }
            Step::Change(number) | Step::ChangeIf(number) => (false, Some(number)),
            Step::Move(number, day) => {
                body["start"] = json!(at(day, 13));
                body["end"] = json!(at(day, 14));
                (false, Some(number))
            }
            Step::Split(number) => {
                body["recurrenceScope"] = json!("thisAndFollowing");
                (false, Some(number))
            }
            Step::Drop(number) => (true, Some(number)),
            _ => return None,
        };
        let chosen = number.and_then(|number| self.chosen(number));
        // A series stays where it is, because its changed instances keep their original starts.
        let is_still =
            matches!(step, Step::Move(..)) && chosen.as_ref().is_some_and(|one| one["type"] == "series");
        if is_still || (number.is_some() && chosen.is_none()) {
            return None;
        }
        if matches!(step, Step::ChangeIf(_)) {
            if_match = chosen.as_ref().map(|one| text(&one["etag"]));
        }
        Some(ChangeRequest { chosen, is_deletion, body, if_match, key: title })
    }

    fn ask(&self, request: &ChangeRequest) -> Ask {
        let api = &self.world.api;
        let ask = match &request.chosen {
            None => api.post(&self.calendar.events, request.body.clone()),
            Some(one) if request.is_deletion => api.delete(self.calendar.path(one)),
            Some(one) => api.patch(self.calendar.path(one), request.body.clone()),
        };
        let ask = match &request.if_match {
            Some(etag) => ask.if_match(etag),
            None => ask,
        };
        ask.keyed(&request.key)
    }

    /// Makes a change through Switchboard. If its outcome is unknown, the client repeats it once under the same key.
    async fn change_here(&mut self, step: Step) {
        let Some(request) = self.request(step) else { return };
        for _ in 0..2 {
            let answer = self.ask(&request).send().await;
            accept(step, &answer);
            if answer.status < 500 {
                break;
            }
        }
    }

    /// Makes a change with the hosts killed during the first request.
    async fn change_during_kill(mut self, step: Step, method: &str) -> History {
        let Some(request) = self.request(step) else { return self };
        let ask = self.ask(&request);
        let (world, answer) = killed_during(self.world, ask, method).await;
        self.world = world;
        if let Some(answer) = &answer {
            accept(step, answer);
        }
        let again = self.ask(&request).send().await;
        accept(step, &again);
        self
    }

    /// Reads the feed to its end, as far as it can be read now.
    async fn read(&mut self) {
        loop {
            let cursor = self.cursor.as_ref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            let path = format!("/v1/calendars/{}/sync/changes?limit=7{cursor}", self.calendar.id);
            self.world.server.clock.advance_ms(1);
            let page = self.world.api.get(path).header("cache-control", "no-cache").send().await;
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
            for change in page["data"].as_array().expect("a list") {
                let id = text(&change["resourceId"]);
                match change["changeType"] == "deleted" {
                    true => self.replica.remove(&id),
                    false => self.replica.insert(id, change["resource"].clone()),
                };
            }
            self.cursor = page["sync_cursor"].as_str().map(str::to_owned);
            if page["next_cursor"].is_null() {
                break;
            }
        }
        let path = format!("{}?{MARCH}", self.calendar.events);
        let listed = self.world.api.get(path).send().await;
        if listed.status == 200 {
            let instances = listed.answer["data"].as_array().expect("a list").iter();
            let series = self.replica.values().filter(|event| event["type"] == "series");
            self.seen = series.chain(instances).cloned().collect();
        }
    }

    async fn take(mut self, step: Step) -> History {
        self.steps.push(step);
        match step {
            Step::Make(_)
            | Step::Change(_)
            | Step::ChangeIf(_)
            | Step::Move(..)
            | Step::Split(_)
            | Step::Drop(_) => self.change_here(step).await,
            Step::Read => self.read().await,
            Step::Poll => {
                self.world.server.pull().await;
            }
            Step::Trap(name, times) => self.world.google.trap(name, times),
            Step::Fail(number) => self.world.google.fault(failure(API, number)),
            Step::Lose => lose_changes(&self.world.google, "/calendar/v3/calendars/"),
            Step::Restart => self.world = restarted(self.world).await,
            Step::KillPull => self.world = killed_during_pull(self.world).await,
            Step::Kill(number) => {
                let is_new = number.is_multiple_of(2);
                let change = if is_new { Step::Make(number.is_multiple_of(3)) } else { Step::Change(number) };
                let method = if is_new { "POST" } else { "PATCH" };
                self = self.change_during_kill(change, method).await;
            }
            Step::Wait(ms) => self.world.server.clock.advance_ms(ms),
            _ => self.change_there(step),
        }
        self
    }

    /// Without faults and traps both sides become equal; so do the list and the feed.
    async fn settle(&mut self) {
        calm(&self.world.google);
        let path = format!("{}?show_cancelled=true&limit=100", self.calendar.events);
        let mut listed = Vec::new();
        for round in 0..6 {
            self.world.server.clock.advance_ms(PATIENCE_MS);
            self.read().await;
            listed = self.world.api.all(&path).await;
            let is_told = listed.len() == self.replica.len()
                && listed.iter().all(|event| self.replica.get(&text(&event["id"])) == Some(event));
            if round > 0 && is_told {
                break;
            }
        }
        let by_id: BTreeMap<String, Value> =
            listed.iter().map(|event| (text(&event["id"]), event.clone())).collect();
        let ids: BTreeSet<&String> = by_id.keys().chain(self.replica.keys()).collect();
        for id in ids {
            assert_eq!(self.replica.get(id), by_id.get(id), "the feed and the list: {}", self.told());
        }
        let there = self.world.google.with(|state| set_there(state));
        let here = set_here(&listed);
        let ids: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
        for id in ids {
            assert_eq!(here.get(id), there.get(id), "{id}, here and at Google: {}", self.told());
        }
        let (mut here, mut there) = (self.march().await, self.world.their_march(ALICE).await);
        here.sort();
        there.sort();
        assert_eq!(here, there, "expanded here and at Google: {}", self.told());
        self.assert_made_once();
        let status = self.world.api.get(format!("/v1/calendars/{}/sync/status", self.calendar.id));
        let status = status.send().await.expect(200);
        assert_eq!((&status["status"], &status["itemErrors"]), (&json!("caught_up"), &json!([])));
    }

    /// The instances of March, without those whose series Google does not have.
    async fn march(&self) -> Vec<String> {
        let all = self.world.api.all(&format!("{}?{MARCH}", self.calendar.events)).await;
        let is_lone = |event: &&Value| event["type"] == "exception" && event["seriesId"].is_null();
        all.iter().filter(|event| !is_lone(event)).map(shown).collect()
    }

    /// Asserts that no request has made two events, which would have the same title.
    fn assert_made_once(&self) {
        let mut titles = BTreeSet::new();
        self.world.google.with(|state| {
            let calendar = state.calendars.get(ALICE).expect("the primary calendar");
            let own =
                |record: &&EventRecord| !record.is_cancelled() && record.text("recurringEventId").is_none();
            for record in calendar.events.values().filter(own) {
                let title = record.text("summary").unwrap_or_default().to_owned();
                assert!(titles.insert(title), "made twice: {:#?} {}", record.members, self.told());
            }
        });
    }

    /// Returns the last steps, for debugging.
    fn told(&self) -> String {
        let from = self.steps.len().saturating_sub(2 * usize::try_from(ROUND).unwrap_or_default());
        format!(
            "step {}, the last ones were {:?}",
            self.steps.len(),
            self.steps.get(from..).unwrap_or_default()
        )
    }
}

#[tokio::test]
async fn both_sides_become_the_same() {
    let Some(mut history) = History::start().await else { return };
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
