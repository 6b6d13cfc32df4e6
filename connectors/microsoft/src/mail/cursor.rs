//! The position up to which the changes of a mailbox are reported. The host keeps it as text and sends it back. Of Graph's links it has the
//! tokens alone: a mailbox of 200 folders has some 100 KB.

use connector_sdk::{Outcome, rest};
use model::email::folders::FolderRole;
use serde::{Deserialize, Serialize};

use crate::odata::page::Token;

/// The version of the cursors.
const VERSION: &str = "m1";

/// A position in the initial sync, or in the changes after it. Each folder has its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailCursor {
    /// The initial sync is under way.
    #[serde(rename = "e", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_first: bool,
    /// The position in the changes of the folders themselves; none: they are listed again.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<FeedPosition>,
    #[serde(rename = "f", default)]
    pub folders: Vec<FolderPosition>,
    /// Names of the categories of the mailbox's list, as they were reported.
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Names of categories that only messages have, as they were reported.
    #[serde(rename = "x", default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<String>,
    /// A hash of the list of categories as it was last read.
    #[serde(rename = "d", default, skip_serializing_if = "String::is_empty")]
    pub category_digest: String,
    /// Messages of which a folder said that they are gone, and that are still to be looked for.
    #[serde(rename = "v", default, skip_serializing_if = "Vec::is_empty")]
    pub doubtful: Vec<String>,
    /// The begin of the last round through all folders, milliseconds since 1970.
    #[serde(rename = "p", default)]
    pub polled_at: i64,
    /// A folder was begun again after its token had expired: messages may have been destroyed before, which no folder reports.
    #[serde(rename = "l", default, skip_serializing_if = "std::ops::Not::not")]
    pub has_lost_changes: bool,
    /// A folder with messages is gone, which are reported nowhere: everything has to be read again.
    #[serde(rename = "z", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_incomplete: bool,
}

/// A folder, and the position in its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderPosition {
    #[serde(rename = "i")]
    pub id: String,
    #[serde(rename = "n", default)]
    pub name: String,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub role: Option<FolderRole>,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<i64>,
    /// None before the first page.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub at: Option<FeedPosition>,
    /// Its messages were not read to their end yet.
    #[serde(rename = "e", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_first: bool,
    /// The oldest message of all pages so far, milliseconds since 1970.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub oldest: Option<i64>,
    /// Messages came in another order than from new to old: how far back the folder is complete is unknown.
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unordered: bool,
    /// How often its pages were halved: the provider did not answer larger ones in time.
    #[serde(rename = "h", default, skip_serializing_if = "is_zero")]
    pub halvings: u8,
}

fn is_zero(count: &u8) -> bool {
    *count == 0
}

impl FolderPosition {
    /// A folder of which nothing was read.
    pub fn new(id: &str) -> FolderPosition {
        FolderPosition { id: id.to_owned(), is_first: true, ..FolderPosition::default() }
    }

    /// Begins again with this folder alone.
    pub fn restart(&mut self) {
        self.at = None;
        self.is_first = true;
        self.oldest = None;
        self.is_unordered = false;
    }

    /// Whether a page was read after which there are more.
    pub fn is_in_between(&self) -> bool {
        self.at.as_ref().is_some_and(FeedPosition::has_more)
    }
}

/// A position in a delta: its next page, or the changes after its last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FeedPosition {
    #[serde(rename = "s")]
    Page(String),
    #[serde(rename = "d")]
    Changes(String),
    /// A page that is named by the number of items before it.
    #[serde(rename = "o")]
    Offset(String),
}

impl From<Token> for FeedPosition {
    fn from(token: Token) -> FeedPosition {
        match token {
            Token::Skip(value) => FeedPosition::Page(value),
            Token::Delta(value) => FeedPosition::Changes(value),
            Token::Offset(value) => FeedPosition::Offset(value),
        }
    }
}

impl FeedPosition {
    /// The parameter by which a request goes on from here.
    pub fn parameter(&self) -> (&'static str, &str) {
        match self {
            FeedPosition::Page(value) => ("$skiptoken", value),
            FeedPosition::Changes(value) => ("$deltatoken", value),
            FeedPosition::Offset(value) => ("$skip", value),
        }
    }

    /// Whether there is another page at once.
    pub fn has_more(&self) -> bool {
        !matches!(self, FeedPosition::Changes(_))
    }
}

impl MailCursor {
    /// The cursor that was written as this text. Fails with `cursor-expired` for all else.
    pub fn read(text: &str) -> Outcome<MailCursor> {
        rest::cursor::read(VERSION, text)
    }

    pub fn write(&self) -> Outcome<String> {
        rest::cursor::write(VERSION, self)
    }

    pub fn folder(&self, id: &str) -> Option<&FolderPosition> {
        self.folders.iter().find(|folder| folder.id == id)
    }

    pub fn folder_mut(&mut self, id: &str) -> Option<&mut FolderPosition> {
        self.folders.iter_mut().find(|folder| folder.id == id)
    }

    /// The time from which on all messages are reported, milliseconds since 1970; none where a folder has not begun or has no order.
    pub fn covered_since(&self) -> Option<i64> {
        let unread = self.folders.iter().filter(|folder| folder.is_first);
        let oldest: Option<Vec<i64>> =
            unread.map(|folder| folder.oldest.filter(|_| !folder.is_unordered)).collect();
        // Others of the same millisecond may be on the next page.
        oldest?.into_iter().max().map(|oldest| oldest.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use connector_sdk::code;

    use super::*;

    fn folder(id: &str, oldest: Option<i64>) -> FolderPosition {
        FolderPosition { oldest, ..FolderPosition::new(id) }
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = MailCursor {
            is_first: true,
            tree: Some(FeedPosition::Changes("d1".to_owned())),
            folders: vec![FolderPosition {
                name: "Inbox".to_owned(),
                role: Some(FolderRole::Inbox),
                at: Some(FeedPosition::Page("s1".to_owned())),
                ..folder("a", Some(7))
            }],
            categories: vec!["Red".to_owned()],
            ..MailCursor::default()
        };
        let text = cursor.write().unwrap();
        assert_eq!(MailCursor::read(&text).unwrap(), cursor);
        for other in ["", "m1;7", "m0;{}", "m1;{\"y\":1}"] {
            assert_eq!(MailCursor::read(other).unwrap_err().code, code::CURSOR_EXPIRED, "{other}");
        }
    }

    /// The newest frontier of the folders that are not at their end.
    #[test]
    fn the_mailbox_is_covered_as_far_as_its_folders_are() {
        let mut cursor = MailCursor {
            folders: vec![folder("a", Some(500)), folder("b", Some(900)), folder("c", Some(5_000))],
            ..MailCursor::default()
        };
        cursor.folders[2].is_first = false;
        assert_eq!(cursor.covered_since(), Some(901));
        cursor.folders[1].is_unordered = true;
        assert_eq!(cursor.covered_since(), None);
        cursor.folders[1] = folder("b", None);
        assert_eq!(cursor.covered_since(), None);
        cursor.folders[1].is_first = false;
        assert_eq!(cursor.covered_since(), Some(501));
    }
}
