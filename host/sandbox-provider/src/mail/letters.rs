//! Data of an account beside the entries of its mailbox: the bytes of messages, and the thread of each Message-ID.

use std::collections::HashMap;

use axum::body::Bytes;
use sha2::{Digest, Sha256};

use crate::mail::types::{Content, Message};

/// The raw messages of one account.
#[derive(Debug, Default)]
pub struct Letters {
    /// By the id of the message.
    raw: HashMap<String, Bytes>,
    bytes: usize,
    /// By Message-ID: the thread, and the number of messages with that id.
    threads: HashMap<String, (String, usize)>,
}

impl Letters {
    /// The bytes of a message as it was received.
    pub fn raw(&self, id: &str) -> Option<&Bytes> {
        self.raw.get(id)
    }

    /// The size of all messages.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes of every message as it was received, by id.
    pub fn all(&self) -> impl Iterator<Item = (&String, &Bytes)> {
        self.raw.iter()
    }

    /// Stores the bytes of a message.
    pub fn keep(&mut self, id: String, raw: Bytes) {
        self.bytes += raw.len();
        if let Some(old) = self.raw.insert(id, raw) {
            self.bytes -= old.len();
        }
    }

    /// Records the thread of a stored message.
    pub fn learn(&mut self, message: &Message, is_new: bool) {
        let Some(id) = &message.content.message_id else { return };
        let known = self.threads.entry(id.clone()).or_insert_with(|| (message.thread.clone(), 0));
        known.1 += usize::from(is_new);
    }

    /// Removes a deleted message.
    pub fn lose(&mut self, message: &Message) {
        if let Some(raw) = self.raw.remove(&message.id) {
            self.bytes -= raw.len();
        }
        let Some(id) = &message.content.message_id else { return };
        if let Some(known) = self.threads.get_mut(id) {
            known.1 = known.1.saturating_sub(1);
            if known.1 == 0 {
                self.threads.remove(id);
            }
        }
    }

    /// The thread of a message with this content: that of the nearest known message in its references, else an id derived from
    /// its first reference, so that all messages which name it share a thread even without it.
    pub fn thread(&self, content: &Content, id: &str) -> String {
        let named = content.in_reply_to.iter().chain(content.references.iter().rev());
        let own = content.message_id.iter();
        if let Some((thread, _)) = named.chain(own).find_map(|id| self.threads.get(id)) {
            return thread.clone();
        }
        let root = content.references.first().or(content.in_reply_to.first()).or(content.message_id.as_ref());
        let digest = Sha256::digest(root.map_or(id, String::as_str));
        format!("thread-{}", hex::encode(&digest[..10]))
    }
}

#[cfg(test)]
mod tests {
    use crate::mail::letters::Letters;
    use crate::mail::types::{Content, Message};

    fn content(id: &str, in_reply_to: &[&str], references: &[&str]) -> Content {
        let all = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        Content {
            message_id: Some(id.to_owned()),
            in_reply_to: all(in_reply_to),
            references: all(references),
            ..Content::default()
        }
    }

    /// Replies share a thread, in any order of arrival and however short their references are.
    #[test]
    fn threads() {
        let mut letters = Letters::default();
        let mut add = |content: Content| {
            let message = Message { thread: letters.thread(&content, "x"), content, ..Message::default() };
            letters.learn(&message, true);
            message.thread
        };
        let late = add(content("c", &["b"], &["a", "b"]));
        assert_eq!(add(content("a", &[], &[])), late);
        assert_eq!(add(content("d", &["c"], &[])), late);
        assert_eq!(add(content("d", &[], &[])), late, "the copy of one message");
        assert_ne!(add(content("e", &[], &[])), late);
    }
}
