//! The scope catalogue (model.md): what a key may be given, and which scope includes which.

/// Every scope that a key can have.
pub const ALL: [&str; 21] = [
    "email.read",
    "email.write",
    "email.send",
    "email.track",
    "calendar.read",
    "calendar.write",
    "calendar.freebusy",
    "contacts.read",
    "contacts.write",
    "tasks.read",
    "tasks.write",
    "scheduling.read",
    "scheduling.write",
    "scheduling.book",
    "connections.read",
    "connections.write",
    "webhooks.read",
    "webhooks.write",
    "events.read",
    "api_keys.write",
    "usage.read",
];

/// Whether these scopes include that one. Writing includes reading, reading a calendar includes its busy times, managing
/// scheduling includes booking; sending does not include reading.
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

/// Whether a key can have this scope.
pub fn is_scope(scope: &str) -> bool {
    ALL.contains(&scope)
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn writing_includes_reading() {
        let scopes = vec!["calendar.write".to_owned()];
        assert!(holds(&scopes, "calendar.read") && holds(&scopes, "calendar.freebusy"));
        assert!(!holds(&scopes, "contacts.read") && !holds(&["email.send".to_owned()], "email.read"));
    }
}
