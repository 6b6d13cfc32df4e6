//! Cursors of lists: a cursor is a position in one list of one caller. It is MACed, and bound to the application, the operation and the
//! filters, so that it cannot be forged or used elsewhere.

use base::error::{Code, Result, invalid};
use base::keyring::Keyring;
use base::tenant::Tenant;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

#[derive(Serialize, Deserialize)]
struct SealedCursor<P> {
    /// Hash of application, operation and filters.
    b: String,
    p: P,
}

/// The hash that binds a cursor to its application, operation and filters.
pub struct Binding(String);

impl Binding {
    /// `filters` contains all parameters that decide the content and order of the list.
    pub fn new(tenant: &Tenant, operation: &str, filters: &impl Serialize) -> Self {
        let filters = serde_json::to_string(filters).unwrap_or_default();
        let text = format!("{}\n{}\n{operation}\n{filters}", tenant.organization_id, tenant.application_id);
        Binding(BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(text)[..12]))
    }

    /// The cache key of a page of the list: the request's part, without the state of the data.
    pub fn page(&self, cursor: Option<&str>, limit: i64) -> String {
        format!("{}/{limit}/{}", self.0, cursor.unwrap_or_default())
    }

    /// The cursor for a position.
    pub fn cursor(&self, keyring: &Keyring, place: &impl Serialize) -> String {
        let sealed = SealedCursor { b: self.0.clone(), p: place };
        keyring.signed(serde_json::to_string(&sealed).unwrap_or_default().as_bytes())
    }

    /// The position of a cursor; a cursor of another list, or not made here, is `invalid_cursor`.
    pub fn place<P: DeserializeOwned>(&self, keyring: &Keyring, cursor: Option<&str>) -> Result<Option<P>> {
        let Some(cursor) = cursor else { return Ok(None) };
        let bad = |message: &str| invalid(Code::InvalidCursor, "cursor", message);
        let text = keyring
            .verified(cursor)
            .ok_or_else(|| bad("this is not a cursor of this service; pass next_cursor back unchanged"))?;
        let sealed: SealedCursor<P> =
            serde_json::from_slice(&text).map_err(|_| bad("this cursor belongs to another operation"))?;
        if sealed.b != self.0 {
            return Err(bad("this cursor belongs to another list: keep the filters of the first request"));
        }
        Ok(Some(sealed.p))
    }
}
