//! The conference that the calendar's provider creates for a meeting: its state in the organizer's event, and the schedule of polling the
//! provider. Providers may answer for the event first and have the link later (Google: `conferenceData.createRequest.status` is `pending`).

use base::error::Result;
use model::calendar::{ConferenceStatus, Event};
use model::scheduling::booking::Booking;
use storage::items::{self, Item};
use storage::scheduling::meeting_events::MeetingEventRow;

use crate::app::App;
use crate::bookings::event_body;

/// The shortest interval between polls for a pending conference, ms. Each poll comes after as long as has passed since the last change of
/// the event: after 5, 10, 20 seconds and so on.
const FIRST_LOOK_MS: i64 = 5_000;
/// Time after the last change of the event during which the provider is polled, ms: 15 polls. After that the link only comes with a change
/// of the event.
const LOOKS_FOR_MS: i64 = 24 * 3_600_000;

/// The state of an event's conference at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConferenceProgress {
    /// There is none, it could not be created, or it has no link.
    Absent,
    Pending,
    /// The link to join.
    Ready(String),
}

/// Returns the conference state of an event.
pub fn progress(item: &Item) -> Result<ConferenceProgress> {
    let event: Event = serde_json::from_str(&item.body)?;
    let Some(conference) = event.conference else { return Ok(ConferenceProgress::Absent) };
    Ok(match conference.join_url {
        Some(url) => ConferenceProgress::Ready(url),
        None if conference.status == ConferenceStatus::Pending => ConferenceProgress::Pending,
        None => ConferenceProgress::Absent,
    })
}

/// Whether the booking still needs a link from the calendar's provider.
pub fn lacks_link(booking: &Booking) -> bool {
    let is_empty = booking.location.as_ref().is_some_and(|place| place.join_url.is_none());
    is_empty && event_body::conference(std::slice::from_ref(booking)).is_some()
}

/// Whether a booking waits for the link of a conference that the provider is creating, according to the local copy. `event` is the
/// organizer's.
pub async fn is_awaited(app: &App, event: &MeetingEventRow, booking: &Booking) -> Result<bool> {
    let Some(event_id) = event.event_id.as_ref().filter(|_| lacks_link(booking)) else { return Ok(false) };
    let found = items::any(app.db.reader(), &event.tenant, event_id).await?;
    Ok(match found {
        Some(item) => progress(&item)? == ConferenceProgress::Pending,
        None => false,
    })
}

/// The next poll for a conference that is pending since the event was changed at `since`, and whether to poll now as well. None: no more
/// polls. All times are Unix ms.
pub fn next_look(since: i64, now: i64) -> Option<(i64, bool)> {
    let age = now.saturating_sub(since);
    let next = now.saturating_add(age.max(FIRST_LOOK_MS));
    (age < LOOKS_FOR_MS).then_some((next, age >= FIRST_LOOK_MS))
}

#[cfg(test)]
mod tests {
    use model::scheduling::booking::BookingPlace;
    use model::scheduling::event_type::MeetingPlaceKind;

    use super::*;

    #[test]
    fn a_pending_conference_is_asked_for_less_and_less_often_for_a_day() {
        let (mut at, mut asked) = (0, Vec::new());
        while let Some((next, is_asked)) = next_look(0, at) {
            asked.extend(is_asked.then_some(at));
            at = next;
        }
        assert_eq!(asked.first_chunk(), Some(&[5_000, 10_000, 20_000, 40_000]));
        assert_eq!((asked.len(), asked.last()), (15, Some(&81_920_000)));
        // The event was changed at the same moment: the local copy is the provider's latest state.
        assert_eq!(next_look(7_000, 7_000), Some((12_000, false)));
    }

    #[test]
    fn a_link_is_awaited_where_the_calendar_makes_the_conference() {
        let at = |kind, value: Option<&str>, join_url: Option<&str>| Booking {
            location: Some(BookingPlace {
                kind,
                value: value.map(str::to_owned),
                join_url: join_url.map(str::to_owned),
            }),
            ..Booking::default()
        };
        assert!(lacks_link(&at(MeetingPlaceKind::GoogleMeet, None, None)));
        assert!(lacks_link(&at(MeetingPlaceKind::Teams, None, None)));
        assert!(!lacks_link(&at(MeetingPlaceKind::Teams, None, Some("https://x.test"))));
        assert!(!lacks_link(&at(MeetingPlaceKind::Teams, Some("https://x.test"), Some("https://x.test"))));
        assert!(!lacks_link(&at(MeetingPlaceKind::InPerson, None, None)));
        assert!(!lacks_link(&Booking::default()));
    }
}
