//! The selection of a replay: events with some ids, or those of a time range.

use base::error::{Code, Result, invalid};
use base::input::validate;
use model::Instant;
use model::bounds::webhook::MAX_REPLAYED;
use model::webhook::NewWebhookReplay;

use crate::webhooks::input;

/// A time range, Unix ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Inclusive.
    pub from: i64,
    /// Exclusive; `i64::MAX` if it has no end.
    pub to: i64,
}

impl Period {
    /// The range of a request; none without `from`.
    pub fn from_request(asked: &NewWebhookReplay) -> Option<Period> {
        let from = asked.from?.as_millis();
        Some(Period { from, to: asked.to.map_or(i64::MAX, Instant::as_millis) })
    }

    pub fn contains(self, at: i64) -> bool {
        (self.from..self.to).contains(&at)
    }
}

/// Checks everything that depends on the request alone. Returns the time range; none: the events are named by id.
pub fn check(asked: &NewWebhookReplay, now: i64) -> Result<Option<Period>> {
    if !asked.event_types.is_empty() {
        input::event_types(&asked.event_types)?;
    }
    if !asked.event_ids.is_empty() {
        check_ids(asked)?;
        return Ok(None);
    }
    let Some(period) = Period::from_request(asked) else { return Err(nothing(asked)) };
    if period.from >= period.to {
        return Err(invalid(Code::InvalidTimeRange, "to", "to must be after from"));
    }
    if period.from > now {
        let now = Instant::from_millis(now);
        let message = format!("from must not be in the future; it is {now} now");
        return Err(invalid(Code::InvalidTimeRange, "from", message));
    }
    Ok(Some(period))
}

fn check_ids(asked: &NewWebhookReplay) -> Result<()> {
    for (field, given) in [("from", asked.from), ("to", asked.to)] {
        if given.is_some() {
            let message = format!("{field} cannot be sent with eventIds: name events, or a range of time");
            return Err(invalid(Code::ConflictingFields, field, message));
        }
    }
    validate::length("eventIds", asked.event_ids.len(), MAX_REPLAYED)?;
    input::each_once("eventIds", &asked.event_ids)
}

/// The error for a request that selects nothing.
fn nothing(asked: &NewWebhookReplay) -> base::error::Error {
    let (field, message) = match asked.to {
        Some(_) => ("from", "from is required with to: the time of the first event that is sent again"),
        None => (
            "eventIds",
            "eventIds or from is required: the ids of 1 to 1,000 events, as in the webhook-id header, or the time of the first \
             event that is sent again",
        ),
    };
    invalid(Code::MissingField, field, message)
}
