//! The scope catalogue (model.md): what a key may be given, and which scope includes which.

use model::application::KEY_SCOPES;

/// Every scope that a key can have.
pub const ALL: [&str; 21] = KEY_SCOPES;

/// Scopes of keys that administer the installation. They are separate from `ALL`: only the command line and administrators in the panel
/// grant them, to keys of the installation's own organization.
pub const ADMIN: [&str; 4] = ["admin.read", "admin.write", "admin.operators", "admin.connectors"];

/// Whether these scopes include that one. Write includes read, reading a calendar includes its busy times, managing scheduling includes
/// booking; sending does not include reading.
pub fn holds(scopes: &[String], scope: &str) -> bool {
    if scope.is_empty() {
        return true;
    }
    let has = |s: &str| scopes.iter().any(|held| held == s);
    if has(scope) {
        return true;
    }
    match scope.split_once('.') {
        Some((surface, "read")) => has(&format!("{surface}.write")),
        Some(("calendar", "freebusy")) => has("calendar.read") || has("calendar.write"),
        Some(("scheduling", "book")) => has("scheduling.write"),
        _ => false,
    }
}

/// Whether a key of an application can have this scope.
pub fn is_scope(scope: &str) -> bool {
    ALL.contains(&scope)
}

/// Whether this is a scope of administration.
pub fn is_admin_scope(scope: &str) -> bool {
    ADMIN.contains(&scope)
}

#[cfg(test)]
mod tests {
    use super::{ADMIN, ALL, holds, is_admin_scope, is_scope};

    #[test]
    fn scopes_of_administration_stand_apart() {
        assert!(ADMIN.iter().all(|scope| !is_scope(scope) && is_admin_scope(scope)));
        assert!(ALL.iter().all(|scope| !is_admin_scope(scope)));
        let all = ALL.map(str::to_owned);
        assert!(ADMIN.iter().all(|scope| !holds(&all, scope)));
        let writer = ["admin.write".to_owned()];
        assert!(holds(&writer, "admin.read") && !holds(&writer, "admin.operators"));
    }

    #[test]
    fn writing_includes_reading() {
        let scopes = vec!["calendar.write".to_owned()];
        assert!(holds(&scopes, "calendar.read") && holds(&scopes, "calendar.freebusy"));
        assert!(!holds(&scopes, "contacts.read") && !holds(&["email.send".to_owned()], "email.read"));
    }
}
