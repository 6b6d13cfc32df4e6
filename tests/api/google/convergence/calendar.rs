//! Events of Alice's primary calendar at Google, for histories.

use std::collections::BTreeMap;

use fakes::Google;
use fakes::google::{EventRecord, GoogleService, State};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::convergence::calendar::{
    CalendarHistory, CalendarProvider, EventSet, Step, at, seconds,
};
use crate::fake_provider::convergence::{Titles, run};
use crate::google::{ALICE, World, event};

const RULE: &str = "RRULE:FREQ=DAILY;COUNT=6";

/// The number of new events that each name of the other program's was given to before.
#[derive(Default)]
pub struct Generations(BTreeMap<(&'static str, u8), u32>);

impl Generations {
    /// The id of the newest event under a name of the other program's; Google gives no id twice.
    fn id(&self, kind: &'static str, slot: u8) -> String {
        format!("{kind}{slot}g{}", self.0.get(&(kind, slot)).copied().unwrap_or_default())
    }
}

fn there(google: &Google, id: &str) -> Option<Value> {
    google.with(|state| state.event(ALICE, id))
}

/// Makes an event at Google, or gives the existing one these members.
fn put(
    google: &Google,
    generations: &mut Generations,
    kind: &'static str,
    slot: u8,
    made: Value,
    changed: Value,
) {
    let known = there(google, &generations.id(kind, slot));
    let is_there = known.as_ref().is_some_and(|event| event["status"] != "cancelled");
    if known.is_some() && !is_there {
        *generations.0.entry((kind, slot)).or_default() += 1;
    }
    let id = generations.id(kind, slot);
    google.with(|state| {
        if is_there {
            state.change_event(ALICE, &id, changed);
            return;
        }
        let mut made = made;
        made["id"] = json!(id);
        state.put_event(ALICE, made);
    });
}

/// Changes or cancels a day of a series, which may come later. A series whose rule was changed since has other days.
fn put_exception(google: &Google, series: &str, titles: &mut Titles, day: u8, is_cancelled: bool) {
    let is_as_made = |event: Value| event["status"] != "cancelled" && event["recurrence"] == json!([RULE]);
    if !there(google, series).is_none_or(is_as_made) {
        return;
    }
    let title = titles.make();
    let id = format!("{series}_202603{day:02}T090000Z");
    let status = if is_cancelled { "cancelled" } else { "confirmed" };
    let is_known = there(google, &id).is_some();
    google.with(|state| {
        if is_known {
            state.change_event(ALICE, &id, json!({ "summary": title, "status": status }));
            return;
        }
        let original = json!({ "dateTime": at(day, 9), "timeZone": "UTC" });
        let more = json!({ "recurringEventId": series, "originalStartTime": original, "status": status });
        state.put_event(ALICE, event(&id, &title, &at(day, 15), more));
    });
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

impl CalendarProvider for GoogleService {
    type Made = Generations;
    const CALLS: &'static str = "/calendar/v3/";
    const CHANGES: &'static str = "/calendar/v3/calendars/";
    const HAS_LONE_INSTANCES: bool = true;

    fn trap_by(number: u8, b: u8) -> (&'static str, u32) {
        match number {
            0 => ("full_sync_required", 1),
            1 => ("updated_min_too_long_ago", 1),
            2 => ("empty_page", 1),
            3 => ("etag_moves", 1),
            4 => ("bare_cancelled", u32::from(b % 2)),
            _ => (if b.is_multiple_of(2) { "usage_limits" } else { "rate_limit_exceeded" }, 1),
        }
    }

    fn change_there(google: &Google, made: &mut Generations, titles: &mut Titles, step: Step) {
        match step {
            Step::TheirEvent(slot, day) => {
                let new = event("", &titles.make(), &at(day, 11), json!({}));
                let members = ["summary", "start", "end"].map(|name| (name.to_owned(), new[name].clone()));
                let changed = Value::Object(members.into_iter().collect());
                put(google, made, "event", slot, new, changed);
            }
            Step::TheirSeries(slot) => {
                let title = titles.make();
                let new = event("", &title, &at(2, 9), json!({ "recurrence": [RULE] }));
                put(google, made, "series", slot, new, json!({ "summary": title }));
            }
            Step::TheirException(slot, day, is_cancelled) => {
                put_exception(google, &made.id("series", slot), titles, day, is_cancelled);
            }
            Step::TheirDrop(kind, slot) => {
                let id = made.id(kind, slot);
                if there(google, &id).is_some_and(|event| event["status"] != "cancelled") {
                    google.with(|state| drop_there(state, &id));
                }
            }
            // An event that was deleted comes back.
            Step::TheirSpecial(slot) => {
                let id = made.id("event", slot);
                google.with(|state| state.change_event(ALICE, &id, json!({ "status": "confirmed" })));
            }
            _ => {}
        }
    }

    fn set_there(state: &mut State) -> EventSet {
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
            let time = |name: &str| seconds(&text(&member(name)["dateTime"]));
            let rules = member("recurrence").as_array().cloned().unwrap_or_default();
            let title = record.text("summary").unwrap_or_default();
            set.insert(
                id.clone(),
                format!("{title}: {} to {} {}", time("start"), time("end"), Value::Array(rules)),
            );
        }
        set
    }

    fn line_here(event: &Value) -> Option<String> {
        if event["status"] == "cancelled" {
            return event["seriesId"].is_string().then(|| "cancelled".to_owned());
        }
        let (start, end) = (seconds(&text(&event["start"])), seconds(&text(&event["end"])));
        Some(format!("{}: {start} to {end} {}", text(&event["title"]), event["recurrence"]))
    }

    fn titles_there(state: &mut State) -> Vec<String> {
        let calendar = state.calendars.get(ALICE).expect("the primary calendar");
        let own = |record: &&EventRecord| !record.is_cancelled() && record.text("recurringEventId").is_none();
        let own = calendar.events.values().filter(own);
        own.map(|record| record.text("summary").unwrap_or_default().to_owned()).collect()
    }

    async fn march_there(world: &World) -> Vec<String> {
        world.their_march(ALICE).await
    }
}

#[tokio::test]
async fn both_sides_become_the_same() {
    run::<CalendarHistory<GoogleService>>().await;
}
