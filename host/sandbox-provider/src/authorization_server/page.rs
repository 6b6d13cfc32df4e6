//! The pages for users: the consent page, and the error page of a request that cannot be redirected. Neither has a script.

use std::sync::LazyLock;

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::auth::DOMAIN;
use crate::authorization_server::consent::ConsentRequest;
use crate::authorization_server::scopes;
use crate::seed::PEOPLE;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{margin:0;font:1rem/1.5 system-ui,sans-serif;background:#f4f5f7;color:#1b1f24}\
main{box-sizing:border-box;max-width:34rem;margin:0 auto;padding:8vh 1.25rem 2rem;overflow-wrap:anywhere}\
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}\
p{margin:0 0 1rem}\
fieldset{border:1px solid #8c959f;border-radius:.375rem;margin:0 0 1rem;padding:.5rem 1rem 1rem}\
label{display:block;padding:.25rem 0}\
input[type=text]{box-sizing:border-box;width:100%;font:inherit;padding:.375rem .5rem}\
button{font:inherit;padding:.5rem 1.25rem;margin:0 .5rem 0 0}\
code{font-size:.875rem}\
@media(prefers-color-scheme:dark){body{background:#15181c;color:#e6e8eb}}";

/// The pages load nothing and cannot be framed by another site. `form-action` is left out: browsers also apply it to the redirect
/// after the form, which goes to the client.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy =
        format!("default-src 'none'; style-src 'sha256-{hash}'; frame-ancestors 'none'; base-uri 'none'");
    HeaderValue::try_from(policy).expect("base64 and the policy's words are ASCII")
});

/// The consent page: the client, the requested scopes, and the account with which the user answers. `hint`: the account that the
/// client named. `token`: of the form.
pub fn consent(request: &ConsentRequest, hint: Option<&str>, token: &str) -> Response {
    let client = escape_html(&request.client);
    let boxes: String = request.scopes.iter().map(|name| scope_box(name)).collect();
    let body = format!(
        "<h1>{client} asks for access</h1>\n\
         <p>It wants to use an account of the sandbox provider, and leads you back to <code>{place}</code>.</p>\n\
         <form method=\"post\" action=\"/sandbox/oauth/authorize\">\n\
         <input type=\"hidden\" name=\"token\" value=\"{token}\">\n\
         <fieldset>\n<legend>Account</legend>\n{accounts}</fieldset>\n\
         <fieldset>\n<legend>Access</legend>\n{boxes}</fieldset>\n\
         <button name=\"action\" value=\"allow\">Allow</button>\n\
         <button name=\"action\" value=\"deny\">Deny</button>\n</form>\n",
        place = escape_html(request.redirect_uri.split('?').next().unwrap_or_default()),
        token = escape_html(token),
        accounts = accounts(hint),
    );
    html(StatusCode::OK, "Allow access", &body)
}

/// An error page for a request that cannot be redirected to its client.
pub fn error(status: StatusCode, message: &str) -> Response {
    let body = format!("<h1>This does not work</h1>\n<p>{}</p>\n", escape_html(message));
    html(status, "This does not work", &body)
}

fn scope_box(name: &str) -> String {
    let text = scopes::find(name).map_or(name, |scope| scope.text);
    let name = escape_html(name);
    format!(
        "<label><input type=\"checkbox\" name=\"scope\" value=\"{name}\" checked> {} <code>{name}</code></label>\n",
        escape_html(text)
    )
}

/// The accounts with seeded data, and a field for any other.
fn accounts(hint: Option<&str>) -> String {
    let hint = hint.map(str::to_ascii_lowercase).unwrap_or_default();
    let hint = hint.strip_suffix(DOMAIN).unwrap_or(&hint);
    let names: Vec<&str> = PEOPLE.iter().filter_map(|person| person.mail.strip_suffix(DOMAIN)).collect();
    let chosen = if hint.is_empty() { names.first().copied().unwrap_or_default() } else { hint };
    let radio = |name: &str, is_chosen: bool, label: &str| {
        let checked = if is_chosen { " checked" } else { "" };
        format!("<label><input type=\"radio\" name=\"account\" value=\"{name}\"{checked}> {label}</label>\n")
    };
    let known: String =
        PEOPLE.iter().zip(&names).map(|(person, name)| radio(name, *name == chosen, person.name)).collect();
    let is_other = !names.contains(&chosen);
    let name = if is_other { escape_html(chosen) } else { String::new() };
    format!(
        "{known}{}<label>Name of the other account <input type=\"text\" name=\"name\" value=\"{name}\" \
         autocomplete=\"off\" spellcheck=\"false\" maxlength=\"77\"></label>\n",
        radio("other", is_other, "Another account"),
    )
}

fn html(status: StatusCode, title: &str, body: &str) -> Response {
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    );
    let mut response = (status, text).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Text for HTML, also within the quotes of an attribute.
fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
