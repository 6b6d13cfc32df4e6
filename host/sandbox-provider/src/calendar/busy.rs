//! `POST /sandbox/v1/busy`: busy times of calendars and people. Reveals nothing but the times.

use axum::body::Bytes;
use axum::extract::State as AxumState;
use axum::{Extension, Json};
use model::Instant;
use model::calendar::{BusyInterval, IncludeInAvailability, ResponseStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::calendar::types::Event;
use crate::calendar::write::is_busy;
use crate::calendar::{apart, series};
use crate::problem::Problem;
use crate::record::Folder;
use crate::sandbox::Caller;
use crate::state::State;
use crate::times::parse_instant;

const MAX_RANGE_MS: i64 = 100 * 24 * 3_600_000;
const MAX_TARGETS: usize = 50;

/// The body.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Question {
    from: String,
    to: String,
    #[serde(default)]
    calendars: Vec<String>,
    #[serde(default)]
    people: Vec<String>,
}

/// `POST /sandbox/v1/busy`: one result per target, in the order of the question. An unknown one has a `problem`.
pub async fn query(
    (AxumState(sandbox), Extension(login)): Caller,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let question: Question =
        serde_json::from_slice(&body).map_err(|e| Problem::bad_request(e.to_string()))?;
    let range = (parse_instant(&question.from, "from")?, parse_instant(&question.to, "to")?);
    if range.1 <= range.0 || range.1 - range.0 > MAX_RANGE_MS {
        return Err(Problem::field("to", "to must be after from, at most 100 days"));
    }
    if question.calendars.len() + question.people.len() > MAX_TARGETS {
        return Err(Problem::field(
            "calendars",
            format!("ask for at most {MAX_TARGETS} calendars and people"),
        ));
    }
    let results = sandbox
        .read(|state| {
            let mut results = Vec::new();
            for id in &question.calendars {
                let busy =
                    state.folder(&login.mail, id).map(|f| of_folder(&login.mail, f, range)).transpose()?;
                results.push(result("calendar", id, busy));
            }
            for mail in &question.people {
                let busy = of_person(state, &mail.to_lowercase(), range)?;
                results.push(result("person", mail, busy));
            }
            Ok(results)
        })
        .await?;
    Ok(Json(json!({ "results": results })))
}

fn result(kind: &str, id: &str, busy: Option<Vec<Value>>) -> Value {
    let problem = busy.is_none().then_some("notFound");
    json!({ kind: id, "busy": busy.unwrap_or_default(), "problem": problem })
}

fn of_person(state: &State, mail: &str, range: (i64, i64)) -> Result<Option<Vec<Value>>, Problem> {
    let Some(account) = state.account(mail) else { return Ok(None) };
    let mut busy = Vec::new();
    for folder in account.calendars.values().filter(|f| f.head.body.is_owned) {
        busy.extend(of_folder(mail, folder, range)?);
    }
    Ok(Some(busy))
}

fn of_folder(
    mail: &str,
    folder: &Folder<Event>,
    (from_ms, to_ms): (i64, i64),
) -> Result<Vec<Value>, Problem> {
    let zone = folder.head.zone();
    let mut busy: Vec<BusyInterval> = Vec::new();
    let included = folder.head.body.include_in_availability;
    if included == IncludeInAvailability::None {
        return Ok(Vec::new());
    }
    let counts =
        |event: &Event| is_busy(event) && (included == IncludeInAvailability::All || attends(event, mail));
    let interval = |event: &Event, start_ms: i64, end_ms: i64| BusyInterval {
        start: Instant::from_millis(start_ms),
        end: Instant::from_millis(end_ms),
        show_as: event.body.show_as,
    };
    for event in &apart::all(folder) {
        let Ok(instances) = series::expand(event, from_ms, to_ms, &zone) else {
            // A series with too many instances to list counts as busy throughout.
            if counts(event) {
                let (start_ms, _) = event.span_ms(&zone);
                busy.push(interval(event, start_ms.max(from_ms), to_ms));
            }
            continue;
        };
        for (_, instance) in instances {
            if counts(&instance) {
                let (start_ms, end_ms) = instance.span_ms(&zone);
                busy.push(interval(&instance, start_ms, end_ms));
            }
        }
    }
    busy.sort_by_key(|interval| (interval.start, interval.end));
    Ok(busy.iter().map(|interval| json!(interval)).collect())
}

fn attends(event: &Event, mail: &str) -> bool {
    let accepts = |status| matches!(status, ResponseStatus::Accepted | ResponseStatus::Tentative);
    let mut attendees = event.body.attendees.iter();
    event.is_organized_by(mail) || attendees.any(|a| a.email == mail && accepts(a.response_status))
}
