//! Answers to invitations.

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::{IcalCst, IcalItem};
use model::calendar::ResponseStatus;
use model::wire::calendar::RecurrenceScope;

use crate::ical::lines::{line, line_text, text_line};
use crate::ical::people::{self, organizes};
use crate::ical::resource::{self, EVENT, events_mut, remove_at, touch};
use crate::ical::select::belongs;
use crate::ical::series::{Editor, Update};

/// Removes the comments that say this, however line breaks were kept.
fn remove_comment(event: &mut IcalCst, said: &str) {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    event.items.retain(|item| match item {
        IcalItem::Prop(line) if line.name.get().eq_ignore_ascii_case("COMMENT") => {
            words(&line_text(line)) != words(said)
        }
        _ => true,
    });
}

impl Editor<'_> {
    /// The resource without the comments of the account's earlier answers; None where there are none. Comments that the
    /// organizer wrote stay.
    pub fn without_comments(&self) -> Option<String> {
        let mut calendar = self.original.clone();
        let selves = &self.reader.selves;
        let mut is_changed = false;
        for component in events_mut(&mut calendar) {
            if let Some(said) = people::own_comment(component, selves)
                && people::forget_own_comment(component, selves)
            {
                remove_comment(component, &said);
                touch(component, self.now, false);
                is_changed = true;
            }
        }
        is_changed.then(|| resource::print(&calendar))
    }

    /// Answers an invitation, for the whole object or one instance. The comment is stored beside the answer, and goes to the
    /// organizer where the answer does.
    pub fn respond(
        &self,
        recurrence_id: Option<&str>,
        scope: RecurrenceScope,
        response: ResponseStatus,
        comment: Option<&str>,
    ) -> Outcome<Update> {
        let mut calendar = self.original.clone();
        let writer = self.writer();
        let selves = &self.reader.selves;
        let only = match recurrence_id.filter(|_| scope == RecurrenceScope::This) {
            Some(id) => Some(self.ensure_exception(&mut calendar, id)?),
            None => {
                // Every component will be as new as the others: then copies cannot be distinguished.
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
            let said = people::own_comment(component, selves);
            if people::respond(component, selves, response, comment) {
                answered = true;
                // Servers send all comments along with an answer: those of an earlier one are removed, and what the organizer
                // wrote stays.
                if let Some(said) = said {
                    remove_comment(component, &said);
                }
                if let Some(comment) =
                    comment.filter(|text| !text.is_empty() && self.server_tells != Some(false))
                {
                    component.push_line(text_line("COMMENT", comment));
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
