//! The history of a mailbox: its records, combined to one change per message.

use std::collections::HashMap;

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome, code};
use serde_json::value::RawValue;

use crate::failures;
use crate::fields;
use crate::mail::cursor::MailCursor;
use crate::mail::labels::{DRAFT, LabelState};
use crate::mail::native::{HistoryNames, HistoryRecord, Message};
use crate::mail::roots;

/// The number of records in a page, Gmail's maximum.
const PAGE_SIZE: &str = "500";
/// The number of records in a page during the initial sync, in which the host reads unknown messages in full.
const FIRST_PAGE_SIZE: &str = "100";
/// The numbers of records to try after a page that was too long, because a record can name many messages.
const SHORTER_PAGE_SIZES: [&str; 2] = ["25", "1"];
/// The maximum size of a page in bytes. The report on its messages is larger.
const MAX_PAGE_BYTES: usize = 2 << 20;

/// The changes of a page of records, one per message.
#[derive(Debug, Default, PartialEq)]
pub struct HistoryDelta {
    /// The messages to read: new ones, and those whose records are incomplete. Drafts come last.
    pub added: Vec<String>,
    pub relabelled: Vec<LabelledMessage>,
    pub deleted: Vec<String>,
}

/// A known message with its current labels.
#[derive(Debug, PartialEq)]
pub struct LabelledMessage {
    pub id: String,
    /// The id of the record, which becomes the message's version.
    pub etag: Option<String>,
    pub labels: Vec<String>,
}

/// The last change of a message.
enum MessageChange {
    Added { is_draft: bool },
    Relabelled { etag: Option<String>, labels: Vec<String> },
    Deleted,
}

/// Returns the request for the cursor's page of the history. It is never limited to a label, because Gmail answers 404 for a deleted label.
pub fn request(cursor: &MailCursor) -> Outcome<Request> {
    sized_request(cursor, if cursor.listing.is_some() { FIRST_PAGE_SIZE } else { PAGE_SIZE })
}

/// Requests a page with fewer records if this one is too long; otherwise returns it.
pub fn shorten(context: &Context, cursor: &MailCursor, response: Response) -> Outcome<Response> {
    let mut response = response;
    for size in SHORTER_PAGE_SIZES {
        if !response.truncated && response.body.len() <= MAX_PAGE_BYTES {
            break;
        }
        response = context.send(sized_request(cursor, size)?)?;
    }
    Ok(response)
}

fn sized_request(cursor: &MailCursor, size: &str) -> Outcome<Request> {
    let start = cursor.history.to_string();
    let mut query =
        vec![("startHistoryId", start.as_str()), ("maxResults", size), ("fields", fields::HISTORY)];
    query.extend(cursor.page.as_deref().map(|page| ("pageToken", page)));
    Ok(Request::get(roots::mailbox(&["history"], &query)?).units(roots::HISTORY_UNITS))
}

/// Whether the provider no longer knows the history since the cursor.
pub fn is_lost(failure: &Failure) -> bool {
    // A 404 of a front end has no reason.
    let is_of_cursor =
        failure.code == code::INVALID && failure.http_status == Some(400) && failure.detail.is_some();
    is_of_cursor || failures::is_gone(failure)
}

/// Combines the records of a page, oldest first. Of several changes of a message the last one counts.
pub fn fold(records: &[Box<RawValue>]) -> HistoryDelta {
    let mut folded = FoldedHistory::default();
    for record in records {
        match serde_json::from_str::<HistoryRecord>(record.get()) {
            Ok(record) => folded.take(&record),
            // The messages of a malformed record are read one by one.
            Err(_) => {
                let names: HistoryNames = serde_json::from_str(record.get()).unwrap_or_default();
                for message in &names.messages {
                    folded.add(message);
                }
            }
        }
    }
    folded.into_delta()
}

#[derive(Default)]
struct FoldedHistory {
    /// The changes, in the order in which the messages first occur.
    changes: Vec<(String, MessageChange)>,
    places: HashMap<String, usize>,
}

impl FoldedHistory {
    fn take(&mut self, record: &HistoryRecord) {
        for change in &record.messages_added {
            self.add(&change.message);
        }
        for change in record.labels_added.iter().chain(&record.labels_removed) {
            self.relabel(&change.message, record.id.as_deref());
        }
        for change in &record.messages_deleted {
            self.set_change(&change.message.id, MessageChange::Deleted);
        }
    }

    fn add(&mut self, message: &Message) {
        // Chats and the like are never reported.
        if LabelState::from_labels(message.labels()).is_some() {
            self.set_change(&message.id, MessageChange::Added { is_draft: message.has_label(DRAFT) });
        }
    }

    fn relabel(&mut self, message: &Message, etag: Option<&str>) {
        match (self.change_of(&message.id), &message.label_ids) {
            // The message is read in its current state.
            (Some(MessageChange::Added { is_draft }), _) => *is_draft |= message.has_label(DRAFT),
            (Some(MessageChange::Deleted), _) => {}
            (_, Some(labels)) => {
                let etag = etag.map(str::to_owned);
                self.set_change(&message.id, MessageChange::Relabelled { etag, labels: labels.clone() });
            }
            // No labels, or unreported ones: the message is read to find out.
            (_, None) => self.set_change(&message.id, MessageChange::Added { is_draft: false }),
        }
    }

