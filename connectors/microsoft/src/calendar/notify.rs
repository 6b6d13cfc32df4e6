//! Mail to the people of an event. Outlook sends it by itself and cannot be asked not to, so a write that names other recipients answers
//! with a warning, and is refused where the caller is strict.

use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::Warning;
use model::wire::calendar::{EventWrite, Notify};
use serde_json::json;

use crate::calendar::read::read_members;
use crate::calendar::roots::PEOPLE_MEMBERS;
use crate::calendar::scope::EventScope;

/// Fields of the account's own view of an event: their change sends no mail.
const OWN_FIELDS: [&str; 3] = ["reminders", "showAs", "color"];

/// Returns the warning of a write that sends mail to attendees whom the caller did not name. Fails with `unsupported` before anything is
/// written if the caller is strict.
pub fn check(notify: Notify, strict: bool, sends_mail: bool) -> Outcome<Option<Warning>> {
    let message = match notify {
        Notify::All => return Ok(None),
        _ if !sends_mail => return Ok(None),
        Notify::None => "Outlook sends mail to the attendees by itself and cannot be asked not to",
        Notify::ExternalOnly => "Outlook sends mail to every attendee, not only to external ones",
    };
    if strict {
        return Err(Failure::new(code::UNSUPPORTED, message).with_detail(json!({ "field": "notify" })));
    }
    Ok(Some(Warning {
        code: "notify_not_supported".to_owned(),
        message: message.to_owned(),
        target: Some("notify".to_owned()),
    }))
}

/// The same of a creation or a change: it sends mail where the account organizes an event with attendees.
pub fn check_write(args: &EventWrite) -> Outcome<Option<Warning>> {
    let is_organizer = args.event.organizer.as_ref().is_none_or(|organizer| organizer.is_self);
    let has_people =
        !args.event.attendees.is_empty() || args.changed.iter().any(|field| field == "attendees");
    let is_public = args.changed.iter().any(|field| !OWN_FIELDS.contains(&field.as_str()));
    let is_new = args.target.source.is_none();
    let is_empty = is_new && args.event.attendees.is_empty();
    check(args.notify, args.strict, is_organizer && has_people && is_public && !is_empty)
}

/// The same of a deletion, for which the event is read where it matters.
pub fn check_delete(
    context: &Context,
    scope: &EventScope,
    notify: Notify,
    strict: bool,
) -> Outcome<Option<Warning>> {
    if notify == Notify::All {
        return Ok(None);
    }
    let event = match read_members(context, scope.calendar, scope.source, PEOPLE_MEMBERS) {
        // There is nobody left to be notified.
        Err(failure) if failure.code == code::NOT_FOUND => return Ok(None),
        event => event?,
    };
    let has_people = event.attendees.is_some_and(|attendees| !attendees.is_empty());
    check(notify, strict, has_people && event.is_organizer != Some(false))
}
