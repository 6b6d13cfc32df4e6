//! The next step for a meeting's event in one host's calendar, whom the provider notifies of it, and the changes of the row when the event
//! is gone. Pure.

use model::wire::calendar::Notify;
use storage::scheduling::meeting_events::MeetingEventRow;
use storage::scheduling::meetings::MeetingRow;

/// The next step at the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStep {
    Create,
    Update,
    Delete,
    /// The host has become the organizer and has a non-organizer event, which has no guests: it is deleted, and created again under the
    /// meeting's UID.
    Replace,
    /// The event was never written, and is no longer wanted: no call to the provider.
    Forget,
}

/// Whether the meeting is to be in the calendar.
pub fn is_wanted(row: &MeetingEventRow, meeting: &MeetingRow) -> bool {
    row.is_wanted && meeting.released_at.is_none()
}

/// Whether the calendar is that of the meeting's organizer.
pub fn is_organizers(row: &MeetingEventRow, meeting: &MeetingRow) -> bool {
    meeting.hosts.first() == Some(&row.connection_id)
}

/// Further input of the decision about a step.
#[derive(Clone, Copy, Debug)]
pub struct StepContext {
    /// All of the meeting's bookings are pending: it takes place only if a host confirms one.
    pub is_undecided: bool,
    /// An earlier attempt may have reached the provider.
    pub was_tried: bool,
}

/// Returns the next step; none: the calendar is up to date.
pub fn next(row: &MeetingEventRow, meeting: &MeetingRow, known: StepContext) -> Option<EventStep> {
    match (is_wanted(row, meeting), row.event_id.is_some()) {
        (true, false) => Some(EventStep::Create),
        (true, true) => {
            // An unconfirmed meeting does not advance the sequence (`note_written`).
            let is_behind = row.written_sequence < meeting.sequence && !known.is_undecided;
            let is_due = is_behind || row.status != "written";
            is_due.then_some(if is_anothers(row, meeting) { EventStep::Replace } else { EventStep::Update })
        }
        (false, true) => Some(EventStep::Delete),
        (false, false) if row.status == "deleted" => None,
        // It may exist: creating it again finds it, and then it can be deleted.
        (false, false) if known.was_tried => Some(EventStep::Create),
        (false, false) => Some(EventStep::Forget),
    }
}

/// Whether the event dates from before its host became the organizer: the UID changes with the organizer, and a provider that chooses the
/// UID of the organizer's event gives it to the meeting. Events of meetings with several seats have no guests.
fn is_anothers(row: &MeetingEventRow, meeting: &MeetingRow) -> bool {
    meeting.seats <= 1 && is_organizers(row, meeting) && row.i_cal_uid != meeting.i_cal_uid
}

/// Whether this event invites people: only the organizer's (RFC 5546, section 2.1), because another host's would invite the same people
/// again; only once a host has confirmed a booking; and not for several seats, because their invitees must not learn of each other.
// Contract silent: what reaches the invitee's calendar before the host has confirmed. Nothing, and no one is notified of a rejected
// booking.
pub fn invites(row: &MeetingEventRow, meeting: &MeetingRow, is_undecided: bool) -> bool {
    meeting.seats <= 1 && is_organizers(row, meeting) && !is_undecided
}

/// Whether an update has to invite people, because the event was created before a host had confirmed a booking.
pub fn is_uninvited(row: &MeetingEventRow) -> bool {
    row.written_sequence < 0
}

/// Returns whom the provider notifies of a step. `wants_to_be_told`: the event type has notifications to invitees on.
pub fn notify(step: EventStep, row: &MeetingEventRow, is_wanted: bool, wants_to_be_told: bool) -> Notify {
    let is_leftover = step == EventStep::Create && !is_wanted;
    let is_unheard = matches!(step, EventStep::Delete | EventStep::Replace) && is_uninvited(row);
    if !wants_to_be_told || is_leftover || is_unheard { Notify::None } else { Notify::All }
}

/// Records the meeting's sequence that the calendar has. `is_undecided`: no host has confirmed the meeting yet, and people who were not
/// invited are still not invited.
pub fn note_written(row: &mut MeetingEventRow, sequence: i64, is_undecided: bool) {
    if !is_undecided {
        row.written_sequence = sequence;
    }
}

/// Records that the event is gone. `is_as_wanted`: that was intended, and still is; otherwise it is created again if it is wanted, with a
/// new idempotency key and with this UID, if known. `now` is Unix ms.
pub fn note_absence(row: &mut MeetingEventRow, is_as_wanted: bool, i_cal_uid: Option<String>, now: i64) {
    row.event_id = None;
    if is_as_wanted || !row.is_wanted {
        (row.status, row.next_attempt_at) = ("deleted".to_owned(), None);
        return;
    }
    if let Some(uid) = i_cal_uid {
        row.i_cal_uid = uid;
    }
    row.created_at = now.max(row.created_at + 1);
    row.written_sequence = -1;
    row.status = "pending".to_owned();
}

