//! Events of Alice's default calendar, which both programs change.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::Entropy;
use fakes::Fake;
use harness::{Ask, Exchange};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::convergence::{
    FaultyProvider, History, MINUTE_MS, PATIENCE_MS, Replica, Titles, failure, killed_during,
    killed_during_pull, last_steps, lose_changes, restarted,
};
use crate::fake_provider::{FollowedCalendar, MARCH, World, builder, shown};

/// Single events, and series, that the other program has.
const SLOTS: u8 = 4;
/// The days of March 2026 on which each series of the other program takes place, an hour from nine on.
const DAYS: [u8; 6] = [2, 3, 4, 5, 6, 7];

/// One step of a history. Numbers choose a slot, a day, or something that the client has seen.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The other program, at the provider, makes or changes the event of this slot.
    TheirEvent(u8, u8),
    TheirSeries(u8),
    /// A day of a series gets another title and hour, or is cancelled.
    TheirException(u8, u8, bool),
    TheirDrop(&'static str, u8),
    /// A change of a single event that this provider alone has.
    TheirSpecial(u8),
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
    /// The next change happens at the provider, and its answer is lost.
    Lose,
    Restart,
    /// The client makes an event or changes one, and the hosts are killed as soon as the provider has the change.
    Kill(u8),
    /// The hosts are killed while one of them pulls.
    KillPull,
    Wait(i64),
}

/// The events, and the changed instances of existing series: the visible parts of each by its id at the provider.
pub type EventSet = BTreeMap<String, String>;

/// A fake with a calendar that another program changes.
pub trait CalendarProvider: FaultyProvider {
    /// The events that the other program has made, by their slots.
    type Made: Default;
    /// A part of the paths of calls of the calendar, and of changes of its events.
    const CALLS: &'static str;
    const CHANGES: &'static str;
    /// Whether the provider has changed instances of series that it does not have, and does not expand them.
    const HAS_LONE_INSTANCES: bool;

