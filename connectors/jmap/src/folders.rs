//! Converts mailboxes (RFC 8621 section 2) to the model's folders: their tree and roles, and the mailboxes that operations need.

use std::collections::HashMap;

use connector_sdk::{Failure, Outcome};
use io_jmap::rfc8621::mailbox::{JmapMailbox, JmapMailboxRole};
use model::email::folders::{Folder, FolderRights, FolderRole};
use model::wire::{Item, ItemError, JsonText, Source};
use serde::Deserialize;
use serde_json::json;

use crate::client::Client;
use crate::message::text;
use crate::protocol::answers::{GetResponse, Set};
use crate::protocol::{Answers, Batch, Call, failures};

/// The prefix of folders' external ids, because folders and messages share one namespace.
const PREFIX: &str = "F:";

/// `Item.kind` of a folder.
const KIND: &str = "email_folder";

/// The maximum depth of a path, because a server could name a folder as its own parent.
const DEPTH: usize = 64;

/// The external id for a server's mailbox id.
pub fn external_id(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// The server's mailbox id for an external id.
pub fn id(external_id: &str) -> Outcome<String> {
    let id = external_id.strip_prefix(PREFIX).filter(|id| !id.is_empty());
    id.map(str::to_owned).ok_or_else(|| Failure::not_found("there is no folder with this id at the provider"))
}

/// The server's mailbox ids for external ids.
pub fn ids(external_ids: &[String]) -> Outcome<Vec<String>> {
    external_ids.iter().map(|external_id| id(external_id)).collect()
}

/// The source of a deleted folder.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: external_id(id), deleted: true, ..Source::default() }
}

/// Adds a call that reads all mailboxes.
pub fn all(batch: &mut Batch) -> Call {
    batch.call("Mailbox/get", json!({ "ids": null }))
}

/// The mailboxes of one or more answers: all of the account, or some.
#[derive(Default)]
pub struct Tree {
    /// The mailboxes in the server's order.
    mailboxes: Vec<JmapMailbox>,
    /// The indices of the mailboxes by id.
    places: HashMap<String, usize>,
    /// The ids of mailboxes that cannot be parsed.
    unreadable: Vec<String>,
}

impl Tree {
    /// Parses the result of this call of [`all`].
    pub fn from_answers(answers: &Answers, call: &Call) -> Outcome<Self> {
        answers.get(call).map(Tree::read)
    }

    /// The mailboxes of an answer.
    pub fn read(got: GetResponse) -> Self {
        let mut tree = Tree::default();
        tree.add(got);
        tree
    }

    /// Adds the mailboxes of another answer.
    pub fn add(&mut self, got: GetResponse) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Name {
            id: String,
        }
        for raw in got.list {
            match serde_json::from_str::<JmapMailbox>(raw.get()) {
                Ok(mailbox) => self.insert(mailbox),
                Err(_) => {
                    let name: Name = serde_json::from_str(raw.get()).unwrap_or_default();
                    self.unreadable.push(name.id);
                }
            }
        }
    }

    fn insert(&mut self, mailbox: JmapMailbox) {
        let Some(id) = mailbox.id.clone().filter(|id| !id.is_empty()) else { return };
        match self.places.get(&id).and_then(|place| self.mailboxes.get_mut(*place)) {
            Some(known) => *known = mailbox,
            None => {
                self.places.insert(id, self.mailboxes.len());
                self.mailboxes.push(mailbox);
            }
        }
    }

    fn get(&self, id: &str) -> Option<&JmapMailbox> {
        self.places.get(id).and_then(|place| self.mailboxes.get(*place))
    }

    /// The mailbox with this role.
    pub fn with_role(&self, role: &JmapMailboxRole) -> Option<&str> {
        let found = self.mailboxes.iter().find(|mailbox| mailbox.role.as_ref() == Some(role));
        found.and_then(|mailbox| mailbox.id.as_deref())
    }

    /// Whether no mailbox has a parent, so that paths do not depend on other mailboxes.
    pub fn is_flat(&self) -> bool {
        self.mailboxes.iter().all(|mailbox| mailbox.parent_id.is_none())
    }

    /// The sources of all mailboxes, parents before their children.
    pub fn sources(&self) -> Vec<Source> {
        self.sources_of(|_| true)
    }

    /// Returns the folders for which `is_told` is true, with all their descendants, whose paths have changed too.
    pub fn sources_below(&self, is_told: impl Fn(&str) -> bool) -> Vec<Source> {
        self.sources_of(|line| line.iter().any(|mailbox| mailbox.id.as_deref().is_some_and(&is_told)))
    }

    /// Returns the folders for which `is_told` is true.
    pub fn sources_at(&self, is_told: impl Fn(&str) -> bool) -> Vec<Source> {
        self.sources_of(|line| line.last().and_then(|own| own.id.as_deref()).is_some_and(&is_told))
    }

    fn sources_of(&self, is_told: impl Fn(&[&JmapMailbox]) -> bool) -> Vec<Source> {
        let lines = self.mailboxes.iter().map(|mailbox| self.line(mailbox));
        let mut told: Vec<Vec<&JmapMailbox>> = lines.filter(|line| is_told(line)).collect();
        told.sort_by_key(Vec::len);
        let unreadable = self.unreadable.iter().filter(|id| !id.is_empty()).map(|id| unreadable(id));
        told.iter().map(|line| source(line)).chain(unreadable).collect()
    }

    /// The mailboxes on the path from the root to this one.
    fn line<'a>(&'a self, mailbox: &'a JmapMailbox) -> Vec<&'a JmapMailbox> {
        let mut line = vec![mailbox];
        let mut at = mailbox;
        while let Some(parent) = at.parent_id.as_deref().and_then(|id| self.get(id)) {
            if line.len() == DEPTH {
                break;
            }
            line.push(parent);
            at = parent;
        }
        line.reverse();
        line
    }
}

