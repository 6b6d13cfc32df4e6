//! Free/busy, and what the provider can do with calendars.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use model::calendar::{BusyInterval, ConferenceProvider};
use model::wire::calendar::{CalendarFeatures, FreeBusyAnswer, FreeBusyRequest};
use serde::Deserialize;
use serde_json::json;

use crate::api::{ask, url};

/// Answer of `POST /v1/busy`: one result for each target.
#[derive(Debug, Deserialize)]
struct BusyAnswer {
    #[serde(default)]
    results: Vec<BusyResult>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BusyResult {
    busy: Vec<BusyInterval>,
    problem: Option<String>,
}

pub fn free_busy(context: &Context, args: &FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
    let people: Vec<&String> = args.email.iter().collect();
    let body = json!({ "from": args.start, "to": args.end, "calendars": args.collections, "people": people });
    let request = Request::post(url(context, &["busy"], &[])?).json(&body);
    let found: BusyAnswer = ask(context, request, "reading free and busy times")?;
    // An unknown target must not look free.
    if found.results.iter().any(|r| r.problem.is_some()) || found.results.is_empty() {
        return Err(Failure::not_found("the provider knows no such calendar or person"));
    }
    Ok(FreeBusyAnswer { busy: found.results.into_iter().flat_map(|result| result.busy).collect() })
}

pub fn features() -> CalendarFeatures {
    CalendarFeatures {
        create_calendar: true,
        update_calendar: true,
        delete_calendar: true,
        recurrence: true,
        this_and_following: true,
        attendees: true,
        scheduling: true,
        rsvp: true,
        conference: vec![ConferenceProvider::Other],
        reminders: true,
        attachments: true,
        free_busy: true,
        free_busy_by_email: true,
        push: false,
        delta: "syncToken".to_owned(),
    }
}
