//! Messages that come into mailboxes from elsewhere, and what their users do by other programs.

use serde_json::{Value, json};

use crate::graph::ids;
use crate::graph::mail::attachments;
use crate::graph::mail::categories;
use crate::graph::mail::content::{AttachmentKind, StoredAttachment};
use crate::graph::mail::notify_subscriptions;
use crate::graph::mail::store::{MailStore, MessageItem, NewMessage};
use crate::graph::mail::tree::{RECOVERABLE, ROOT, well_known};
use crate::graph::state::GraphState;

impl GraphState {
    /// The mailbox of a user.
    ///
    /// # Panics
    /// The user has none.
    pub fn mailbox(&mut self, user: &str) -> &mut MailStore {
        self.mail.get_mut(user).unwrap_or_else(|| panic!("{user} has no mailbox"))
    }

    /// Delivers a message into a user's inbox, unread; its immutable id.
    pub fn deliver(&mut self, user: &str, raw: &[u8]) -> String {
        self.put_mail(user, raw, "inbox", false)
    }

    /// Puts a message that came now into a folder, by its well-known name, name or id; its immutable id.
    pub fn put_mail(&mut self, user: &str, raw: &[u8], folder: &str, is_read: bool) -> String {
        let now = self.clock.now_ms();
        self.put_mail_at(user, raw, folder, is_read, now)
    }

    /// The same of a message that came at this time, in Unix milliseconds. The time in its head does not count.
    pub fn put_mail_at(
        &mut self,
        user: &str,
        raw: &[u8],
        folder: &str,
        is_read: bool,
        received_ms: i64,
    ) -> String {
        let now_ms = self.clock.now_ms();
        let store = self.mailbox(user);
        let folder = store.folder_key(folder);
        let is_draft = folder == well_known("drafts");
        let number =
            store.add(NewMessage { raw: raw.to_vec(), folder, received_ms, now_ms, is_read, is_draft });
        notify_subscriptions(self);
        ids::immutable(&format!("msg-{number}"))
    }

    /// Moves a message, as another program does. Its immutable id stays.
    pub fn move_mail(&mut self, user: &str, id: &str, folder: &str) {
        let now = self.clock.now_ms();
        let store = self.mailbox(user);
        let (number, folder) = (number_of(id), store.folder_key(folder));
        store.move_to(number, &folder, now);
        notify_subscriptions(self);
    }

    /// Deletes a message; it can be restored by administrators alone.
    pub fn delete_mail(&mut self, user: &str, id: &str) {
        let now = self.clock.now_ms();
        self.mailbox(user).move_to(number_of(id), RECOVERABLE, now);
        notify_subscriptions(self);
    }

    /// Changes the state of a message, as another program does; `members` are those of the changes that Graph logs.
    pub fn change_mail(
        &mut self,
        user: &str,
        id: &str,
        members: &[&'static str],
        change: impl FnOnce(&mut MessageItem),
    ) {
        let now = self.clock.now_ms();
        let (store, number) = (self.mailbox(user), number_of(id));
        if let Some(item) = store.messages.get_mut(&number) {
            change(item);
        }
        store.record_update(number, members.to_vec(), now);
        notify_subscriptions(self);
    }

    /// Marks a message read or unread.
    pub fn mark_mail_read(&mut self, user: &str, id: &str, is_read: bool) {
        self.change_mail(user, id, &["isRead"], |item| item.is_read = is_read);
    }

    /// Sets the flag of a message: `notFlagged`, `flagged` or `complete`.
    pub fn flag_mail(&mut self, user: &str, id: &str, status: &str) {
        self.change_mail(user, id, &["flag"], |item| status.clone_into(&mut item.flag));
    }

    /// Replaces the categories of a message.
    pub fn categorize_mail(&mut self, user: &str, id: &str, names: &[&str]) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.change_mail(user, id, &["categories"], |item| item.categories = names);
    }

    /// Adds a category to the master list.
    ///
    /// # Panics
    /// The name is taken, or the colour is none.
    pub fn add_category(&mut self, user: &str, name: &str, color: &str) {
        categories::add(self.mailbox(user), name, color).expect("a new name and a preset");
    }

    /// The message with this immutable id.
    ///
    /// # Panics
    /// There is none.
    pub fn mail_item(&mut self, user: &str, id: &str) -> &MessageItem {
        self.mailbox(user).messages.get(&number_of(id)).unwrap_or_else(|| panic!("no message {id}"))
    }

    /// Immutable ids of the messages that the user sees, the oldest first.
    pub fn mail_ids(&mut self, user: &str) -> Vec<String> {
        let seen = self.mailbox(user).messages.values().filter(|item| item.folder != RECOVERABLE);
        seen.map(|item| ids::immutable(&item.key())).collect()
    }
}

/// The number of the message that an immutable id names.
///
/// # Panics
/// It names none.
fn number_of(id: &str) -> u64 {
    let key = ids::parse_item(id).map(|id| id.key).unwrap_or_default();
    key.strip_prefix("msg-")
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| panic!("{id} is no message's id"))
}

impl MailStore {
    /// The key of a folder by its well-known name, name or id.
    ///
    /// # Panics
    /// There is none.
    pub fn folder_key(&self, folder: &str) -> String {
        let by_id = ids::parse_stable(folder).ok();
        let found = self.tree.find(by_id.as_deref().unwrap_or(folder));
        let found = found.or_else(|| self.tree.nodes.values().find(|node| node.name == folder));
        found.map(|node| node.key.clone()).unwrap_or_else(|| panic!("no folder {folder}"))
    }

