//! Mapping between our scopes and the provider's: which to request, and which a response grants.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use runtime::{Auth, ScopeCase};

/// The provider's scopes that each of our scopes requires.
pub type ScopeMap = BTreeMap<String, Vec<String>>;

/// The scopes that a provider granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedScopes {
    /// Our scopes, in the order in which they were requested.
    pub granted: Vec<String>,
    /// Requested scopes that were not granted.
    pub missing: Vec<String>,
    /// The provider's scopes, as it wrote them.
    pub provider: Vec<String>,
}

/// Returns the provider's scopes to request: the base scopes and those that `requested` requires, without those that another one implies.
pub fn to_request(auth: &Auth, map: &ScopeMap, requested: &[String]) -> Vec<String> {
    let mut all: Vec<&String> = Vec::new();
    let mapped = requested.iter().filter_map(|scope| map.get(scope)).flatten();
    for scope in auth.base_scopes.iter().chain(mapped) {
        if !all.contains(&scope) {
            all.push(scope);
        }
    }
    let implied: Vec<BTreeSet<String>> = all.iter().map(|scope| closure(auth, [*scope])).collect();
    let names: Vec<Cow<'_, str>> = all.iter().map(|scope| canonical(auth, scope)).collect();
    let is_implied = |at: usize| {
        (0..all.len()).any(|other| {
            let by_other = implied[other].contains(&*names[at]);
            // Of two that imply each other or are equal, the first stays.
            let back = implied[at].contains(&*names[other]);
            other != at && by_other && (!back || other < at)
        })
    };
    (0..all.len()).filter(|at| !is_implied(*at)).map(|at| all[at].clone()).collect()
}

/// Returns the scopes of `requested` that a response grants. `answered` are the scopes that it names; none: it grants all of `asked` (RFC
/// 6749, section 5.1). One of our scopes is granted if all scopes that it requires are.
pub fn granted(
    auth: &Auth,
    map: &ScopeMap,
    requested: &[String],
    asked: &[String],
    answered: Option<&[String]>,
) -> GrantedScopes {
    let provider = answered.unwrap_or(asked);
    let has = closure(auth, provider);
    let is_granted = |scope: &&String| {
        map.get(*scope).is_some_and(|needed| needed.iter().all(|one| has.contains(&*canonical(auth, one))))
    };
    let (granted, missing): (Vec<&String>, Vec<&String>) = requested.iter().partition(is_granted);
    let owned = |scopes: Vec<&String>| scopes.into_iter().cloned().collect();
    GrantedScopes { granted: owned(granted), missing: owned(missing), provider: provider.to_vec() }
}

/// Returns the scopes and all that they imply, by their canonical names.
fn closure<'s>(auth: &Auth, scopes: impl IntoIterator<Item = &'s String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next: Vec<String> = scopes.into_iter().map(|scope| canonical(auth, scope).into_owned()).collect();
    while let Some(scope) = next.pop() {
        let wider = auth.scope_implies.iter().filter(|(wide, _)| *canonical(auth, wide) == *scope);
        next.extend(
            wider
                .flat_map(|(_, narrow)| narrow)
                .map(|narrow| canonical(auth, narrow).into_owned())
                .filter(|narrow| !found.contains(narrow)),
        );
        found.insert(scope);
    }
    found
}

