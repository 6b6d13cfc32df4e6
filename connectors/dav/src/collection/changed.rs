//! The fields of a resource that a write changes.

/// The names (camelCase) of the fields that the caller changed.
pub struct FieldSet<'a>(pub &'a [String]);

impl FieldSet<'_> {
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|field| field == name)
    }
}
