//! Google Meet conferences, made for events that are there.

use connector_sdk::http::Request;
use connector_sdk::rest::id::{IdForm, stable_id};
use connector_sdk::{Context, Failure, Outcome};
use model::calendar::ConferenceProvider;
use model::wire::Mutated;
use model::wire::calendar::{EventConference, Notify, RecurrenceScope};
use serde_json::json;

use crate::api::ask;
use crate::calendar::conference::{is_pending, request_for};
use crate::calendar::events::answer_of;
use crate::calendar::info::CalendarInfo;
use crate::calendar::native;
use crate::calendar::scope::{EventScope, read, write_query};
use crate::roots;

/// Reads of an event whose conference is still being created; a later one comes with the calendar's changes.
const MAX_READS: usize = 3;

/// Adds a Google Meet conference to an event, without notifications.
// Contract silent: whom the provider notifies of a conference. Guests see it in the event, and get no second mail for it.
pub fn conference(context: &Context, args: &EventConference) -> Outcome<Mutated> {
    if !matches!(args.provider, None | Some(ConferenceProvider::GoogleMeet)) {
        return Err(Failure::unsupported(
            "this conference provider: Google makes Google Meet conferences alone",
        ));
    }
    if args.target.scope == RecurrenceScope::ThisAndFollowing {
        return Err(Failure::unsupported("adding a conference from one instance on"));
    }
    let scope = EventScope::new(&args.collection, &args.target)?;
    let query = write_query(Notify::None);
    let mut event: native::Event = scope.with_id(context, |id| {
        // Google ignores a request with the id of the previous one, even after that one's conference was removed.
        let request_id = stable_id(context, IdForm::Base32Hex(32), &format!("conference\n{id}"));
        let body = json!({ "conferenceData": request_for(&request_id) });
        let url = roots::events(scope.calendar, &[id], &query)?;
        let request = Request::patch(url).if_match(scope.precondition()).json(&body);
        ask(context, request, "adding the conference")
    })?;
    for _ in 0..MAX_READS {
        if !is_pending(&event) {
            break;
        }
        event = read(context, scope.calendar, &event.id)?;
    }
    answer_of(&event, &CalendarInfo::of_call(context, args.time_zone.as_deref()), Vec::new())
}
