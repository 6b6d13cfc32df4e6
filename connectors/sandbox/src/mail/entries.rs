//! Converts entries of the mailbox (folders, labels and messages) to sources.

use connector_sdk::{Failure, Outcome};
use model::email::EmailMessage;
use model::email::folders::{Folder, Label};
use model::wire::{Item, ItemError, Source};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use crate::items::{bare_source, members, parsed, resource, survive, text};

/// The types of entries. Those of folders and labels are also the kinds of their items.
const FOLDER: &str = "email_folder";
const LABEL: &str = "email_label";
const MESSAGE: &str = "email_message";

/// The members of a message that can change.
const CHANGEABLE: [&str; 9] = [
    "unread",
    "starred",
    "answered",
    "forwarded",
    "draft",
    "keywords",
    "importance",
    "folderIds",
    "labelIds",
];

/// The form in which a known message is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportForm {
    Whole,
    /// Only the changeable members, unless the message is new.
    Short,
    /// Only the id.
    Named,
}

/// The members of an entry beside those of its resource.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EntryMembers {
    id: String,
    etag: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    /// Whether the message was added after the token of the request; only in answers with changes.
    new: bool,
    previous_id: Option<String>,
    web_link: Option<String>,
}

/// Converts an entry of a list. A malformed entry becomes an error of its source, so that it does not stop the others.
pub fn listed_source(record: &RawValue, form: ReportForm) -> Source {
    let bare = bare_source(record);
    if form == ReportForm::Named || bare.deleted {
        return bare;
    }
    source(record, form).unwrap_or_else(|failure| {
        let error = Some(ItemError { code: "unreadable".to_owned(), message: failure.message });
        Source { error, ..bare }
    })
}

/// Converts an entry. Fails if it cannot be parsed, and panics if its name asks for it.
pub fn source(record: &RawValue, form: ReportForm) -> Outcome<Source> {
    let entry: EntryMembers = parsed(record, "mail")?;
    match entry.kind.as_str() {
        FOLDER => container(record, FOLDER, |folder: &Folder| Some(&folder.name)),
        LABEL => container(record, LABEL, |label: &Label| Some(&label.name)),
        MESSAGE => {
            let is_short = form == ReportForm::Short && !entry.new;
            message(record, entry, is_short)
        }
        _ => Err(Failure::unavailable("the provider's mail cannot be read")),
    }
}

/// Converts a folder or a label.
fn container<B: Serialize + DeserializeOwned>(
    record: &RawValue,
    kind: &str,
    name: fn(&B) -> Option<&str>,
) -> Outcome<Source> {
    let mut source = resource(record, "mail", Some(kind), name)?;
    source.items.iter_mut().for_each(|item| item.provider_data = None);
    Ok(source)
}

fn message(record: &RawValue, entry: EntryMembers, is_short: bool) -> Outcome<Source> {
    let message: EmailMessage = parsed(record, "mail")?;
    survive("message", &entry.id, message.subject.as_deref());
    let body = match is_short {
        true => {
            let mut changeable = members(&message, None);
            changeable.retain(|name, _| CHANGEABLE.contains(&name.as_str()));
            text(&changeable)?
        }
        false => text(&message)?,
    };
    let link = entry.web_link.filter(|_| !is_short);
    let item = Item {
        external_id: entry.id.clone(),
        body,
        provider_data: link.map(|link| json!({ "webLink": link })),
        partial: is_short,
        // The content of an id never changes, because a new version of a draft is another message.
        fingerprint: Some(entry.id.clone()),
        ..Item::default()
    };
    Ok(Source {
        external_id: entry.id,
        etag: entry.etag,
        items: vec![item],
        previous_id: entry.previous_id.filter(|_| !is_short),
        ..Source::default()
    })
}