    /// Makes a folder in another one, or at the top where `parent` is empty; its id.
    pub fn make_folder(&mut self, parent: &str, name: &str) -> String {
        let parent = if parent.is_empty() { ROOT.to_owned() } else { self.folder_key(parent) };
        ids::stable(&self.add_folder(&parent, name))
    }

    /// Makes a folder whose messages are in others, as Outlook's search folders are; its id.
    pub fn make_search_folder(&mut self, name: &str) -> String {
        let key = self.add_folder(ROOT, name);
        if let Some(node) = self.tree.nodes.get_mut(&key) {
            node.is_search = true;
        }
        ids::stable(&key)
    }

    /// Gives a folder another name.
    pub fn rename_folder(&mut self, folder: &str, name: &str) {
        let (key, changed) = (self.folder_key(folder), self.next_change());
        if let Some(node) = self.tree.nodes.get_mut(&key) {
            name.clone_into(&mut node.name);
            node.changed = changed;
        }
    }

    /// Removes a folder with all below it, also one that Exchange made.
    pub fn drop_folder(&mut self, folder: &str, now_ms: i64) {
        let key = self.folder_key(folder);
        self.remove_folder(&key, now_ms);
    }

    /// Lets the delta tokens of one folder that were handed out so far expire.
    pub fn expire_folder_tokens(&mut self, folder: &str) {
        let key = self.folder_key(folder);
        self.expire_tokens_of(&key);
    }

    /// Attaches a link to a file elsewhere to a message.
    pub fn attach_reference(&mut self, id: &str, name: &str, now_ms: i64) {
        let number = number_of(id);
        let Some(item) = self.messages.get_mut(&number) else { return };
        let attachment = StoredAttachment {
            number: attachments::next_number(item),
            kind: AttachmentKind::Reference,
            name: name.to_owned(),
            content_type: String::new(),
            content_id: None,
            content_location: None,
            is_inline: false,
            bytes: Vec::new(),
        };
        item.content.attachments.push(attachment);
        self.record_update(number, vec!["hasAttachments"], now_ms);
    }

    /// Puts rare but real messages into the inbox: without a head, in an unknown charset, with a message inside. Returns their ids.
    pub fn add_odd_mail(&mut self, now_ms: i64) -> Vec<String> {
        let head = "From: Odd <odd@elsewhere.test>\r\nDate: Sun, 01 Feb 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n";
        let all = [
            "\r\nNo head\r\n".to_owned(),
            format!(
                "{head}Subject: Unknown charset\r\nContent-Type: text/plain; charset=x-klingon\r\n\r\nnuqneH \u{e9}\r\n"
            ),
            format!(
                "{head}Subject: A message inside\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\
                 Content-Type: text/html\r\n\r\n<p>See below</p>\r\n--m\r\nContent-Type: message/rfc822\r\n\r\n\
                 Subject: Inner\r\nFrom: in@elsewhere.test\r\n\r\nHello\r\n--m--\r\n"
            ),
        ];
        let add = |raw: String| {
            let number = self.add(NewMessage::now(raw.into_bytes(), "inbox", now_ms));
            ids::immutable(&format!("msg-{number}"))
        };
        all.into_iter().map(add).collect()
    }
}

/// `/__control/mail/{user}/…`: operations of a test in another process on a mailbox.
pub fn control(state: &mut GraphState, method: &str, path: &[&str], body: &Value) -> Result<Value, String> {
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("{name} is missing"));
    let [user, rest @ ..] = path else { return Err("no user".to_owned()) };
    if !state.mail.contains_key(*user) {
        return Err(format!("{user} has no mailbox"));
    }
    let now = state.clock.now_ms();
    match (method, rest) {
        ("POST", ["messages"]) => {
            let folder = body["folder"].as_str().unwrap_or("inbox");
            let at = body["at"].as_i64().unwrap_or(now);
            let id = state.put_mail_at(user, text("raw")?.as_bytes(), folder, body["read"] == true, at);
            return Ok(json!({ "id": id }));
        }
        ("DELETE", ["messages", id]) => state.delete_mail(user, id),
        ("POST", ["messages", id, "move"]) => state.move_mail(user, id, text("folder")?),
        ("POST", ["messages", id, "read"]) => state.mark_mail_read(user, id, body["read"] != false),
        ("POST", ["messages", id, "flag"]) => state.flag_mail(user, id, text("status")?),
        ("POST", ["messages", id, "categories"]) => {
            let names = body["names"].as_array().into_iter().flatten().filter_map(Value::as_str);
            state.categorize_mail(user, id, &names.collect::<Vec<_>>());
        }
        ("POST", ["odd-messages"]) => return Ok(json!({ "ids": state.mailbox(user).add_odd_mail(now) })),
        ("POST", ["folders"]) => {
            let parent = body["parent"].as_str().unwrap_or_default();
            return Ok(json!({ "id": state.mailbox(user).make_folder(parent, text("name")?) }));
        }
        ("PATCH", ["folders", id]) => state.mailbox(user).rename_folder(id, text("name")?),
        ("DELETE", ["folders", id]) => state.mailbox(user).drop_folder(id, now),
        ("POST", ["categories"]) => state.add_category(user, text("name")?, text("color")?),
        ("POST", ["expire-tokens"]) => state.mailbox(user).expire_tokens(),
        ("GET", ["sent"]) => {
            let sent = state.mailbox(user).sent.iter();
            let sent: Vec<Value> = sent
                .map(|sent| json!({ "recipients": sent.recipients, "raw": String::from_utf8_lossy(&sent.raw) }))
                .collect();
            return Ok(json!({ "sent": sent }));
        }
        _ => return Err("no such route".to_owned()),
    }
    Ok(json!({}))
}
