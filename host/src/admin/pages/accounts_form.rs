//! Forms for an account's credentials, settings and scopes, made of what the connector's manifest asks for.

use base::error::{Code, Error, Result};
use http::StatusCode;
use runtime::Setting;
use serde_json::{Map, Value, json};
use service::connections::NewConnection;
use service::connections::credentials::GivenCredentials;
use service::locale::html::Html;
use service::manage::account_providers::AccountProvider;

use crate::admin::parts::field::{FormFaults, InputField, SelectField, fault_line};
use crate::admin::texts::fill;
use crate::admin::visit::Visit;
use crate::web::error::status;

pub const USER_NAME: &str = "user_name";
pub const PASSWORD: &str = "password";
/// An access token. Values of fields with `secret` in their names are never written into a page.
pub const TOKEN_SECRET: &str = "token_secret";
/// The scopes of an account that is connected by credentials.
pub const SCOPES: &str = "scopes";
/// The scopes to ask a user for at the provider.
pub const OAUTH_SCOPES: &str = "oauth_scopes";

/// Settings that a form has fields for; no connector has so many.
const MAX_SETTINGS: usize = 6;
const SETTINGS: [&str; MAX_SETTINGS] =
    ["setting_0", "setting_1", "setting_2", "setting_3", "setting_4", "setting_5"];
const HOSTS: [&str; MAX_SETTINGS] = ["host_0", "host_1", "host_2", "host_3", "host_4", "host_5"];
const PORTS: [&str; MAX_SETTINGS] = ["port_0", "port_1", "port_2", "port_3", "port_4", "port_5"];
const ENCRYPTIONS: [&str; MAX_SETTINGS] = ["tls_0", "tls_1", "tls_2", "tls_3", "tls_4", "tls_5"];

/// Adds a box for each scope; all are ticked before the form was sent.
pub fn add_scopes(visit: &Visit, id: &'static str, scopes: &[&str], faults: &FormFaults, html: &mut Html) {
    let sent = visit.fields.all(id);
    let is_sent = visit.form.is_some();
    html.raw("<fieldset class=\"scopes\" id=\"").raw(id).raw("\"><legend>");
    html.text(visit.texts.connect.scopes).raw("</legend>");
    fault_line(html, id, faults.text(id));
    for scope in scopes {
        html.raw("<label class=\"check\"><input type=\"checkbox\" name=\"")
            .raw(id)
            .raw("\" value=\"")
            .text(scope);
        let is_ticked = !is_sent || sent.iter().any(|one| one == scope);
        html.raw(if is_ticked { "\" checked>" } else { "\">" });
        html.raw("<span><span class=\"id\" dir=\"ltr\">").text(scope).raw("</span><small>");
        html.text(sentence(visit, scope)).raw("</small></span></label>");
    }
    html.raw("</fieldset>\n");
}

/// The sentence that says what a scope allows.
fn sentence(visit: &Visit, scope: &str) -> &'static str {
    let mut all = visit.texts.scopes.surfaces.iter().flat_map(|(_, scopes)| *scopes);
    all.find(|(known, _)| *known == scope).map_or("", |(_, sentence)| *sentence)
}

