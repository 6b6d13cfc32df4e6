//! Accounts in words: their names, their states, and the sentence that says who has to do what.

use model::Instant;
use service::locale::dates;
use service::locale::html::Html;
use storage::connections::Connection;

use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::head::short_name;
use crate::admin::parts::icon::PanelIcon;
use crate::admin::texts::accounts::AccountPageTexts;
use crate::admin::texts::fill;
use crate::admin::texts::scopes::ScopeTexts;
use crate::admin::visit::Visit;

/// Characters of an address that a heading shows: no valid one has more.
const MAX_ADDRESS: usize = 320;

/// The name that people know of a provider; the connector's name where it is not installed.
pub fn provider_title(visit: &Visit, provider: &str) -> String {
    let connector = visit.app.runtime.find(provider);
    connector.map_or_else(|| provider.to_owned(), |connector| connector.manifest.title.clone())
}

/// The name of an account: its address, its name at the provider, or its id.
pub fn account_name(connection: &Connection) -> String {
    let name =
        connection.email.as_deref().or(connection.display_name.as_deref()).filter(|name| !name.is_empty());
    name.unwrap_or(&connection.id).chars().take(MAX_ADDRESS).collect()
}

/// The person who owns an account.
fn owner(visit: &Visit, connection: &Connection) -> String {
    let name = connection.display_name.as_deref().or(connection.email.as_deref());
    match name.filter(|name| !name.trim().is_empty()) {
        Some(name) => short_name(name),
        None => visit.texts.accounts.the_user.to_owned(),
    }
}

/// A day as a sentence names it.
fn day(visit: &Visit, at_ms: i64) -> String {
    let local = dates::local(Instant::from_millis(at_ms), &visit.time.zone);
    dates::day(local.date, visit.language)
}

/// Adds the state of an account. `is_failing`: a surface of it cannot be read.
pub fn add_state(visit: &Visit, status: &str, is_failing: bool, html: &mut Html) {
    let t = visit.texts.accounts;
    let (tone, shape, word) = match status {
        "reauth_required" => (BadgeTone::Bad, PanelIcon::Ring, t.reauth),
        _ if is_failing => (BadgeTone::Bad, PanelIcon::Cross, t.error),
        "degraded" => (BadgeTone::Warn, PanelIcon::Half, t.degraded),
        "pending" => (BadgeTone::Neutral, PanelIcon::Pause, t.pending),
        _ => (BadgeTone::Good, PanelIcon::Dot, t.active),
    };
    badge(html, tone, shape, word);
}

/// Why an account is not active, and who has to do what; none of one that is.
pub fn reason(visit: &Visit, connection: &Connection, failing_surface: Option<&str>) -> Option<String> {
    let t = visit.texts.accounts;
    let text = match (connection.status.as_str(), connection.status_reason.as_deref()) {
        ("reauth_required", Some("token_revoked")) => t.token_revoked,
        ("reauth_required", Some("token_expired")) => t.token_expired,
        ("reauth_required", Some("consent_missing")) => t.consent_missing,
        ("reauth_required", Some("admin_blocked")) => t.admin_blocked,
        ("reauth_required", Some("disabled_by_user")) => t.disabled,
        ("reauth_required", _) => t.credentials_invalid,
        ("degraded", _) => t.outage,
        ("pending", _) => t.waits,
        _ => {
            let surface = surface_noun(visit.texts.scopes, failing_surface?);
            return Some(fill(t.surface_failing, &[("surface", &surface)]));
        }
    };
    // Before it became degraded, it had not answered for a while.
    let since = match connection.failing_since.filter(|_| connection.status == "degraded") {
        Some(since) => since,
        None => connection.status_changed_at,
    };
    let provider = provider_title(visit, &connection.provider);
    let (day, who) = (day(visit, since), owner(visit, connection));
    Some(fill(text, &[("provider", &provider), ("day", &day), ("who", &who)]))
}

/// The word for a surface within a sentence.
pub fn surface_noun(texts: &ScopeTexts, surface: &str) -> String {
    let known = texts.names.iter().find(|(name, _)| *name == surface);
    known.map_or(surface, |(_, noun)| *noun).to_owned()
}

/// The word for a surface that an account has; its own name where it is none of the known ones.
pub fn surface_title<'s>(texts: &AccountPageTexts, surface: &'s str) -> &'s str {
    match surface {
        "email" => texts.mail,
        "calendar" => texts.calendar,
        "contacts" => texts.contacts,
        "tasks" => texts.tasks,
        other => other,
    }
}

/// Adds an address that may break after `@` and `.`, and is read from left to right.
pub fn add_address(html: &mut Html, address: &str) {
    html.raw("<bdi dir=\"ltr\">");
    for part in address.split_inclusive(['@', '.']) {
        html.text(part);
        if part.ends_with(['@', '.']) {
            html.raw("<wbr>");
        }
    }
    html.raw("</bdi>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::texts::accounts::ENGLISH_PAGE;

    #[test]
    fn surfaces_have_words() {
        let words =
            ["email", "calendar", "contacts", "tasks", "other"].map(|s| surface_title(&ENGLISH_PAGE, s));
        assert_eq!(words, ["Mail", "Calendar", "Contacts", "Tasks", "other"]);
    }

    #[test]
    fn an_address_breaks_at_its_borders_and_is_text() {
        let mut html = Html::default();
        add_address(&mut html, "a.b@example.com");
        assert_eq!(html.as_str(), "<bdi dir=\"ltr\">a.<wbr>b@<wbr>example.<wbr>com</bdi>");
        let mut html = Html::default();
        add_address(&mut html, "\"<b>\"@x");
        assert_eq!(html.as_str(), "<bdi dir=\"ltr\">&quot;&lt;b&gt;&quot;@<wbr>x</bdi>");
    }
}
