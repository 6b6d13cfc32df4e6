//! `find_free_time`: stretches of time in which people can meet.

use model::Instant;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::{Api, Request};
use crate::tool::{
    Context, Definition, Effect, JsonObject, Outcome, ToolError, cut, json_of, object, output,
};
use crate::tools::shape::{FieldChoice, address, items};
use crate::tools::writing;

/// People and accounts that a call names.
const MAX_PEOPLE: usize = 20;
/// Stretches of free time that a result has.
const MAX_TIMES: usize = 40;
/// Stretches that are requested of the accounts, before those in which the people are busy are taken out.
const MAX_STRETCHES: usize = 500;
/// Bytes of the result beside the times.
const FRAME_BYTES: usize = 1_200;

pub const FIND_FREE_TIME: Definition = Definition {
    name: "find_free_time",
    title: "Find free time",
    description: "Stretches of time of at least durationMinutes in which all accounts of connectionIds and all `people` \
        (addresses, as the first account sees them) are free, in UTC. At most 62 days. Without dayStart and dayEnd nights count \
        too. Nobody is shown as free who could not be asked: `unavailable` names them.",
    scope: "calendar.freebusy",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 4 << 10,
    input,
    output: result,
};

fn input() -> JsonObject {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": text, "maxItems": MAX_PEOPLE});
    let time = json!({"type": "string", "description": "HH:MM"});
    object(
        json!({
            "connectionIds": texts,
            "people": texts,
            "start": {"type": "string", "format": "date-time"},
            "end": {"type": "string", "format": "date-time"},
            "durationMinutes": {"type": "integer"},
            "timeZone": text,
            "dayStart": time,
            "dayEnd": time,
            "weekdaysOnly": {"type": "boolean"},
        }),
        &["start", "end", "durationMinutes"],
    )
}

fn result() -> JsonObject {
    let list = json!({"type": "array"});
    let all = json!({ "times": list, "complete": {"type": "boolean"}, "unavailable": list });
    output(all, &["times", "complete"])
}

/// Arguments of `find_free_time`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindFreeTimeArguments {
    #[serde(default)]
    connection_ids: Vec<String>,
    #[serde(default)]
    people: Vec<String>,
    start: Instant,
    end: Instant,
    duration_minutes: i64,
    time_zone: Option<String>,
    day_start: Option<String>,
    day_end: Option<String>,
    #[serde(default)]
    weekdays_only: bool,
}

impl FindFreeTimeArguments {
    /// The hours of the day and the days of the week that count; none if all do.
    fn open_hours(&self) -> Result<Value, ToolError> {
        let days = if self.weekdays_only { vec![1, 2, 3, 4, 5] } else { vec![1, 2, 3, 4, 5, 6, 7] };
        match (&self.day_start, &self.day_end) {
            (Some(start), Some(end)) => Ok(json!([{ "days": days, "start": start, "end": end }])),
            (None, None) if self.weekdays_only => {
                Ok(json!([{ "days": days, "start": "00:00", "end": "24:00" }]))
            }
            (None, None) => Ok(json!([])),
            (Some(_), None) => Err(writing::missing("dayEnd", "dayEnd is required with dayStart")),
            (None, Some(_)) => Err(writing::missing("dayStart", "dayStart is required with dayEnd")),
        }
    }

    /// The query for the times in which these accounts are free.
    fn availability(&self, connection_ids: &[String]) -> Result<Value, ToolError> {
        let members: Vec<Value> = connection_ids.iter().map(|id| json!({ "connectionId": id })).collect();
        Ok(json!({
            "durationMinutes": self.duration_minutes,
            "start": self.start,
            "end": self.end,
            "timeZone": self.time_zone,
            "participants": [{ "members": members }],
            "openHours": self.open_hours()?,
            "responseFormat": "periods",
            "limit": MAX_STRETCHES,
        }))
    }

    /// The query for the times in which the people are busy.
    fn busy_query(&self, via: &str) -> Value {
        let target = |email: &String| json!({ "email": email, "viaConnectionId": via });
        let targets: Vec<Value> = self.people.iter().map(target).collect();
        json!({ "start": self.start, "end": self.end, "timeZone": self.time_zone, "targets": targets })
    }
}

/// A stretch of time: start inclusive, end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct FreeStretch {
    start: Instant,
    end: Instant,
}

