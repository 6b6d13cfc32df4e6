//! Labels, and the combinations of them that Gmail refuses.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::mail::mailbox::Mailbox;
use crate::google::mail::{invalid, mailbox, not_found};
use crate::google::state::State;

/// The labels that every mailbox has.
const SYSTEM_LABELS: [&str; 14] = [
    "CHAT",
    "SENT",
    "INBOX",
    "IMPORTANT",
    "TRASH",
    "DRAFT",
    "SPAM",
    "CATEGORY_FORUMS",
    "CATEGORY_UPDATES",
    "CATEGORY_PERSONAL",
    "CATEGORY_PROMOTIONS",
    "CATEGORY_SOCIAL",
    "STARRED",
    "UNREAD",
];

/// The labels that a request neither puts on nor takes off.
const FIXED_LABELS: [&str; 3] = ["SENT", "DRAFT", "CHAT"];

/// A label.
#[derive(Clone, Debug)]
pub struct LabelRecord {
    pub name: String,
    pub is_system: bool,
    /// Members that a user sets, such as `color`.
    pub members: BTreeMap<String, Value>,
}

/// Labels that a change puts on and takes off.
pub struct LabelChange {
    pub add: Vec<String>,
    pub remove: Vec<String>,
}

/// The labels of a new mailbox, by id.
pub fn system_labels() -> BTreeMap<String, LabelRecord> {
    let record =
        |name: &str| LabelRecord { name: name.to_owned(), is_system: true, members: BTreeMap::new() };
    SYSTEM_LABELS.iter().map(|name| ((*name).to_owned(), record(name))).collect()
}

impl LabelChange {
    /// Reads the change that a request asks for.
    ///
    /// # Errors
    /// A label is unknown, fixed, or beside one with which it cannot be: 400.
    pub fn read(mailbox: &Mailbox, body: &Value) -> Result<LabelChange, ApiError> {
        let list = |name: &str| -> Vec<String> {
            body[name].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let change = LabelChange { add: list("addLabelIds"), remove: list("removeLabelIds") };
        if change.add.is_empty() && change.remove.is_empty() {
            return Err(invalid("No label add or removes specified"));
        }
        for labels in [&change.add, &change.remove] {
            if labels.len() > facts::number("mail_limits", "labels_per_change") {
                return Err(invalid("Too many labels"));
            }
            for label in labels {
                let is_fixed = FIXED_LABELS.contains(&label.as_str());
                if is_fixed || !mailbox.labels.contains_key(label) {
                    return Err(invalid(&format!("Invalid label: {label}")));
                }
            }
        }
        if change.add.iter().any(|label| change.remove.contains(label)) {
            return Err(invalid("Cannot both add and remove the same label"));
        }
        let adds = |label: &str| change.add.iter().any(|one| one == label);
        let places = [adds("INBOX"), adds("TRASH"), adds("SPAM")];
        if places.iter().filter(|is_added| **is_added).count() > 1 {
            return Err(invalid("Invalid label: INBOX, TRASH and SPAM exclude each other"));
        }
        Ok(change)
    }

    /// Applies the change to a message.
    pub fn apply(&self, mailbox: &mut Mailbox, id: &str) {
        let add: Vec<&str> = self.add.iter().map(String::as_str).collect();
        let remove: Vec<&str> = self.remove.iter().map(String::as_str).collect();
        mailbox.relabel(id, &add, &remove);
    }
}

fn label_value(id: &str, label: &LabelRecord) -> Value {
    let kind = if label.is_system { "system" } else { "user" };
    let mut value = json!({ "id": id, "name": label.name, "type": kind });
    for (name, member) in &label.members {
        value[name.as_str()] = member.clone();
    }
    value
}

/// `labels.list`
pub fn list(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let labels: Vec<Value> = mailbox.labels.iter().map(|(id, label)| label_value(id, label)).collect();
    Ok(Some(json!({ "labels": labels })))
}

/// `labels.get`
pub fn get(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let id = call.path("id");
    let mut value = label_value(id, mailbox.labels.get(id).ok_or_else(not_found)?);
    let with: Vec<_> = mailbox.messages.values().filter(|message| message.has_label(id)).collect();
    let unread = with.iter().filter(|message| message.has_label("UNREAD"));
    let threads = |unread_alone: bool| {
        let of_label = with.iter().filter(|message| !unread_alone || message.has_label("UNREAD"));
        of_label.map(|message| &message.thread_id).collect::<BTreeSet<_>>().len()
    };
    value["messagesTotal"] = with.len().into();
    value["messagesUnread"] = unread.count().into();
    value["threadsTotal"] = threads(false).into();
    value["threadsUnread"] = threads(true).into();
    Ok(Some(value))
}

/// `labels.create`
pub fn create(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let name = call.body["name"].as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| invalid("Invalid label name"))?;
    check_name(mailbox, name, None)?;
    let id = mailbox.add_label(name);
    change(mailbox, &id, &call.body)
}

/// `labels.patch` and `labels.update`
pub fn patch(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let id = call.path("id");
    let label = mailbox.labels.get(id).ok_or_else(not_found)?;
    if label.is_system {
        return Err(invalid("Invalid update request"));
    }
    if let Some(name) = call.body["name"].as_str() {
        check_name(mailbox, name, Some(id))?;
    }
    change(mailbox, id, &call.body)
}

/// `labels.delete`
pub fn delete(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let id = call.path("id");
    if mailbox.labels.get(id).ok_or_else(not_found)?.is_system {
        return Err(invalid("Invalid delete request"));
    }
    mailbox.remove_label(id);
    Ok(None)
}

fn check_name(mailbox: &Mailbox, name: &str, own: Option<&str>) -> Result<(), ApiError> {
    let mut others = mailbox.labels.iter().filter(|(id, _)| Some(id.as_str()) != own);
    match others.any(|(_, label)| label.name.eq_ignore_ascii_case(name)) {
        true => Err(ApiError::named(409, "aborted", "Label name exists or conflicts")),
        false => Ok(()),
    }
}

fn change(mailbox: &mut Mailbox, id: &str, body: &Value) -> MethodResult {
    let label = mailbox.labels.get_mut(id).ok_or_else(not_found)?;
    if let Some(name) = body["name"].as_str() {
        label.name = name.to_owned();
    }
    for name in ["color", "labelListVisibility", "messageListVisibility"] {
        if !body[name].is_null() {
            label.members.insert(name.to_owned(), body[name].clone());
        }
    }
    Ok(Some(label_value(id, label)))
}

impl Mailbox {
    /// Adds a label of the user's; its id. Labels change without a record in the history.
    pub fn add_label(&mut self, name: &str) -> String {
        let id = format!("Label_{}", self.number());
        let label = LabelRecord { name: name.to_owned(), is_system: false, members: BTreeMap::new() };
        self.labels.insert(id.clone(), label);
        id
    }

    /// Removes a label of the user's, from messages too.
    pub fn remove_label(&mut self, id: &str) {
        self.labels.remove(id);
        self.messages.values_mut().for_each(|message| {
            message.labels.remove(id);
        });
    }
}
