//! The scopes of the provider: the access that each grants, and the one that each request needs.

use axum::http::Method;

/// A scope, the scopes that it includes, and its text on the consent page.
pub struct Scope {
    pub name: &'static str,
    /// Narrower scopes, transitive.
    implies: &'static [&'static str],
    pub text: &'static str,
}

const fn scope(name: &'static str, implies: &'static [&'static str], text: &'static str) -> Scope {
    Scope { name, implies, text }
}

/// All scopes.
pub static SCOPES: [Scope; 10] = [
    scope("mail.read", &[], "Read your mail"),
    scope("mail.write", &["mail.read"], "Read, change and delete your mail, and write drafts"),
    scope("mail.send", &[], "Send mail as you"),
    scope("calendar.read", &["busy.read"], "Read your calendars and events"),
    scope("calendar.write", &["calendar.read"], "Read, change and delete your calendars and events"),
    scope("busy.read", &[], "See when you are free or busy"),
    scope("people.read", &[], "Read your contacts"),
    scope("people.write", &["people.read"], "Read, change and delete your contacts"),
    scope("todo.read", &[], "Read your tasks"),
    scope("todo.write", &["todo.read"], "Read, change and delete your tasks"),
];

/// The access that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Any token of the account.
    Nothing,
    Scope(&'static str),
    /// The account's password: no token is enough.
    Password,
}

/// The scope of this name.
pub fn find(name: &str) -> Option<&'static Scope> {
    SCOPES.iter().find(|scope| scope.name == name)
}

/// Whether the scopes have this one, or one that includes it.
pub fn is_granted(scopes: &[String], needed: &str) -> bool {
    scopes.iter().any(|name| name == needed || find(name).is_some_and(|scope| includes(scope, needed)))
}

fn includes(scope: &Scope, needed: &str) -> bool {
    scope
        .implies
        .iter()
        .any(|name| *name == needed || find(name).is_some_and(|narrower| includes(narrower, needed)))
}

/// The access that a request needs. Unknown requests need the password.
pub fn needed(method: &Method, path: &str) -> Need {
    let Some(rest) = path.strip_prefix("/sandbox/v1/") else { return Need::Password };
    let (area, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let either = |read, write| Need::Scope(if reads { read } else { write });
    match area {
        // The body names the watched data, and so decides on the scope.
        "me" | "watches" => Need::Nothing,
        "mail" if rest == "send" => Need::Scope("mail.send"),
        "mail" if rest == "batch" => Need::Scope("mail.read"),
        "mail" => either("mail.read", "mail.write"),
        "busy" => Need::Scope("busy.read"),
        "calendars" => either("calendar.read", "calendar.write"),
        "books" => either("people.read", "people.write"),
        "lists" => either("todo.read", "todo.write"),
        _ => Need::Password,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_need_scopes() {
        for (method, path, need) in [
            (Method::GET, "/sandbox/v1/me", Need::Nothing),
            (Method::GET, "/sandbox/v1/mail/messages/1", Need::Scope("mail.read")),
            (Method::POST, "/sandbox/v1/mail/batch", Need::Scope("mail.read")),
            (Method::POST, "/sandbox/v1/mail/send", Need::Scope("mail.send")),
            (Method::PATCH, "/sandbox/v1/mail/messages/1", Need::Scope("mail.write")),
            (Method::POST, "/sandbox/v1/busy", Need::Scope("busy.read")),
            (Method::DELETE, "/sandbox/v1/calendars/work/events/1", Need::Scope("calendar.write")),
            (Method::GET, "/sandbox/v1/books", Need::Scope("people.read")),
            (Method::POST, "/sandbox/v1/lists", Need::Scope("todo.write")),
            (Method::POST, "/sandbox/v1/watches/1/renew", Need::Nothing),
            (Method::GET, "/sandbox/v1/other", Need::Password),
            (Method::POST, "/sandbox/faults", Need::Password),
        ] {
            assert_eq!(needed(&method, path), need, "{method} {path}");
        }
    }

    #[test]
    fn wider_scopes_include_narrower_ones() {
        let has = |scopes: &[&str], needed: &str| {
            let scopes: Vec<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
            is_granted(&scopes, needed)
        };
        assert!(has(&["calendar.write"], "busy.read") && has(&["mail.read", "todo.write"], "todo.read"));
        assert!(!has(&["mail.read"], "mail.write") && !has(&["mail.write"], "mail.send") && !has(&[], "x"));
    }
}
