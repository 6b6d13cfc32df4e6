//! A booking addressed by the invitee's token, and what its invitee may do with it.

use base::error::{Code, Error, Result};
use model::scheduling::booking::{Booking, BookingStatus, Party};
use model::scheduling::event_type::EventType;
use service::app::App;
use service::bookings::rules::MINUTE_MS;
use service::bookings::{host_decision, manage_token, policy, schedules, state};
use storage::scheduling::bookings::BookingRow;
use storage::scheduling::event_types;

/// A booking with its event type as it is now.
pub struct BookedEvent {
    /// The token in its addresses, see `manage_token`.
    pub token: String,
    pub row: BookingRow,
    pub body: Booking,
    /// None: the event type was deleted.
    pub event_type: Option<EventType>,
}

/// A booking addressed by a host's token, with the host who may decide on it.
pub struct BookedEventOfHost {
    /// The event type has the hours of the shared schedule that it names.
    pub booked: BookedEvent,
    pub connection_id: String,
}

impl BookedEventOfHost {
    /// The booking of a token; none if the token is not of this service, or the host's right has ended.
    pub async fn find(app: &App, token: &str) -> Result<Option<BookedEventOfHost>> {
        let Some(found) = host_decision::find(app, token).await? else { return Ok(None) };
        let mut booked = BookedEvent::load(app, token, found.row).await?;
        if let Some(event_type) = &mut booked.event_type {
            schedules::resolve(app.db.reader(), &booked.row.tenant, event_type).await?;
        }
        Ok(Some(BookedEventOfHost { booked, connection_id: found.connection_id }))
    }
}

/// An action of an invitee on a booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InviteeAction {
    Cancel,
    Move,
}

/// The reason why the invitee may not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedReason {
    /// The booking has ended.
    Ended,
    /// The host has not confirmed it.
    Unconfirmed,
    /// Invitees never may, or the event type cannot be booked at all.
    NotOffered,
    TooOften,
    TooLate,
}

impl BookedEvent {
    /// The booking of a token; none if the token is not of this service, or no longer valid.
    pub async fn find(app: &App, token: &str) -> Result<Option<BookedEvent>> {
        match manage_token::find(app, token).await? {
            Some(row) => Ok(Some(BookedEvent::load(app, token, row).await?)),
            None => Ok(None),
        }
    }

    /// The booking of a host's token; none if the token is not of this service, or no longer valid.
    pub async fn find_for_hosts(app: &App, token: &str) -> Result<Option<BookedEvent>> {
        match manage_token::find_for_hosts(app, token).await? {
            Some(row) => Ok(Some(BookedEvent::load(app, token, row).await?)),
            None => Ok(None),
        }
    }

    async fn load(app: &App, token: &str, row: BookingRow) -> Result<BookedEvent> {
        let stored = event_types::find(app.db.reader(), &row.tenant, &row.event_type_id).await?;
        let event_type = stored.map(|stored| serde_json::from_str(&stored.body)).transpose()?;
        let body = serde_json::from_str(&row.body)?;
        Ok(BookedEvent { token: token.to_owned(), row, body, event_type })
    }

    /// The event type's title, or the booking's copy of it if the event type was deleted.
    pub fn what(&self) -> &str {
        self.event_type.as_ref().map_or(self.body.title.as_str(), |event_type| event_type.title.as_str())
    }

    /// The reason that hosts, or a key of the API, gave for the booking's end.
    pub fn reason_of_hosts(&self) -> Option<&str> {
        let reason = match self.row.status.as_str() {
            "rejected" => self.body.rejection_reason.as_deref(),
            "cancelled" if self.body.cancelled_by != Some(Party::Invitee) => {
                self.body.cancellation_reason.as_deref()
            }
            _ => None,
        };
        reason.filter(|reason| !reason.trim().is_empty())
    }

    /// The deadline of an action of the invitee, Unix ms; none if it is the booking's start.
    pub fn deadline(&self, deed: InviteeAction) -> Option<i64> {
        let event_type = self.event_type.as_ref()?;
        let notice_minutes = match deed {
            InviteeAction::Cancel => event_type.cancellation.min_notice_minutes,
            InviteeAction::Move => event_type.reschedule.min_notice_minutes,
        };
        (notice_minutes > 0)
            .then(|| self.row.start_at.saturating_sub(notice_minutes.saturating_mul(MINUTE_MS)))
    }

    /// The reason why the invitee may not do this at `now`; none: they may. The rules are those of `cancel` and `reschedule`.
    pub fn refusal(&self, deed: InviteeAction, now: i64) -> Result<Option<RefusedReason>> {
        let status = state::parse_status(&self.row.status)?;
        match status {
            BookingStatus::Pending | BookingStatus::Confirmed => {}
            BookingStatus::Completed => return Ok(Some(RefusedReason::TooLate)),
            BookingStatus::Rejected | BookingStatus::Cancelled | BookingStatus::Expired => {
                return Ok(Some(RefusedReason::Ended));
            }
        }
        let start_at = self.row.start_at;
        match (deed, &self.event_type) {
            (InviteeAction::Cancel, event_type) => {
                let rules = event_type.as_ref().map(|e| e.cancellation.clone()).unwrap_or_default();
                why(policy::allows_cancelling(&rules, start_at, now), RefusedReason::TooLate)
            }
            (InviteeAction::Move, Some(event_type)) if event_type.active => {
                if state::allows_move(status, Party::Invitee).is_err() {
                    return Ok(Some(RefusedReason::Unconfirmed));
                }
                let (rules, count) = (&event_type.reschedule, self.body.reschedule_count);
                let is_too_often = count >= policy::most_moves(rules);
                let reason = if is_too_often { RefusedReason::TooOften } else { RefusedReason::TooLate };
                why(policy::allows_moving(rules, count, start_at, now), reason)
            }
            (InviteeAction::Move, _) => Ok(Some(RefusedReason::NotOffered)),
        }
    }
}

/// Maps a rule's result to a refusal; `otherwise` is the reason if it is no longer possible.
fn why(allowed: Result<()>, otherwise: RefusedReason) -> Result<Option<RefusedReason>> {
    match allowed {
        Ok(()) => Ok(None),
        Err(Error::Refused(refusal)) if refusal.code == Code::Forbidden => {
            Ok(Some(RefusedReason::NotOffered))
        }
        Err(Error::Refused(_)) => Ok(Some(otherwise)),
        Err(e) => Err(e),
    }
}