/// Returns the name by which a scope is compared: without the provider's prefix, in the form of a request, and in lower case if the
/// provider ignores case.
fn canonical<'s>(auth: &'s Auth, scope: &'s str) -> Cow<'s, str> {
    let same = |one: &str, other: &str| match auth.scope_case {
        ScopeCase::Exact => one == other,
        ScopeCase::Insensitive => one.eq_ignore_ascii_case(other),
    };
    let mut prefixes = auth.scope_prefixes.iter().map(String::as_str);
    let stripped = prefixes.find_map(|prefix| {
        let (start, rest) = scope.split_at_checked(prefix.len())?;
        (same(start, prefix) && !rest.is_empty()).then_some(rest)
    });
    let bare = stripped.unwrap_or(scope);
    let alias = auth.scope_aliases.iter().find(|(_, answered)| same(answered, scope) || same(answered, bare));
    let name = alias.map_or(bare, |(asked, _)| asked.as_str());
    match auth.scope_case {
        ScopeCase::Exact => Cow::Borrowed(name),
        ScopeCase::Insensitive => Cow::Owned(name.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth(toml: &str) -> Auth {
        toml::from_str(toml).unwrap()
    }

    fn texts(words: &str) -> Vec<String> {
        words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    const SANDBOX: &str = r#"
        base_scopes = ["openid"]
        scopes = { "email.read" = ["mail.read"], "email.write" = ["mail.write"], "calendar.read" = ["cal.list", "cal.read"], "calendar.freebusy" = ["busy"] }
        scope_implies = { "mail.all" = ["mail.write"], "mail.write" = ["mail.read"], "cal.read" = ["busy"] }
    "#;

    #[test]
    fn asks_for_no_scope_that_another_implies() {
        let auth = auth(SANDBOX);
        for (requested, wanted) in [
            ("email.read", "openid mail.read"),
            ("email.read email.write", "openid mail.write"),
            ("email.write email.read", "openid mail.write"),
            ("calendar.freebusy calendar.read email.read", "openid cal.list cal.read mail.read"),
            ("email.read email.read", "openid mail.read"),
        ] {
            assert_eq!(to_request(&auth, &auth.scopes, &texts(requested)), texts(wanted), "{requested}");
        }
    }

    #[test]
    fn of_scopes_that_imply_each_other_one_is_asked_for() {
        let auth = auth(
            r#"
            scopes = { "email.read" = ["a"], "email.write" = ["b"] }
            scope_implies = { "a" = ["b"], "b" = ["a"] }
        "#,
        );
        assert_eq!(to_request(&auth, &auth.scopes, &texts("email.write email.read")), texts("b"));
        let all = granted(&auth, &auth.scopes, &texts("email.write email.read"), &texts("b"), None);
        assert!(all.missing.is_empty());
    }

    #[test]
    fn grants_what_is_answered_with_all_that_it_implies() {
        let auth = auth(SANDBOX);
        let requested = texts("email.read email.write calendar.read calendar.freebusy");
        let asked = to_request(&auth, &auth.scopes, &requested);
        for (answered, wanted) in [
            (None, "email.read email.write calendar.read calendar.freebusy"),
            (Some("mail.all"), "email.read email.write"),
            (Some("mail.write cal.read"), "email.read email.write calendar.freebusy"),
            (Some("cal.list cal.read"), "calendar.read calendar.freebusy"),
            (Some("cal.list"), ""),
            (Some("openid"), ""),
            (Some(""), ""),
            (Some("MAIL.ALL"), ""),
        ] {
            let answered = answered.map(texts);
            let found = granted(&auth, &auth.scopes, &requested, &asked, answered.as_deref());
            assert_eq!(found.granted, texts(wanted), "{answered:?}");
            let missing: Vec<String> =
                requested.iter().filter(|scope| !found.granted.contains(scope)).cloned().collect();
            assert_eq!(found.missing, missing, "{answered:?}");
            assert_eq!(found.provider, answered.unwrap_or_else(|| asked.clone()));
        }
    }

    #[test]
    fn grants_no_more_than_was_requested() {
        let auth = auth(SANDBOX);
        let requested = texts("email.read");
        let answered = texts("mail.all cal.list cal.read");
        let found = granted(&auth, &auth.scopes, &requested, &texts("mail.read"), Some(&answered));
        assert_eq!((found.granted, found.missing), (requested, Vec::new()));
        assert_eq!(found.provider, answered);
    }

    #[test]
    fn answered_scopes_are_read_in_the_providers_ways() {
        let auth = auth(
            r#"
            scopes = { "email.read" = ["Mail.Read"], "contacts.read" = ["email"] }
            scope_implies = { "Mail.ReadWrite" = ["Mail.Read"] }
            scope_prefixes = ["https://graph.example.com/"]
            scope_aliases = { "email" = "https://example.com/userinfo.email" }
            scope_case = "insensitive"
        "#,
        );
        let requested = texts("email.read contacts.read");
        for (answered, wanted) in [
            ("mail.read EMAIL", "email.read contacts.read"),
            ("https://graph.example.com/Mail.ReadWrite", "email.read"),
            ("HTTPS://GRAPH.EXAMPLE.COM/mail.readwrite", "email.read"),
            ("https://example.com/userinfo.email", "contacts.read"),
            ("https://graph.example.com/", ""),
            ("https://other.example.com/Mail.Read", ""),
        ] {
            let answered = texts(answered);
            let found = granted(&auth, &auth.scopes, &requested, &[], Some(&answered));
            assert_eq!(found.granted, texts(wanted), "{answered:?}");
        }
    }

    #[test]
    fn a_scope_without_a_mapping_is_never_granted() {
        let auth = auth(SANDBOX);
        let found = granted(&auth, &auth.scopes, &texts("tasks.read"), &[], None);
        assert_eq!(found.missing, texts("tasks.read"));
    }
}