    fn change_of(&mut self, id: &str) -> Option<&mut MessageChange> {
        let place = *self.places.get(id)?;
        self.changes.get_mut(place).map(|(_, change)| change)
    }

    fn set_change(&mut self, id: &str, change: MessageChange) {
        if id.is_empty() {
            return;
        }
        match self.change_of(id) {
            Some(known) => *known = change,
            None => {
                self.places.insert(id.to_owned(), self.changes.len());
                self.changes.push((id.to_owned(), change));
            }
        }
    }

    fn into_delta(self) -> HistoryDelta {
        let mut delta = HistoryDelta::default();
        let mut drafts = Vec::new();
        for (id, change) in self.changes {
            match change {
                MessageChange::Added { is_draft: true } => drafts.push(id),
                MessageChange::Added { is_draft: false } => delta.added.push(id),
                MessageChange::Relabelled { etag, labels } => {
                    delta.relabelled.push(LabelledMessage { id, etag, labels });
                }
                MessageChange::Deleted => delta.deleted.push(id),
            }
        }
        delta.added.append(&mut drafts);
        delta
    }
}

#[cfg(test)]
mod tests {
    use connector_sdk::testing::{Recorded, response};
    use model::wire::Connection;
    use serde_json::{Value, json};

    use super::*;

    fn folded(records: &[Value]) -> HistoryDelta {
        let raw = |record: &Value| serde_json::value::to_raw_value(record).unwrap();
        fold(&records.iter().map(raw).collect::<Vec<_>>())
    }

    fn message(id: &str, labels: &[&str]) -> Value {
        json!([{ "message": { "id": id, "threadId": id, "labelIds": labels } }])
    }

    #[test]
    fn the_last_change_of_a_message_counts() {
        let delta = folded(&[
            json!({ "id": "1", "messages": [{ "id": "x", "threadId": "x" }] }),
            json!({ "id": "2", "labelsAdded": message("a", &["INBOX", "TRASH"]) }),
            json!({ "id": "3", "labelsRemoved": message("a", &["TRASH"]) }),
            json!({ "id": "4", "messagesAdded": message("b", &["INBOX", "UNREAD"]) }),
            json!({ "id": "5", "labelsRemoved": message("b", &["INBOX"]) }),
            json!({ "id": "6", "messagesAdded": message("c", &["INBOX"]) }),
            json!({ "id": "7", "messagesDeleted": message("c", &[]) }),
            json!({ "id": "8", "labelsAdded": message("d", &["STARRED"]) }),
            json!({ "id": "9", "messagesDeleted": message("d", &[]) }),
        ]);
        assert_eq!(delta.added, ["b"]);
        let expected =
            LabelledMessage { id: "a".into(), etag: Some("3".into()), labels: vec!["TRASH".into()] };
        assert_eq!(delta.relabelled, [expected]);
        // Includes messages that were added and deleted in this page, because another page may have reported them.
        assert_eq!(delta.deleted, ["c", "d"]);
    }

    #[test]
    fn drafts_come_last() {
        let delta = folded(&[
            json!({ "id": "1", "messagesDeleted": message("old", &["DRAFT"]), "messagesAdded": message("new", &["DRAFT"]) }),
            json!({ "id": "2", "messagesAdded": message("mail", &["INBOX"]) }),
        ]);
        assert_eq!(
            (delta.added, delta.deleted),
            (vec!["mail".to_owned(), "new".to_owned()], vec!["old".to_owned()])
        );
    }

    /// For an archived and read message without labels, Gmail omits the list.
    #[test]
    fn a_message_without_labels_in_its_record_is_read() {
        let change = json!([{ "message": { "id": "a", "threadId": "a" }, "labelIds": ["INBOX"] }]);
        assert_eq!(folded(&[json!({ "id": "1", "labelsRemoved": change })]).added, ["a"]);
    }

    /// A record can name so many messages that a page does not fit an answer.
    #[test]
    fn a_page_that_is_too_long_is_asked_for_with_fewer_records() {
        let host = Recorded::answering(|request| {
            let truncated = !request.url.contains("maxResults=1&");
            Ok(Response { truncated, ..response(200, &[], "{}") })
        });
        let context = Context::new(&host, Connection::default());
        let page = |truncated| Response { truncated, ..response(200, &[], "{}") };
        let cursor = MailCursor::default();
        assert!(!shorten(&context, &cursor, page(true)).unwrap().truncated);
        assert_eq!(host.requests.borrow().len(), 2);
        assert!(!shorten(&context, &cursor, page(false)).unwrap().truncated);
        assert_eq!(host.requests.borrow().len(), 2, "one that has an end is not asked for again");
    }

    #[test]
    fn a_record_that_cannot_be_read_has_its_messages_read() {
        let delta = folded(&[
            json!({ "id": "1", "labelsAdded": 7, "messages": [{ "id": "a" }, { "id": "b" }] }),
            json!({ "id": "2", "messages": "x", "labelsAdded": 7 }),
            json!(7),
            json!({ "id": "3", "messagesAdded": message("c", &["CHAT"]) }),
            json!({ "id": "4", "messagesAdded": message("", &[]) }),
        ]);
        assert_eq!(delta, HistoryDelta { added: vec!["a".into(), "b".into()], ..HistoryDelta::default() });
    }
}
