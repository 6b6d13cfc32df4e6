//! Gmail's JSON, the members that are read.

use serde::Deserialize;
use serde_json::value::RawValue;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$attr])* pub $field: $kind,)+ }
    };
}

object! {
    /// The mailbox (`Profile`).
    MailProfile {
        email_address: Option<String>,
        /// A uint64 in text.
        history_id: Option<String>,
    }
}

object! {
    /// A message (`Message`): all of it, or its name alone. In which form it is read decides which members are there.
    Message {
        id: String,
        thread_id: Option<String>,
        /// Absent where the message has no labels, and where they were not asked for.
        label_ids: Option<Vec<String>>,
        /// HTML-escaped.
        snippet: String,
        /// A uint64 in text.
        history_id: Option<String>,
        /// Milliseconds since 1970, in text.
        internal_date: Option<String>,
        size_estimate: i64,
        payload: Option<MessagePart>,
    }
}

impl Message {
    /// The labels' ids; empty where there are none.
    pub fn labels(&self) -> &[String] {
        self.label_ids.as_deref().unwrap_or_default()
    }

    pub fn has_label(&self, label: &str) -> bool {
        self.labels().iter().any(|id| id == label)
    }

    /// The internal date in milliseconds since 1970.
    pub fn received_ms(&self) -> Option<i64> {
        self.internal_date.as_deref().and_then(|text| text.parse().ok())
    }
}

object! {
    /// A part of a message (`MessagePart`), the message itself as the outermost one.
    MessagePart {
        /// Stays the same for as long as the message is there; the outermost part's is empty.
        part_id: String,
        mime_type: String,
        /// Empty where the part is no file.
        filename: String,
        headers: Vec<PartHeader>,
        body: PartBody,
        parts: Vec<MessagePart>,
    }
}

impl MessagePart {
    /// The value of the first header field of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let field = self.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        field.map(|field| field.value.as_str())
    }
}

object! {
    /// A header field (`MessagePartHeader`), decoded.
    PartHeader {
        name: String,
        value: String,
    }
}

object! {
    /// The content of a part (`MessagePartBody`), without its transfer encoding.
    PartBody {
        /// Another one at each reading, and good for a while. A part has it in place of `data`.
        attachment_id: Option<String>,
        size: i64,
        /// base64url with padding.
        data: Option<String>,
    }
}

object! {
    /// A page of messages, each by its name alone.
    MessagePage {
        messages: Vec<Message>,
        next_page_token: Option<String>,
    }
}

object! {
    /// A draft, whose id stays when its message gets another one (`Draft`).
    DraftEntry {
        id: String,
        message: Message,
    }
}

object! {
    /// A page of drafts.
    DraftPage {
        drafts: Vec<DraftEntry>,
        next_page_token: Option<String>,
    }
}

/// All labels of the mailbox, each read for itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct LabelList {
    pub labels: Vec<Box<RawValue>>,
}

object! {
    /// A label (`Label`).
    LabelEntry {
        id: String,
        name: String,
        /// `system` or `user`.
        #[serde(rename = "type")]
        kind: Option<String>,
        label_list_visibility: Option<String>,
        color: Option<LabelTint>,
    }
}

object! {
    /// Both `#rrggbb`, of a fixed palette.
    LabelTint {
        background_color: Option<String>,
        text_color: Option<String>,
    }
}

/// A page of the history, each record read for itself.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HistoryPage {
    pub history: Vec<Box<RawValue>>,
    /// A uint64 in text: the mailbox as it is now.
    pub history_id: Option<String>,
    pub next_page_token: Option<String>,
}

object! {
    /// A record of the history. One of `messages` alone says nothing.
    HistoryRecord {
        /// A uint64 in text.
        id: Option<String>,
        messages_added: Vec<HistoryChange>,
        messages_deleted: Vec<HistoryChange>,
        labels_added: Vec<HistoryChange>,
        labels_removed: Vec<HistoryChange>,
    }
}

object! {
    /// A message of a record, with the labels that it has after the change.
    HistoryChange {
        message: Message,
    }
}

object! {
    /// The messages of a record that cannot be read otherwise.
    HistoryNames {
        messages: Vec<Message>,
    }
}

object! {
    /// The addresses that the account can send as.
    SendAsList {
        send_as: Vec<SendAs>,
    }
}

object! {
    SendAs {
        send_as_email: String,
        display_name: Option<String>,
        is_default: bool,
        is_primary: bool,
        /// `accepted` or `pending`; absent for the account's own address.
        verification_status: Option<String>,
    }
}

impl SendAs {
    /// Whether the account may send as this address.
    pub fn is_usable(&self) -> bool {
        let is_verified = self.verification_status.as_deref().is_none_or(|status| status == "accepted");
        self.send_as_email.contains('@') && (self.is_primary || is_verified)
    }
}
