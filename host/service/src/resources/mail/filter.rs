//! Filters of message lists.

use base::error::Result;
use model::email::EmailAddress;
use serde::{Deserialize, Serialize};
use storage::mail::flag;
use text::folding::search_key;

/// Filters and options of a list of messages. The serialized part is bound to the cursor.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MailQuery {
    pub connection_id: Option<String>,
    pub folder_id: Option<String>,
    pub label_id: Option<String>,
    pub thread_id: Option<String>,
    pub q: Option<String>,
    pub native_query: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub cc: Option<String>,
    pub bcc: Option<String>,
    pub any_email: Option<String>,
    pub subject: Option<String>,
    pub unread: Option<bool>,
    pub starred: Option<bool>,
    pub has_attachment: Option<bool>,
    pub received_after: Option<i64>,
    pub received_before: Option<i64>,
    /// Only drafts.
    pub drafts: bool,
    /// Not part of the filter: a cursor is valid with or without these.
    #[serde(skip)]
    pub fields: MessageFields,
    #[serde(skip)]
    pub with_images: bool,
    #[serde(skip)]
    pub with_provider_data: bool,
}

/// The fields of a stored message that the filters need.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct People {
    subject: Option<String>,
    from: Vec<EmailAddress>,
    to: Vec<EmailAddress>,
    cc: Vec<EmailAddress>,
    bcc: Vec<EmailAddress>,
}

/// The filters on people and subject, case-folded.
pub struct FoldedFilter(Vec<(&'static str, String)>);

impl FoldedFilter {
    pub fn from_query(query: &MailQuery) -> Self {
        let fields = [
            ("from", &query.from),
            ("to", &query.to),
            ("cc", &query.cc),
            ("bcc", &query.bcc),
            ("any", &query.any_email),
            ("subject", &query.subject),
        ];
        let folded = |(name, text): (&'static str, &Option<String>)| {
            Some((name, search_key(text.as_deref()?.trim()))).filter(|(_, text)| !text.is_empty())
        };
        FoldedFilter(fields.into_iter().filter_map(folded).collect())
    }

    // Contract silent: whether addresses must be equal. They match where the text occurs in address or name, without regard to
    // case: as SEARCH does in IMAP (RFC 9051 section 6.4.4) and `from` in JMAP (RFC 8621 section 4.4.1).
    pub fn admits(&self, body: &str) -> Result<bool> {
        if self.0.is_empty() {
            return Ok(true);
        }
        let people: People = serde_json::from_str(body)?;
        let has = |list: &[EmailAddress], text: &str| {
            list.iter().any(|a| {
                search_key(&a.email).contains(text)
                    || a.name.as_deref().is_some_and(|name| search_key(name).contains(text))
            })
        };
        let all = [&people.from, &people.to, &people.cc, &people.bcc];
        Ok(self.0.iter().all(|(field, text)| match *field {
            "from" => has(&people.from, text),
            "to" => has(&people.to, text),
            "cc" => has(&people.cc, text),
            "bcc" => has(&people.bcc, text),
            "any" => all.iter().any(|list| has(list, text)),
            _ => people.subject.as_deref().is_some_and(|s| search_key(s).contains(text)),
        }))
    }

    /// Texts that each match contains, for the text index.
    pub fn words(&self) -> Vec<String> {
        // The searched text has its words on separate lines and no control characters: only a single word is certain to match.
        self.0.iter().map(|(_, text)| text.clone()).filter(|t| !t.chars().any(char::is_whitespace)).collect()
    }
}

/// The flags that a query asks for: a mask, and their values.
pub fn bits(query: &MailQuery) -> (i64, i64) {
    let wanted = [
        (query.unread, flag::UNREAD),
        (query.starred, flag::STARRED),
        (query.has_attachment, flag::HAS_ATTACHMENTS),
    ];
    wanted.into_iter().fold((0, 0), |(mask, flags), (wanted, bit)| match wanted {
        None => (mask, flags),
        Some(true) => (mask | bit, flags | bit),
        Some(false) => (mask | bit, flags),
    })
}

/// Whether a message is in all folders and labels of the query; the rows were selected by one of them.
pub fn is_in(query: &MailQuery, body: &str) -> Result<bool> {
    let named = [&query.folder_id, &query.label_id, &query.thread_id];
    if named.iter().filter(|n| n.is_some()).count() < 2 {
        return Ok(true);
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Places {
        folder_ids: Vec<String>,
        label_ids: Vec<String>,
    }
    let places: Places = serde_json::from_str(body)?;
    let among = |id: &Option<String>, ids: &[String]| id.as_ref().is_none_or(|id| ids.contains(id));
    Ok(among(&query.folder_id, &places.folder_ids) && among(&query.label_id, &places.label_ids))
}

/// The fields of a message that are returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageFields {
    #[default]
    Summary,
    Headers,
    Full,
}
