//! Events of Alice's default calendar, which both programs change.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::Entropy;
use fakes::graph::{GraphState, occurrence_id};
use harness::{Ask, Exchange};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::microsoft::calendar::{daily, event};
use crate::microsoft::convergence::{
    COMMON_TRAPS, MINUTE_MS, PATIENCE_MS, ROUND, STEPS, calm, failure, killed_during, killed_during_pull,
    lose_changes, number, restarted,
};
use crate::microsoft::{ALICE, FollowedCalendar, MARCH, World, builder};

/// The beginning of the paths of calendars.
const API: &str = "/v1.0/me/calendars";
/// Single events, and series, of the other program's.
const SLOTS: u8 = 4;
/// The days of March 2026 on which each series of the other program takes place, an hour from nine on.
const DAYS: [u8; 6] = [2, 3, 4, 5, 6, 7];
/// Instances of such a series.
const COUNT: u8 = 6;
/// A calendar of Alice's that nobody follows here.
const OTHER: &str = "Other";

/// One step of a history. Numbers choose a slot, a day, or something that the client has seen.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The other program, in Outlook, makes or changes an event.
    TheirEvent(u8, u8),
    TheirSeries(u8),
    /// A day of a series gets another title and hour, or is cancelled.
    TheirException(u8, u8, bool),
    TheirDrop(&'static str, u8),
    /// A single event moves to the other calendar, or back.
    TheirMove(u8),
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
    /// The next change happens at Graph, and its answer is lost.
    Lose,
    Restart,
    /// The client makes an event or changes one, and the hosts are killed as soon as Graph has the change.
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
        16 => Step::TheirMove(slot),
        17..=19 => Step::Make(b.is_multiple_of(3)),
        20..=23 => Step::Change(a),
        24 => Step::ChangeIf(a),
        25 | 26 => Step::Move(a, day),
        27 => Step::Split(a),
        28..=30 => Step::Drop(a),
        31..=37 => Step::Read,
        38 | 39 => Step::Poll,
        40 => Step::Trap("calendar_delta_expired", 1),
        41 => Step::Trap("event_etag_moves", 1),
        42 => Step::Trap("irresolvable_conflict", 1),
        43 => Step::Trap("events_delta_refused", u32::from(b % 2)),
        44 | 45 => Step::Trap(COMMON_TRAPS[usize::from(b) % COMMON_TRAPS.len()], 1),
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
    /// The ids at Graph of the other program's events, by their slots.
    theirs: BTreeMap<(&'static str, u8), String>,
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

/// The events and the changed instances: the visible parts of each by its id at Graph.
type EventSet = BTreeMap<String, String>;

fn at(day: u8, hour: u8) -> String {
    format!("2026-03-{day:02}T{hour:02}:00:00Z")
}

fn seconds(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().unwrap_or_else(|error| panic!("{text}: {error}")).as_second()
}

/// Returns the visible parts of an event: its title, start and end.
fn line(title: &str, start: &str, end: &str) -> String {
    format!("{title}: {} to {}", seconds(start), seconds(end))
}

/// The set as Graph has it.
fn set_there(state: &mut GraphState) -> EventSet {
    let home = state.calendar_id(ALICE, "");
    let mut set = EventSet::new();
    for id in state.event_ids(ALICE) {
        let Some(stored) = state.stored_event(ALICE, &id).filter(|one| one["calendar"] == home.as_str())
        else {
            continue;
        };
        let days: Vec<String> = stored["exceptions"].as_array().into_iter().flatten().map(text).collect();
        for day in &days {
            let part = occurrence_id(&id, day);
            if let Some(changed) = state.stored_event(ALICE, &part) {
                set.insert(part, line_there(&changed));
            }
        }
        set.insert(id, line_there(&stored));
    }
    set
}

fn line_there(stored: &Value) -> String {
    let utc = |name: &str| format!("{}Z", text(&stored[name]));
    line(&text(&stored["subject"]), &utc("start"), &utc("end"))
}

/// The set as the API lists it.
fn set_here(listed: &[Value]) -> EventSet {
    let mut set = EventSet::new();
    for event in listed.iter().filter(|event| event["status"] != "cancelled") {
        let line = line(&text(&event["title"]), &text(&event["start"]), &text(&event["end"]));
        let known = set.insert(text(&event["externalId"]), line);
        assert!(known.is_none(), "listed twice: {event:#}");
    }
    set
}

/// Asserts the result: a change succeeds, or its event is deleted or changed, or Graph fails or blocks writes.
#[track_caller]
fn accept(step: Step, answer: &Exchange) {
    let fits = matches!(answer.status, 200 | 201 | 204 | 400 | 404 | 409 | 429 | 502..=504);
    assert!(fits, "{step:?}: {answer}");
}

impl History {
    /// None where the extract of Microsoft's SDK is not installed.
    async fn start() -> Option<History> {
        let world = World::on(builder().config(|c| c.pull_page = 3)).await?;
        world.graph.with(|state| state.add_calendar(ALICE, OTHER));
        let calendar = world.primary().await;
        let path = format!("/v1/calendars/{}/sync/start", calendar.id);
        world.api.post(path, json!({})).send().await.expect(202);
        Some(History {
            world,
            calendar,
            replica: BTreeMap::new(),
            cursor: None,
            seen: Vec::new(),
            theirs: BTreeMap::new(),
            titles: 0,
            steps: Vec::new(),
        })
    }

    fn title(&mut self) -> String {
        self.titles += 1;
        format!("Title {}", self.titles)
    }

    /// An event at Graph, with its id.
    fn there(&self, kind: &'static str, slot: u8) -> Option<(String, Value)> {
        let id = self.theirs.get(&(kind, slot))?;
        let stored = self.world.graph.with(|state| state.stored_event(ALICE, id))?;
        Some((id.clone(), stored))
    }

    /// Makes an event in Outlook, or gives the existing one these members.
    fn put(&mut self, kind: &'static str, slot: u8, made: Value, members: &[&str]) {
        let known = self.there(kind, slot);
        let id = self.world.graph.with(|state| match known {
            Some((id, _)) => {
                let changed = members.iter().map(|name| ((*name).to_owned(), made[*name].clone()));
                state.edit_event(ALICE, &id, Value::Object(changed.collect()));
                id
            }
            None => state.put_event(ALICE, "", made),
        });
        self.theirs.insert((kind, slot), id);
    }

    /// Changes or cancels a day of a series. A series whose rule was changed since has other days.
    fn put_exception(&mut self, slot: u8, day: u8, is_cancelled: bool) {
        let Some((id, series)) = self.there("series", slot) else { return };
        if series["recurrence"]["range"]["numberOfOccurrences"] != COUNT {
            return;
        }
        let title = self.title();
        let instance = occurrence_id(&id, &format!("2026-03-{day:02}"));
        self.world.graph.with(|state| {
            if state.stored_event(ALICE, &instance).is_none() {
                return;
            }
            if is_cancelled {
                state.delete_event(ALICE, &instance);
                return;
            }
            let changed = event(&title, day, 15, json!({}));
            let changed = json!({ "subject": title, "start": changed["start"], "end": changed["end"] });
            state.edit_event(ALICE, &instance, changed);
        });
    }

    /// A change by the other program.
    fn change_there(&mut self, step: Step) {
        match step {
            Step::TheirEvent(slot, day) => {
                let made = event(&self.title(), day, 11, json!({}));
                self.put("event", slot, made, &["subject", "start", "end"]);
            }
            Step::TheirSeries(slot) => {
                let made = daily(&self.title(), 2, 9, COUNT);
                self.put("series", slot, made, &["subject"]);
            }
            Step::TheirException(slot, day, is_cancelled) => self.put_exception(slot, day, is_cancelled),
            Step::TheirDrop(kind, slot) => {
                if let Some((id, _)) = self.there(kind, slot) {
                    self.world.graph.with(|state| state.delete_event(ALICE, &id));
                }
            }
            Step::TheirMove(slot) => {
                let Some((id, stored)) = self.there("event", slot) else { return };
                self.world.graph.with(|state| {
                    let is_at_home = stored["calendar"] == state.calendar_id(ALICE, "").as_str();
                    state.move_event(ALICE, &id, if is_at_home { OTHER } else { "" });
                });
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
        let mut body = json!({ "title": title });
        let number = match step {
            Step::Make(_) => None,
            Step::Change(number)
            | Step::ChangeIf(number)
            | Step::Move(number, _)
            | Step::Split(number)
            | Step::Drop(number) => Some(number),
            _ => return None,
        };
        let chosen = number.and_then(|number| self.chosen(number));
        if number.is_some() && chosen.is_none() {
            return None;
        }
        let mut if_match = None;
        match (step, &chosen) {
            (Step::Make(recurs), _) => {
                body["start"] = json!(at(9, 9));
                body["end"] = json!(at(9, 10));
                body["timeZone"] = json!("UTC");
                if recurs {
                    body["recurrence"] = json!(["RRULE:FREQ=DAILY;COUNT=4"]);
                }
            }
            // A moved series loses its changed instances.
            (Step::Move(..), Some(one)) if one["type"] == "series" => return None,
            (Step::Move(_, day), Some(one)) => {
                // Outlook moves no instance over its neighbours.
                let start = text(&one["start"]);
                let own = start.get(8..10).and_then(|day| day.parse().ok()).unwrap_or(day);
                let day = if one["seriesId"].is_null() { day } else { own };
                body["start"] = json!(at(day, 13));
                body["end"] = json!(at(day, 14));
            }
            (Step::Split(_), _) => body["recurrenceScope"] = json!("thisAndFollowing"),
            (Step::ChangeIf(_), Some(one)) => if_match = Some(text(&one["etag"])),
            _ => {}
        }
        Some(ChangeRequest { chosen, is_deletion: matches!(step, Step::Drop(_)), body, if_match, key: title })
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
            self.world.advance(1);
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
            Step::Trap(name, times) => self.world.graph.trap(name, times),
            Step::Fail(number) => self.world.graph.fault(failure(API, number)),
            Step::Lose => lose_changes(&self.world.graph, API),
            Step::Restart => self.world = restarted(self.world).await,
            Step::KillPull => self.world = killed_during_pull(self.world).await,
            Step::Kill(number) => {
                let is_new = number.is_multiple_of(2);
                let change = if is_new { Step::Make(number.is_multiple_of(3)) } else { Step::Change(number) };
                let method = if is_new { "POST" } else { "PATCH" };
                self = self.change_during_kill(change, method).await;
            }
            Step::Wait(ms) => self.world.advance(ms),
            _ => self.change_there(step),
        }
        self
    }

    /// Without faults and traps both sides become equal; so do the list and the feed.
    async fn settle(&mut self) {
        calm(&self.world.graph);
        let path = format!("{}?show_cancelled=true&limit=100", self.calendar.events);
        let mut listed = Vec::new();
        for round in 0..6 {
            self.world.advance(PATIENCE_MS);
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
        let there = self.world.graph.with(set_there);
        let here = set_here(&listed);
        let ids: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
        for id in ids {
            assert_eq!(here.get(id), there.get(id), "{id}, here and at Graph: {}", self.told());
        }
        let (mut here, mut there) = (self.world.march(&self.calendar).await, their_march(&self.world).await);
        here.sort();
        there.sort();
        assert_eq!(here, there, "expanded here and at Graph: {}", self.told());
        self.assert_made_once();
        let status = self.world.api.get(format!("/v1/calendars/{}/sync/status", self.calendar.id));
        let status = status.send().await.expect(200);
        assert_eq!((&status["status"], &status["itemErrors"]), (&json!("caught_up"), &json!([])));
    }

    /// Asserts that no request has made two events, which would have the same title.
    fn assert_made_once(&self) {
        let mut titles = BTreeSet::new();
        self.world.graph.with(|state| {
            for id in state.event_ids(ALICE) {
                let stored = state.stored_event(ALICE, &id).unwrap_or_default();
                let is_new = titles.insert(text(&stored["subject"]));
                assert!(is_new, "made twice: {stored:#} {}", self.told());
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

/// Returns the instances of March as another program gets them from Graph, which expands series there.
async fn their_march(world: &World) -> Vec<String> {
    let token = world.graph.with(|state| {
        let now = state.clock.now_ms();
        state.authority.issue(ALICE, &["Calendars.Read"], now)
    });
    let query =
        "startDateTime=2026-03-01T00:00:00Z&endDateTime=2026-04-01T00:00:00Z&$select=subject,start&$top=500";
    let url = format!("{}/v1.0/me/calendar/calendarView?{query}", world.graph.url());
    let client = harness::http_client().build().expect("an HTTP client");
    let answer = client.get(url).bearer_auth(token).send().await.expect("the fake answers");
    let page: Value = serde_json::from_str(&answer.text().await.expect("a text")).expect("JSON");
    assert!(page["value"].is_array() && page["@odata.nextLink"].is_null(), "{page:#}");
    let instances = page["value"].as_array().expect("a list").iter();
    let shown = instances.map(|event| {
        let start: String = text(&event["start"]["dateTime"]).chars().skip(8).take(8).collect();
        format!("{start} {}", text(&event["subject"]))
    });
    shown.collect()
}

#[tokio::test]
async fn both_sides_become_the_same() {
    let Some(mut history) = History::start().await else { return };
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
