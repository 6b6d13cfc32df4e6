//! Scripts and styles of pages: the served form of their sources, and the hash in their addresses, which changes with their text.

use sha2::{Digest, Sha256};

/// Hexadecimal digits of a hash in an address.
const HASH_DIGITS: usize = 16;

/// Removes comment lines from a script: they are for readers of the source, and a sixth of what visitors would load. No string in a script
/// has a line that begins like a comment.
pub fn without_comments(source: &str) -> String {
    source.split_inclusive('\n').filter(|line| !line.trim_start().starts_with("//")).collect()
}

/// The hash of texts for an address that changes with any of them, 16 hexadecimal digits.
pub fn content_hash(texts: &[&str]) -> String {
    hex::encode(Sha256::digest(texts.concat())).chars().take(HASH_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_stay_with_the_source() {
        let source = "// What it is.\n\"use strict\";\n  // Why.\n  open(\"https://a.example\"); // here\n";
        assert_eq!(without_comments(source), "\"use strict\";\n  open(\"https://a.example\"); // here\n");
    }

    #[test]
    fn an_address_changes_with_each_text() {
        let hash = content_hash(&["a", "b"]);
        assert_eq!((hash.len(), hash == content_hash(&["a", "b"])), (HASH_DIGITS, true));
        assert!(hash != content_hash(&["a", "c"]) && hash != content_hash(&["c", "b"]));
    }
}
