//! Parameters and result of a list of events.

use base::error::{Code, Result, invalid};
use model::bounds::event::MAX_EXPANDED_DAYS;
use model::calendar::{Event, EventStatus};
use serde::{Deserialize, Serialize};

/// Longest range that is expanded.
pub(crate) const MAX_EXPAND_MS: i64 = MAX_EXPANDED_DAYS * 86_400_000;

/// Filters and options of a list of events. The serialized part is bound to the cursor.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EventQuery {
    pub calendar_id: String,
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub expand: bool,
    pub updated_after: Option<i64>,
    pub q: Option<String>,
    pub i_cal_uid: Option<String>,
    pub attendee: Option<String>,
    pub status: Option<EventStatus>,
    pub show_cancelled: bool,
    /// Whether provider data is returned too. Not part of the filter: a cursor is valid with or without it.
    #[serde(skip)]
    pub with_provider_data: bool,
}

/// A position in the list: after this start and id.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventListPosition {
    #[serde(rename = "s")]
    pub sort_at: i64,
    #[serde(rename = "i")]
    pub id: String,
}

/// A page of rendered events, and the position of the next page.
pub type EventPage = (Vec<String>, Option<EventListPosition>);

impl EventQuery {
    pub(crate) fn check(&self) -> Result<()> {
        if let (Some(start), Some(end)) = (self.start, self.end)
            && end <= start
        {
            return Err(invalid(Code::InvalidTimeRange, "end", "end must be after start"));
        }
        if !self.expand {
            return Ok(());
        }
        match (self.start, self.end) {
            (Some(start), Some(end)) if end - start <= MAX_EXPAND_MS => Ok(()),
            (Some(_), Some(_)) => Err(invalid(
                Code::RangeTooLarge,
                "end",
                "with expand=true the range may have at most 400 days",
            )),
            (None, _) => Err(invalid(Code::MissingField, "start", "start is required with expand=true")),
            (_, None) => Err(invalid(Code::MissingField, "end", "end is required with expand=true")),
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.q.is_none() && self.i_cal_uid.is_none() && self.attendee.is_none() && self.status.is_none()
    }

    /// Whether an event is listed.
    pub fn admits(&self, event: &Event) -> bool {
        let fits = match self.status {
            Some(status) => event.status == status,
            None => self.show_cancelled || event.status != EventStatus::Cancelled,
        };
        if !fits {
            return false;
        }
        let uid = self.i_cal_uid.as_ref().is_none_or(|u| event.i_cal_uid.as_ref() == Some(u));
        let attendee = self.attendee.as_ref().is_none_or(|email| is_attendee(event, email));
        uid && attendee && self.q.as_ref().is_none_or(|q| matches(event, q))
    }
}

/// Whether an address, normalized, is one of the event's attendees.
fn is_attendee(event: &Event, email: &str) -> bool {
    let folded = ::mail::address::folded(email);
    event.attendees.iter().any(|attendee| ::mail::address::folded(&attendee.email) == folded)
}

/// Whether each word of the query occurs in the event's texts.
pub(crate) fn matches(event: &Event, q: &str) -> bool {
    let mut text = String::new();
    for part in [&event.title, &event.description, &event.location].into_iter().flatten() {
        text.push_str(&part.to_lowercase());
        text.push('\n');
    }
    for attendee in &event.attendees {
        text.push_str(&attendee.email.to_lowercase());
        text.push_str(&attendee.name.as_deref().unwrap_or_default().to_lowercase());
    }
    q.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// Whether an event with this body is listed.
pub fn is_listed(query: &EventQuery, body: &str) -> serde_json::Result<bool> {
    if query.is_plain() && query.show_cancelled {
        return Ok(true);
    }
    // A cheap check before parsing: most events are confirmed and most lists have no filter.
    if query.is_plain() && !body.contains("\"status\":\"cancelled\"") {
        return Ok(true);
    }
    Ok(query.admits(&serde_json::from_str::<Event>(body)?))
}
