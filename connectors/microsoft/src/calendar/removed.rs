//! Events that a delta says are removed. They may be there all the same, or in another calendar, where Graph still answers them by their
//! ids: only one that the calendar does not have is believed to be gone.

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome, code};

use crate::api::{accepted, object};
use crate::calendar::native::{EventName, EventPage};
use crate::calendar::roots::events;
use crate::odata::batch;
use crate::odata::failures::is_gone;
use crate::odata::filter::quoted;

/// The members of an event by which it is looked for in the calendar: Graph finds no event of a calendar by its id.
const MEMBERS: &str = "id,iCalUId";
/// The purpose of the requests, for messages.
const VERIFYING: &str = "verifying that events are removed";

/// Returns those of these events that the calendar still has.
pub fn find_remaining(context: &Context, calendar: &str, ids: &[String]) -> Outcome<Vec<String>> {
    let mut known = Vec::new();
    let parts = ids.iter().map(|id| -> Outcome<Part> {
        let url = events(calendar, &[id], &[("$select", MEMBERS)])?;
        Ok(Part::new(id.clone(), Request::get(url)))
    });
    for (id, answer) in read_all(context, parts.collect::<Outcome<_>>()?)? {
        let name: EventName = match answer {
            Some(response) => object(&response)?,
            None => continue,
        };
        known.push((id, name.i_cal_u_id.unwrap_or_default()));
    }
    let parts = known.iter().map(|(id, uid)| -> Outcome<Part> {
        let filter = format!("iCalUId eq {}", quoted(uid));
        let query = [("$filter", filter.as_str()), ("$select", MEMBERS)];
        Ok(Part::new(id.clone(), Request::get(events(calendar, &[], &query)?)))
    });
    let mut remaining = Vec::new();
    for (id, answer) in read_all(context, parts.collect::<Outcome<_>>()?)? {
        let page: EventPage = match answer {
            Some(response) => object(&response)?,
            None => continue,
        };
        let mut names =
            page.value.iter().filter_map(|record| serde_json::from_str::<EventName>(record.get()).ok());
        if names.any(|name| name.id == id) {
            remaining.push(id);
        }
    }
    Ok(remaining)
}

/// The answers to parts by their names; none for what is not there.
fn read_all(context: &Context, parts: Vec<Part>) -> Outcome<Vec<(String, Option<Response>)>> {
    let outcome = batch::read(context, parts, batch::MAX_PARTS, VERIFYING)?;
    if let Some(wait) = outcome.wait {
        return Err(wait);
    }
    let mut answers = Vec::new();
    for (id, part) in outcome.parts {
        let PartOutcome::Answered(response) = part else {
            return Err(Failure::unavailable("the provider has left out a part of a batch"));
        };
        match accepted(context, response, VERIFYING) {
            // Where the list takes no filter, the delta is believed.
            Err(failure) if is_gone(&failure) || failure.code == code::INVALID => answers.push((id, None)),
            answer => answers.push((id, Some(answer?))),
        }
    }
    Ok(answers)
}