fn unreadable(id: &str) -> Source {
    let message = "the provider's description of this folder cannot be read".to_owned();
    let error = ItemError { code: "unreadable".to_owned(), message };
    Source { external_id: external_id(id), error: Some(error), ..Source::default() }
}

fn source(line: &[&JmapMailbox]) -> Source {
    let id = line.last().and_then(|own| own.id.as_deref()).unwrap_or_default();
    match JsonText::of(&folder(line)) {
        Ok(body) => {
            let external_id = external_id(id);
            let item = Item {
                external_id: external_id.clone(),
                kind: Some(KIND.to_owned()),
                body,
                ..Item::default()
            };
            Source { external_id, items: vec![item], ..Source::default() }
        }
        Err(_) => unreadable(id),
    }
}

/// Converts the last mailbox of a path to the model.
fn folder(line: &[&JmapMailbox]) -> Folder {
    let name = |mailbox: &JmapMailbox| text::nfc(mailbox.name.as_deref().unwrap_or_default());
    let Some(own) = line.last() else { return Folder::default() };
    let rights = &own.my_rights;
    Folder {
        name: name(own),
        path: line.iter().map(|mailbox| name(mailbox)).collect(),
        parent_id: own.parent_id.as_deref().map(external_id),
        role: own.role.as_ref().and_then(role),
        total_count: Some(i64::from(own.total_emails)),
        unread_count: Some(i64::from(own.unread_emails)),
        sort_order: i64::from(own.sort_order),
        subscribed: own.is_subscribed,
        selectable: true,
        rights: FolderRights {
            read: rights.may_read_items,
            add: rights.may_add_items,
            remove: rights.may_remove_items,
            set_flags: rights.may_set_keywords,
            rename: rights.may_rename,
            delete: rights.may_delete,
        },
        system: own.role.is_some() || !rights.may_delete,
    }
}

/// The folder role for a mailbox role (IANA mailbox name attributes), if the model has it.
fn role(role: &JmapMailboxRole) -> Option<FolderRole> {
    Some(match role {
        JmapMailboxRole::Inbox => FolderRole::Inbox,
        JmapMailboxRole::Archive => FolderRole::Archive,
        JmapMailboxRole::Drafts => FolderRole::Drafts,
        JmapMailboxRole::Sent => FolderRole::Sent,
        JmapMailboxRole::Trash => FolderRole::Trash,
        JmapMailboxRole::Junk => FolderRole::Junk,
        JmapMailboxRole::Important => FolderRole::Important,
        JmapMailboxRole::Flagged => FolderRole::Flagged,
        JmapMailboxRole::Other(name) if name == "all" => FolderRole::All,
        JmapMailboxRole::Subscribed | JmapMailboxRole::Other(_) => return None,
    })
}

