//! Messages of which a folder says that they are gone. They may have moved, also away and back
//! (microsoftgraph/microsoft-graph-docs-contrib#72): only Graph's word that there is no such message is a deletion.

use connector_sdk::http::Request;
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Outcome, code};
use model::wire::Source;

use crate::api::{accepted, object};
use crate::mail::message::{deleted_source, partial};
use crate::mail::native::Message;
use crate::mail::select::STATE;
use crate::odata::{batch, failures, root};

const DOING: &str = "looking for messages that were moved";

/// The result of a look.
#[derive(Debug, Default)]
pub struct Verification {
    /// Deletions, and the states of messages that are there.
    pub sources: Vec<Source>,
    /// Messages that the provider says nothing of at the moment.
    pub left: Vec<String>,
}

/// Looks for each of the messages: twenty in one batch.
pub fn verify(context: &Context, ids: &[String]) -> Outcome<Verification> {
    let mut verified = Verification::default();
    let mut parts = Vec::with_capacity(ids.len());
    for id in ids {
        match root::me(&["messages", id], &[("$select", STATE)]) {
            Ok(url) => parts.push(Part::new(id.as_str(), Request::get(url))),
            // What can be no id is the id of no message.
            Err(_) => verified.sources.push(deleted_source(id)),
        }
    }
    if parts.is_empty() {
        return Ok(verified);
    }
    for (id, outcome) in batch::read(context, parts, batch::MAX_PARTS, DOING)?.parts {
        let PartOutcome::Answered(response) = outcome else {
            verified.left.push(id);
            continue;
        };
        match accepted(context, response, DOING).and_then(|response| object::<Message>(&response)) {
            Ok(message) => {
                // It is asked for by the name that the host knows.
                verified.sources.push(partial(&Message { id, ..message }));
            }
            Err(failure) if failures::is_gone(&failure) => verified.sources.push(deleted_source(&id)),
            Err(failure) if failure.code == code::AUTH_EXPIRED => return Err(failure),
            Err(_) => verified.left.push(id),
        }
    }
    Ok(verified)
}
