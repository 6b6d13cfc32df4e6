//! The choice of events in the query strings of the event log and of the event stream.

use base::error::Result;
use model::{bounds, formats};
use schemars::JsonSchema;
use serde::Deserialize;
use service::webhooks::events::EventRequest;

/// The parameters by which the event log and the event stream choose events.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EventFilterQuery {
    /// Returns only events of these types, separated by commas: exact names such as `calendar.event.created`, families such as
    /// `calendar.*`, or `*`; at most 100. By default, all events are returned except types that must be named exactly, such as
    /// `connection.token_refreshed`.
    #[serde(rename = "type", default)]
    #[schemars(length(max = bounds::webhook::MAX_NAMED), inner(regex(pattern = r"^(\*|[a-z_]+(\.[a-z_]+)*(\.\*)?)$")))]
    kinds: Vec<String>,
    /// Returns only events of these connections, by their ids separated by commas; at most 100.
    #[serde(default)]
    #[schemars(with = "Vec<formats::Id>", length(max = bounds::webhook::MAX_NAMED))]
    connection_id: Vec<String>,
    /// Whether records that are found by the first scan of a collection are included.
    #[serde(default)]
    include_backfill: bool,
}

impl EventFilterQuery {
    /// The requested events.
    ///
    /// # Errors
    /// `invalid_parameter` for an unknown type, and for a list that is too long.
    pub fn into_request(self) -> Result<EventRequest> {
        EventRequest::new(self.kinds, self.connection_id, self.include_backfill)
    }
}
