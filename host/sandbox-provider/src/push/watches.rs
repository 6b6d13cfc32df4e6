//! The watches of all accounts. They change by `WatchChange` alone, so that replaying a journal leads to the same state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::kind::Kind;

/// Kinds of records in folders.
const IN_FOLDERS: [Kind; 3] = [Kind::Event, Kind::Card, Kind::Todo];

/// The target of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchTarget {
    pub kind: Kind,
    /// The folder whose records are watched. None: for mail, the whole mailbox; else the folders themselves.
    pub folder: Option<String>,
}

impl WatchTarget {
    /// From the path below `/sandbox/v1/`: `calendars`, `calendars/{calendar}/events`, `mail`. None: nothing there can be watched.
    pub fn parse(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        match parts.as_slice() {
            ["mail"] => Some(WatchTarget { kind: Kind::Mail, folder: None }),
            [folders] => {
                let kind = IN_FOLDERS.into_iter().find(|kind| kind.folders() == *folders)?;
                Some(WatchTarget { kind, folder: None })
            }
            [folders, folder, records] => {
                let is_it = |kind: &Kind| kind.folders() == *folders && kind.records() == *records;
                let kind = IN_FOLDERS.into_iter().find(is_it)?;
                Some(WatchTarget { kind, folder: Some((*folder).to_owned()) })
            }
            _ => None,
        }
    }

    /// The path that `parse` reads.
    pub fn path(&self) -> String {
        match (self.kind, &self.folder) {
            (Kind::Mail, _) => "mail".to_owned(),
            (kind, None) => kind.folders().to_owned(),
            (kind, Some(folder)) => format!("{}/{folder}/{}", kind.folders(), kind.records()),
        }
    }
}

/// An account's subscription to changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Watch {
    /// The client's choice, unique in the account.
    pub id: String,
    /// The account.
    pub mail: String,
    pub watched: WatchTarget,
    /// The URL that is posted to.
    pub address: String,
    /// Sent with each notification.
    pub secret: String,
    /// Expiry: no notifications from then on (ms since 1970).
    pub until_ms: i64,
}

/// One change, as the journal writes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "camelCase")]
pub enum WatchChange {
    Put(Watch),
    Dropped { mail: String, id: String },
}

/// By account and id.
#[derive(Debug, Default)]
pub struct Watches(BTreeMap<String, BTreeMap<String, Watch>>);

impl Watches {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of all accounts' watches, expired ones included.
    pub fn count(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// The watches of an account, expired ones included.
    pub fn of_account(&self, mail: &str) -> impl Iterator<Item = &Watch> {
        self.0.get(mail).into_iter().flat_map(BTreeMap::values)
    }

    pub fn find(&self, mail: &str, id: &str) -> Option<&Watch> {
        self.0.get(mail)?.get(id)
    }

    pub fn apply(&mut self, change: WatchChange) {
        match change {
            WatchChange::Put(watch) => {
                self.0.entry(watch.mail.clone()).or_default().insert(watch.id.clone(), watch);
            }
            WatchChange::Dropped { mail, id } => {
                if let Some(of_account) = self.0.get_mut(&mail) {
                    of_account.remove(&id);
                    if of_account.is_empty() {
                        self.0.remove(&mail);
                    }
                }
            }
        }
    }

    /// The changes that build these watches from nothing.
    pub fn snapshot(&self) -> impl Iterator<Item = WatchChange> + '_ {
        self.0.values().flat_map(BTreeMap::values).cloned().map(WatchChange::Put)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        for path in ["mail", "calendars", "calendars/work/events", "books", "books/b/cards", "lists/l/todos"]
        {
            assert_eq!(WatchTarget::parse(path).map(|watched| watched.path()).as_deref(), Some(path));
        }
        for path in
            ["", "mailboxes", "mail/messages", "calendars/work", "calendars/work/cards", "busy", "/calendars"]
        {
            assert_eq!(WatchTarget::parse(path), None, "{path}");
        }
    }

    #[test]
    fn a_snapshot_makes_the_same_watches() {
        let watch = |mail: &str, id: &str| Watch {
            id: id.to_owned(),
            mail: mail.to_owned(),
            watched: WatchTarget { kind: Kind::Mail, folder: None },
            address: "http://127.0.0.1:1/".to_owned(),
            secret: "s".to_owned(),
            until_ms: 5,
        };
        let mut watches = Watches::default();
        for (mail, id) in [("a", "1"), ("a", "2"), ("b", "1")] {
            watches.apply(WatchChange::Put(watch(mail, id)));
        }
        watches.apply(WatchChange::Dropped { mail: "b".to_owned(), id: "1".to_owned() });
        let mut again = Watches::default();
        for change in watches.snapshot() {
            let text = serde_json::to_string(&change).unwrap();
            again.apply(serde_json::from_str(&text).unwrap());
        }
        assert_eq!((again.count(), again.is_empty()), (2, false));
        assert_eq!(again.find("a", "2"), Some(&watch("a", "2")));
        assert_eq!(again.of_account("b").count(), 0);
    }
}
