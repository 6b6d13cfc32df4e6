//! State of the authorization server: clients, codes, and token families. It changes only by `GrantChange`, so that replaying the journal
//! restores it. Codes, tokens and secrets are stored only as SHA-256 hashes.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Maximum number of registered clients.
pub const MAX_CLIENTS: usize = 1_000;
/// Maximum stored codes; the oldest are deleted first.
const MAX_CODES: usize = 10_000;
/// Time for which a code is kept after its expiry, ms, so that its reuse is recognized.
const CODE_KEPT_MS: i64 = 600_000;
/// Maximum token families; the oldest end first.
const MAX_FAMILIES: usize = 20_000;
/// Maximum used refresh tokens that a family stores; reuse of an older one is refused without further effect.
const MAX_SPENT: usize = 200;
/// Maximum valid access tokens of one family; the oldest expire first.
const MAX_TOKENS: usize = 20;

/// A client (RFC 6749, section 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Client {
    pub id: String,
    /// None: a public client.
    pub secret_hash: Option<String>,
    /// Registered redirect URIs, compared byte for byte.
    pub redirect_uris: Vec<String>,
}

/// An authorization code (RFC 6749, section 4.1.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Code {
    pub hash: String,
    pub client: String,
    pub redirect_uri: String,
    /// The PKCE challenge (RFC 7636), method S256.
    pub challenge: String,
    /// The account that granted it.
    pub mail: String,
    pub scopes: Vec<String>,
    pub expires_at_ms: i64,
    pub is_used: bool,
    /// The token family that was issued for it.
    pub family: Option<String>,
}

/// The tokens issued for one code: the refresh token, its predecessors, and the access tokens. All families of a client and an account
/// together are the account's grant to the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Family {
    pub id: String,
    pub client: String,
    pub mail: String,
    pub scopes: Vec<String>,
    pub began_at_ms: i64,
    /// Hash of the valid refresh token.
    pub refresh_hash: String,
    /// Hashes of used refresh tokens, the oldest first.
    pub spent: VecDeque<String>,
    pub tokens: Vec<AccessToken>,
}

/// An access token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessToken {
    pub hash: String,
    pub scopes: Vec<String>,
    pub expires_at_ms: i64,
}

/// One change, as the journal writes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum GrantChange {
    Client(Client),
    Code(Code),
    CodeUsed {
        hash: String,
        /// None: no tokens were issued for the code, and it can no longer be used.
        family: Option<String>,
    },
    Family(Family),
    /// A refresh token was used.
    Refreshed {
        family: String,
        /// Hash of the next refresh token; none: the used one stays valid.
        refresh_hash: Option<String>,
        token: AccessToken,
        at_ms: i64,
    },
    TokenEnded {
        hash: String,
    },
    FamilyEnded {
        id: String,
    },
}

/// All clients, codes and tokens.
#[derive(Debug, Default)]
pub struct Grants {
    clients: BTreeMap<String, Client>,
    codes: HashMap<String, Code>,
    /// Hashes of the codes, the oldest first.
    code_order: VecDeque<String>,
    families: BTreeMap<String, Family>,
    /// Families by the hash of a refresh token, valid or used.
    by_refresh: HashMap<String, String>,
    by_access: HashMap<String, String>,
}

/// Returns the hash under which a secret is stored.
pub fn hashed(secret: &str) -> String {
    hex::encode(Sha256::digest(secret))
}

impl Grants {
    pub fn client(&self, id: &str) -> Option<&Client> {
        self.clients.get(id)
    }

    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    pub fn code(&self, code: &str) -> Option<&Code> {
        self.codes.get(&hashed(code))
    }

    /// Returns the family of a refresh token, and whether the token is valid now.
    pub fn of_refresh_token(&self, token: &str) -> Option<(&Family, bool)> {
        let hash = hashed(token);
        let family = self.families.get(self.by_refresh.get(&hash)?)?;
        Some((family, family.refresh_hash == hash))
    }

