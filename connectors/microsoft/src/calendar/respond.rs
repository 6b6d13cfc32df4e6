//! Answers to invitations.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::calendar::ResponseStatus;
use model::wire::calendar::{EventRespond, RecurrenceScope};
use model::wire::{Mutated, Warning};
use serde_json::json;

use crate::api::execute;
use crate::calendar::answer::{answer_of, answer_of_instance, following_unsupported};
use crate::calendar::info::MailboxInfo;
use crate::calendar::native::{Event, EventResponse};
use crate::calendar::people::{attendees_from, own_response};
use crate::calendar::read::read_event;
use crate::calendar::roots::events;
use crate::calendar::scope::EventScope;

/// Reads of an event until it shows the answer: Graph only says that it has accepted it.
const MAX_READS: usize = 2;

/// Answers an invitation as the account, for one instance or for all.
pub fn respond(context: &Context, args: &EventRespond) -> Outcome<Mutated> {
    if args.target.scope == RecurrenceScope::ThisAndFollowing {
        return Err(following_unsupported("answering an invitation from one instance on"));
    }
    let verb = match args.response {
        ResponseStatus::Accepted => "accept",
        ResponseStatus::Tentative => "tentativelyAccept",
        ResponseStatus::Declined => "decline",
        ResponseStatus::NeedsAction => {
            return Err(Failure::invalid("response must be accepted, declined or tentative"));
        }
    };
    let mailbox = MailboxInfo::of_call(context, args.time_zone.as_deref());
    let scope = EventScope::new(&args.collection, &args.target)?;
    let id = scope.written_id(context)?;
    let before = read_event(context, scope.calendar, &id)?;
    ensure_invited(&before)?;
    if scope.instance.is_none() {
        scope.ensure_version(before.version().as_deref())?;
    }
    let (sends_response, warning) = told_of(&before, args)?;
    let answer = GivenResponse { context, scope: &scope, mailbox: &mailbox, response: args.response, before };
    if !(context.attempt() > 1 && answer.is_shown(&answer.before)) {
        let mut body = json!({ "sendResponse": sends_response });
        if let Some(comment) = &args.comment {
            body["comment"] = json!(comment);
        }
        let request = Request::post(events(scope.calendar, &[&id, verb], &[])?).json(&body);
        execute(context, request, "answering the invitation")?;
    }
    answer.read(warning.into_iter().collect())
}

fn ensure_invited(event: &Event) -> Outcome<()> {
    let (message, reason) = match (event.is_organizer(), event.guests().is_empty()) {
        (true, false) => ("the organizer cannot answer the own invitation", "organizer_cannot_rsvp"),
        (true, true) => ("the account is not an attendee of this event", "not_an_attendee"),
        (false, _) => return Ok(()),
    };
    Err(Failure::conflict(message).with_detail(json!({ "reason": reason })))
}

/// Whether the answer goes to the organizer, and the warning that it does not though it shall. Graph refuses to send one that the
/// organizer has not asked for.
fn told_of(event: &Event, args: &EventRespond) -> Outcome<(bool, Option<Warning>)> {
    if !args.notify_organizer || event.response_requested != Some(false) {
        return Ok((args.notify_organizer, None));
    }
    let message = "the organizer has not asked for answers: Outlook does not send this one";
    if args.strict {
        let detail = json!({ "field": "notifyOrganizer" });
        return Err(Failure::new(code::UNSUPPORTED, message).with_detail(detail));
    }
    let warning = Warning {
        code: "organizer_not_notified".to_owned(),
        message: message.to_owned(),
        target: Some("notifyOrganizer".to_owned()),
    };
    Ok((false, Some(warning)))
}

/// An answer that was given.
struct GivenResponse<'a> {
    context: &'a Context<'a>,
    scope: &'a EventScope<'a>,
    mailbox: &'a MailboxInfo,
    response: ResponseStatus,
    /// The event, or the instance, before.
    before: Event,
}

impl GivenResponse<'_> {
    fn is_shown(&self, event: &Event) -> bool {
        own_response(event, &attendees_from(event, self.mailbox)) == Some(self.response)
    }

    /// Reads the event with the answer. One that was declined is gone: the answer is the event as it was, with the answer in it.
    fn read(self, warnings: Vec<Warning>) -> Outcome<Mutated> {
        let answered = self.read_answered()?.unwrap_or_else(|| self.declined());
        if self.scope.instance.is_none() {
            return answer_of(&answered, self.mailbox, warnings);
        }
        let series = read_event(self.context, self.scope.calendar, self.scope.source)?;
        answer_of_instance(&series, &answered, self.mailbox, warnings)
    }

    fn read_answered(&self) -> Outcome<Option<Event>> {
        let mut found = None;
        for _ in 0..MAX_READS {
            match read_event(self.context, self.scope.calendar, &self.before.id) {
                Err(failure)
                    if failure.code == code::NOT_FOUND && self.response == ResponseStatus::Declined =>
                {
                    return Ok(None);
                }
                event => found = Some(event?),
            }
            if found.as_ref().is_some_and(|event| self.is_shown(event)) {
                break;
            }
        }
        Ok(found)
    }

    fn declined(&self) -> Event {
        let declined = || Some(EventResponse { response: Some("declined".to_owned()), time: None });
        let mut event = self.before.clone();
        event.response_status = declined();
        event.show_as = Some("free".to_owned());
        for guest in event.attendees.iter_mut().flatten() {
            let address = guest.email_address.as_ref().and_then(|person| person.address.as_deref());
            if address.is_some_and(|address| self.mailbox.is_self(address)) {
                guest.status = declined();
            }
        }
        event
    }
}
