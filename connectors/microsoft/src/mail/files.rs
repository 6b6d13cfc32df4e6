//! The files of messages of which a page did not have them.

use connector_sdk::http::Request;
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Outcome};

use crate::api::{accepted, object};
use crate::mail::native::Message;
use crate::mail::select::FILES;
use crate::odata::{batch, root};

const DOING: &str = "reading the files of messages";

/// Reads the lists of files of messages: those that are answered.
pub fn read_files(context: &Context, ids: &[String]) -> Outcome<Vec<(String, Message)>> {
    let part = |id: &String| -> Option<Part> {
        let url =
            root::me(&["messages", id], &[("$select", "id,hasAttachments"), ("$expand", FILES)]).ok()?;
        Some(Part::new(id.as_str(), Request::get(url)))
    };
    let parts: Vec<Part> = ids.iter().filter_map(part).collect();
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let outcome = batch::read(context, parts, batch::MAX_PARTS, DOING)?;
    let read = outcome.parts.into_iter().filter_map(|(id, outcome)| match outcome {
        PartOutcome::Answered(response) => {
            let message = accepted(context, response, DOING).and_then(|response| object(&response)).ok()?;
            Some((id, message))
        }
        PartOutcome::Missing => None,
    });
    Ok(read.collect())
}
