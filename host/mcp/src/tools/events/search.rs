//! `search_events`: the events of some calendars in a range of time, in one list by start.

use model::Instant;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::{Api, Request, segment};
use crate::tool::{
    Context, Definition, Effect, JsonObject, Outcome, ToolError, cut, json_of, object, output,
};
use crate::tools::events::fields::summary;
use crate::tools::shape::{
    FieldChoice, add_continuation, cursor_schema, items, limit, read_position, write_position,
};
use crate::tools::writing::missing;

const DEFAULT_LIMIT: usize = 25;
const MAX_LIMIT: usize = 50;
/// Days that a search may cover.
const MAX_DAYS: i64 = 92;
const DAY_MS: i64 = 86_400_000;
/// Calendars that a search reads.
const MAX_CALENDARS: usize = 20;
/// Pages of one calendar that a search reads. A later page is needed only if events that began before the position still last.
const MAX_PAGES: usize = 5;
/// Events of a page beyond those that the result needs.
const SPARE: usize = 10;
/// Bytes of a title, and of a place, that the list shows.
const MAX_LINE: usize = 200;
/// Bytes of the result beside the events.
const FRAME_BYTES: usize = 1_200;

pub const SEARCH_EVENTS: Definition = Definition {
    name: "search_events",
    title: "Search events",
    description: "Events between start and end (at most 92 days), by start; of series each instance. Times have an offset, or are \
        days in UTC. `query`: words that all occur in title, description, place or people. Without calendarIds all calendars.",
    scope: "calendar.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 8 << 10,
    input,
    output: result,
};

fn input() -> JsonObject {
    let text = json!({"type": "string"});
    object(
        json!({
            "start": text,
            "end": text,
            "query": text,
            "calendarIds": {"type": "array", "items": text, "maxItems": MAX_CALENDARS},
            "connectionId": text,
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT},
            "cursor": cursor_schema(),
        }),
        &["start", "end"],
    )
}

fn result() -> JsonObject {
    let list = json!({"type": "array"});
    output(json!({ "events": list, "unavailable": list, "nextCursor": {"type": "string"} }), &["events"])
}

/// Arguments of `search_events`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchEventsArguments {
    start: String,
    end: String,
    query: Option<String>,
    #[serde(default)]
    calendar_ids: Vec<String>,
    connection_id: Option<String>,
    limit: Option<u64>,
    cursor: Option<String>,
}

/// The order of the list: start (Unix ms), then id. As a position: after the event with these two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct EventOrder(i64, String);

impl EventOrder {
    fn from_event(event: &Value) -> Self {
        let start = event["start"].as_str().and_then(|text| text.parse::<Instant>().ok()).unwrap_or_default();
        EventOrder(start.as_millis(), event["id"].as_str().unwrap_or_default().to_owned())
    }
}

/// The events that a search wants of each calendar.
#[derive(Debug)]
struct EventSearch {
    start: Instant,
    end: Instant,
    query: Option<String>,
    after: Option<EventOrder>,
    limit: usize,
}

