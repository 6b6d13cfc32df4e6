//! Rights of keys in words; sets of scopes that are often wanted; the first request of a key.

use base::scopes;
use service::locale::html::Html;
use service::manage::keys;
use storage::api_keys::ApiKey;

use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::code::quoted;
use crate::admin::parts::icon::PanelIcon;
use crate::admin::texts::{NewKeyTexts, ScopeTexts, fill};
use crate::admin::visit::Visit;

/// Requests that list something, with the scope that each needs, the most telling one first.
const FIRST_REQUESTS: [(&str, &str); 12] = [
    ("connections.read", "/v1/connections"),
    ("calendar.read", "/v1/calendars"),
    ("email.read", "/v1/email/messages?limit=5"),
    ("contacts.read", "/v1/contacts?limit=5"),
    ("tasks.read", "/v1/task-lists"),
    ("scheduling.read", "/v1/scheduling/event-types"),
    ("webhooks.read", "/v1/webhooks"),
    ("events.read", "/v1/events?limit=5"),
    ("usage.read", "/v1/usage"),
    ("api_keys.write", "/v1/api-keys"),
    ("scheduling.book", "/v1/scheduling/booking-links/SLUG"),
    ("admin.read", "/v1/admin/organizations"),
];

/// A set of scopes by its word in the form.
pub fn presets(texts: &NewKeyTexts) -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let reading = scopes::ALL.into_iter().filter(|scope| scope.ends_with(".read")).collect();
    vec![
        ("read", texts.preset_read, reading),
        ("mail", texts.preset_mail, vec!["email.read", "email.write", "email.send", "connections.read"]),
        ("calendars", texts.preset_calendars, vec!["calendar.read", "calendar.write", "connections.read"]),
        ("booking", texts.preset_booking, vec!["scheduling.book"]),
        ("all", texts.preset_all, scopes::ALL.to_vec()),
    ]
}

/// The rights that scopes give, in a few words: `Reads and writes calendars; sends mail`.
pub fn can(texts: &ScopeTexts, held: &[String]) -> String {
    let has = |scope: &str| held.iter().any(|one| one == scope);
    if scopes::ALL.iter().all(|scope| has(scope)) {
        return texts.everything.to_owned();
    }
    let is_reading = |scope: &&str| scope.ends_with(".read");
    let all_readable = scopes::ALL.iter().filter(|scope| is_reading(scope)).all(|scope| has(scope));
    if all_readable && held.iter().all(|scope| is_reading(&scope.as_str())) {
        return texts.reads_everything.to_owned();
    }
    let surfaces = |wanted: &dyn Fn(&str) -> bool| {
        let names = texts.names.iter().filter(|(surface, _)| wanted(surface));
        joined(texts, &names.map(|(_, name)| *name).collect::<Vec<_>>())
    };
    let writes = surfaces(&|surface| has(&format!("{surface}.write")));
    let reads = surfaces(&|surface| has(&format!("{surface}.read")) && !has(&format!("{surface}.write")));
    let mut parts = Vec::new();
    for (text, names) in [(texts.writes, writes), (texts.reads, reads)] {
        if !names.is_empty() {
            parts.push(fill(text, &[("names", &names)]));
        }
    }
    for (is_held, word) in [
        (has("email.send"), texts.sends),
        (has("email.track"), texts.tracks),
        (has("calendar.freebusy") && !scopes::holds(held, "calendar.read"), texts.sees_busy),
        (has("scheduling.book") && !has("scheduling.write"), texts.books),
        (has("admin.operators"), texts.runs_operators),
        (has("admin.connectors"), texts.installs_connectors),
    ] {
        if is_held {
            parts.push(word.to_owned());
        }
    }
    let with_another = |all: String, part: String| fill(texts.acts_more, &[("a", &all), ("b", &part)]);
    parts.into_iter().reduce(with_another).unwrap_or_else(|| texts.nothing.to_owned())
}

/// Names as a list within a sentence.
fn joined(texts: &ScopeTexts, names: &[&str]) -> String {
    let mut list = String::new();
    for (place, name) in names.iter().enumerate() {
        let text = if place + 1 == names.len() { texts.list_last } else { texts.list_more };
        list = match place {
            0 => (*name).to_owned(),
            _ => fill(text, &[("a", &list), ("b", name)]),
        };
    }
    list
}

/// The state of a key: its word, and how it is meant.
pub fn add_state(visit: &Visit, key: &ApiKey, html: &mut Html) {
    let t = visit.texts.keys;
    match keys::state(key, visit.app.now()) {
        "revoked" => badge(html, BadgeTone::Neutral, PanelIcon::Cross, t.revoked),
        "expired" => badge(html, BadgeTone::Warn, PanelIcon::Pause, t.expired),
        _ => badge(html, BadgeTone::Good, PanelIcon::Dot, t.active),
    }
}

/// A line for a terminal: the first request that scopes allow, with a key; none where they allow no request that reads.
pub fn first_request(address: &str, held: &[String], key: &str) -> Option<String> {
    let (_, path) = FIRST_REQUESTS.iter().find(|(scope, _)| scopes::holds(held, scope))?;
    let authorization = quoted(&format!("Authorization: Bearer {key}"));
    Some(format!("curl {} \\\n  -H {authorization}", quoted(&format!("{address}{path}"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::texts::texts;
    use service::locale::Language;

    fn words(scopes: &[&str]) -> String {
        let held: Vec<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        can(texts(Language::English).scopes, &held)
    }

    #[test]
    fn scopes_are_said_in_a_few_words() {
        assert_eq!(words(&scopes::ALL), "Reads and writes everything");
        assert_eq!(
            words(&["calendar.read", "email.read", "contacts.read"]),
            "Reads mail, calendars and contacts"
        );
        assert_eq!(
            words(&["calendar.write", "email.send", "tasks.read"]),
            "Reads and writes calendars; Reads tasks; Sends mail"
        );
        assert_eq!(words(&["scheduling.book"]), "Books times");
        assert_eq!(
            words(&["admin.write", "admin.operators"]),
            "Reads and writes the installation; Manages operators"
        );
        assert_eq!(words(&["calendar.freebusy"]), "Sees busy times");
        assert_eq!(words(&[]), "Nothing");
        let read = presets(texts(Language::English).new_key).swap_remove(0).2;
        assert_eq!(words(&read), "Reads everything");
    }

    #[test]
    fn the_first_request_is_one_that_the_scopes_allow() {
        let of = |scopes: &[&str]| {
            let held: Vec<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
            first_request("https://api.example.com", &held, "uc_live_x")
        };
        let expected =
            "curl 'https://api.example.com/v1/connections' \\\n  -H 'Authorization: Bearer uc_live_x'";
        assert_eq!(of(&["connections.write"]).as_deref(), Some(expected));
        assert!(of(&["calendar.write"]).is_some_and(|line| line.contains("/v1/calendars")));
        assert_eq!(of(&["email.send"]), None);
    }
}
