//! The contacts of one mailbox: the tree of folders, the contacts in them, and what changed.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::graph::change_log::{ChangeItem, ChangeKind, ChangeLog};
use crate::graph::ids;

/// The key of the folder that each mailbox has.
pub const DEFAULT_FOLDER: &str = "contact-folder-default";
/// The collection of all folders in the log of changes.
pub const FOLDERS: &str = "folders";

/// Everything of the contacts surface in one mailbox.
pub struct ContactStore {
    /// By key.
    pub folders: BTreeMap<String, ContactFolder>,
    /// By number.
    pub items: BTreeMap<u64, ContactItem>,
    pub log: ChangeLog,
}

/// A folder of contacts.
#[derive(Clone, Debug)]
pub struct ContactFolder {
    pub key: String,
    /// The key of the folder above; empty for the default folder.
    pub parent: String,
    pub name: String,
    /// The place in lists.
    pub number: u64,
}

/// The photo of a contact.
#[derive(Clone, Debug)]
pub struct ContactPhoto {
    pub bytes: Bytes,
    /// The number of the change that brought it.
    pub changed: u64,
}

/// A contact.
#[derive(Clone, Debug)]
pub struct ContactItem {
    pub number: u64,
    /// The key of its folder.
    pub folder: String,
    /// The members that were written.
    pub members: Map<String, Value>,
    /// Extended properties by their ids.
    pub extended: BTreeMap<String, String>,
    pub photo: Option<ContactPhoto>,
    pub created_ms: i64,
    pub modified_ms: i64,
    /// The number of its latest change, which its change key shows.
    pub changed: u64,
    /// Grows with each move.
    pub place: u64,
}

impl ContactItem {
    /// An empty contact of a folder.
    pub fn new(number: u64, folder: &str, now_ms: i64) -> ContactItem {
        ContactItem {
            number,
            folder: folder.to_owned(),
            members: Map::new(),
            extended: BTreeMap::new(),
            photo: None,
            created_ms: now_ms,
            modified_ms: now_ms,
            changed: number,
            place: 1,
        }
    }

    /// The key, of which its ids are made.
    pub fn key(&self) -> String {
        format!("contact-{}", self.number)
    }

    pub fn etag(&self) -> String {
        ids::etag(self.changed)
    }

    fn change_item(&self) -> ChangeItem {
        ChangeItem { collection: self.folder.clone(), key: self.key(), place: self.place }
    }
}

impl Default for ContactStore {
    fn default() -> Self {
        let mut store =
            ContactStore { folders: BTreeMap::new(), items: BTreeMap::new(), log: ChangeLog::default() };
        let number = store.log.next_change();
        let default = ContactFolder {
            key: DEFAULT_FOLDER.to_owned(),
            parent: String::new(),
            name: "Contacts".to_owned(),
            number,
        };
        store.folders.insert(DEFAULT_FOLDER.to_owned(), default);
        store
    }
}

impl ContactStore {
    /// The contact with this key.
    pub fn find(&self, key: &str) -> Option<&ContactItem> {
        self.items.get(&key.strip_prefix("contact-")?.parse::<u64>().ok()?)
    }

    /// The contacts of a folder, the oldest first.
    pub fn in_folder(&self, folder: &str) -> impl Iterator<Item = &ContactItem> {
        self.items.values().filter(move |item| item.folder == folder)
    }

    /// The folders in a folder, in the order in which they were made.
    pub fn children(&self, parent: &str) -> Vec<&ContactFolder> {
        let mut all: Vec<&ContactFolder> =
            self.folders.values().filter(|folder| folder.parent == parent).collect();
        all.sort_by_key(|folder| folder.number);
        all
    }

    /// Makes a folder. Returns its key.
    pub fn add_folder(&mut self, parent: &str, name: &str) -> String {
        let number = self.log.next_change();
        let key = format!("contact-folder-{number}");
        let folder =
            ContactFolder { key: key.clone(), parent: parent.to_owned(), name: name.to_owned(), number };
        self.folders.insert(key.clone(), folder);
        self.record_folder(ChangeKind::Arrival, &key);
        key
    }

    /// Gives a folder another name.
    pub fn rename_folder(&mut self, key: &str, name: &str) {
        let Some(folder) = self.folders.get_mut(key) else { return };
        name.clone_into(&mut folder.name);
        self.record_folder(ChangeKind::Update, key);
    }

    /// Records a change of a folder.
    fn record_folder(&mut self, kind: ChangeKind, key: &str) {
        let item = ChangeItem { collection: FOLDERS.to_owned(), key: key.to_owned(), place: 0 };
        self.log.record(kind, item);
    }

    /// Removes a folder with the folders and contacts in it. Returns those contacts.
    pub fn remove_folder(&mut self, key: &str) -> Vec<ContactItem> {
        let children: Vec<String> = self.children(key).into_iter().map(|child| child.key.clone()).collect();
        let mut gone: Vec<ContactItem> =
            children.iter().flat_map(|child| self.remove_folder(child)).collect();
        let numbers: Vec<u64> = self.in_folder(key).map(|item| item.number).collect();
        gone.extend(numbers.into_iter().filter_map(|number| self.remove(number)));
        if self.folders.remove(key).is_some() {
            self.record_folder(ChangeKind::Departure, key);
        }
        gone
    }

    /// Stores a new contact. `write` fills it.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn add<E>(
        &mut self,
        folder: &str,
        now_ms: i64,
        write: impl FnOnce(&mut ContactItem) -> Result<(), E>,
    ) -> Result<u64, E> {
        let number = self.log.next_change();
        let mut item = ContactItem::new(number, folder, now_ms);
        write(&mut item)?;
        item.changed = self.log.record(ChangeKind::Arrival, item.change_item());
        self.items.insert(number, item);
        Ok(number)
    }

    /// Records a change of a contact.
    pub fn touch(&mut self, number: u64, now_ms: i64) {
        let Some(item) = self.items.get_mut(&number) else { return };
        item.changed = self.log.record(ChangeKind::Update, item.change_item());
        item.modified_ms = now_ms;
    }

    /// Gives a contact a photo: no delta tells of it.
    pub fn put_photo(&mut self, number: u64, bytes: Bytes) {
        let changed = self.log.next_change();
        if let Some(item) = self.items.get_mut(&number) {
            item.photo = Some(ContactPhoto { bytes, changed });
        }
    }

    /// Moves a contact to another folder: its immutable id stays, its other one does not.
    pub fn move_to(&mut self, number: u64, folder: &str, now_ms: i64) {
        let Some(item) = self.items.get_mut(&number) else { return };
        self.log.record(ChangeKind::Departure, item.change_item());
        folder.clone_into(&mut item.folder);
        item.place += 1;
        item.changed = self.log.record(ChangeKind::Arrival, item.change_item());
        item.modified_ms = now_ms;
    }

    /// Removes a contact.
    pub fn remove(&mut self, number: u64) -> Option<ContactItem> {
        let item = self.items.remove(&number)?;
        self.log.record(ChangeKind::Departure, item.change_item());
        Some(item)
    }
}