/// A mailbox that an operation needs, and its folder if it had to be created.
pub struct Place {
    pub id: String,
    pub made: Option<Source>,
}

/// Returns the mailbox with this role, creating it as `name` if the account has none.
pub fn ensure(client: &Client, tree: &Tree, role: JmapMailboxRole, name: &str) -> Outcome<Place> {
    if let Some(id) = tree.with_role(&role) {
        return Ok(Place { id: id.to_owned(), made: None });
    }
    let mut batch = client.batch();
    let create = json!({ "create": { "folder": { "name": name, "parentId": null, "role": role } } });
    let set = batch.call("Mailbox/set", create);
    let all = all(&mut batch);
    let answers = client.run(batch, "making a folder")?;
    let made = answers.get::<Set>(&set)?.created("folder");
    let id = made.map_err(|error| failures::of_object(&error))?;
    let tree = Tree::from_answers(&answers, &all)?;
    let made = tree.sources_at(|one| one == id).into_iter().next();
    Ok(Place { id, made })
}

#[cfg(test)]
mod tests {
    use model::email::folders::{Folder, FolderRole};
    use serde_json::{Value, json};

    use super::Tree;
    use crate::protocol::answers::GetResponse;

    fn mailbox(id: &str, name: &str, parent: Option<&str>, role: Option<&str>) -> Value {
        json!({ "id": id, "name": name, "parentId": parent, "role": role, "totalEmails": 3, "unreadEmails": 1,
            "sortOrder": 2, "isSubscribed": true,
            "myRights": { "mayReadItems": true, "mayAddItems": true, "mayRemoveItems": true, "mayCreateChild": true,
                "mayDelete": role.is_none(), "maySubmit": true, "maySetSeen": true, "maySetKeywords": true, "mayRename": true } })
    }

    fn tree(list: Vec<Value>) -> Tree {
        let got: GetResponse =
            serde_json::from_str(&json!({ "state": "1", "list": list }).to_string()).unwrap();
        Tree::read(got)
    }

    fn read_folders(tree: &Tree) -> Vec<Folder> {
        tree.sources().iter().filter_map(|source| source.items.first()?.body.read().ok()).collect()
    }

    #[test]
    fn parents_come_first_and_make_the_path() {
        let tree = tree(vec![
            mailbox("c", "Gr\u{61}\u{308}ser", Some("b"), None),
            mailbox("b", "Projects", None, None),
            mailbox("a", "Inbox", None, Some("inbox")),
            mailbox("x", "All", None, Some("all")),
            mailbox("y", "Odd", None, Some("scheduled")),
        ]);
        let folders = read_folders(&tree);
        let names: Vec<&str> = folders.iter().map(|folder| folder.name.as_str()).collect();
        assert_eq!(names, ["Projects", "Inbox", "All", "Odd", "Gr\u{e4}ser"]);
        assert_eq!(folders[4].path, ["Projects", "Gr\u{e4}ser"]);
        assert_eq!(folders[4].parent_id.as_deref(), Some("F:b"));
        assert_eq!(folders[1].role, Some(FolderRole::Inbox));
        assert_eq!((folders[2].role, folders[3].role), (Some(FolderRole::All), None));
        assert!(folders[1].system && !folders[4].system && folders[3].system);
        assert_eq!(
            (folders[0].total_count, folders[0].unread_count, folders[0].sort_order),
            (Some(3), Some(1), 2)
        );
        assert!(folders[0].rights.delete && !folders[1].rights.delete);
        assert_eq!(tree.sources_below(|id| id == "b").len(), 2);
        assert_eq!(tree.sources_at(|id| id == "b").len(), 1);
        assert!(!tree.is_flat());
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let tree = tree(vec![mailbox("a", "A", Some("b"), None), mailbox("b", "B", Some("a"), None)]);
        assert!(read_folders(&tree).iter().all(|folder| folder.path.len() == 64), "cut at the depth limit");
    }

    #[test]
    fn a_mailbox_that_cannot_be_read_is_told_as_such() {
        let tree = tree(vec![json!({ "id": "z", "name": 7 }), mailbox("a", "A", None, None)]);
        let sources = tree.sources();
        assert_eq!(sources.len(), 2);
        assert_eq!((sources[1].external_id.as_str(), sources[1].error.is_some()), ("F:z", true));
    }
}
