//! The keyring: encrypts stored credentials, makes and hashes API keys, MACs cursors. The only file that sees key bytes.
//! Everything is derived from one master key, so that an operator has one secret to protect.

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, KeyInit as HmacKeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::clock::Entropy;

/// Length of the master key in bytes.
pub const MASTER_KEY_BYTES: usize = 32;

const KEY_ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_PREFIX: &str = "uc_live_";
/// The beginning of the keys of test applications, which reach the sandbox alone.
pub const TEST_KEY_PREFIX: &str = "uc_test_";
const TOKEN_PREFIX: &str = "uc_tok_";
const KEY_RANDOM_CHARS: usize = 32;
const KEY_CHECK_CHARS: usize = 6;

/// Purpose-bound keys, each derived from the master key.
pub struct Keyring {
    seal: Zeroizing<[u8; 32]>,
    pepper: Hmac<Sha256>,
    cursor: Zeroizing<[u8; 32]>,
    artefact: Zeroizing<[u8; 32]>,
    watch: Zeroizing<[u8; 32]>,
    purposes: Zeroizing<[u8; 32]>,
    id: String,
    entropy: Entropy,
}

/// A new API key with its full text, which is never stored.
#[derive(Clone)]
pub struct NewApiKey {
    pub key: String,
    /// `uc_live_`, `uc_test_` or `uc_tok_` and the first six characters, shown in lists.
    pub prefix: String,
    pub last4: String,
    pub hash: String,
}

