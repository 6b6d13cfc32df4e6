//! Names of organizations made comparable.

use std::collections::HashSet;
use std::sync::LazyLock;

use text::folding;

use crate::words;

/// Legal forms and fillers, which are omitted as often as written. ISO 20275 (entity legal forms) has thousands; these are the ones in
/// address books, after folding and splitting.
const LEGAL_FORMS: &str = "\
    ab ag and aps as asa bv bvba co company corp corporation cv eg ek ev gbr gmbh gmbhcokg group holding inc \
    incorporated kft kg kgaa kk limited llc llp lp ltd ltda mbh nv oao ohg ooo oy oyj plc pte pty pvt sa sarl sas se sl \
    slu spa sprl srl the ug und zoo ао зао оао ооо пао";

static INDEX: LazyLock<HashSet<&str>> = LazyLock::new(|| LEGAL_FORMS.split(' ').collect());

/// Returns a text that is equal for two spellings of one organization: folded, without legal forms and punctuation. Empty: no
/// organization.
pub fn comparable(name: &str) -> String {
    let folded = folding::search_key(words::cut(name)).replace(['.', '\''], "");
    let japanese = folded.replace("株式会社", " ").replace("有限会社", " ").replace("(株)", " ");
    let words: Vec<&str> = words::words(&japanese).collect();
    let kept: String = words.iter().filter(|w| !INDEX.contains(*w)).copied().collect();
    // Only legal forms: they are the name (`The Company`).
    if kept.is_empty() { words.concat() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_organization_however_written() {
        for name in ["ACME GmbH & Co. KG", "Acme", "acme, inc.", "The Acme Corporation", "Acme Ltd."] {
            assert_eq!(comparable(name), "acme", "{name}");
        }
        assert_eq!(comparable("株式会社山田"), comparable("山田"));
        assert_eq!(comparable("Blue Sky S.A."), "bluesky");
        assert_eq!(comparable("The Company"), "thecompany");
        assert_eq!(comparable(" - "), "");
        assert_ne!(comparable("Acme North"), comparable("Acme South"));
    }
}
