//! A message that is ready to be sent.

use mail::build::{BuiltMessage, Outgoing};
use model::email::draft::ReplyMode;
use storage::items::Item;

/// The message that is answered or forwarded.
pub struct Original {
    pub item: Item,
    pub mode: ReplyMode,
}

/// A message that can be sent.
pub struct OutgoingMessage {
    pub outgoing: Outgoing,
    pub built: BuiltMessage,
    pub original: Option<Original>,
}

impl OutgoingMessage {
    /// Returns all recipients, each once.
    pub fn recipients(&self) -> Vec<String> {
        let o = &self.outgoing;
        let mut found: Vec<String> = Vec::new();
        for person in o.to.iter().chain(&o.cc).chain(&o.bcc) {
            if !found.iter().any(|f| ::mail::address::folded(f) == ::mail::address::folded(&person.email)) {
                found.push(person.email.clone());
            }
        }
        found
    }
}
