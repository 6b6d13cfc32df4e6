//! The items of a FETCH response (RFC 9051 section 7.5.2, and those of CONDSTORE, OBJECTID and PREVIEW).

use std::borrow::Cow;

use crate::imap::date;
use crate::imap::names;
use crate::imap::value::Value;

/// Labels of one message that are taken, and bytes of one: names of mailboxes have no more (`folders::Mailbox::listed`).
const MAX_LABELS: usize = 500;
const MAX_LABEL_BYTES: usize = 1000;

/// The items that a server sent of a message. Each can be missing.
#[derive(Debug, Default)]
pub struct FetchedItems<'a> {
    pub uid: Option<u32>,
    pub flags: Option<Vec<String>>,
    /// Seconds since 1970.
    pub internal_date: Option<i64>,
    pub size: Option<u64>,
    pub modseq: Option<u64>,
    /// EMAILID (RFC 8474), or what Gmail has in its place: X-GM-MSGID.
    pub email_id: Option<String>,
    /// X-GM-LABELS, decoded.
    pub labels: Option<Vec<String>>,
    /// RFC 8970: none where the server has none.
    pub preview: Option<String>,
    pub structure: Option<Value<'a>>,
    /// Body sections: their names in upper case (`HEADER`, `1.2`), without the origin, and their bytes.
    sections: Vec<(String, Cow<'a, [u8]>)>,
}

impl<'a> FetchedItems<'a> {
    /// The items of `(UID 7 FLAGS (…) …)`.
    pub fn read(values: Vec<Value<'a>>) -> Self {
        let mut fetched = FetchedItems::default();
        let list = values.into_iter().find_map(|value| match value {
            Value::List(items) => Some(items),
            _ => None,
        });
        let mut items = list.unwrap_or_default().into_iter();
        while let Some(name) = items.next() {
            let Some(name) = name.text().map(|name| name.to_ascii_uppercase()) else { continue };
            let Some(value) = items.next() else { break };
            fetched.take(&name, value);
        }
        fetched
    }

    fn take(&mut self, name: &str, value: Value<'a>) {
        match name {
            "UID" => self.uid = value.number().and_then(|uid| u32::try_from(uid).ok()),
            "FLAGS" => {
                let flags = value.list().iter().take(500);
                self.flags = Some(flags.filter_map(|flag| Some(flag.text()?.into_owned())).collect());
            }
            "INTERNALDATE" => self.internal_date = value.text().and_then(|text| date::read(&text)),
            "RFC822.SIZE" => self.size = value.number(),
            "MODSEQ" => self.modseq = value.list().first().and_then(Value::number),
            "EMAILID" => {
                self.email_id = value.list().first().and_then(Value::text).map(Cow::into_owned);
            }
            "X-GM-MSGID" => self.email_id = value.number().map(|id| id.to_string()),
            "X-GM-LABELS" => self.labels = labels(&value),
            "PREVIEW" => self.preview = value.text().map(Cow::into_owned),
            // BODY without a section is what some servers call it.
            "BODYSTRUCTURE" | "BODY" => self.structure = Some(value),
            _ => {
                let section = name.strip_prefix("BODY[").or_else(|| name.strip_prefix("BINARY["));
                let section = section.and_then(|section| section.split_once(']'));
                if let (Some((section, _)), Value::Text(bytes)) = (section, value) {
                    self.sections.push((section.to_owned(), bytes));
                }
            }
        }
    }

    /// The bytes of a body section.
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        self.sections.iter().find(|(section, _)| section == name).map(|(_, bytes)| bytes.as_ref())
    }

    /// The header, whole or the fields that were asked for.
    pub fn header(&self) -> Option<&[u8]> {
        let mut sections = self.sections.iter();
        sections.find(|(section, _)| section.starts_with("HEADER")).map(|(_, bytes)| bytes.as_ref())
    }
}

/// The labels of a list, decoded; none where it is no list: that does not mean that the message has no label.
fn labels(value: &Value<'_>) -> Option<Vec<String>> {
    let Value::List(labels) = value else { return None };
    let labels = labels.iter().take(MAX_LABELS).filter_map(Value::bytes);
    Some(labels.filter(|label| label.len() <= MAX_LABEL_BYTES).map(names::decode).collect())
}

#[cfg(test)]
mod tests {
    use super::FetchedItems;
    use crate::imap::value;

    #[test]
    fn rubbish_in_place_of_labels_and_numbers_tells_nothing() {
        let read = |items: &str| {
            let fetched = FetchedItems::read(value::read(items.as_bytes()).unwrap());
            (fetched.labels, fetched.email_id)
        };
        assert_eq!(read("(X-GM-LABELS () X-GM-MSGID 7)"), (Some(Vec::new()), Some("7".to_owned())));
        assert_eq!(read("(X-GM-LABELS Work X-GM-MSGID x)"), (None, None));
        let long = "y".repeat(1001);
        let (labels, _) = read(&format!("(X-GM-LABELS ({long} (a) NIL Work {}))", "b ".repeat(600)));
        assert_eq!(labels.map(|labels| (labels.len(), labels[0].clone())), Some((497, "Work".to_owned())));
    }
}
