//! Messages of which a folder says that they are gone. They may have moved, also away and back
//! (microsoftgraph/microsoft-graph-docs-contrib#72): only Graph's word that there is no such message is a deletion.

use connector_sdk::http::Request;
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Outcome, code};
use model::wire::Source;

use crate::api::{accepted, object};
use crate::mail::message::{deleted_source, partial, unreadable};
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

/// Knowledge of the folders of the mailbox.
pub struct KnownFolders<'a> {
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// The changes of the folders were read in this call: a folder that is not known is none that users see.
    pub is_fresh: bool,
}

/// Looks for each of the messages: twenty in one batch. A message in a folder that nobody sees is deleted: by an id that stays, Graph may
/// answer for what lies among the recoverable items too. While the provider asks for a wait, all are left.
pub fn verify(context: &Context, ids: &[String], folders: &KnownFolders) -> Outcome<Verification> {
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
    let names: Vec<String> = parts.iter().map(|part| part.id.clone()).collect();
    let outcome = match batch::read(context, parts, batch::MAX_PARTS, DOING) {
        Err(failure) if failures::is_passing(&failure) => {
            batch::note_wait(context, &failure);
            return Ok(Verification { left: names, ..verified });
        }
        answered => answered?,
    };
    for (id, outcome) in outcome.parts {
        let PartOutcome::Answered(response) = outcome else {
            verified.left.push(id);
            continue;
        };
        match accepted(context, response, DOING).and_then(|response| object::<Message>(&response)) {
            Ok(message) => {
                let is_seen = message.parent_folder_id.as_deref().is_none_or(folders.is_known);
                match (is_seen, folders.is_fresh) {
                    // It is asked for by the name that the host knows.
                    (true, _) => verified.sources.push(partial(&Message { id, ..message })),
                    (false, true) => verified.sources.push(deleted_source(&id)),
                    // The folder may be new.
                    (false, false) => verified.left.push(id),
                }
            }
            Err(failure) if failures::is_gone(&failure) => verified.sources.push(deleted_source(&id)),
            Err(failure) if failure.code == code::AUTH_EXPIRED => return Err(failure),
            // A front end that answers 404 says nothing of the message.
            Err(failure) if failures::is_passing(&failure) || failure.code == code::NOT_FOUND => {
                verified.left.push(id);
            }
            Err(_) => verified.sources.push(unreadable(&id)),
        }
    }
    Ok(verified)
}