pub async fn search_events<A: Api>(
    context: &Context<'_, A>,
    arguments: SearchEventsArguments,
) -> Result<Outcome, ToolError> {
    let (start, end) = range(&arguments.start, &arguments.end)?;
    let after = arguments.cursor.as_deref().map(|text| read_position("cursor", text)).transpose()?;
    let limit = limit(arguments.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let search = EventSearch { start, end, query: arguments.query, after, limit };
    let are_named = !arguments.calendar_ids.is_empty();
    let calendars = match are_named {
        true => named(arguments.calendar_ids)?,
        false => all_calendars(context.api, arguments.connection_id).await?,
    };
    let (mut found, mut unavailable) = (Vec::new(), Vec::new());
    for calendar in &calendars {
        match search.read(context.api, calendar).await {
            Ok(events) => found.extend(events),
            // Of all calendars one may fail, such as that of an account whose credentials have expired.
            Err(error) if !are_named && unavailable.len() + 1 < calendars.len() => {
                let one = json!({ "calendarId": calendar, "code": error.code });
                unavailable.push(FieldChoice::new(&one, false).copy(&["calendarId", "code"]).finish());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(search.result(found, unavailable, context.policy.links).into())
}

/// The range of time.
fn range(start: &str, end: &str) -> Result<(Instant, Instant), ToolError> {
    let (start, end) = (time("start", start)?, time("end", end)?);
    let length = end.as_millis() - start.as_millis();
    if length <= 0 {
        return Err(ToolError::new("invalid_time_range", "end must be after start").param("end"));
    }
    if length > MAX_DAYS * DAY_MS {
        let days = (length + DAY_MS - 1) / DAY_MS;
        let message = format!("end may be at most {MAX_DAYS} days after start; got {days} days");
        return Err(ToolError::new("range_too_large", message).param("end").remedy("Search part by part."));
    }
    Ok((start, end))
}

/// An instant, or the midnight in UTC that a day begins with.
fn time(param: &str, text: &str) -> Result<Instant, ToolError> {
    let parsed = text.parse::<Instant>().or_else(|_| format!("{text}T00:00:00Z").parse());
    parsed.map_err(|_| {
        let got: String = text.chars().take(60).collect();
        let message = format!(
            "{param} must be a time with an offset, such as 2026-03-01T09:00:00Z, or a day, such as 2026-03-01; got {got:?}"
        );
        ToolError::invalid(param, message)
    })
}

/// The calendars that a call names, each once.
fn named(mut ids: Vec<String>) -> Result<Vec<String>, ToolError> {
    if ids.len() > MAX_CALENDARS {
        let message = format!("calendarIds may have at most {MAX_CALENDARS} entries; got {}", ids.len());
        return Err(ToolError::invalid("calendarIds", message));
    }
    ids.sort();
    ids.dedup();
    Ok(ids)
}

async fn all_calendars<A: Api>(api: &A, connection_id: Option<String>) -> Result<Vec<String>, ToolError> {
    let request = Request::get("/v1/calendars").with_some("connection_id", connection_id);
    let mut page = json_of(api.call(request.with("limit", MAX_CALENDARS)).await)?;
    if page["next_cursor"].is_string() {
        let message = format!("calendarIds is required: there are more than {MAX_CALENDARS} calendars");
        return Err(
            missing("calendarIds", &message).remedy("Take ids from list_calendars, or give connectionId.")
        );
    }
    Ok(items(&mut page).iter().filter_map(|calendar| calendar["id"].as_str().map(str::to_owned)).collect())
}

impl EventSearch {
    /// The first events of a calendar after the position, one more than the result can have.
    async fn read<A: Api>(&self, api: &A, calendar: &str) -> Result<Vec<Value>, ToolError> {
        // The API lists events that end after `start`. One that begins at the position and has no length ends there too.
        let resumed = self.after.as_ref().map(|after| Instant::from_millis(after.0.saturating_sub(1)));
        let start = resumed.map_or(self.start, |resumed| resumed.max(self.start));
        if start >= self.end {
            return Ok(Vec::new());
        }
        let wanted = self.limit + 1;
        let request = Request::get(format!("/v1/calendars/{}/events", segment(calendar)))
            .with("start", start)
            .with("end", self.end)
            .with("expand", true)
            .with_some("q", self.query.as_deref())
            .with("limit", wanted + SPARE);
        let mut found: Vec<Value> = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut page = json_of(api.call(request.clone().with_some("cursor", cursor)).await)?;
            found.extend(items(&mut page).into_iter().filter(|event| self.is_after_position(event)));
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if found.len() >= wanted || cursor.is_none() {
                found.truncate(wanted);
                return Ok(found);
            }
        }
        let message = "too many events last over the whole range to list those that begin in it";
        Err(ToolError::new("range_too_large", message).param("start").remedy("Search a shorter range."))
    }

    fn is_after_position(&self, event: &Value) -> bool {
        self.after.as_ref().is_none_or(|after| EventOrder::from_event(event) > *after)
    }

    /// The result: the first of all these events.
    fn result(&self, mut found: Vec<Value>, unavailable: Vec<Value>, links: bool) -> Value {
        found.sort_by_cached_key(EventOrder::from_event);
        let has_more = found.len() > self.limit;
        found.truncate(self.limit);
        let shown = found.iter().map(|event| summary(event, links, MAX_LINE).finish()).collect();
        let (events, is_cut) = cut(shown, SEARCH_EVENTS.budget.saturating_sub(FRAME_BYTES));
        let last = events.len().checked_sub(1).and_then(|last| found.get(last)).map(EventOrder::from_event);
        let mut result = json!({ "events": events });
        if !unavailable.is_empty() {
            result["unavailable"] = Value::Array(cut(unavailable, FRAME_BYTES / 2).0);
        }
        if let Some(last) = last.filter(|_| has_more || is_cut) {
            add_continuation(&mut result, SEARCH_EVENTS.name, &write_position(&last));
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{SEARCH_EVENTS, SearchEventsArguments, search_events};
    use crate::tool::{Outcome, ToolError, arguments};
    use crate::tools::script::{Script, context, quiet_policy};

    fn read(given: Value) -> SearchEventsArguments {
        arguments(&SEARCH_EVENTS, given.as_object().cloned().expect("an object")).expect("arguments")
    }

    async fn search(api: &Script, given: Value) -> Result<Value, ToolError> {
        let policy = quiet_policy();
        match search_events(&context(api, &policy), read(given)).await? {
            Outcome::Done(done) => Ok(done.structured),
            Outcome::Ask(question) => panic!("{question:?}"),
        }
    }

    fn event(id: &str, hour: u32) -> Value {
        json!({ "id": id, "title": id, "start": format!("2026-03-02T{hour:02}:00:00.000Z"), "description": "x".repeat(900) })
    }

    fn ids(result: &Value) -> Vec<&str> {
        result["events"].as_array().expect("a list").iter().filter_map(|event| event["id"].as_str()).collect()
    }

    fn day() -> Value {
        json!({ "start": "2026-03-02", "end": "2026-03-03T00:00:00+01:00", "calendarIds": ["cal_2", "cal_1"], "limit": 2 })
    }

    /// Two calendars are one list, and its pages have no gap where events begin at the same time.
    #[tokio::test]
    async fn calendars_are_one_list() {
        let first = json!({ "data": [event("a", 9), event("c", 9), event("e", 11)], "next_cursor": null });
        let second = json!({ "data": [event("b", 9), event("d", 10)], "next_cursor": null });
        let api = Script::new().on("GET", "/v1/calendars/cal_1/events", 200, first).on(
            "GET",
            "/v1/calendars/cal_2/events",
            200,
            second,
        );
        let mut all = Vec::new();
        let mut given = day();
        for _ in 0..3 {
            let page = search(&api, given.clone()).await.expect("a page");
            all.extend(ids(&page).into_iter().map(str::to_owned));
            given["cursor"] = page["nextCursor"].clone();
            if given["cursor"].is_null() {
                break;
            }
            assert_eq!(page["truncated"], true);
        }
        assert_eq!(all, ["a", "b", "c", "d", "e"]);
        let lines = api.lines();
        let head = "GET /v1/calendars/cal_1/events?start=2026-03-02T00%3A00%3A00.000Z&end=2026-03-02T23%3A00%3A00.000Z";
        assert_eq!(lines[0], format!("{head}&expand=true&limit=13"));
        assert!(lines[2].contains("start=2026-03-02T08%3A59%3A59.999Z"), "{}", lines[2]);
    }

    /// Without calendarIds one calendar may fail; a calendar that is named may not.
    #[tokio::test]
    async fn a_calendar_that_fails_is_named() {
        let calendars = json!({ "data": [{ "id": "cal_1" }, { "id": "cal_2" }], "next_cursor": null });
        let failure = json!({ "error": { "code": "reauth_required", "message": "connect it again" } });
        let api = Script::new()
            .on("GET", "/v1/calendars", 200, calendars)
            .on("GET", "/v1/calendars/cal_1/events", 409, failure)
            .on(
                "GET",
                "/v1/calendars/cal_2/events",
                200,
                json!({ "data": [event("a", 9)], "next_cursor": null }),
            );
        let found =
            search(&api, json!({ "start": "2026-03-02", "end": "2026-03-03" })).await.expect("a list");
        assert_eq!(ids(&found), ["a"]);
        assert_eq!(found["unavailable"], json!([{ "calendarId": "cal_1", "code": "reauth_required" }]));
        assert_eq!(search(&api, day()).await.unwrap_err().code, "reauth_required");
    }

    #[tokio::test]
    async fn a_range_has_92_days_at_most() {
        let api = Script::new();
        let given = |start: &str, end: &str| json!({ "start": start, "end": end, "calendarIds": ["cal_1"] });
        let error = search(&api, given("2026-03-01", "2026-06-02")).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.param.as_deref()), ("range_too_large", Some("end")));
        assert!(error.message.contains("92 days after start; got 93"), "{}", error.message);
        let error = search(&api, given("2026-03-01", "2026-03-01")).await.unwrap_err();
        assert_eq!(error.message, "end must be after start");
        let error = search(&api, given("tomorrow", "2026-03-01")).await.unwrap_err();
        assert!(error.message.ends_with("got \"tomorrow\""), "{}", error.message);
        assert!(api.lines().is_empty());
    }
}