impl Keyring {
    /// Derives the working keys. `master` is 32 secret bytes.
    pub fn new(master: &[u8], entropy: Entropy) -> Result<Self> {
        if master.len() != MASTER_KEY_BYTES {
            bail!("the master key must have {MASTER_KEY_BYTES} bytes, this one has {}", master.len());
        }
        let derived = |purpose: &str| Zeroizing::new(mac(master, &[b"switchboard/v1/", purpose.as_bytes()]));
        // The id only distinguishes keys: it shows which key sealed a row without a trial decryption.
        let id = BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(*derived("id"))[..6]);
        Ok(Keyring {
            seal: derived("seal"),
            pepper: new_hmac(&*derived("api-key")),
            cursor: derived("cursor"),
            artefact: derived("artefact"),
            watch: derived("watch"),
            purposes: derived("purposes"),
            id,
            entropy,
        })
    }

    /// An id that distinguishes this master key from others, and reveals nothing else.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Encrypts a secret for one row and column. `place` (table, column, row id, organization) is authenticated, so that a sealed
    /// value copied to another row cannot be decrypted there.
    pub fn seal(&self, place: &str, secret: &[u8]) -> Result<String> {
        let nonce = self.entropy.bytes::<24>();
        let cipher = XChaCha20Poly1305::new((&*self.seal).into());
        let sealed = cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: secret, aad: place.as_bytes() })
            .map_err(|_| anyhow!("cannot seal a secret"))?;
        let (nonce, sealed) = (BASE64_URL_SAFE_NO_PAD.encode(nonce), BASE64_URL_SAFE_NO_PAD.encode(sealed));
        Ok(format!("v1.{}.{nonce}.{sealed}", self.id))
    }

    /// Decrypts a value that `seal` made for the same place. Fails when it was changed, moved, or sealed with another master key.
    pub fn open(&self, place: &str, sealed: &str) -> Result<Zeroizing<Vec<u8>>> {
        let parts: Vec<&str> = sealed.split('.').collect();
        let ["v1", id, nonce, text] = parts[..] else { bail!("a sealed value in {place} is malformed") };
        if id != self.id {
            bail!(
                "a sealed value in {place} was sealed with another master key ({id}, this one is {})",
                self.id
            );
        }
        let nonce: [u8; 24] = BASE64_URL_SAFE_NO_PAD
            .decode(nonce)
            .ok()
            .and_then(|n| n.try_into().ok())
            .with_context(|| format!("a sealed value in {place} is malformed"))?;
        let text = BASE64_URL_SAFE_NO_PAD.decode(text).context("a sealed value is malformed")?;
        let cipher = XChaCha20Poly1305::new((&*self.seal).into());
        cipher
            .decrypt(&XNonce::from(nonce), Payload { msg: &text, aad: place.as_bytes() })
            .map(Zeroizing::new)
            .map_err(|_| anyhow!("a sealed value in {place} was tampered with"))
    }

    /// Creates an API key: `uc_live_`, 32 random base62 characters, and 6 base62 characters of CRC-32, by which secret scanners recognize a
    /// key without a request to this service.
    pub fn new_api_key(&self) -> NewApiKey {
        self.new_key(KEY_PREFIX)
    }

    /// Creates a key of an application: as `new_api_key`, with the prefix `uc_test_` for a test application.
    pub fn new_key_of_application(&self, is_test: bool) -> NewApiKey {
        self.new_key(if is_test { TEST_KEY_PREFIX } else { KEY_PREFIX })
    }

    /// Creates an access token: as `new_api_key`, with the prefix `uc_tok_`.
    pub fn new_access_token(&self) -> NewApiKey {
        self.new_key(TOKEN_PREFIX)
    }

    fn new_key(&self, kind: &str) -> NewApiKey {
        let mut random = String::with_capacity(KEY_RANDOM_CHARS);
        while random.len() < KEY_RANDOM_CHARS {
            // 248 = 4 * 62: larger bytes would make the first characters of the alphabet more likely.
            let letters = self.entropy.bytes::<32>().into_iter().filter(|b| *b < 248);
            random.extend(letters.map(|b| KEY_ALPHABET[usize::from(b) % 62] as char));
        }
        random.truncate(KEY_RANDOM_CHARS);
        let key = format!("{kind}{random}{}", checksum(&random));
        NewApiKey {
            prefix: format!("{kind}{}", random.split_at(6).0),
            last4: key.split_at(key.len() - 4).1.to_owned(),
            hash: self.api_key_hash(&key),
            key,
        }
    }

    /// Whether the checksum matches. A key with a wrong one is refused without a database query.
    pub fn is_well_formed(key: &str) -> bool {
        let kinds = [KEY_PREFIX, TEST_KEY_PREFIX, TOKEN_PREFIX];
        let rest = kinds.into_iter().find_map(|kind| key.strip_prefix(kind));
        rest.is_some_and(|rest| {
            let parts = rest.split_at_checked(KEY_RANDOM_CHARS);
            rest.len() == KEY_RANDOM_CHARS + KEY_CHECK_CHARS
                && rest.bytes().all(|b| b.is_ascii_alphanumeric())
                && parts.is_some_and(|(random, check)| checksum(random) == check)
        })
    }

    /// The hash under which a key is stored and looked up: an HMAC, useless without the master key.
    pub fn api_key_hash(&self, key: &str) -> String {
        let mut mac = self.pepper.clone();
        mac.update(key.as_bytes());
        BASE64_URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    }

    /// Signs `text` with a MAC and encodes both as base64url: a cursor that clients can store but not forge.
    pub fn signed(&self, text: &[u8]) -> String {
        let tag = &mac(&*self.cursor, &[text])[..16];
        format!("{}.{}", BASE64_URL_SAFE_NO_PAD.encode(text), BASE64_URL_SAFE_NO_PAD.encode(tag))
    }

    /// Returns the text that `signed` encoded, if its MAC is valid.
    pub fn verified(&self, signed: &str) -> Option<Vec<u8>> {
        let (text, tag) = signed.split_once('.')?;
        let (text, tag) =
            (BASE64_URL_SAFE_NO_PAD.decode(text).ok()?, BASE64_URL_SAFE_NO_PAD.decode(tag).ok()?);
        let expected = mac(&*self.cursor, &[&text]);
        bool::from(tag.ct_eq(&expected[..16])).then_some(text)
    }

    /// The token that a provider gets for the watch with this id, and returns with its notifications: 43 characters of
    /// `A-Za-z0-9_-`. It is derived from the id, so it need not be stored.
    pub fn watch_token(&self, watch_id: &str) -> Zeroizing<String> {
        Zeroizing::new(BASE64_URL_SAFE_NO_PAD.encode(mac(&*self.watch, &[b"token/", watch_id.as_bytes()])))
    }

    /// The stored hash of a watch's token, to be compared with that of a received token.
    pub fn watch_token_hash(&self, token: &str) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(mac(&*self.watch, &[b"hash/", token.as_bytes()]))
    }

    /// The key that authenticates compiled connector code on disk.
    pub fn artefact_key(&self) -> [u8; 32] {
        *self.artefact
    }

    /// A key for one purpose: tags for other purposes are not valid for it.
    pub fn purpose(&self, name: &str) -> PurposeKey {
        PurposeKey(Zeroizing::new(mac(&*self.purposes, &[name.as_bytes()])))
    }
}

/// Makes and checks the tags of one purpose, such as the hashes of session cookies.
pub struct PurposeKey(Zeroizing<[u8; 32]>);

