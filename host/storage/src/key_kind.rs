//! Kinds of API keys, as column `kind` of `api_keys` has them.

/// The kind of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Made by the operator or by another key; works until it expires or is revoked.
    Key,
    /// Given by the token endpoint to the key in `created_by`, for an hour at most.
    AccessToken,
}

impl KeyKind {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            KeyKind::Key => "key",
            KeyKind::AccessToken => "access_token",
        }
    }
}
