//! The position up to which the changes of a mailbox are reported. The host keeps it as text and sends it back.

use connector_sdk::{Outcome, rest};
use serde::{Deserialize, Serialize};

/// The version of the cursors.
const VERSION: &str = "m1";
/// Messages that are waited for at once.
const MAX_WAITING: usize = 100;
/// Deltas with which a message that was not there is looked for again, at least.
const MAX_TRIES: u8 = 3;
/// Time for which it is looked for at least, ms: deltas can follow each other at once.
const MIN_WAIT_MS: i64 = 60_000;

/// A position in the initial sync, in the changes after it, or in both: changes are reported during the initial sync as well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailCursor {
    /// The history id up to which changes are reported.
    #[serde(rename = "h")]
    pub history: u64,
    /// The next page of the history since then.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The rest of the initial sync; none after it.
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub listing: Option<Listing>,
    /// Messages that the history named and that are still to be read.
    #[serde(rename = "n", default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Messages to report as deleted once those are read: a new version of a draft has to come with the end of the old one.
    #[serde(rename = "g", default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// Messages that were named and could not be found.
    #[serde(rename = "w", default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingMessage>,
    /// Ids of the labels that were reported.
    #[serde(rename = "l", default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// A hash of the labels as last reported.
    #[serde(rename = "d", default, skip_serializing_if = "String::is_empty")]
    pub label_digest: String,
    /// The end of the last initial sync, milliseconds since 1970.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub full_at: Option<i64>,
    /// The last look for new messages without the history, which was lost, milliseconds since 1970.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub looked_at: Option<i64>,
    /// The history was lost during the initial sync, which continues without it.
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_history_lost: bool,
}

/// The rest of the initial sync.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// The token of the next page, empty for the first one; none where the last page is listed.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Messages of the listed page that are still to be read, newest first.
    #[serde(rename = "i", default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// The oldest message of all pages before, milliseconds since 1970.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<i64>,
    /// The oldest message of the listed page so far.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub low: Option<i64>,
    /// Messages came in another order than from new to old: how far back the initial sync is complete is unknown.
    #[serde(rename = "u", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unordered: bool,
}

/// A message that was named before it could be read: Gmail reports some a few seconds early.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitingMessage {
    #[serde(rename = "i")]
    pub id: String,
    #[serde(rename = "n", default)]
    pub tries: u8,
    /// When it was not found first, milliseconds since 1970.
    #[serde(rename = "s", default)]
    pub since: i64,
}

impl MailCursor {
    /// The cursor at the beginning of an initial sync.
    pub fn begin(history: u64) -> MailCursor {
        let listing = Listing { next: Some(String::new()), ..Listing::default() };
        MailCursor { history, listing: Some(listing), ..MailCursor::default() }
    }

    /// The cursor that was written as this text. Fails with `cursor-expired` for all else.
    pub fn read(text: &str) -> Outcome<MailCursor> {
        rest::cursor::read(VERSION, text)
    }

    pub fn write(&self) -> Outcome<String> {
        rest::cursor::write(VERSION, self)
    }

    /// Whether there are messages or deletions that are known and not reported.
    pub fn has_pending(&self) -> bool {
        !self.added.is_empty() || !self.gone.is_empty()
    }

    /// Notes that a message was not found. One that is waited for is given up after some tries and some time.
    pub fn note_not_found(&mut self, id: &str, now_ms: i64) {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.id == id) {
            waiting.tries = waiting.tries.saturating_add(1);
        } else {
            if self.waiting.len() >= MAX_WAITING {
                self.waiting.remove(0);
            }
            self.waiting.push(WaitingMessage { id: id.to_owned(), tries: 0, since: now_ms });
        }
        let is_early = |since: i64| now_ms.saturating_sub(since) < MIN_WAIT_MS;
        self.waiting.retain(|waiting| waiting.tries < MAX_TRIES || is_early(waiting.since));
    }

    /// Forgets a message that was waited for: it is there, or it is gone.
    pub fn settle(&mut self, id: &str) {
        self.waiting.retain(|waiting| waiting.id != id);
    }
}

impl Listing {
    /// Notes when a message of the listed page came, in the order of the page. `before`: the message before it of those that were read with it.
    pub fn note_time(&mut self, at_ms: i64, before: Option<i64>) {
        let is_later = |other: Option<i64>| other.is_some_and(|other| at_ms > other);
        self.is_unordered |= is_later(before) || is_later(self.floor);
        self.low = Some(self.low.map_or(at_ms, |low| low.min(at_ms)));
    }

    /// Ends the listed page, all of whose messages are read. Returns the time since which all messages are reported, Unix milliseconds.
    pub fn end_page(&mut self) -> Option<i64> {
        self.floor = self.low.take().or(self.floor);
        match (&self.next, self.floor) {
            (None, _) => Some(0),
            // More messages of the same millisecond may follow.
            (Some(_), Some(floor)) if !self.is_unordered => Some(floor.saturating_add(1)),
            _ => None,
        }
    }

    /// Whether all messages are reported.
    pub fn is_over(&self) -> bool {
        self.next.is_none() && self.ids.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use connector_sdk::code;

    use super::*;

    #[test]
    fn a_cursor_is_short() {
        let cursor = MailCursor::begin(912);
        assert_eq!(cursor.write().unwrap(), r#"m1;{"h":912,"f":{"t":""}}"#);
        assert_eq!(MailCursor::read(&cursor.write().unwrap()).unwrap(), cursor);
        for text in ["", "g1;{\"h\":1}", "m1;{}", "m1;{\"h\":1,\"later\":2}", "m1;{\"h\":\"1\"}"] {
            assert_eq!(MailCursor::read(text).unwrap_err().code, code::CURSOR_EXPIRED, "{text}");
        }
    }

    #[test]
    fn a_message_is_waited_for_three_times_and_a_minute() {
        let mut cursor = MailCursor::default();
        for at in [0, 60_000, 120_000] {
            cursor.note_not_found("late", at);
            assert_eq!(cursor.waiting.len(), 1);
        }
        cursor.note_not_found("late", 180_000);
        assert!(cursor.waiting.is_empty());
        for at in 0..50 {
            cursor.note_not_found("late", at);
            assert_eq!(cursor.waiting.len(), 1, "deltas at once");
        }
        cursor.settle("late");
        for number in 0..150 {
            cursor.note_not_found(&number.to_string(), 0);
        }
        assert_eq!((cursor.waiting.len(), cursor.waiting[0].id.as_str()), (100, "50"));
        cursor.settle("50");
        assert_eq!(cursor.waiting.len(), 99);
    }

    #[test]
    fn coverage_is_told_while_times_fall() {
        let mut listing = Listing { next: Some("p".into()), ..Listing::default() };
        let page = |listing: &mut Listing, times: &[i64]| {
            let mut before = None;
            for at in times {
                listing.note_time(*at, before);
                before = Some(*at);
            }
            listing.end_page()
        };
        assert_eq!(page(&mut listing, &[90, 80, 80]), Some(81));
        assert_eq!(page(&mut listing, &[]), Some(81));
        assert_eq!(page(&mut listing, &[80, 70]), Some(71));
        // From here on it is unknown.
        assert_eq!(page(&mut listing, &[75, 60]), None);
        assert_eq!(page(&mut listing, &[50]), None);
        listing.next = None;
        assert_eq!(page(&mut listing, &[40]), Some(0));
        let mut mixed = Listing { next: Some("p".into()), ..Listing::default() };
        assert_eq!(page(&mut mixed, &[80, 90]), None);
    }
}