pub async fn find_free_time<A: Api>(
    context: &Context<'_, A>,
    mut arguments: FindFreeTimeArguments,
) -> Result<Outcome, ToolError> {
    let api = context.api;
    for (param, given) in [("connectionIds", &arguments.connection_ids), ("people", &arguments.people)] {
        if given.len() > MAX_PEOPLE {
            let message = format!("{param} may have at most {MAX_PEOPLE} entries; got {}", given.len());
            return Err(ToolError::invalid(param, message));
        }
    }
    let mut connection_ids = std::mem::take(&mut arguments.connection_ids);
    if connection_ids.is_empty() {
        connection_ids.push(writing::connection(api, None).await.map_err(name_plural)?);
    }
    let query = arguments.availability(&connection_ids)?;
    let answer = api.call(Request::post("/v1/calendars/availability/query", query)).await;
    let mut answer = json_of(answer).map_err(name_arguments)?;
    let mut unavailable: Vec<Value> = match answer["unavailable"].take() {
        Value::Array(members) => members.iter().map(unavailable_member).collect(),
        _ => Vec::new(),
    };
    let found = items(&mut answer);
    let mut has_more = found.len() >= MAX_STRETCHES;
    let mut free: Vec<FreeStretch> =
        found.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect();
    if let Some(via) = connection_ids.first().filter(|_| !arguments.people.is_empty()) {
        let query = Request::post("/v1/calendars/freebusy/query", arguments.busy_query(via));
        let mut answer = json_of(api.call(query).await).map_err(name_arguments)?;
        for person in items(&mut answer) {
            if person["status"] == "ok" {
                free = without_busy(&free, &person["busy"]);
            } else {
                free.clear();
                unavailable.push(unavailable_person(&person));
            }
        }
    }
    let minimum = arguments.duration_minutes.saturating_mul(60_000);
    free.retain(|one| one.end.as_millis() - one.start.as_millis() >= minimum);
    has_more |= free.len() > MAX_TIMES;
    let times = free.iter().take(MAX_TIMES).map(|time| json!(time)).collect();
    let (times, is_cut) = cut(times, FIND_FREE_TIME.budget.saturating_sub(FRAME_BYTES));
    let mut result = json!({ "times": times, "complete": unavailable.is_empty() });
    if !unavailable.is_empty() {
        result["unavailable"] = Value::Array(cut(unavailable, FRAME_BYTES / 2).0);
    }
    if has_more || is_cut {
        result["truncated"] = json!(true);
        result["howToContinue"] = json!("Call find_free_time again with a later start.");
    }
    Ok(result.into())
}

/// Says in an error of the API which argument is meant.
fn name_arguments(mut error: ToolError) -> ToolError {
    let names = [
        ("openHours[0].start", "dayStart"),
        ("openHours[0].end", "dayEnd"),
        ("participants[0].members", "connectionIds"),
        ("targets", "people"),
    ];
    for (name, argument) in names {
        error.message = error.message.replace(name, argument);
        error.param = error.param.map(|param| param.replace(name, argument));
    }
    error
}

/// Says `connectionIds`, which is the argument here, in the error of an account that is not named.
fn name_plural(mut error: ToolError) -> ToolError {
    error.message = error.message.replace("connectionId", "connectionIds");
    error.param = error.param.map(|_| "connectionIds".to_owned());
    error
}

fn unavailable_member(member: &Value) -> Value {
    FieldChoice::new(member, false).copy(&["connectionId", "code"]).finish()
}

fn unavailable_person(person: &Value) -> Value {
    let error = &person["error"];
    let email = address(&person["target"]["email"]);
    FieldChoice::new(error, false).put("email", json!(email)).copy(&["code"]).finish()
}

