//! The history of a mailbox: records in the forms in which Google was recorded to answer them.

use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::facts;
use crate::google::mail::{invalid, mailbox, not_found};
use crate::google::state::State;
use crate::google::tokens::PageToken;

/// A record of the history.
#[derive(Clone, Debug)]
pub struct HistoryRecord {
    pub id: u64,
    pub message_id: String,
    pub thread_id: String,
    /// The labels of the message after the change.
    pub labels: Vec<String>,
    pub change: MailChange,
}

/// The change that a record tells of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailChange {
    /// None: the record names its message alone.
    Bare,
    Added,
    Deleted,
    LabelsAdded(Vec<String>),
    LabelsRemoved(Vec<String>),
}

impl HistoryRecord {
    fn kind(&self) -> Option<&'static str> {
        match self.change {
            MailChange::Bare => None,
            MailChange::Added => Some("messageAdded"),
            MailChange::Deleted => Some("messageDeleted"),
            MailChange::LabelsAdded(_) => Some("labelAdded"),
            MailChange::LabelsRemoved(_) => Some("labelRemoved"),
        }
    }

    fn value(&self) -> Value {
        let short = json!({ "id": self.message_id, "threadId": self.thread_id });
        let mut message = short.clone();
        message["labelIds"] = json!(self.labels);
        let mut value = json!({ "id": self.id.to_string(), "messages": [short] });
        match &self.change {
            MailChange::Bare => {}
            MailChange::Added => value["messagesAdded"] = json!([{ "message": message }]),
            MailChange::Deleted => value["messagesDeleted"] = json!([{ "message": message }]),
            MailChange::LabelsAdded(labels) => {
                value["labelsAdded"] = json!([{ "message": message, "labelIds": labels }]);
            }
            MailChange::LabelsRemoved(labels) => {
                value["labelsRemoved"] = json!([{ "message": message, "labelIds": labels }]);
            }
        }
        value
    }
}

/// `history.list`
pub fn list(state: &mut State, call: &Call) -> MethodResult {
    let start = call.parameter("startHistoryId").and_then(|text| text.parse::<u64>().ok());
    let start = start.ok_or_else(|| invalid("Missing or invalid startHistoryId"))?;
    let is_forgotten = state.traps.fires("history_404");
    let is_empty = state.traps.fires("history_empty_page");
    let mailbox = mailbox(state, call)?;
    let label = call.parameter("labelId");
    let lacks_label = label.is_some_and(|label| !mailbox.labels.contains_key(label));
    if is_forgotten || start < mailbox.history_floor || lacks_label {
        return Err(not_found());
    }
    let after =
        call.parameter("pageToken").map(PageToken::parse).transpose()?.map_or(start, |page| page.after);
    let upper = mailbox.history_id;
    let next = |after: u64| PageToken { upper, after, is_empty: false }.to_text();
    let mut body = json!({ "historyId": upper.to_string() });
    if is_empty {
        body["nextPageToken"] = next(after).into();
        return Ok(Some(body));
    }
    let kinds: Vec<&str> =
        call.query.iter().filter(|(name, _)| name == "historyTypes").map(|(_, kind)| kind.as_str()).collect();
    let found: Vec<&HistoryRecord> = mailbox
        .history
        .iter()
        .filter(|record| record.id > after)
        .filter(|record| kinds.is_empty() || record.kind().is_some_and(|kind| kinds.contains(&kind)))
        .filter(|record| label.is_none_or(|label| record.labels.iter().any(|one| one == label)))
        .collect();
    let size = call
        .page_size(facts::number("mail_pages", "history_usual"), facts::number("mail_pages", "history_most"));
    let page = found.get(..size.min(found.len())).unwrap_or_default();
    if let Some(last) = page.last().filter(|_| found.len() > page.len()) {
        body["nextPageToken"] = next(last.id).into();
    }
    if !page.is_empty() {
        body["history"] = page.iter().map(|record| record.value()).collect();
    }
    Ok(Some(body))
}
