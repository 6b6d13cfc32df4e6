//! The fields of an event that decide which subscriptions get it.

use storage::log::{Entry, Light};

/// Prefixes of the kinds whose resources name several connections.
const OF_SEVERAL: [&str; 2] = ["booking.", "event_type."];

/// The fields of an event that filters read.
#[derive(Clone, Copy, Debug)]
pub struct EventHead<'a> {
    /// For example `calendar.event.created`.
    pub kind: &'a str,
    /// The connection of the event's resource.
    pub connection_id: Option<&'a str>,
    /// All connections that the resource names, for kinds with several: bookings and event types. None: only `connection_id`.
    pub account_ids: Option<&'a [String]>,
    /// The party that made the change: `provider`, `api`, `system` or `backfill`.
    pub origin: &'a str,
    /// The id of the resource.
    pub resource_id: &'a str,
}

impl EventHead<'_> {
    /// Whether `is_own` holds for every connection of the event. The event contains the whole resource, so one other connection in it
    /// excludes keys that are bound to connections. False for an event without a connection.
    pub fn is_within(&self, is_own: impl Fn(&str) -> bool) -> bool {
        match self.account_ids {
            Some(ids) => !ids.is_empty() && ids.iter().all(|id| is_own(id)),
            // A booking logged before its accounts were recorded may name any.
            None if OF_SEVERAL.iter().any(|start| self.kind.starts_with(start)) => false,
            None => self.connection_id.is_some_and(is_own),
        }
    }
}

impl<'a> From<&'a Light> for EventHead<'a> {
    fn from(line: &'a Light) -> EventHead<'a> {
        EventHead {
            kind: &line.entry_type,
            connection_id: line.connection_id.as_deref(),
            account_ids: line.account_ids.as_deref(),
            origin: &line.origin,
            resource_id: &line.resource_id,
        }
    }
}

impl<'a> From<&'a Entry> for EventHead<'a> {
    fn from(entry: &'a Entry) -> EventHead<'a> {
        EventHead {
            kind: &entry.entry_type,
            connection_id: entry.connection_id.as_deref(),
            account_ids: entry.account_ids.as_deref(),
            origin: &entry.origin,
            resource_id: &entry.resource_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_within(kind: &str, connection_id: Option<&str>, account_ids: Option<&[&str]>) -> bool {
        let account_ids: Option<Vec<String>> =
            account_ids.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
        let head = EventHead {
            kind,
            connection_id,
            account_ids: account_ids.as_deref(),
            origin: "api",
            resource_id: "x",
        };
        head.is_within(|id| ["conn_1", "conn_2"].contains(&id))
    }

    #[test]
    fn an_event_is_of_all_accounts_that_it_names() {
        assert!(is_within("task.created", Some("conn_1"), None));
        assert!(
            !is_within("task.created", Some("conn_3"), None) && !is_within("webhook.disabled", None, None)
        );
        let booked = |ids: &[&str]| is_within("booking.created", Some("conn_1"), Some(ids));
        assert!(booked(&["conn_1"]) && booked(&["conn_1", "conn_2"]));
        assert!(!booked(&["conn_1", "conn_3"]) && !booked(&[]));
        assert!(is_within("event_type.created", None, Some(&["conn_2"])));
        assert!(!is_within("booking.created", Some("conn_1"), None), "it is not known whom it names");
    }
}
