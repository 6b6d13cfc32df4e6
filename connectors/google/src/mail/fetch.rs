//! Messages by their ids: one batch for many, with an answer for each.

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{self, BatchForm, BatchRules, Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome, code};

use crate::api::object;
use crate::failures;
use crate::mail::native::Message;
use crate::mail::roots;

/// Parts of a batch in the background. Of more some are refused, as too many at once.
pub const SYNC_PARTS: usize = 25;
/// Parts of a batch that a caller waits for; Google advises no more.
pub const WAITING_PARTS: usize = 50;

const DOING: &str = "reading the messages";

/// The provider's word on a message.
#[derive(Debug)]
pub enum FetchedMessage {
    There(Box<Message>),
    /// The provider knows no message of this id: by its own word, never by a failure.
    Gone,
    /// It is there, and its description makes no sense or does not end.
    Unreadable,
    /// The provider failed at it, twice.
    Failed(Failure),
}

/// Messages that were asked for.
#[derive(Debug, Default)]
pub struct MessageFetch {
    /// The ones that the provider has answered, in the order in which they were asked for.
    pub messages: Vec<(String, FetchedMessage)>,
    /// The others, in the same order: the provider asks for a wait.
    pub missing: Vec<String>,
    /// Messages that are answered before the first that is missing.
    pub leading: usize,
    /// Why some are missing.
    pub wait: Option<Failure>,
}

impl MessageFetch {
    /// The failure, where the provider failed at all of several messages: then none of them is to blame.
    fn common_failure(&self) -> Option<Failure> {
        let failures = self.messages.iter().map(|(_, message)| match message {
            FetchedMessage::Failed(failure) => Some(failure.clone()),
            _ => None,
        });
        let failures: Vec<Failure> = failures.collect::<Option<_>>()?;
        (failures.len() > 1).then(|| failures.into_iter().next()).flatten()
    }
}

/// Reads messages in the format `full` with this mask, in batches of `at_most`. A message that the provider does not answer for the moment
/// is missing, and the wait is noted.
pub fn fetch(context: &Context, ids: &[String], mask: &str, at_most: usize) -> Outcome<MessageFetch> {
    let query = [("format", "full"), ("fields", mask)];
    let part = |id: &String| -> Outcome<Part> {
        Ok(Part::new(id.as_str(), Request::get(roots::message(id, &query)?).units(roots::GET_UNITS)))
    };
    let mut fetched = MessageFetch::default();
    let mut parts = Vec::with_capacity(ids.len());
    for id in ids {
        match part(id) {
            Ok(part) => parts.push(part),
            // What can be no id is the id of no message.
            Err(_) => fetched.messages.push((id.clone(), FetchedMessage::Gone)),
        }
    }
    let rules = BatchRules {
        form: BatchForm::Mixed,
        root: roots::BATCH,
        at_most,
        bucket: Some(roots::BUCKET),
        failure: failures::from_response,
        doing: DOING,
    };
    let outcome = batch::run(context, &rules, parts)?;
    fetched.leading = fetched.messages.len() + outcome.first_missing.unwrap_or(outcome.parts.len());
    fetched.wait = outcome.wait;
    for (id, part) in outcome.parts {
        match part {
            PartOutcome::Missing => fetched.missing.push(id),
            PartOutcome::Answered(response) => {
                let message = read_answer(context, &id, &response)?;
                fetched.messages.push((id, message));
            }
        }
    }
    fetched.common_failure().map_or(Ok(fetched), Err)
}

/// The message of an answer. Fails where the answer is about the account and not about the message.
fn read_answer(context: &Context, id: &str, response: &Response) -> Outcome<FetchedMessage> {
    if response.is_success() {
        let message = object::<Message>(response).ok().filter(|message| message.id == id);
        return Ok(
            message.map_or(FetchedMessage::Unreadable, |message| FetchedMessage::There(Box::new(message)))
        );
    }
    let failure = failures::from_response(context, response, DOING);
    match failure.code.as_str() {
        // A front end that answers 404 gives no reason.
        code::NOT_FOUND if failure.detail.is_some() => Ok(FetchedMessage::Gone),
        code::INVALID => Ok(FetchedMessage::Unreadable),
        code::NOT_FOUND | code::UNAVAILABLE | code::TIMEOUT | code::CONFLICT => {
            Ok(FetchedMessage::Failed(failure))
        }
        _ => Err(failure),
    }
}
