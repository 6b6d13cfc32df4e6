//! The JSON of Graph's mail, the members that are read. A page of a delta may have the changed members of a message alone: what is not
//! there is none, and not empty.

use serde::Deserialize;
use serde_json::Value;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$attr])* pub $field: $kind,)+ }
    };
}

object! {
    /// A message (`microsoft.graph.message`), or one of the kinds derived from it.
    Message {
        id: String,
        #[serde(rename = "@odata.type")]
        kind: Option<String>,
        #[serde(rename = "@odata.etag")]
        etag: Option<String>,
        /// In a delta: the message is in this folder no longer.
        #[serde(rename = "@removed")]
        removed: Option<Value>,
        created_date_time: Option<String>,
        received_date_time: Option<String>,
        sent_date_time: Option<String>,
        conversation_id: Option<String>,
        /// With angle brackets.
        internet_message_id: Option<String>,
        internet_message_headers: Option<Vec<InternetHeader>>,
        subject: Option<String>,
        body_preview: Option<String>,
        body: Option<ItemBody>,
        from: Option<Recipient>,
        sender: Option<Recipient>,
        to_recipients: Option<Vec<Recipient>>,
        cc_recipients: Option<Vec<Recipient>>,
        bcc_recipients: Option<Vec<Recipient>>,
        reply_to: Option<Vec<Recipient>>,
        parent_folder_id: Option<String>,
        is_read: Option<bool>,
        is_draft: Option<bool>,
        flag: Option<FollowUp>,
        categories: Option<Vec<String>>,
        /// `low`, `normal` or `high`.
        importance: Option<String>,
        has_attachments: Option<bool>,
        attachments: Option<Vec<AttachmentEntry>>,
        single_value_extended_properties: Option<Vec<ExtendedProperty>>,
    }
}

impl Message {
    /// Whether it has what lists show of a message, and not only what has changed.
    pub fn is_whole(&self) -> bool {
        self.received_date_time.is_some() && self.is_read.is_some() && self.to_recipients.is_some()
    }

    /// The value of an extended property, whose id is compared without its case.
    pub fn property(&self, id: &str) -> Option<&str> {
        let mut all = self.single_value_extended_properties.iter().flatten();
        let found = all.find(|property| property.id.eq_ignore_ascii_case(id))?;
        Some(found.value.as_str())
    }

    /// The value of the first header field of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.internet_message_headers.iter().flatten();
        all.find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value.as_str())
    }

    /// The Message-ID without its brackets.
    pub fn message_id(&self) -> Option<&str> {
        let id = self.internet_message_id.as_deref()?.trim();
        let id = id.strip_prefix('<').unwrap_or(id);
        Some(id.strip_suffix('>').unwrap_or(id)).filter(|id| !id.is_empty())
    }
}

object! {
    /// A header field (`internetMessageHeader`), decoded.
    InternetHeader {
        name: String,
        value: String,
    }
}

object! {
    /// The text of a message (`itemBody`).
    ItemBody {
        /// `text` or `html`.
        content_type: String,
        content: String,
    }
}

object! {
    /// A person of a message (`recipient`).
    Recipient {
        email_address: Option<NamedAddress>,
    }
}

object! {
    /// An address (`emailAddress`).
    NamedAddress {
        name: Option<String>,
        address: Option<String>,
    }
}

object! {
    /// The flag of a message (`followupFlag`).
    FollowUp {
        /// `notFlagged`, `flagged` or `complete`.
        flag_status: Option<String>,
    }
}

object! {
    /// A file, an item or a link in a message (`attachment`).
    AttachmentEntry {
        id: String,
        #[serde(rename = "@odata.type")]
        kind: Option<String>,
        name: Option<String>,
        content_type: Option<String>,
        /// Bytes with an envelope around the content.
        size: Option<i64>,
        is_inline: Option<bool>,
        content_id: Option<String>,
    }
}

object! {
    /// A property of Exchange's own (`singleValueLegacyExtendedProperty`).
    ExtendedProperty {
        id: String,
        value: String,
    }
}

object! {
    /// A folder (`mailFolder`).
    FolderEntry {
        id: String,
        #[serde(rename = "@odata.type")]
        kind: Option<String>,
        /// In a delta: the folder is gone.
        #[serde(rename = "@removed")]
        removed: Option<Value>,
        display_name: Option<String>,
        parent_folder_id: Option<String>,
        total_item_count: Option<i64>,
        unread_item_count: Option<i64>,
    }
}

object! {
    /// A category with its color (`outlookCategory`).
    CategoryEntry {
        display_name: String,
        /// `none`, or `preset0` to `preset24`.
        color: Option<String>,
    }
}

object! {
    /// An upload session.
    UploadState {
        /// The credential is in it.
        upload_url: Option<String>,
        /// Ranges that are missing: `0-3932159`, `3932160-`.
        next_expected_ranges: Vec<String>,
    }
}
