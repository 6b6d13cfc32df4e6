//! The other side: contacts as tests put them there, and changes that other clients make. None of it is a request.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::graph::contacts::book::{ContactStore, DEFAULT_FOLDER};
use crate::graph::contacts::contact_body;
use crate::graph::contacts::writes::{ContactChange, note, note_contact};
use crate::graph::ids;
use crate::graph::state::GraphState;

impl GraphState {
    /// The contacts of an account.
    ///
    /// # Panics
    /// There is no such account.
    fn contact_store(&mut self, user: &str) -> &mut ContactStore {
        self.contacts.get_mut(user).unwrap_or_else(|| panic!("no account {user}"))
    }

    /// Adds a folder in another one, which an id or a name names, or in the default folder where that is empty. Returns its id.
    pub fn add_contact_folder(&mut self, user: &str, parent: &str, name: &str) -> String {
        let store = self.contact_store(user);
        let parent = folder_key(store, parent);
        ids::stable(&store.add_folder(&parent, name))
    }

    /// The id of a folder by its id or name; of the default one for an empty name or `contacts`.
    pub fn contact_folder_id(&mut self, user: &str, folder: &str) -> String {
        ids::stable(&folder_key(self.contact_store(user), folder))
    }

    /// Gives a folder another name.
    pub fn rename_contact_folder(&mut self, user: &str, folder: &str, name: &str) {
        let store = self.contact_store(user);
        let key = folder_key(store, folder);
        store.rename_folder(&key, name);
    }

    /// Deletes a folder with all that is in it.
    pub fn delete_contact_folder(&mut self, user: &str, folder: &str) {
        let store = self.contact_store(user);
        let key = folder_key(store, folder);
        for item in store.remove_folder(&key) {
            note(self, user, "deleted", &ContactChange::of(&item));
        }
    }

    /// Stores a contact as a request has it. Returns its immutable id.
    ///
    /// # Panics
    /// Exchange would refuse it.
    pub fn put_contact(&mut self, user: &str, folder: &str, contact: Value) -> String {
        let now = self.clock.now_ms();
        let store = self.contact_store(user);
        let folder = folder_key(store, folder);
        let number = store
            .add(&folder, now, |item| contact_body::write(item, &contact, true))
            .unwrap_or_else(|error| panic!("{}: {}", error.code, error.message));
        note_contact(self, user, "created", number);
        ids::immutable(&format!("contact-{number}"))
    }

    /// Changes a contact as another client does; `id` is an immutable one.
    ///
    /// # Panics
    /// There is no such contact, or Exchange would refuse the change.
    pub fn edit_contact(&mut self, user: &str, id: &str, change: Value) {
        let (now, number) = (self.clock.now_ms(), number_of(id));
        let store = self.contact_store(user);
        let item = store.items.get_mut(&number).unwrap_or_else(|| panic!("no contact {id}"));
        contact_body::write(item, &change, false)
            .unwrap_or_else(|error| panic!("{}: {}", error.code, error.message));
        store.touch(number, now);
        note_contact(self, user, "updated", number);
    }

    /// Moves a contact to another folder as Outlook does: the immutable id stays.
    ///
    /// # Panics
    /// There is no such contact.
    pub fn move_contact(&mut self, user: &str, id: &str, folder: &str) {
        let (now, number) = (self.clock.now_ms(), number_of(id));
        let store = self.contact_store(user);
        let folder = folder_key(store, folder);
        let before = store.items.get(&number).unwrap_or_else(|| panic!("no contact {id}"));
        let before = ContactChange::of(before);
        store.move_to(number, &folder, now);
        note(self, user, "deleted", &before);
        note_contact(self, user, "created", number);
    }

    /// Deletes a contact as another client does.
    ///
    /// # Panics
    /// There is no such contact.
    pub fn delete_contact(&mut self, user: &str, id: &str) {
        let removed = self.contact_store(user).remove(number_of(id));
        let item = removed.unwrap_or_else(|| panic!("no contact {id}"));
        note(self, user, "deleted", &ContactChange::of(&item));
    }

