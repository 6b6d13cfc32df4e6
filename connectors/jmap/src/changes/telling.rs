//! The form in which the messages of a page are reported.

use model::wire::Source;
use serde_json::Value;

use crate::client::Message;
use crate::message;
use crate::protocol::email;
use crate::query::Query;

/// The phrase that completes "the provider rejected ...".
pub(super) const DOING: &str = "reading what changed in the mailbox";

/// The form in which messages are reported: whole, or by name alone.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct ReportOptions {
    pub(super) names_only: bool,
    pub(super) limit: usize,
}

impl ReportOptions {
    pub(super) fn get(self) -> Value {
        if self.names_only { email::get(&email::NAME) } else { email::get(&email::SUMMARY) }
    }

    pub(super) fn source(self, message: Message) -> Source {
        if self.names_only { message::bare_source(message) } else { message::whole(message) }
    }

    pub(super) fn partial(self, message: Message) -> Source {
        if self.names_only { message::bare_source(message) } else { message::partial(message) }
    }

    pub(super) fn query(self) -> Query {
        Query { filter: None, limit: self.limit, get: self.get() }
    }
}
