//! Masking of a subscription's header values, which are write-only: how they are shown, and how a patch that repeats the mask is read.

use std::collections::{BTreeMap, BTreeSet};

use base::error::Result;
use base::input::validate::fault;
use serde_json::{Map, Value};
use url::{Origin, Url};

/// The mask shown in place of a header value.
pub const MASK: &str = "********";

/// Removes from a patch the headers of the subscription whose value is the mask: they keep their stored value. Returns the names that are
/// left, as the patch spells them: it sets or removes these. A name in another case is another member of the patch, and leaves the stored
/// header unchanged.
pub fn take_masked(input: &mut Map<String, Value>, stored: &BTreeMap<String, String>) -> BTreeSet<String> {
    let Some(Value::Object(headers)) = input.get_mut("headers") else { return BTreeSet::new() };
    let is_stored = |name: &str| stored.keys().any(|known| known.eq_ignore_ascii_case(name));
    headers.retain(|name, value| value.as_str() != Some(MASK) || !is_stored(name));
    headers.keys().cloned().collect()
}

/// Refuses to send a stored value to a server that it was not given for. `given` are the names that `take_masked` left.
// Contract silent: a key that may change a webhook does not learn the stored values by leading it to a server of its own.
pub fn check_moved(
    stored: &BTreeMap<String, String>,
    given: &BTreeSet<String>,
    after: &BTreeMap<String, String>,
) -> Result<()> {
    let is_kept = |name: &&String| stored.contains_key(*name) && !given.contains(*name);
    match after.keys().find(is_kept) {
        None => Ok(()),
        Some(name) => Err(fault(
            &format!("headers.{name}"),
            "was set for another server: send its value again together with url, or null to remove it",
        )),
    }
}

/// Whether two URLs have the same scheme, host and port.
pub fn is_same_server(url: &str, other: &str) -> bool {
    let origin = |url: &str| -> Option<Origin> { Some(Url::parse(url).ok()?.origin()) };
    origin(url) == origin(other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stored() -> BTreeMap<String, String> {
        BTreeMap::from([
            ("Authorization".to_owned(), "Bearer x".to_owned()),
            ("X-Team".to_owned(), "a".to_owned()),
        ])
    }

    #[test]
    fn a_mask_keeps_what_is_stored_and_nothing_else() {
        let patch =
            json!({ "headers": { "authorization": MASK, "X-Team": "b", "X-New": MASK, "X-Old": null } });
        let mut input = patch.as_object().unwrap().clone();
        let left = take_masked(&mut input, &stored());
        assert_eq!(input["headers"], json!({ "X-Team": "b", "X-New": MASK, "X-Old": null }));
        assert_eq!(left.into_iter().collect::<Vec<_>>(), ["X-New", "X-Old", "X-Team"]);
        for other in [json!({}), json!({ "headers": null }), json!({ "headers": MASK })] {
            let mut input = other.as_object().unwrap().clone();
            assert!(take_masked(&mut input, &stored()).is_empty());
            assert_eq!(Value::Object(input), other);
        }
    }

    #[test]
    fn a_value_stays_with_its_server() {
        let given = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert!(check_moved(&stored(), &given(&["Authorization", "X-Team"]), &stored()).is_ok());
        assert!(check_moved(&stored(), &given(&["X-Team"]), &stored()).is_err());
        let another_case = given(&["authorization", "x-team"]);
        assert!(check_moved(&stored(), &another_case, &stored()).is_err(), "it names none that is stored");
        assert!(check_moved(&stored(), &given(&[]), &BTreeMap::new()).is_ok(), "all were removed");
        let same = |url: &str, other: &str| is_same_server(url, other);
        assert!(same("https://a.test/x", "https://a.test:443/y?z"));
        assert!(!same("https://a.test/x", "http://a.test/x") && !same("https://a.test/", "https://b.test/"));
    }
}