impl PurposeKey {
    /// The HMAC-SHA-256 of a text.
    pub fn mac(&self, text: &[u8]) -> [u8; 32] {
        mac(&*self.0, &[text])
    }

    /// The same as base64url: 43 characters of `A-Za-z0-9_-`.
    pub fn tag(&self, text: &[u8]) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.mac(text))
    }

    /// Whether this is the tag of the text, compared in constant time.
    pub fn is_tag(&self, text: &[u8], tag: &str) -> bool {
        let given = BASE64_URL_SAFE_NO_PAD.decode(tag);
        given.is_ok_and(|given| bool::from(given.ct_eq(&self.mac(text)[..])))
    }
}

fn new_hmac(key: &[u8]) -> Hmac<Sha256> {
    <Hmac<Sha256> as HmacKeyInit>::new_from_slice(key).expect("HMAC takes a key of any length")
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = new_hmac(key);
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn checksum(text: &str) -> String {
    let mut crc = crc32(text.as_bytes());
    let mut out = [b'0'; KEY_CHECK_CHARS];
    for slot in out.iter_mut().rev() {
        *slot = KEY_ALPHABET[(crc % 62) as usize];
        crc /= 62;
    }
    out.iter().map(|b| *b as char).collect()
}

/// CRC-32 (IEEE 802.3), bitwise: 32 bytes once per request do not need a table.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { (c >> 1) ^ 0xEDB8_8320 } else { c >> 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyring() -> Keyring {
        Keyring::new(&[7; 32], Entropy::seeded(1)).unwrap()
    }

    #[test]
    fn a_sealed_secret_opens_only_in_its_place() {
        let k = keyring();
        let sealed = k.seal("connections.credentials:conn_1:org_1", b"secret").unwrap();
        assert_eq!(&**k.open("connections.credentials:conn_1:org_1", &sealed).unwrap(), b"secret");
        assert!(k.open("connections.credentials:conn_2:org_1", &sealed).is_err());
        let other = Keyring::new(&[8; 32], Entropy::seeded(1)).unwrap();
        assert!(other.open("connections.credentials:conn_1:org_1", &sealed).is_err());
    }

    #[test]
    fn a_key_has_a_checksum_and_one_wrong_letter_breaks_it() {
        let key = keyring().new_api_key().key;
        assert!(Keyring::is_well_formed(&key), "{key}");
        let wrong = if key.as_bytes()[10] == b'a' { "b" } else { "a" };
        assert!(!Keyring::is_well_formed(&format!("{}{wrong}{}", key.split_at(10).0, key.split_at(11).1)));
        let test = keyring().new_key_of_application(true);
        assert!(test.prefix.starts_with("uc_test_") && Keyring::is_well_formed(&test.key), "{}", test.prefix);
    }

    #[test]
    fn the_checksum_is_the_crc_that_scanners_know() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_watch_has_a_token_of_its_own() {
        let (k, other) = (keyring(), Keyring::new(&[8; 32], Entropy::seeded(1)).unwrap());
        let token = k.watch_token("wat_1");
        assert_eq!((token.len(), &*k.watch_token("wat_1")), (43, &*token));
        assert_ne!(*token, *k.watch_token("wat_2"));
        assert_ne!(*token, *other.watch_token("wat_1"));
        assert_ne!(k.watch_token_hash(&token), *token);
        assert_ne!(k.watch_token_hash(&token), other.watch_token_hash(&token));
    }

    #[test]
    fn a_tag_is_of_one_text_one_purpose_and_one_master_key() {
        let (k, other) = (keyring(), Keyring::new(&[8; 32], Entropy::seeded(1)).unwrap());
        let tag = k.purpose("session").tag(b"cookie");
        assert_eq!(tag.len(), 43);
        assert!(k.purpose("session").is_tag(b"cookie", &tag));
        assert!(!k.purpose("session").is_tag(b"cookies", &tag));
        assert!(!k.purpose("device").is_tag(b"cookie", &tag));
        assert!(!other.purpose("session").is_tag(b"cookie", &tag));
        for text in ["", "nonsense", "cookie"] {
            assert!(!k.purpose("session").is_tag(b"cookie", text), "{text}");
        }
    }

    #[test]
    fn a_cursor_that_was_changed_is_not_ours() {
        let k = keyring();
        let signed = k.signed(b"{\"id\":1}");
        assert_eq!(k.verified(&signed).unwrap(), b"{\"id\":1}");
        assert!(k.verified(&format!("x{signed}")).is_none());
        assert!(k.verified("nonsense").is_none());
    }
}
