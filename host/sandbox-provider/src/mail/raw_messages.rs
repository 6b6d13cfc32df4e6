//! Data of an account beside the entries of its mailbox: the bytes of messages, and the thread of each Message-ID.

use std::collections::HashMap;

use axum::body::Bytes;
use model::email::EmailMessage;
use sha2::{Digest, Sha256};

use crate::mail::types::Message;

/// The bytes of one account's messages, and their threads.
#[derive(Debug, Default)]
pub struct RawMessages {
    /// By the id of the message.
    raw: HashMap<String, Bytes>,
    bytes: usize,
    /// By Message-ID: the thread, and the number of messages with that id.
    threads: HashMap<String, (String, usize)>,
}

impl RawMessages {
    /// The bytes of a message as it was received.
    pub fn get(&self, id: &str) -> Option<&Bytes> {
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
    pub fn insert(&mut self, id: String, raw: Bytes) {
        self.bytes += raw.len();
        if let Some(old) = self.raw.insert(id, raw) {
            self.bytes -= old.len();
        }
    }

    /// Records the thread of a stored message.
    pub fn record_thread(&mut self, message: &Message, is_new: bool) {
        let Some(id) = &message.body.internet_message_id else { return };
        let thread = || message.body.thread_id.clone().unwrap_or_default();
        let known = self.threads.entry(id.clone()).or_insert_with(|| (thread(), 0));
        known.1 += usize::from(is_new);
    }

    /// Removes a deleted message.
    pub fn remove(&mut self, message: &Message) {
        if let Some(raw) = self.raw.remove(&message.id) {
            self.bytes -= raw.len();
        }
        let Some(id) = &message.body.internet_message_id else { return };
        if let Some(known) = self.threads.get_mut(id) {
            known.1 = known.1.saturating_sub(1);
            if known.1 == 0 {
                self.threads.remove(id);
            }
        }
    }

    /// The thread of a message with this content: that of the nearest known message in its references, else an id derived from
    /// its first reference, so that all messages which name it share a thread even without it.
    pub fn thread_of(&self, content: &EmailMessage, id: &str) -> String {
        let named = content.in_reply_to.iter().chain(content.references.iter().rev());
        let own = content.internet_message_id.iter();
        if let Some((thread, _)) = named.chain(own).find_map(|id| self.threads.get(id)) {
            return thread.clone();
        }
        let above = content.references.first().or(content.in_reply_to.first());
        let root = above.or(content.internet_message_id.as_ref());
        let digest = Sha256::digest(root.map_or(id, String::as_str));
        format!("thread-{}", hex::encode(&digest[..10]))
    }
}

#[cfg(test)]
mod tests {
    use model::email::EmailMessage;

    use crate::mail::raw_messages::RawMessages;
    use crate::mail::types::Message;

    fn content(id: &str, in_reply_to: &[&str], references: &[&str]) -> EmailMessage {
        let all = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        EmailMessage {
            internet_message_id: Some(id.to_owned()),
            in_reply_to: all(in_reply_to),
            references: all(references),
            ..EmailMessage::default()
        }
    }

    /// Replies share a thread, in any order of arrival and however short their references are.
    #[test]
    fn threads() {
        let mut messages = RawMessages::default();
        let mut add = |content: EmailMessage| {
            let thread = messages.thread_of(&content, "x");
            let body = EmailMessage { thread_id: Some(thread.clone()), ..content };
            messages.record_thread(&Message { body, ..Message::default() }, true);
            thread
        };
        let late = add(content("c", &["b"], &["a", "b"]));
        assert_eq!(add(content("a", &[], &[])), late);
        assert_eq!(add(content("d", &["c"], &[])), late);
        assert_eq!(add(content("d", &[], &[])), late, "the copy of one message");
        assert_ne!(add(content("e", &[], &[])), late);
    }
}
