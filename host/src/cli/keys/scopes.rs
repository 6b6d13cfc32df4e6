//! Scopes of keys as the command line takes and shows them.

use anyhow::Result;
use base::scopes;
use storage::api_keys::ApiKey;

use crate::cli::refusal::{ensure_or_help, failure};

/// The scopes for people: a key that may do everything says so.
pub fn scopes_shown(key: &ApiKey) -> String {
    match scopes::ALL.iter().all(|s| key.scopes.iter().any(|held| held == s)) {
        true => "all".to_owned(),
        false => key.scopes.join(","),
    }
}

/// Scopes of an application's key, where `all` stands for every one of them.
pub fn scopes_of(given: &[String]) -> Result<Vec<String>> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in given.iter().map(|s| s.trim()).filter(|s| !s.is_empty()) {
        match scope {
            "all" => scopes = scopes::ALL.map(str::to_owned).to_vec(),
            _ if !scopes::is_scope(scope) => {
                return Err(failure(
                    format!("--scopes: there is no scope \"{scope}\""),
                    format!("use all, or some of {}", scopes::ALL.join(", ")),
                ));
            }
            _ if !scopes.iter().any(|s| s == scope) => scopes.push(scope.to_owned()),
            _ => {}
        }
    }
    ensure_or_help(
        !scopes.is_empty(),
        || "--scopes names no scope".to_owned(),
        || "name at least one, for example calendar.read, or all".to_owned(),
    )?;
    Ok(scopes)
}

/// Scopes of administration: each has to be named.
pub fn admin_scopes_of(given: &[String]) -> Result<Vec<String>> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in given.iter().map(|s| s.trim()).filter(|s| !s.is_empty()) {
        ensure_or_help(
            scopes::is_admin_scope(scope),
            || format!("--scopes: \"{scope}\" is not a scope of --operator"),
            || format!("use some of {}", scopes::ADMIN.join(", ")),
        )?;
        if !scopes.iter().any(|s| s == scope) {
            scopes.push(scope.to_owned());
        }
    }
    ensure_or_help(
        !scopes.is_empty(),
        || "--scopes names no scope".to_owned(),
        || format!("name at least one of {}", scopes::ADMIN.join(", ")),
    )?;
    Ok(scopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_checked_and_told_once() {
        let scopes = |s: &[&str]| scopes_of(&s.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert_eq!(scopes(&["calendar.read", " calendar.read", ""]).unwrap(), ["calendar.read"]);
        assert_eq!(scopes(&["tasks.read", "all"]).unwrap().len(), scopes::ALL.len());
        let wrong = scopes(&["calendar.red"]).unwrap_err();
        let help = wrong.downcast_ref::<authoring::Fault>().unwrap().help.clone();
        assert!(help.contains("calendar.read"), "{help}");
        assert!(scopes(&[""]).is_err());
        for scope in scopes::ADMIN {
            assert!(scopes(&[scope]).is_err() && !scopes(&["all"]).unwrap().contains(&scope.to_owned()));
        }
    }

    #[test]
    fn scopes_of_administration_are_named_one_by_one() {
        let scopes = |s: &[&str]| admin_scopes_of(&s.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert_eq!(scopes(&["admin.read", " admin.read", ""]).unwrap(), ["admin.read"]);
        assert_eq!(scopes(&scopes::ADMIN).unwrap(), scopes::ADMIN);
        for wrong in ["all", "calendar.read", "admin.all", ""] {
            assert!(scopes(&[wrong]).is_err(), "{wrong}");
        }
    }
}
