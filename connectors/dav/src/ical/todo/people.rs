//! ATTENDEE as assignees.

use ical::tree::cst::IcalCst;
use model::calendar::Attendee;
use model::tasks::Assignee;

use crate::ical::people::{Selves, attendees, set_attendees};

/// The people a to-do is assigned to. One without a mail address has a name only.
pub fn assignees(todo: &IcalCst, selves: &Selves) -> Vec<Assignee> {
    attendees(todo, selves).into_iter().map(assignee).collect()
}

fn assignee(attendee: Attendee) -> Assignee {
    if attendee.email.contains('@') {
        return Assignee { email: Some(attendee.email), name: attendee.name };
    }
    Assignee { email: None, name: attendee.name.or(Some(attendee.email)) }
}

/// Makes the assignees these; lines of people who stay keep what else they say. No ORGANIZER is written: with one, a scheduling
/// server would mail everybody (RFC 6638 section 3.2), which assigning a task does not ask for. Returns false where a new
/// assignee has no mail address: an ATTENDEE is an address.
pub fn set_assignees(todo: &mut IcalCst, wanted: &[Assignee], selves: &Selves) -> bool {
    let there = attendees(todo, selves);
    let mut kept = Vec::with_capacity(wanted.len());
    let mut complete = true;
    for person in wanted {
        let email = person.email.as_deref().map(str::trim).filter(|email| !email.is_empty());
        let known = there.iter().find(|attendee| match email {
            Some(email) => attendee.email.eq_ignore_ascii_case(email),
            None => assignee((*attendee).clone()) == Assignee { email: None, name: person.name.clone() },
        });
        match (known, email) {
            (Some(known), Some(_)) => {
                kept.push(Attendee { name: person.name.clone().or(known.name.clone()), ..known.clone() });
            }
            (Some(known), None) => kept.push(known.clone()),
            (None, Some(email)) => {
                kept.push(Attendee { email: email.into(), name: person.name.clone(), ..Attendee::default() });
            }
            (None, None) => complete = false,
        }
    }
    set_attendees(todo, &kept);
    complete
}