/// Adds the fields of a provider's settings.
pub fn add_settings(visit: &Visit, provider: &AccountProvider, faults: &FormFaults, html: &mut Html) {
    let frame = visit.texts.frame;
    for (setting, at) in provider.settings().zip(0..MAX_SETTINGS) {
        if provider.is_server(setting) {
            add_server(visit, setting, at, faults, html);
            continue;
        }
        let sent = visit.fields.first(SETTINGS[at]);
        let default = match &setting.default {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let value = if visit.form.is_some() { sent } else { default.as_str() };
        let field =
            InputField::text(SETTINGS[at], &setting.name, value).with_hint(&setting.description).ltr();
        let is_required = setting.required && setting.default.is_none();
        let field = if is_required { field } else { field.optional() };
        field.add_to(html, frame, faults);
    }
}

/// Adds the fields of a server: host, port and encryption.
fn add_server(visit: &Visit, setting: &Setting, at: usize, faults: &FormFaults, html: &mut Html) {
    let (t, frame, sent) = (visit.texts.connect, visit.texts.frame, &visit.fields);
    let label = |text| fill(text, &[("name", &setting.name)]);
    let (host, port, tls) = (label(t.host), label(t.port), label(t.tls));
    let mut fields = [
        InputField::text(HOSTS[at], &host, sent.first(HOSTS[at])).with_hint(&setting.description).ltr(),
        InputField::text(PORTS[at], &port, sent.first(PORTS[at])).ltr(),
    ];
    if !setting.required {
        fields = fields.map(InputField::optional);
    }
    for field in fields {
        field.add_to(html, frame, faults);
    }
    let options = [("implicit", t.tls_implicit), ("starttls", t.tls_starttls), ("none", t.tls_none)];
    SelectField { id: ENCRYPTIONS[at], label: &tls, options: &options, chosen: sent.first(ENCRYPTIONS[at]) }
        .add_to(html, frame, faults);
}

/// Adds the fields of the credentials that a provider takes. `user_name`: what stands in its field before the form was sent.
pub fn add_credentials(
    visit: &Visit,
    provider: &AccountProvider,
    user_name: &str,
    faults: &FormFaults,
    html: &mut Html,
) {
    let (t, frame) = (visit.texts.connect, visit.texts.frame);
    let value = if visit.form.is_some() { visit.fields.first(USER_NAME) } else { user_name };
    let field = InputField::text(USER_NAME, t.user_name, value).ltr();
    // A token alone says whose it is.
    let field = if provider.takes_password && !provider.takes_token { field } else { field.optional() };
    field.add_to(html, frame, faults);
    let is_choice = provider.takes_password && provider.takes_token;
    let secrets = [
        (provider.takes_password, PASSWORD, t.password, t.password_hint),
        (provider.takes_token, TOKEN_SECRET, t.token, t.token_hint),
    ];
    for (_, id, label, hint) in secrets.into_iter().filter(|(is_taken, ..)| *is_taken) {
        let field = InputField::password(id, label, "off").with_hint(hint);
        let field = if is_choice { field.optional() } else { field };
        field.add_to(html, frame, faults);
    }
}

/// The credentials of a form, and what is wrong with them.
pub fn read_credentials(visit: &Visit, faults: &mut FormFaults) -> GivenCredentials {
    let (t, sent) = (visit.texts.connect, &visit.fields);
    let secret = |id| Some(sent.first(id)).filter(|text| !text.is_empty()).map(str::to_owned);
    let given = GivenCredentials {
        username: sent.filled(USER_NAME),
        password: secret(PASSWORD),
        access_token: secret(TOKEN_SECRET),
        ..GivenCredentials::default()
    };
    match (&given.password, &given.access_token) {
        (None, None) => faults.add(PASSWORD, t.no_secret),
        (Some(_), Some(_)) => faults.add(PASSWORD, t.two_secrets),
        (Some(_), None) if given.username.is_none() => faults.add(USER_NAME, t.no_user_name),
        _ => {}
    }
    given
}

/// The connection that a form asks for, and what is wrong with it.
pub fn read(visit: &Visit, provider: &AccountProvider, faults: &mut FormFaults) -> NewConnection {
    let credentials = read_credentials(visit, faults);
    let scopes = visit.fields.all(SCOPES).to_vec();
    if scopes.is_empty() {
        faults.add(SCOPES, visit.texts.connect.no_scopes);
    }
    NewConnection {
        provider: provider.name().to_owned(),
        settings: read_settings(visit, provider, faults),
        credentials,
        scopes,
        ..NewConnection::default()
    }
}

fn read_settings(visit: &Visit, provider: &AccountProvider, faults: &mut FormFaults) -> Map<String, Value> {
    let sent = &visit.fields;
    let mut settings = Map::new();
    for (setting, at) in provider.settings().zip(0..MAX_SETTINGS) {
        if !provider.is_server(setting) {
            if let Some(text) = sent.filled(SETTINGS[at]) {
                settings.insert(setting.name.clone(), value_of(setting, text));
            }
            continue;
        }
        let (host, port) = (sent.filled(HOSTS[at]), sent.filled(PORTS[at]));
        if host.is_none() && port.is_none() {
            continue;
        }
        let number = port.and_then(|port| port.parse::<u16>().ok()).filter(|port| *port > 0);
        if number.is_none() {
            faults.add(PORTS[at], visit.texts.connect.bad_port);
        }
        let server = json!({ "host": host, "port": number, "tls": sent.first(ENCRYPTIONS[at]) });
        settings.insert(setting.name.clone(), server);
    }
    settings
}

/// The typed value of a setting: as JSON where its default is no text.
fn value_of(setting: &Setting, text: String) -> Value {
    let is_text = matches!(setting.default, None | Some(Value::String(_)));
    match serde_json::from_str(&text) {
        Ok(value) if !is_text => value,
        _ => Value::String(text),
    }
}

/// A refusal by the provider or by its connector as the fault of a field, with the page's status; any other error as it is. `name`: the
/// account that the credentials have to open.
pub fn fault(
    visit: &Visit,
    provider: &AccountProvider,
    name: &str,
    e: Error,
) -> Result<(FormFaults, StatusCode)> {
    let Error::Refused(refusal) = &e else { return Err(e) };
    let t = visit.texts.connect;
    let code = refusal.code;
    let param = refusal.param.as_deref().unwrap_or_default();
    let text = match code {
        Code::ProviderRejected if param == "credentials" => {
            let refused = fill(t.refused, &[("provider", provider.title())]);
            format!("{refused} {}", refusal.message)
        }
        Code::AlreadyExists => t.already_connected.to_owned(),
        Code::AccountMismatch => fill(t.other_account, &[("name", name)]),
        Code::ProviderUnavailable | Code::ProviderTimeout | Code::ProviderRateLimited => {
            fill(t.not_reached, &[("provider", provider.title())])
        }
        _ if param.is_empty() && code != Code::ProviderNotRegistered => return Err(e),
        _ => fill(t.bad_value, &[("message", &refusal.message)]),
    };
    Ok((FormFaults::of(field_of(provider, param), text), status(code)))
}

/// The field that a refused parameter stands in.
fn field_of(provider: &AccountProvider, param: &str) -> &'static str {
    let (place, rest) = param.split_once('.').unwrap_or((param, ""));
    match (place, rest) {
        ("credentials", "password") => return PASSWORD,
        ("credentials", "accessToken") => return TOKEN_SECRET,
        ("settings", "") => return first_setting(provider),
        ("credentials" | "settings", _) => {}
        (place, _) if place.starts_with("scopes") => return SCOPES,
        _ => return USER_NAME,
    }
    let (name, part) = rest.split_once('.').unwrap_or((rest, ""));
    let found = provider.settings().zip(0..MAX_SETTINGS).find(|(setting, _)| setting.name == name);
    match found {
        None => USER_NAME,
        Some((setting, at)) if !provider.is_server(setting) => SETTINGS[at],
        Some((_, at)) => match part {
            "port" => PORTS[at],
            "tls" => ENCRYPTIONS[at],
            _ => HOSTS[at],
        },
    }
}

/// The field of the first setting.
fn first_setting(provider: &AccountProvider) -> &'static str {
    match provider.settings().next() {
        Some(setting) if provider.is_server(setting) => HOSTS[0],
        Some(_) => SETTINGS[0],
        None => USER_NAME,
    }
}
