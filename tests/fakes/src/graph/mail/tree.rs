//! The tree of a mailbox's folders, with the well-known names.

use std::collections::BTreeMap;

/// The folder above all others; lists do not show it.
pub const ROOT: &str = "folder-root";
/// The folder of messages that were deleted for good and can be restored by administrators. No list shows it; its messages are listed by its
/// well-known name (fact `mail_delta.recoverable_listed`).
pub const RECOVERABLE: &str = "folder-recoverableitemsdeletions";

/// Folders that each mailbox has: well-known name and display name.
const WELL_KNOWN: [(&str, &str); 8] = [
    ("archive", "Archive"),
    ("conversationhistory", "Conversation History"),
    ("deleteditems", "Deleted Items"),
    ("drafts", "Drafts"),
    ("inbox", "Inbox"),
    ("junkemail", "Junk Email"),
    ("outbox", "Outbox"),
    ("sentitems", "Sent Items"),
];

/// A folder.
#[derive(Clone, Debug)]
pub struct FolderNode {
    pub key: String,
    pub parent: String,
    pub name: String,
    pub is_hidden: bool,
    /// A mailSearchFolder: its messages are in other folders.
    pub is_search: bool,
    /// The number of the change that made it or changed it last.
    pub changed: u64,
    /// The time of the last change of a message in it, in Unix milliseconds.
    pub changed_ms: i64,
}

/// A folder that is no more.
#[derive(Clone, Debug)]
pub struct GoneFolder {
    pub key: String,
    pub is_hidden: bool,
    /// The number of the change that removed it.
    pub changed: u64,
}

/// The folders of a mailbox by their keys.
#[derive(Clone, Debug)]
pub struct FolderTree {
    pub nodes: BTreeMap<String, FolderNode>,
    pub gone: Vec<GoneFolder>,
}

/// The key of a well-known folder.
pub fn well_known(name: &str) -> String {
    format!("folder-{name}")
}

impl FolderTree {
    /// The folders of a new mailbox. Personal accounts have no archive before it is used.
    pub fn new(is_personal: bool) -> FolderTree {
        let mut tree = FolderTree { nodes: BTreeMap::new(), gone: Vec::new() };
        tree.add(ROOT, "", "Top of Information Store", 0);
        tree.add(RECOVERABLE, "", "Deletions", 0);
        for (name, shown) in WELL_KNOWN.iter().filter(|(name, _)| !is_personal || *name != "archive") {
            tree.add(&well_known(name), ROOT, shown, 0);
        }
        let hidden = "folder-syncissues";
        tree.add(hidden, ROOT, "Sync Issues", 0);
        if let Some(node) = tree.nodes.get_mut(hidden) {
            node.is_hidden = true;
        }
        tree
    }

    pub fn add(&mut self, key: &str, parent: &str, name: &str, changed: u64) {
        let node = FolderNode {
            key: key.to_owned(),
            parent: parent.to_owned(),
            name: name.to_owned(),
            is_hidden: false,
            is_search: false,
            changed,
            changed_ms: 0,
        };
        self.nodes.insert(key.to_owned(), node);
    }

    /// The key that a well-known name or a key names; none where there is no such folder.
    pub fn find(&self, name_or_key: &str) -> Option<&FolderNode> {
        let name = name_or_key.to_lowercase();
        let known = if name == "msgfolderroot" { ROOT.to_owned() } else { well_known(&name) };
        self.nodes.get(&known).or_else(|| self.nodes.get(name_or_key))
    }

    /// The folders directly in another one.
    pub fn children<'t>(&'t self, parent: &'t str) -> impl Iterator<Item = &'t FolderNode> {
        self.nodes.values().filter(move |node| node.parent == parent)
    }

    /// Returns whether a folder of this name is in the parent, whatever the case of its letters.
    pub fn has_child(&self, parent: &str, name: &str) -> bool {
        self.children(parent).any(|node| node.name.to_lowercase() == name.to_lowercase())
    }

    /// Returns whether Exchange made the folder.
    pub fn is_well_known(&self, key: &str) -> bool {
        key == ROOT || key == RECOVERABLE || WELL_KNOWN.iter().any(|(name, _)| well_known(name) == key)
    }

    /// The keys of a folder and of all below it, the folder first.
    pub fn subtree(&self, key: &str) -> Vec<String> {
        let mut all = vec![key.to_owned()];
        let mut at = 0;
        while let Some(parent) = all.get(at).cloned() {
            all.extend(self.children(&parent).map(|node| node.key.clone()));
            at += 1;
        }
        all
    }

    /// Removes a folder with all below it. Returns their keys.
    pub fn remove(&mut self, key: &str, changed: u64) -> Vec<String> {
        let all = self.subtree(key);
        for key in &all {
            if let Some(node) = self.nodes.remove(key) {
                self.gone.push(GoneFolder { key: node.key, is_hidden: node.is_hidden, changed });
            }
        }
        all
    }

    /// Returns whether lists and deltas of the tree show the folder.
    pub fn is_shown(&self, node: &FolderNode, with_hidden: bool) -> bool {
        node.key != ROOT && node.key != RECOVERABLE && (with_hidden || !node.is_hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::{FolderTree, ROOT};

    #[test]
    fn folders_are_found_by_name_and_key_and_go_with_what_is_below_them() {
        let mut tree = FolderTree::new(true);
        assert_eq!(tree.find("Inbox").map(|node| node.name.as_str()), Some("Inbox"));
        assert_eq!(tree.find("msgfolderroot").map(|node| node.key.as_str()), Some(ROOT));
        assert!(tree.find("archive").is_none(), "personal accounts have none at first");
        tree.add("folder-1", "folder-inbox", "A/B", 1);
        tree.add("folder-2", "folder-1", "C", 2);
        assert!(tree.has_child("folder-inbox", "a/b") && !tree.is_well_known("folder-1"));
        assert_eq!(tree.remove("folder-1", 3), ["folder-1", "folder-2"]);
        assert_eq!((tree.gone.len(), tree.find("folder-2").is_none()), (2, true));
    }
}
