//! Gmail's labels (X-GM-EXT-1, <https://developers.google.com/workspace/gmail/imap/imap-extensions>). Each label is a mailbox that shows
//! its messages once more, with other UIDs; one mailbox, `[Gmail]/All Mail`, has every message but those in the trash and in spam.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids;

/// Gmail's mailbox of all mail, and the folders that labels of messages in it stand for. Gmail has no MAILBOXID: the names of folders are
/// their ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AllMail {
    /// Decoded; it depends on the language of the account.
    #[serde(rename = "a")]
    pub name: String,
    /// Name of the trash; none: the account hides it from IMAP.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub trash: Option<String>,
    /// Name of the spam folder.
    #[serde(rename = "j", default, skip_serializing_if = "Option::is_none")]
    pub junk: Option<String>,
    /// Gmail's own labels (`\Inbox`) with the external ids of their folders.
    #[serde(rename = "s", default)]
    pub system: Vec<(String, String)>,
}

/// Labels that Gmail alone gives and takes away.
const FIXED: [&str; 2] = ["\\Sent", "\\Draft"];

/// Labels that have fields of their own: a message that is filed elsewhere keeps them.
const KEPT: [&str; 2] = ["\\Starred", "\\Important"];

impl AllMail {
    /// External id of the mailbox.
    pub fn id(&self) -> String {
        ids::folder_id(&self.name, None)
    }

    /// External ids of the folders that a message with these labels is in: the mailbox of all mail, and one for each label. Labels that the
    /// account hides from IMAP have ids too, which no folder has.
    pub fn folders(&self, labels: &[String]) -> Vec<String> {
        let folders = labels.iter().filter_map(|label| self.folder(label));
        let all: BTreeSet<String> = folders.chain([self.id()]).collect();
        all.into_iter().collect()
    }

    /// External id of the folder that a label stands for; none for those of Gmail's own that are no folder, such as `\Muted`.
    pub fn folder(&self, label: &str) -> Option<String> {
        if !label.starts_with('\\') {
            return Some(ids::folder_id(label, None));
        }
        // Google's documentation has `\Draft`, and servers were seen to send `\Drafts`.
        let label = if label.eq_ignore_ascii_case("\\Drafts") { "\\Draft" } else { label };
        let known = self.system.iter().find(|(known, _)| known.eq_ignore_ascii_case(label));
        known.map(|(_, id)| id.clone())
    }

    /// The label that stands for a folder; none for a mailbox that is read by itself.
    pub fn label(&self, folder: &str) -> Option<String> {
        if folder == self.id() || self.is_apart(folder) {
            return None;
        }
        let known = self.system.iter().find(|(_, id)| id == folder).map(|(label, _)| label.clone());
        known.or_else(|| ids::folder_name(folder).map(str::to_owned))
    }

    /// Whether messages of the folder are not among all mail: it is the trash or spam.
    pub fn is_apart(&self, folder: &str) -> bool {
        let name = ids::folder_name(folder);
        name.is_some() && (name == self.trash.as_deref() || name == self.junk.as_deref())
    }
}

/// Whether Gmail alone gives a message this label.
pub fn is_fixed(label: &str) -> bool {
    FIXED.iter().any(|fixed| fixed.eq_ignore_ascii_case(label))
}

/// Whether it is a label of Gmail's own, which goes over the wire as it is: all others are names that users chose.
pub fn is_own(label: &str) -> bool {
    is_kept(label) || label.eq_ignore_ascii_case("\\Inbox")
}

/// Whether a message keeps this label when its folders are set.
pub fn is_kept(label: &str) -> bool {
    is_fixed(label) || KEPT.iter().any(|kept| kept.eq_ignore_ascii_case(label))
}

#[cfg(test)]
mod tests {
    use super::AllMail;

    #[test]
    fn labels_stand_for_folders() {
        let system =
            [("\\Inbox", "F:INBOX"), ("\\Draft", "F:[Gmail]/Entwürfe"), ("\\Starred", "F:[Gmail]/Markiert")];
        let all = AllMail {
            name: "[Gmail]/Alle".into(),
            trash: Some("[Gmail]/Papierkorb".into()),
            junk: None,
            system: system.map(|(label, id)| (label.to_owned(), id.to_owned())).to_vec(),
        };
        let labels = ["\\inbox", "\\Drafts", "\\Muted", "Büro/A"].map(str::to_owned);
        assert_eq!(all.folders(&labels), ["F:Büro/A", "F:INBOX", "F:[Gmail]/Alle", "F:[Gmail]/Entwürfe"]);
        assert_eq!(all.folders(&[]), ["F:[Gmail]/Alle"]);
        assert_eq!(all.label("F:INBOX").as_deref(), Some("\\Inbox"));
        assert_eq!(all.label("F:Büro/A").as_deref(), Some("Büro/A"));
        for apart in ["F:[Gmail]/Alle", "F:[Gmail]/Papierkorb", "F#1"] {
            assert_eq!(all.label(apart), None, "{apart}");
        }
        assert!(all.is_apart("F:[Gmail]/Papierkorb") && !all.is_apart("F:INBOX") && !all.is_apart("F#1"));
    }
}
