//! The capabilities that a server announces (RFC 9051 section 6.1.1).

use serde::{Deserialize, Serialize};

/// The capabilities that the server announces, in upper case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Capabilities(Vec<String>);

impl Capabilities {
    /// The capabilities that these words name.
    pub fn new<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Self {
        let words = words.into_iter().map(|word| word.as_ref().to_ascii_uppercase());
        Capabilities(words.filter(|word| !word.is_empty()).take(500).collect())
    }

    /// The server has this capability, which is given in upper case.
    pub fn has(&self, word: &str) -> bool {
        self.0.iter().any(|known| known == word)
    }

    /// Whether no capability is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes a capability that the server turned out not to have.
    pub fn forget(&mut self, word: &str) {
        self.0.retain(|known| known != word);
    }

    /// Returns the value after `=` in a capability of this name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|known| known.strip_prefix(name)?.strip_prefix('='))
    }

    /// RFC 7162 section 3.2.
    pub fn has_qresync(&self) -> bool {
        self.has("QRESYNC")
    }

    /// QRESYNC implies it (RFC 7162 section 3.2.3).
    pub fn has_condstore(&self) -> bool {
        self.has("CONDSTORE") || self.has_qresync()
    }

    /// The server is Gmail's: messages have labels, and each label is a mailbox.
    pub fn has_labels(&self) -> bool {
        self.has("X-GM-EXT-1")
    }

    /// IMAP4rev2 has these extensions in it (RFC 9051 appendix E).
    pub fn has_in_rev2(&self, word: &str) -> bool {
        self.has(word) || self.has("IMAP4REV2")
    }

    /// A literal of this length may be sent without being asked for (RFC 7888).
    pub fn takes_literal(&self, len: u64) -> bool {
        self.has("LITERAL+") || (len <= 4096 && self.has_in_rev2("LITERAL-"))
    }
}