    /// Adds what the other program needs.
    fn prepare(_state: &mut Self::State) {}
    /// Returns one of six traps with its number of times; `b` chooses further.
    fn trap_by(number: u8, b: u8) -> (&'static str, u32);
    /// Makes a change by the other program.
    fn change_there(fake: &Fake<Self>, made: &mut Self::Made, titles: &mut Titles, step: Step);
    /// Returns the day to which a request moves an event or an instance that should move to `day`.
    fn day_for(_event: &Value, day: u8) -> u8 {
        day
    }
    fn set_there(state: &mut Self::State) -> EventSet;
    /// Returns the visible parts of a listed event; none for one that is not in the set.
    fn line_here(event: &Value) -> Option<String>;
    /// Returns the titles of the events at the provider, without those of instances.
    fn titles_there(state: &mut Self::State) -> Vec<String>;
    /// Returns the instances of March as another program gets them from the provider, which expands series there.
    async fn march_there(world: &World<Self>) -> Vec<String>;
}

fn step<P: CalendarProvider>(random: &Entropy) -> Step {
    let [what, a, b] = random.bytes::<3>();
    let (slot, day) = (a % SLOTS, DAYS.get(usize::from(b) % DAYS.len()).copied().unwrap_or(2));
    let kind = if b.is_multiple_of(2) { "event" } else { "series" };
    match what % 56 {
        0..=4 => Step::TheirEvent(slot, day),
        5..=7 => Step::TheirSeries(slot),
        8..=12 => Step::TheirException(slot, day, a >= 192),
        13..=15 => Step::TheirDrop(kind, slot),
        16 => Step::TheirSpecial(slot),
        17..=19 => Step::Make(b.is_multiple_of(3)),
        20..=23 => Step::Change(a),
        24 => Step::ChangeIf(a),
        25 | 26 => Step::Move(a, day),
        27 => Step::Split(a),
        28..=30 => Step::Drop(a),
        31..=37 => Step::Read,
        38 | 39 => Step::Poll,
        number @ 40..=45 => {
            let (name, times) = P::trap_by(number - 40, b);
            Step::Trap(name, times)
        }
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
pub struct CalendarHistory<P: CalendarProvider> {
    world: World<P>,
    calendar: FollowedCalendar,
    replica: Replica,
    /// Events and instances that a request can be about: those of the last list.
    seen: Vec<Value>,
    made: P::Made,
    titles: Titles,
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

/// Formats an hour of a day of March 2026.
pub fn at(day: u8, hour: u8) -> String {
    format!("2026-03-{day:02}T{hour:02}:00:00Z")
}

/// Parses an instant to Unix seconds.
pub fn seconds(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().unwrap_or_else(|error| panic!("{text}: {error}")).as_second()
}

/// The set as the API lists it.
fn set_here<P: CalendarProvider>(listed: &[Value]) -> EventSet {
    let mut set = EventSet::new();
    for event in listed {
        let Some(line) = P::line_here(event) else { continue };
        let known = set.insert(text(&event["externalId"]), line);
        assert!(known.is_none(), "listed twice: {event:#}");
    }
    set
}

/// Asserts the result: a change succeeds, or its event is deleted or changed, or the provider fails or blocks writes.
#[track_caller]
fn accept(step: Step, answer: &Exchange) {
    let fits = matches!(answer.status, 200 | 201 | 204 | 400 | 404 | 409 | 429 | 502..=504);
    assert!(fits, "{step:?}: {answer}");
}

impl<P: CalendarProvider> CalendarHistory<P> {
    /// One of the events and instances that the client has seen.
    fn chosen(&self, number: u8) -> Option<Value> {
        self.seen.get(usize::from(number) % self.seen.len().max(1)).cloned()
    }

    /// A request for a change through Switchboard; none where there is nothing to change.
    fn request(&mut self, step: Step) -> Option<ChangeRequest> {
        let title = self.titles.make();
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
            // A series stays where it is: its changed instances would keep their original starts, or be lost.
            (Step::Move(..), Some(one)) if one["type"] == "series" => return None,
            (Step::Move(_, day), Some(one)) => {
                let day = P::day_for(one, day);
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
    async fn change_during_kill(mut self, step: Step, method: &str) -> CalendarHistory<P> {
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

    /// Reads the feed to its end, as far as it can be read now, and the list.
    async fn read(&mut self) {
        if !self.replica.read(&self.world).await {
            return;
        }
        let path = format!("{}?{MARCH}", self.calendar.events);
        let listed = self.world.api.get(path).send().await;
        if listed.status == 200 {
            let instances = listed.answer["data"].as_array().expect("a list").iter();
            let series = self.replica.by_id.values().filter(|event| event["type"] == "series");
            self.seen = series.chain(instances).cloned().collect();
        }
    }

    /// The instances of March, without those whose series the provider does not have.
    async fn march(&self) -> Vec<String> {
        let all = self.world.api.all(&format!("{}?{MARCH}", self.calendar.events)).await;
        let is_lone = |event: &&Value| {
            P::HAS_LONE_INSTANCES && event["type"] == "exception" && event["seriesId"].is_null()
        };
        all.iter().filter(|event| !is_lone(event)).map(shown).collect()
    }

    /// Asserts that no request has made two events, which would have the same title.
    fn assert_made_once(&self) {
        let mut titles = BTreeSet::new();
        for title in self.world.fake.with(P::titles_there) {
            let is_new = titles.insert(title.clone());
            assert!(is_new, "made twice: {title} {}", last_steps(&self.steps));
        }
    }
}

impl<P: CalendarProvider> History for CalendarHistory<P> {
    type Provider = P;
    type Step = Step;

    async fn start() -> Option<CalendarHistory<P>> {
        let world = World::<P>::on(builder().config(|c| c.pull_page = 3)).await?;
        world.fake.with(P::prepare);
        let calendar = world.primary().await;
        let path = format!("/v1/calendars/{}/sync", calendar.id);
        world.api.post(format!("{path}/start"), json!({})).send().await.expect(202);
        Some(CalendarHistory {
            world,
            calendar,
            replica: Replica::new(format!("{path}/changes?limit=7"), None),
            seen: Vec::new(),
            made: P::Made::default(),
            titles: Titles::default(),
            steps: Vec::new(),
        })
    }

    fn draw(random: &Entropy) -> Step {
        step::<P>(random)
    }

    async fn take(mut self, step: Step) -> CalendarHistory<P> {
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
            Step::Trap(name, times) => self.world.fake.trap(name, times),
            Step::Fail(number) => self.world.fake.fault(failure::<P>(P::CALLS, number)),
            Step::Lose => lose_changes(&self.world.fake, P::CHANGES),
            Step::Restart => self.world = restarted(self.world).await,
            Step::KillPull => self.world = killed_during_pull(self.world).await,
            Step::Kill(number) => {
                let is_new = number.is_multiple_of(2);
                let change = if is_new { Step::Make(number.is_multiple_of(3)) } else { Step::Change(number) };
                let method = if is_new { "POST" } else { "PATCH" };
                self = self.change_during_kill(change, method).await;
            }
            Step::Wait(ms) => self.world.advance(ms),
            _ => P::change_there(&self.world.fake, &mut self.made, &mut self.titles, step),
        }
        self
    }

    async fn settle(&mut self) {
        self.world.fake.calm();
        let path = format!("{}?show_cancelled=true&limit=100", self.calendar.events);
        let mut listed = Vec::new();
        for round in 0..6 {
            self.world.advance(PATIENCE_MS);
            self.read().await;
            listed = self.world.api.all(&path).await;
            let is_reported = listed.len() == self.replica.by_id.len()
                && listed.iter().all(|event| self.replica.by_id.get(&text(&event["id"])) == Some(event));
            if round > 0 && is_reported {
                break;
            }
        }
        let steps = last_steps(&self.steps);
        let by_id: BTreeMap<String, Value> =
            listed.iter().map(|event| (text(&event["id"]), event.clone())).collect();
        let ids: BTreeSet<&String> = by_id.keys().chain(self.replica.by_id.keys()).collect();
        for id in ids {
            assert_eq!(self.replica.by_id.get(id), by_id.get(id), "the feed and the list: {steps}");
        }
        let there = self.world.fake.with(P::set_there);
        let here = set_here::<P>(&listed);
        let ids: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
        for id in ids {
            assert_eq!(here.get(id), there.get(id), "{id}, here and at the provider: {steps}");
        }
        let (mut here, mut there) = (self.march().await, P::march_there(&self.world).await);
        here.sort();
        there.sort();
        assert_eq!(here, there, "expanded here and at the provider: {steps}");
        self.assert_made_once();
        let status = self.world.api.get(format!("/v1/calendars/{}/sync/status", self.calendar.id));
        let status = status.send().await.expect(200);
        assert_eq!((&status["status"], &status["itemErrors"]), (&json!("caught_up"), &json!([])));
    }

    fn world(&self) -> &World<P> {
        &self.world
    }
}
