//! `POST /sandbox/v1/busy`: busy times of calendars and people. Reveals nothing but the times.

use axum::body::Bytes;
use axum::extract::State as AxumState;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::calendar::types::{Answer, Availability, CountsAsBusy, Event};
use crate::calendar::write::is_busy;
use crate::calendar::{apart, series};
use crate::problem::Problem;
use crate::record::Folder;
use crate::sandbox::Caller;
use crate::state::State;
use crate::times::{instant, parse_instant, stored_zone};

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
    for folder in account.calendars.values().filter(|f| f.head.mine) {
        busy.extend(of_folder(mail, folder, range)?);
    }
    Ok(Some(busy))
}

fn of_folder(
    mail: &str,
    folder: &Folder<Event>,
    (from_ms, to_ms): (i64, i64),
) -> Result<Vec<Value>, Problem> {
    let zone = stored_zone(&folder.head.zone);
    let mut busy: Vec<(i64, i64, Availability)> = Vec::new();
    if folder.head.counts_as_busy == CountsAsBusy::Nothing {
        return Ok(Vec::new());
    }
    let counts = |event: &Event| {
        is_busy(event) && (folder.head.counts_as_busy == CountsAsBusy::Everything || attends(event, mail))
    };
    for event in &apart::all(folder) {
        let Ok(instances) = series::expand(event, from_ms, to_ms, &zone) else {
            // A series with too many instances to list counts as busy throughout.
            if counts(event) {
                let (start, _) = event.when.span_ms(&zone);
                busy.push((start.max(from_ms), to_ms, event.availability));
            }
            continue;
        };
        for (_, instance) in instances {
            if counts(&instance) {
                let (start, end) = instance.when.span_ms(&zone);
                busy.push((start, end, instance.availability));
            }
        }
    }
    busy.sort_by_key(|(start, end, _)| (*start, *end));
    let show = |(start, end, availability): &(i64, i64, Availability)| json!({ "from": instant(*start), "to": instant(*end), "availability": availability });
    Ok(busy.iter().map(show).collect())
}

fn attends(event: &Event, mail: &str) -> bool {
    let is_host = event.host.as_ref().is_none_or(|h| h.mail.as_deref() == Some(mail));
    is_host || event.guests.iter().any(|g| g.mail == mail && matches!(g.answer, Answer::Yes | Answer::Maybe))
}
