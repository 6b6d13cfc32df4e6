//! Consent requests, and the token of the consent page's form: the request with a MAC, so that the form cannot request more than
//! the page showed, and cannot be made without the page.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// Lifetime of a form, in milliseconds.
const FORM_MS: i64 = 600_000;
/// Used forms that are stored until they expire; beyond that, further forms are refused.
const MAX_USED: usize = 100_000;

/// An authorization request (RFC 6749, section 4.1.1) that was checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsentRequest {
    pub client: String,
    pub redirect_uri: String,
    pub state: Option<String>,
    /// The PKCE challenge, method S256.
    pub challenge: String,
    pub scopes: Vec<String>,
}

/// The payload of a form's token.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Form {
    pub request: ConsentRequest,
    /// Unique for each page.
    id: String,
    expires_at_ms: i64,
}

/// Creates and verifies the tokens of forms. A restart invalidates open forms.
pub struct FormTokens {
    key: String,
    /// Forms that were used, and when they expire.
    used: Mutex<HashMap<String, i64>>,
}

impl FormTokens {
    pub fn new(key: String) -> Self {
        FormTokens { key, used: Mutex::default() }
    }

    /// The token of a page's form. `id` is unique.
    pub fn seal(&self, request: ConsentRequest, id: String, now_ms: i64) -> String {
        let form = Form { request, id, expires_at_ms: now_ms.saturating_add(FORM_MS) };
        let form = serde_json::to_vec(&form).expect("texts and numbers become JSON");
        let text = BASE64_URL_SAFE_NO_PAD.encode(form);
        let mac = BASE64_URL_SAFE_NO_PAD.encode(self.mac(&text).finalize().into_bytes());
        format!("{text}.{mac}")
    }

    /// The form of a token; none where it is forged or has expired. Does not use the form up.
    pub fn open(&self, token: &str, now_ms: i64) -> Option<Form> {
        let (text, mac) = token.split_once('.')?;
        let mac = BASE64_URL_SAFE_NO_PAD.decode(mac).ok()?;
        self.mac(text).verify_slice(&mac).ok()?;
        let form: Form = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        (now_ms < form.expires_at_ms).then_some(form)
    }

    /// Uses a form up. False: it was used before.
    pub fn spend(&self, form: &Form, now_ms: i64) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= MAX_USED {
            used.retain(|_, expires_at_ms| now_ms < *expires_at_ms);
        }
        used.len() < MAX_USED && used.insert(form.id.clone(), form.expires_at_ms).is_none()
    }

    fn mac(&self, text: &str) -> Hmac<Sha256> {
        let key = self.key.as_bytes();
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes a key of any length");
        mac.update(text.as_bytes());
        mac
    }
}