/// The free stretches without the busy times, which are sorted and do not overlap.
fn without_busy(free: &[FreeStretch], busy: &Value) -> Vec<FreeStretch> {
    let read = |one: &Value| serde_json::from_value::<FreeStretch>(one.clone()).ok();
    let busy: Vec<FreeStretch> = busy.as_array().into_iter().flatten().filter_map(read).collect();
    let mut left = Vec::new();
    let mut first = 0;
    for stretch in free {
        let mut start = stretch.start;
        // Stretches are sorted too: what ends before this one ends before all later ones.
        first += busy.iter().skip(first).take_while(|one| one.end <= start).count();
        for one in busy.iter().skip(first).take_while(|one| one.start < stretch.end) {
            if start < one.start {
                left.push(FreeStretch { start, end: one.start });
            }
            start = start.max(one.end);
        }
        if start < stretch.end {
            left.push(FreeStretch { start, end: stretch.end });
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FIND_FREE_TIME, FindFreeTimeArguments, FreeStretch, find_free_time, without_busy};
    use crate::tool::{Outcome, ToolError, arguments};
    use crate::tools::script::{Script, context, quiet_policy};

    fn stretch(start: &str, end: &str) -> Value {
        json!({ "start": format!("2026-03-02T{start}:00.000Z"), "end": format!("2026-03-02T{end}:00.000Z") })
    }

    fn stretches(times: &[(&str, &str)]) -> Vec<FreeStretch> {
        times
            .iter()
            .map(|(start, end)| serde_json::from_value(stretch(start, end)).expect("a stretch"))
            .collect()
    }

    fn read(given: Value) -> Result<FindFreeTimeArguments, ToolError> {
        arguments(&FIND_FREE_TIME, given.as_object().cloned().expect("an object"))
    }

    #[test]
    fn busy_times_are_taken_out() {
        let free = stretches(&[("08:00", "10:00"), ("11:00", "12:00"), ("13:00", "14:00")]);
        let busy = json!([stretch("07:00", "08:30"), stretch("09:00", "09:15"), stretch("11:30", "13:30")]);
        let left =
            stretches(&[("08:30", "09:00"), ("09:15", "10:00"), ("11:00", "11:30"), ("13:30", "14:00")]);
        assert_eq!(without_busy(&free, &busy), left);
        assert_eq!(without_busy(&free, &json!([])), free);
    }

    /// People are asked through the first of the accounts. Stretches that are too short are left out.
    #[tokio::test]
    async fn people_and_accounts_meet() {
        let free = json!({ "data": [stretch("08:00", "10:00")], "complete": true, "unavailable": [] });
        let busy = json!({ "complete": true, "data": [
            { "target": { "email": "bob@example.com" }, "status": "ok", "busy": [stretch("08:20", "09:00")], "error": null },
        ] });
        let api = Script::new().on("POST", "/v1/calendars/availability/query", 200, free).on(
            "POST",
            "/v1/calendars/freebusy/query",
            200,
            busy,
        );
        let policy = quiet_policy();
        let given = read(json!({
            "connectionIds": ["conn_1"], "people": ["bob@example.com"], "durationMinutes": 30, "timeZone": "Europe/Berlin",
            "start": "2026-03-02T08:00:00Z", "end": "2026-03-02T18:00:00Z", "dayStart": "09:00", "dayEnd": "17:00",
        }));
        let found = find_free_time(&context(&api, &policy), given.expect("arguments")).await;
        let Ok(Outcome::Done(found)) = found else { panic!("{found:?}") };
        assert_eq!(found.structured, json!({ "times": [stretch("09:00", "10:00")], "complete": true }));
        let body = api.last().body.expect("a body");
        let target = json!({ "email": "bob@example.com", "viaConnectionId": "conn_1" });
        assert_eq!(body["targets"], json!([target]));
    }

    /// A person whose busy times are unknown is never shown as free.
    #[tokio::test]
    async fn an_unknown_person_is_not_free() {
        let free = json!({ "data": [stretch("08:00", "10:00")], "complete": true, "unavailable": [] });
        let busy = json!({ "complete": false, "data": [
            { "target": { "email": "bob@example.com" }, "status": "error", "busy": [], "error": { "code": "no_access", "message": "x" } },
        ] });
        let api = Script::new()
            .on("GET", "/v1/connections", 200, json!({ "data": [{ "id": "conn_1" }] }))
            .on("POST", "/v1/calendars/availability/query", 200, free)
            .on("POST", "/v1/calendars/freebusy/query", 200, busy);
        let policy = quiet_policy();
        let given = json!({
            "people": ["bob@example.com"], "durationMinutes": 30, "start": "2026-03-02T08:00:00Z", "end": "2026-03-02T18:00:00Z",
        });
        let found = find_free_time(&context(&api, &policy), read(given).expect("arguments")).await;
        let Ok(Outcome::Done(found)) = found else { panic!("{found:?}") };
        let wanted = json!({
            "times": [], "complete": false, "unavailable": [{ "email": "bob@example.com", "code": "no_access" }],
        });
        assert_eq!(found.structured, wanted);
    }

    #[tokio::test]
    async fn hours_need_a_beginning_and_an_end() {
        let api = Script::new();
        let policy = quiet_policy();
        let given = json!({
            "connectionIds": ["conn_1"], "durationMinutes": 30, "dayStart": "09:00",
            "start": "2026-03-02T08:00:00Z", "end": "2026-03-02T18:00:00Z",
        });
        let error =
            find_free_time(&context(&api, &policy), read(given).expect("arguments")).await.unwrap_err();
        assert_eq!(error.param.as_deref(), Some("dayEnd"));
    }
}
