//! Answers to invitations.

use connector_sdk::{Failure, Outcome};
use model::calendar::ResponseStatus;
use model::wire::calendar::RecurrenceScope;

use crate::ical::lines::{line, set_text};
use crate::ical::people::{self, organizes};
use crate::ical::resource::{self, EVENT, events_mut, remove_at, touch};
use crate::ical::select::belongs;
use crate::ical::series::{Edited, Editor};

impl Editor<'_> {
    /// Answers an invitation, for the whole object or one instance.
    pub fn respond(
        &self,
        recurrence_id: Option<&str>,
        scope: RecurrenceScope,
        response: ResponseStatus,
        comment: Option<&str>,
    ) -> Outcome<Edited> {
        let mut calendar = self.original.clone();
        let writer = self.writer();
        let selves = &self.reader.selves;
        let only = match recurrence_id.filter(|_| scope == RecurrenceScope::This) {
            Some(id) => Some(self.ensure_exception(&mut calendar, id)?),
            None => {
                // Every component is going to be as new as the others: then nothing tells copies apart.
                let copies = self.select(&calendar).copies();
                remove_at(&mut calendar, EVENT, &copies);
                None
            }
        };
        let uid = resource::uid(&calendar, EVENT);
        let mut answered = false;
        let mut organizer = false;
        for (at, component) in events_mut(&mut calendar).enumerate() {
            if only.is_some_and(|only| only != at) || !belongs(component, uid.as_deref()) {
                continue;
            }
            organizer |= line(component, "ORGANIZER").is_some() && organizes(component, selves);
            if people::respond(component, selves, response) {
                answered = true;
                if comment.is_some() {
                    set_text(component, "COMMENT", comment);
                }
                touch(component, self.now, false);
            }
        }
        let reason = |message: &str, reason: &str| {
            Failure::invalid(message).with_detail(serde_json::json!({ "reason": reason }))
        };
        if organizer {
            return Err(reason(
                "the account organizes this event and cannot answer its own invitation",
                "organizer_cannot_rsvp",
            ));
        }
        if !answered {
            return Err(reason("the account is not among the attendees of this event", "not_an_attendee"));
        }
        Ok(self.finish(calendar, writer))
    }
}
