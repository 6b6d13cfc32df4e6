//! External ids, hints and fingerprints: how folders and messages are named to the host, and found again.
//!
//! | what | id | example |
//! |---|---|---|
//! | folder | `F#` and its MAILBOXID (RFC 8474), which survives renaming | `F#6ba8df8a` |
//! | folder of a server without | `F:` and its name | `F:INBOX/Offers` |
//! | message | `M:`, its folder's key, UIDVALIDITY and UID | `M:3ab4c5d6e7f80912:1700000000:42` |
//!
//! A folder's key is a hash of its id: short, and without the characters of names. The name behind it stands in the hint.

use std::fmt;
use std::str::FromStr;

use connector_sdk::{Failure, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The id of a folder.
pub fn folder_id(name: &str, mailbox_id: Option<&str>) -> String {
    match mailbox_id {
        Some(id) => format!("F#{id}"),
        None => format!("F:{name}"),
    }
}

/// The name in a folder's id; none where the server has to be asked for it.
pub fn folder_name(id: &str) -> Option<&str> {
    id.strip_prefix("F:")
}

/// The first 8 bytes of a hash, in hexadecimal.
fn short_hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The short key of a folder in the ids of its messages.
pub fn folder_key(folder_id: &str) -> String {
    short_hash(&[folder_id])
}

/// The fingerprint by which a message is recognized under another id.
pub fn fingerprint(email_id: Option<&str>, message_id: &str, date: &str, size: u64) -> String {
    match email_id {
        Some(id) => format!("E:{id}"),
        None => format!("H:{}", short_hash(&[message_id, date, &size.to_string()])),
    }
}

/// The version of a message: its modification sequence, else its flags.
pub fn etag(modseq: Option<u64>, flags: &[String]) -> String {
    if let Some(modseq) = modseq {
        return format!("m{modseq}");
    }
    let mut flags: Vec<String> = flags.iter().map(|flag| flag.to_lowercase()).collect();
    // `\Recent` belongs to the session, not to the message.
    flags.retain(|flag| flag != "\\recent");
    flags.sort();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    format!("f{}", short_hash(&flags))
}

/// The id of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageId {
    /// [`folder_key`] of its folder.
    pub key: String,
    pub uid_validity: u32,
    pub uid: u32,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "M:{}:{}:{}", self.key, self.uid_validity, self.uid)
    }
}

impl FromStr for MessageId {
    type Err = Failure;

    fn from_str(text: &str) -> Outcome<Self> {
        let read = || {
            let mut parts = text.strip_prefix("M:")?.split(':');
            let key = parts.next().filter(|key| !key.is_empty())?.to_owned();
            let (uid_validity, uid) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            parts.next().is_none().then_some(MessageId { key, uid_validity, uid })
        };
        read().filter(|id| id.uid > 0).ok_or_else(|| Failure::not_found("there is no such message"))
    }
}

/// The hint that the host sends back when a message is read again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hint {
    /// The name of its folder.
    #[serde(rename = "f")]
    pub folder: String,
    /// The folder's external id, where it does not follow from the name.
    #[serde(rename = "i", skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<String>,
    /// The parts that are its plain text.
    #[serde(rename = "t", skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<TextPart>,
    /// The parts that are its HTML.
    #[serde(rename = "h", skip_serializing_if = "Vec::is_empty")]
    pub html: Vec<TextPart>,
    /// The parts above are all that there are.
    #[serde(rename = "k")]
    pub is_known: bool,
}

/// A part that is text: where it is and how it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextPart {
    #[serde(rename = "s")]
    pub section: String,
    /// Transfer encoding.
    #[serde(rename = "e", skip_serializing_if = "String::is_empty")]
    pub encoding: String,
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
}

impl Hint {
    /// The hint of a message; the empty one where it is none of ours.
    pub fn read(hint: Option<&Value>) -> Hint {
        let hint: Hint = hint.and_then(|hint| serde_json::from_value(hint.clone()).ok()).unwrap_or_default();
        let is_good = |part: &TextPart| is_section(&part.section);
        if hint.text.iter().chain(&hint.html).all(is_good) {
            hint
        } else {
            Hint { folder: hint.folder, folder_id: hint.folder_id, ..Hint::default() }
        }
    }

    /// The external id of the folder, if this is a hint of a message in the folder with this key.
    pub fn folder_id(&self, key: &str) -> Option<String> {
        let id = self.folder_id.clone().unwrap_or_else(|| folder_id(&self.folder, None));
        (!self.folder.is_empty() && folder_key(&id) == key).then_some(id)
    }

    /// The hint as it goes to the host.
    pub fn to_value(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

/// Numbers with dots between, as they may go into a command.
pub fn is_section(section: &str) -> bool {
    let is_number = |part: &str| {
        (1..6).contains(&part.len()) && !part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit())
    };
    section.len() < 400 && section.split('.').all(is_number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Hint, MessageId, etag, fingerprint, folder_id, folder_key, folder_name, is_section};

    #[test]
    fn ids_are_read_as_they_were_written() {
        let id = MessageId { key: folder_key("F:INBOX"), uid_validity: 7, uid: 4_294_967_295 };
        assert_eq!(id.to_string().parse::<MessageId>().unwrap(), id);
        for wrong in ["", "M:", "M:a:1", "M:a:1:0", "M:a:1:2:3", "F:a:1:2", "M::1:2", "M:a:1:4294967296"] {
            assert!(wrong.parse::<MessageId>().is_err(), "{wrong}");
        }
        assert_eq!(folder_name(&folder_id("F:x", None)), Some("F:x"));
        assert_eq!(folder_name(&folder_id("x", Some("1"))), None);
    }

    #[test]
    fn fingerprints_and_etags_tell_what_differs() {
        assert_eq!(fingerprint(Some("7"), "a", "b", 1), "E:7");
        assert_ne!(fingerprint(None, "a", "b", 1), fingerprint(None, "a", "b", 2));
        assert_ne!(fingerprint(None, "ab", "", 1), fingerprint(None, "a", "b", 1));
        let flags = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>();
        assert_eq!(etag(None, &flags(&["\\Seen", "b", "\\Recent"])), etag(None, &flags(&["B", "\\seen"])));
        assert_eq!(etag(Some(3), &[]), "m3");
    }

    #[test]
    fn a_hint_cannot_carry_a_command() {
        let hint = json!({ "f": "INBOX", "t": [{ "s": "1] UID EXPUNGE" }], "k": true });
        assert_eq!(Hint::read(Some(&hint)), Hint { folder: "INBOX".into(), ..Hint::default() });
        assert!(is_section("1.2.10"));
        for wrong in ["", "1.", "a", "1..2", "1)", "999999", "0", "1.02", "+1"] {
            assert!(!is_section(wrong), "{wrong}");
        }
    }
}