    /// Returns an access token and its family, even if the token has expired.
    pub fn of_access_token(&self, token: &str) -> Option<(&Family, &AccessToken)> {
        let hash = hashed(token);
        let family = self.families.get(self.by_access.get(&hash)?)?;
        Some((family, family.tokens.iter().find(|token| token.hash == hash)?))
    }

    /// The families of an account, for all clients.
    pub fn of_account<'a>(&'a self, mail: &'a str) -> impl Iterator<Item = &'a Family> + 'a {
        self.families.values().filter(move |family| family.mail == mail)
    }

    /// Applies a change. A change of something unknown is ignored.
    pub fn apply(&mut self, change: GrantChange) {
        match change {
            GrantChange::Client(client) => drop(self.clients.insert(client.id.clone(), client)),
            GrantChange::Code(code) => self.apply_code(code),
            GrantChange::CodeUsed { hash, family } => {
                if let Some(code) = self.codes.get_mut(&hash) {
                    (code.is_used, code.family) = (true, family);
                }
            }
            GrantChange::Family(family) => self.apply_family(family),
            GrantChange::Refreshed { family, refresh_hash, token, at_ms } => {
                self.apply_refreshed(&family, refresh_hash, token, at_ms);
            }
            GrantChange::TokenEnded { hash } => {
                let family = self.by_access.remove(&hash).and_then(|id| self.families.get_mut(&id));
                if let Some(family) = family {
                    family.tokens.retain(|token| token.hash != hash);
                }
            }
            GrantChange::FamilyEnded { id } => self.end_family(&id),
        }
    }

    fn apply_code(&mut self, code: Code) {
        while let Some(oldest) = self.code_order.front() {
            let is_old = self
                .codes
                .get(oldest)
                .is_none_or(|old| old.expires_at_ms.saturating_add(CODE_KEPT_MS) < code.expires_at_ms);
            if !is_old && self.code_order.len() < MAX_CODES {
                break;
            }
            if let Some(hash) = self.code_order.pop_front() {
                self.codes.remove(&hash);
            }
        }
        self.code_order.push_back(code.hash.clone());
        self.codes.insert(code.hash.clone(), code);
    }

    fn apply_family(&mut self, family: Family) {
        while self.families.len() >= MAX_FAMILIES {
            let oldest = self.families.values().min_by_key(|family| family.began_at_ms);
            let Some(id) = oldest.map(|family| family.id.clone()) else { break };
            self.end_family(&id);
        }
        for hash in family.spent.iter().chain([&family.refresh_hash]) {
            self.by_refresh.insert(hash.clone(), family.id.clone());
        }
        for token in &family.tokens {
            self.by_access.insert(token.hash.clone(), family.id.clone());
        }
        self.families.insert(family.id.clone(), family);
    }

    fn apply_refreshed(&mut self, id: &str, refresh_hash: Option<String>, token: AccessToken, at_ms: i64) {
        let Some(family) = self.families.get_mut(id) else { return };
        if let Some(next) = refresh_hash {
            self.by_refresh.insert(next.clone(), id.to_owned());
            family.spent.push_back(std::mem::replace(&mut family.refresh_hash, next));
        }
        while family.spent.len() > MAX_SPENT {
            if let Some(hash) = family.spent.pop_front() {
                self.by_refresh.remove(&hash);
            }
        }
        self.by_access.insert(token.hash.clone(), id.to_owned());
        family.tokens.push(token);
        let excess = family.tokens.len().saturating_sub(MAX_TOKENS);
        let mut place = 0;
        family.tokens.retain(|token| {
            place += 1;
            let is_kept = place > excess && token.expires_at_ms > at_ms;
            if !is_kept {
                self.by_access.remove(&token.hash);
            }
            is_kept
        });
    }

    fn end_family(&mut self, id: &str) {
        let Some(family) = self.families.remove(id) else { return };
        for hash in family.spent.iter().chain([&family.refresh_hash]) {
            self.by_refresh.remove(hash);
        }
        for token in &family.tokens {
            self.by_access.remove(&token.hash);
        }
    }

    /// The changes that build this state from nothing.
    pub fn snapshot(&self) -> impl Iterator<Item = GrantChange> + '_ {
        let clients = self.clients.values().cloned().map(GrantChange::Client);
        let codes = self.code_order.iter().filter_map(|hash| self.codes.get(hash));
        let codes = codes.cloned().map(GrantChange::Code);
        let families = self.families.values().cloned().map(GrantChange::Family);
        clients.chain(codes).chain(families)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str, expires_at_ms: i64) -> AccessToken {
        AccessToken { hash: hashed(name), scopes: Vec::new(), expires_at_ms }
    }

    fn family(id: &str, refresh: &str) -> GrantChange {
        GrantChange::Family(Family {
            id: id.to_owned(),
            client: "c".to_owned(),
            mail: "a@sandbox.test".to_owned(),
            scopes: vec!["mail.read".to_owned()],
            began_at_ms: 1,
            refresh_hash: hashed(refresh),
            spent: VecDeque::new(),
            tokens: vec![token("first", 10)],
        })
    }

    fn shown(grants: &Grants) -> Vec<String> {
        grants.snapshot().map(|change| serde_json::to_string(&change).unwrap()).collect()
    }

    /// A family knows its present and former tokens, ends with all of them, and a snapshot restores it.
    #[test]
    fn families() {
        let mut grants = Grants::default();
        grants.apply(family("f", "r0"));
        for round in 1..=MAX_SPENT + 5 {
            grants.apply(GrantChange::Refreshed {
                family: "f".to_owned(),
                refresh_hash: Some(hashed(&format!("r{round}"))),
                token: token(&format!("t{round}"), 100),
                at_ms: 50,
            });
        }
        let newest = format!("r{}", MAX_SPENT + 5);
        assert_eq!(grants.of_refresh_token(&newest).map(|(_, is_good)| is_good), Some(true));
        assert_eq!(grants.of_refresh_token("r9").map(|(_, is_good)| is_good), Some(false));
        assert!(grants.of_refresh_token("r0").is_none(), "the oldest are forgotten");
        assert!(grants.of_access_token("first").is_none(), "it had expired");
        assert!(grants.of_access_token("t1").is_none() && grants.of_access_token("t205").is_some());
        assert_eq!((grants.by_access.len(), grants.by_refresh.len()), (MAX_TOKENS, MAX_SPENT + 1));

        let mut again = Grants::default();
        for change in shown(&grants) {
            again.apply(serde_json::from_str(&change).unwrap());
        }
        assert_eq!(shown(&again), shown(&grants));
        again.apply(GrantChange::TokenEnded { hash: hashed("t205") });
        assert!(again.of_access_token("t205").is_none() && again.of_access_token("t204").is_some());
        again.apply(GrantChange::FamilyEnded { id: "f".to_owned() });
        assert!(again.by_access.is_empty() && again.by_refresh.is_empty() && again.families.is_empty());
    }

    /// Codes are stored for a while after their expiry.
    #[test]
    fn codes() {
        let mut grants = Grants::default();
        let code = |name: &str, expires_at_ms: i64| {
            GrantChange::Code(Code {
                hash: hashed(name),
                client: "c".to_owned(),
                redirect_uri: "https://app.test/cb".to_owned(),
                challenge: String::new(),
                mail: "a@sandbox.test".to_owned(),
                scopes: Vec::new(),
                expires_at_ms,
                is_used: false,
                family: None,
            })
        };
        grants.apply(code("one", 0));
        grants.apply(GrantChange::CodeUsed { hash: hashed("one"), family: Some("f".to_owned()) });
        grants.apply(code("two", CODE_KEPT_MS));
        assert!(grants.code("one").is_some_and(|code| code.is_used && code.family.is_some()));
        grants.apply(code("three", CODE_KEPT_MS + 1));
        assert!(grants.code("one").is_none() && grants.code("two").is_some());
        for number in 0..MAX_CODES {
            grants.apply(code(&number.to_string(), CODE_KEPT_MS + 2));
        }
        assert_eq!((grants.codes.len(), grants.code_order.len()), (MAX_CODES, MAX_CODES));
    }
}