    /// Gives a contact a photo.
    ///
    /// # Panics
    /// There is no such contact.
    pub fn put_contact_photo(&mut self, user: &str, id: &str, photo: &[u8]) {
        let number = number_of(id);
        let store = self.contact_store(user);
        assert!(store.items.contains_key(&number), "no contact {id}");
        store.put_photo(number, Bytes::copy_from_slice(photo));
    }

    /// The photo of a contact.
    pub fn contact_photo(&mut self, user: &str, id: &str) -> Option<Vec<u8>> {
        self.contact_store(user).items.get(&number_of(id))?.photo.as_ref().map(|photo| photo.bytes.to_vec())
    }

    /// A contact's members as they were written, with `parentFolderId` and the extended properties; none where it is not there.
    pub fn stored_contact(&mut self, user: &str, id: &str) -> Option<Value> {
        let item = self.contact_store(user).items.get(&number_of(id))?;
        let mut value = Value::Object(item.members.clone());
        value["parentFolderId"] = ids::stable(&item.folder).into();
        let extended = item.extended.iter().map(|(id, value)| json!({ "id": id, "value": value }));
        value["singleValueExtendedProperties"] = extended.collect();
        Some(value)
    }

    /// The immutable ids of the contacts of a folder, the oldest first.
    pub fn contact_ids(&mut self, user: &str, folder: &str) -> Vec<String> {
        let store = self.contact_store(user);
        let folder = folder_key(store, folder);
        store.in_folder(&folder).map(|item| ids::immutable(&item.key())).collect()
    }

    /// Lets the delta tokens of contacts and their folders that were handed out so far expire.
    pub fn expire_contact_tokens(&mut self, user: &str) {
        self.contact_store(user).log.expire_tokens();
    }
}

/// The key of a folder by its id or name; of the default one for an empty name or `contacts`.
///
/// # Panics
/// There is none.
fn folder_key(store: &ContactStore, folder: &str) -> String {
    if folder.is_empty() || folder.eq_ignore_ascii_case("contacts") {
        return DEFAULT_FOLDER.to_owned();
    }
    let mut all = store.folders.values();
    let found = all.find(|one| one.name == folder || ids::stable(&one.key) == folder);
    found.map(|one| one.key.clone()).unwrap_or_else(|| panic!("no folder {folder}"))
}

/// The number of the contact that an id names.
///
/// # Panics
/// It names none.
fn number_of(id: &str) -> u64 {
    let key = ids::parse_item(id).map(|id| id.key).unwrap_or_default();
    let number = key.strip_prefix("contact-").and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| panic!("{id} is no contact's id"))
}

/// `/__control/contacts/{user}/…`: operations of a test in another process.
///
/// # Errors
/// There is no such route, or a member of the body is missing.
pub fn control(state: &mut GraphState, method: &str, path: &[&str], body: &Value) -> Result<Value, String> {
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("{name} is missing"));
    let [user, rest @ ..] = path else { return Err("no user".to_owned()) };
    if !state.contacts.contains_key(*user) {
        return Err(format!("{user} has no mailbox"));
    }
    let folder = body["folder"].as_str().unwrap_or_default();
    match (method, rest) {
        ("POST", ["folders"]) => {
            let parent = body["parent"].as_str().unwrap_or_default();
            return Ok(json!({ "id": state.add_contact_folder(user, parent, text("name")?) }));
        }
        ("PATCH", ["folders", id]) => state.rename_contact_folder(user, id, text("name")?),
        ("DELETE", ["folders", id]) => state.delete_contact_folder(user, id),
        ("POST", ["contacts"]) => {
            return Ok(json!({ "id": state.put_contact(user, folder, body["contact"].clone()) }));
        }
        ("PATCH", ["contacts", id]) => state.edit_contact(user, id, body["change"].clone()),
        ("DELETE", ["contacts", id]) => state.delete_contact(user, id),
        ("POST", ["contacts", id, "move"]) => state.move_contact(user, id, folder),
        ("GET", ["contacts", id]) => return Ok(json!({ "contact": state.stored_contact(user, id) })),
        ("POST", ["expire-tokens"]) => state.expire_contact_tokens(user),
        _ => return Err("no such route".to_owned()),
    }
    Ok(json!({}))
}