#[cfg(test)]
mod tests {
    use base::tenant::Tenant;

    use super::*;

    fn tenant() -> Tenant {
        Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() }
    }

    fn meeting() -> MeetingRow {
        MeetingRow {
            id: "mtg_1".to_owned(),
            tenant: tenant(),
            event_type_id: "et_1".to_owned(),
            start_at: 0,
            end_at: 1_800_000,
            buffer_before_ms: 0,
            buffer_after_ms: 0,
            hosts: vec!["conn_1".to_owned(), "conn_2".to_owned()],
            seats: 1,
            seats_taken: 1,
            i_cal_uid: "new@example.org".to_owned(),
            sequence: 1,
            released_at: None,
            created_at: 0,
            updated_at: 0,
        }
    }

    /// An event that was written before the meeting was rescheduled.
    fn row(connection_id: &str, i_cal_uid: &str) -> MeetingEventRow {
        MeetingEventRow {
            meeting_id: "mtg_1".to_owned(),
            connection_id: connection_id.to_owned(),
            tenant: tenant(),
            calendar_id: "cal_1".to_owned(),
            event_id: Some("evt_1".to_owned()),
            i_cal_uid: i_cal_uid.to_owned(),
            is_wanted: true,
            status: "pending".to_owned(),
            written_sequence: 0,
            attempts: 0,
            error: None,
            next_attempt_at: Some(5),
            created_at: 0,
            updated_at: 0,
        }
    }

    const KNOWN: StepContext = StepContext { is_undecided: false, was_tried: false };

    #[test]
    fn who_becomes_the_organizer_gets_another_event() {
        let old = "old@example.org";
        assert_eq!(next(&row("conn_1", old), &meeting(), KNOWN), Some(EventStep::Replace));
        assert_eq!(next(&row("conn_1", "new@example.org"), &meeting(), KNOWN), Some(EventStep::Update));
        assert_eq!(
            next(&row("conn_2", old), &meeting(), KNOWN),
            Some(EventStep::Update),
            "not the organizer"
        );
        let class = MeetingRow { seats: 5, ..meeting() };
        assert_eq!(
            next(&row("conn_1", old), &class, KNOWN),
            Some(EventStep::Update),
            "its event has no guests"
        );
    }

    #[test]
    fn people_are_invited_when_the_host_has_confirmed() {
        let (uid, undecided) = ("new@example.org", StepContext { is_undecided: true, ..KNOWN });
        let mut event = MeetingEventRow { written_sequence: -1, ..row("conn_1", uid) };
        assert!(!invites(&event, &meeting(), true) && invites(&event, &meeting(), false));
        assert!(!invites(&row("conn_2", uid), &meeting(), false), "not the organizer");
        assert!(!invites(&event, &MeetingRow { seats: 5, ..meeting() }, false), "a class");
        event.status = "written".to_owned();
        note_written(&mut event, 1, true);
        assert!(is_uninvited(&event));
        assert_eq!(next(&event, &meeting(), undecided), None);
        assert_eq!(notify(EventStep::Delete, &event, false, true), Notify::None, "it is rejected");
        assert_eq!(next(&event, &meeting(), KNOWN), Some(EventStep::Update), "it is confirmed");
        note_written(&mut event, 1, false);
        assert!(!is_uninvited(&event));
        assert_eq!(notify(EventStep::Delete, &event, false, true), Notify::All);
        assert_eq!(notify(EventStep::Delete, &event, false, false), Notify::None);
        assert_eq!(
            notify(EventStep::Create, &event, false, true),
            Notify::None,
            "it is created to be deleted"
        );
        // The invitee has rescheduled it, and the host has not confirmed the new time.
        note_written(&mut event, 2, true);
        assert!(!is_uninvited(&event));
    }

    #[test]
    fn what_was_lost_is_made_anew_only_if_it_is_wanted() {
        let uid = || Some("new@example.org".to_owned());
        let mut cancelled = MeetingEventRow { is_wanted: false, ..row("conn_1", "old@example.org") };
        note_absence(&mut cancelled, false, uid(), 7);
        assert_eq!((cancelled.status.as_str(), cancelled.next_attempt_at), ("deleted", None));
        assert_eq!(next(&cancelled, &meeting(), KNOWN), None, "nothing is left to be done");

        let mut lost = row("conn_1", "old@example.org");
        note_absence(&mut lost, false, uid(), 7);
        assert_eq!((lost.status.as_str(), lost.created_at), ("pending", 7));
        assert_eq!(lost.i_cal_uid, "new@example.org");
        assert_eq!(next(&lost, &meeting(), KNOWN), Some(EventStep::Create));

        let mut deleted = row("conn_1", "old@example.org");
        note_absence(&mut deleted, true, uid(), 7);
        assert_eq!(deleted.status, "deleted");
    }
}
