//! Buttons that lead to an OpenID provider, and the part of `/account` about it.

use base::error::Result;
use service::locale::html::Html;
use service::manage::operators::oidc::identities::{self, WaysIn};
use service::manage::operators::oidc::provider;
use service::manage::operators::sessions::Session;

use crate::admin::form_token::TOKEN;
use crate::admin::parts::field::hidden;
use crate::admin::texts::fill;
use crate::admin::visit::Visit;

/// Name of the field that says what a form leaves for.
pub const PURPOSE: &str = "purpose";
/// Its value on the page of an invitation.
pub const JOIN: &str = "join";

/// The name of the provider; none where people sign in by passwords alone.
pub fn provider_name(visit: &Visit) -> Option<&str> {
    provider(&visit.app).map(|provider| provider.settings.name.as_str())
}

/// A text with the name of the provider in its place.
pub fn named(visit: &Visit, text: &str) -> String {
    fill(text, &[("name", provider_name(visit).unwrap_or_default())])
}

/// Adds the button of the sign-in page, above a line; nothing without a provider. `next` is the page to go on to.
pub fn sign_in_button(visit: &Visit, next: &str, html: &mut Html) {
    if provider_name(visit).is_some() {
        let word = named(visit, visit.texts.oidc.sign_in);
        button(visit, html, "oidc/start", &[("next", next)], &word);
        html.raw("<hr class=\"rule\">\n");
    }
}

/// Adds the button of an invitation's page, above a line; nothing without a provider.
pub fn join_button(visit: &Visit, html: &mut Html) {
    if provider_name(visit).is_some() {
        let word = named(visit, visit.texts.oidc.join);
        button(visit, html, "oidc/start", &[("next", &visit.path), (PURPOSE, JOIN)], &word);
        html.raw("<hr class=\"rule\">\n");
    }
}

/// Adds the button of `/confirm`, above a line. `next` is the page to go on to.
pub fn confirm_button(visit: &Visit, next: &str, html: &mut Html) {
    let t = visit.texts.oidc;
    button(visit, html, "confirm/provider", &[("next", next)], &named(visit, t.confirm));
    html.raw("<p class=\"hint\">").text(t.confirm_text).raw("</p>\n<hr class=\"rule\">\n");
}

fn button(visit: &Visit, html: &mut Html, path: &str, fields: &[(&'static str, &str)], word: &str) {
    html.raw("<form class=\"form stack\" method=\"post\" action=\"").text(&visit.link(path)).raw("\">");
    hidden(html, TOKEN, &visit.token());
    for &(name, value) in fields {
        hidden(html, name, value);
    }
    html.raw("<button class=\"plain\">").text(word).raw("</button></form>\n");
}

/// The ways in which the reader can sign in; none without a provider.
///
/// # Errors
/// Database errors.
pub async fn ways_in(visit: &Visit, session: &Session) -> Result<Option<WaysIn>> {
    match provider(&visit.app) {
        Some(_) => identities::ways_in(&visit.app, session).await.map(Some),
        None => Ok(None),
    }
}

/// Whether an operator with these ways in can use the provider.
pub fn can_use(visit: &Visit, ways_in: &WaysIn) -> bool {
    let issuer = provider(&visit.app).map(|provider| provider.settings.issuer.as_str());
    ways_in.identity.as_ref().map(|identity| identity.issuer.as_str()) == issuer && issuer.is_some()
}

/// Adds the part of `/account` about the provider.
pub fn account_section(visit: &Visit, ways_in: &WaysIn, body: &mut Html) {
    let t = visit.texts.oidc;
    body.raw("<section class=\"stack\">").element("h2", &named(visit, t.title));
    match &ways_in.identity {
        None => {
            body.element("p", t.not_connected);
            visit.button_form(body, "account/identity/connect", "plain", t.connect);
        }
        Some(identity) => {
            let text = match can_use(visit, ways_in) {
                true => named(visit, t.connected),
                false => fill(t.connected_elsewhere, &[("name", &identity.issuer)]),
            };
            body.element("p", &text);
            match ways_in.has_password {
                true => visit.button_form(body, "account/identity/disconnect", "plain", t.disconnect),
                false => {
                    body.element("p", t.last_way);
                }
            }
        }
    }
    body.raw("</section>\n");
}
