//! An event as far as it decides who is told of it.

use storage::log::{Entry, Light};

/// The beginnings of the kinds whose resources name several connections.
const OF_SEVERAL: [&str; 2] = ["booking.", "event_type."];

/// The fields of an event that filters look at.
#[derive(Clone, Copy, Debug)]
pub struct EventHead<'a> {
    /// `calendar.event.created`.
    pub kind: &'a str,
    /// The connection that it is of.
    pub connection_id: Option<&'a str>,
    /// All connections that its resource names, where there can be several: a booking's, an event type's. None: the one above.
    pub account_ids: Option<&'a [String]>,
    /// The party that made the change: `provider`, `api`, `system` or `backfill`.
    pub origin: &'a str,
    /// The id of the resource.
    pub resource_id: &'a str,
}

impl EventHead<'_> {
    /// Whether it is of no other connections than those for which `is_own` holds. It tells the whole resource, so that a single other one that
    /// is named there keeps it from whoever is bound to connections. What is of no connection is nobody's own.
    pub fn is_within(&self, is_own: impl Fn(&str) -> bool) -> bool {
        match self.account_ids {
            Some(ids) => !ids.is_empty() && ids.iter().all(|id| is_own(id)),
            // A booking that was logged before its accounts were noted may name any.
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
