//! Events of Alice's default calendar at Graph, for histories.

use std::collections::BTreeMap;

use fakes::Graph;
use fakes::graph::{GraphService, GraphState, occurrence_id};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider;
use crate::fake_provider::convergence::calendar::{
    CalendarHistory, CalendarProvider, EventSet, Step, seconds,
};
use crate::fake_provider::convergence::{Titles, run};
use crate::microsoft::calendar::{daily, event};
use crate::microsoft::convergence::COMMON_TRAPS;
use crate::microsoft::{ALICE, World};

/// Instances of a series of the other program's.
const COUNT: u8 = 6;
/// A calendar of Alice's that nobody follows here.
const OTHER: &str = "Other";

/// The ids at Graph of the other program's events, by their slots.
type MadeEvents = BTreeMap<(&'static str, u8), String>;

/// An event of the other program's, with its id.
fn there(graph: &Graph, made: &MadeEvents, kind: &'static str, slot: u8) -> Option<(String, Value)> {
    let id = made.get(&(kind, slot))?;
    let stored = graph.with(|state| state.stored_event(ALICE, id))?;
    Some((id.clone(), stored))
}

/// Makes an event in Outlook, or gives the existing one these members.
fn put(graph: &Graph, made: &mut MadeEvents, kind: &'static str, slot: u8, content: Value, members: &[&str]) {
    let known = there(graph, made, kind, slot);
    let id = graph.with(|state| match known {
        Some((id, _)) => {
            let changed = members.iter().map(|name| ((*name).to_owned(), content[*name].clone()));
            state.edit_event(ALICE, &id, Value::Object(changed.collect()));
            id
        }
        None => state.put_event(ALICE, "", content),
    });
    made.insert((kind, slot), id);
}

/// Changes or cancels a day of a series. A series whose rule was changed since has other days.
fn put_exception(
    graph: &Graph,
    series: Option<(String, Value)>,
    titles: &mut Titles,
    day: u8,
    is_cancelled: bool,
) {
    let Some((id, series)) = series else { return };
    if series["recurrence"]["range"]["numberOfOccurrences"] != COUNT {
        return;
    }
    let title = titles.make();
    let instance = occurrence_id(&id, &format!("2026-03-{day:02}"));
    graph.with(|state| {
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

/// Returns the visible parts of an event: its title, start and end.
fn line(title: &str, start: &str, end: &str) -> String {
    format!("{title}: {} to {}", seconds(start), seconds(end))
}

fn line_there(stored: &Value) -> String {
    let utc = |name: &str| format!("{}Z", text(&stored[name]));
    line(&text(&stored["subject"]), &utc("start"), &utc("end"))
}

impl CalendarProvider for GraphService {
    type Made = MadeEvents;
    const CALLS: &'static str = "/v1.0/me/calendars";
    const CHANGES: &'static str = "/v1.0/me/calendars";
    const HAS_LONE_INSTANCES: bool = false;

    fn prepare(state: &mut GraphState) {
        state.add_calendar(ALICE, OTHER);
    }

    fn trap_by(number: u8, b: u8) -> (&'static str, u32) {
        match number {
            0 => ("calendar_delta_expired", 1),
            1 => ("event_etag_moves", 1),
            2 => ("irresolvable_conflict", 1),
            3 => ("events_delta_refused", u32::from(b % 2)),
            _ => (COMMON_TRAPS[usize::from(b) % COMMON_TRAPS.len()], 1),
        }
    }

    fn change_there(graph: &Graph, made: &mut MadeEvents, titles: &mut Titles, step: Step) {
        match step {
            Step::TheirEvent(slot, day) => {
                let new = event(&titles.make(), day, 11, json!({}));
                put(graph, made, "event", slot, new, &["subject", "start", "end"]);
            }
            Step::TheirSeries(slot) => {
                let new = daily(&titles.make(), 2, 9, COUNT);
                put(graph, made, "series", slot, new, &["subject"]);
            }
            Step::TheirException(slot, day, is_cancelled) => {
                put_exception(graph, there(graph, made, "series", slot), titles, day, is_cancelled);
            }
            Step::TheirDrop(kind, slot) => {
                if let Some((id, _)) = there(graph, made, kind, slot) {
                    graph.with(|state| state.delete_event(ALICE, &id));
                }
            }
            // An event moves to the other calendar, or back.
            Step::TheirSpecial(slot) => {
                let Some((id, stored)) = there(graph, made, "event", slot) else { return };
                graph.with(|state| {
                    let is_at_home = stored["calendar"] == state.calendar_id(ALICE, "").as_str();
                    state.move_event(ALICE, &id, if is_at_home { OTHER } else { "" });
                });
            }
            _ => {}
        }
    }

    /// Outlook moves no instance over its neighbours: it stays on its day.
    fn day_for(event: &Value, day: u8) -> u8 {
        let start = text(&event["start"]);
        let own = start.get(8..10).and_then(|day| day.parse().ok()).unwrap_or(day);
        if event["seriesId"].is_null() { day } else { own }
    }

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

    fn line_here(event: &Value) -> Option<String> {
        let is_cancelled = event["status"] == "cancelled";
        let visible = || line(&text(&event["title"]), &text(&event["start"]), &text(&event["end"]));
        (!is_cancelled).then(visible)
    }

    fn titles_there(state: &mut GraphState) -> Vec<String> {
        let ids = state.event_ids(ALICE).into_iter();
        let title = |id: String| text(&state.stored_event(ALICE, &id).unwrap_or_default()["subject"]);
        ids.map(title).collect()
    }

    async fn march_there(world: &World) -> Vec<String> {
        let token = world.fake.with(|state| {
            let now = state.clock.now_ms();
            state.authority.issue(ALICE, &["Calendars.Read"], now)
        });
        let query = "startDateTime=2026-03-01T00:00:00Z&endDateTime=2026-04-01T00:00:00Z\
                     &$select=subject,start&$top=500";
        let page = world.get_there(&format!("/v1.0/me/calendar/calendarView?{query}"), &token).await;
        assert!(page["value"].is_array() && page["@odata.nextLink"].is_null(), "{page:#}");
        let instances = page["value"].as_array().expect("a list").iter();
        let shown = instances
            .map(|event| fake_provider::line(&text(&event["start"]["dateTime"]), &text(&event["subject"])));
        shown.collect()
    }
}

#[tokio::test]
async fn both_sides_become_the_same() {
    run::<CalendarHistory<GraphService>>().await;
}
