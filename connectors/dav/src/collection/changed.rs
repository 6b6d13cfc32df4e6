//! The fields of a resource that a write changes.

/// The names (camelCase) of the fields that the caller changed.
pub struct Changed<'a>(pub &'a [String]);

impl Changed<'_> {
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|field| field == name)
    }
}
