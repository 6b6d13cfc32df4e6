//! The grant that an account has given to a client of ours, as a comparable value.

use serde_json::json;
use sha2::{Digest, Sha256};
use storage::token_refresh::Grant;
use url::Url;

/// Returns the grant of an account, by its id at the provider, to a client. `account` is none if the account is unknown.
pub fn for_account(token_url: &Url, client_id: &str, account: Option<&str>) -> Grant {
    let origin = token_url.origin().ascii_serialization();
    let hash = |of: serde_json::Value| hex::encode(Sha256::digest(of.to_string()));
    Grant {
        client: hash(json!([origin, client_id])),
        key: account.map(|account| hash(json!([origin, client_id, account]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_differ_by_server_client_and_account() {
        let url = |text: &str| Url::parse(text).unwrap();
        let one = for_account(&url("https://a.test/token"), "c", Some("x"));
        assert_eq!(one, for_account(&url("https://a.test/other"), "c", Some("x")));
        assert_eq!(one.client, for_account(&url("https://a.test/token"), "c", None).client);
        for other in [
            for_account(&url("https://b.test/token"), "c", Some("x")),
            for_account(&url("https://a.test/token"), "d", Some("x")),
            for_account(&url("https://a.test/token"), "c", Some("y")),
        ] {
            assert_ne!(one.key, other.key);
        }
    }
}
