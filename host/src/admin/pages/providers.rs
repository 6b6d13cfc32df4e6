//! `/apps/{a}/providers`: providers with OAuth, and the application's client at each of them.

use base::error::{Code, Error, Result};
use http::StatusCode;
use runtime::SetupCopy;
use service::connections::settings::sandbox_url;
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::actor::Act;
use service::manage::provider_clients::{self, ClientChange, RegisteredClient};
use zeroize::Zeroizing;

use crate::admin::claim::once;
use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::code::code;
use crate::admin::parts::field::{FormFaults, InputField};
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::{empty, note};
use crate::admin::parts::table::{RowTable, TableCell, id_cell};
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;
use crate::web::error::status;

const CLIENT_ID: &str = "client_id";
const SECRET: &str = "client_secret";
const PUBLIC: &str = "public";
/// Fields of the operator's settings; no connector has more.
const SETTINGS: [&str; 6] = ["setting_0", "setting_1", "setting_2", "setting_3", "setting_4", "setting_5"];

/// The list.
pub async fn list(visit: &Visit) -> Result<View> {
    let (t, tenant) = (visit.texts.providers, visit.tenant()?);
    let found = provider_clients::list(&visit.app, tenant).await?;
    let path = format!("apps/{}/providers", tenant.application_id);
    let mut body = Html::default();
    head(&mut body, t.title, None);
    if found.is_empty() {
        empty(&mut body, PanelIcon::Globe, [t.no_providers, t.no_providers_text], None);
        return Ok(PanelPage::new(t.title, Some(MenuEntry::Providers), body).into());
    }
    let mut table = RowTable::new(t.caption, &[t.provider, t.state, t.client_id, ""]);
    for provider in &found {
        let mut heading = Html::default();
        heading.raw("<bdi>").text(&provider.manifest.title).raw("</bdi>");
        let mut state = Html::default();
        add_state(visit, provider, &mut state);
        let mut end = Html::default();
        if visit.may(Act::ManageProviders) {
            end.raw("<a class=\"button plain small\" href=\"");
            end.text(&visit.link(&format!("{path}/{}", provider.manifest.name))).raw("\">").text(t.set_up);
            end.raw("<span class=\"sr\"> ").text(&provider.manifest.title).raw("</span></a>");
        }
        let client_id = provider.client.as_ref().map_or("", |client| client.client_id.as_str());
        table.row(&heading, vec![TableCell::State(state), id_cell(client_id), TableCell::End(end)]);
    }
    table.add_to(&mut body);
    Ok(PanelPage::new(t.title, Some(MenuEntry::Providers), body).into())
}

fn add_state(visit: &Visit, provider: &RegisteredClient, html: &mut Html) {
    let t = visit.texts.providers;
    let (tone, shape, word) = match &provider.client {
        Some(client) if client.disabled_at.is_some() => (BadgeTone::Warn, PanelIcon::Pause, t.disabled),
        Some(_) => (BadgeTone::Good, PanelIcon::Dot, t.ready),
        None if sandbox_url(&visit.app, &provider.manifest.name).is_some() => {
            (BadgeTone::Good, PanelIcon::Dot, t.built_in)
        }
        None => (BadgeTone::Neutral, PanelIcon::Ring, t.none),
    };
    badge(html, tone, shape, word);
}

/// The client at one provider.
pub async fn show(visit: &Visit) -> Result<View> {
    let provider = found(visit).await?;
    Ok(page(visit, &provider, &FormFaults::default(), &Html::default())?.into())
}

/// The provider that the path names.
pub async fn found(visit: &Visit) -> Result<RegisteredClient> {
    provider_clients::find(&visit.app, visit.tenant()?, visit.param("p")).await
}

/// The page of a provider. `said`: the notes of what was just done.
pub fn page(
    visit: &Visit,
    provider: &RegisteredClient,
    faults: &FormFaults,
    said: &Html,
) -> Result<PanelPage> {
    let (t, frame) = (visit.texts.providers, visit.texts.frame);
    let path = format!("apps/{}/providers", visit.tenant()?.application_id);
    let own = format!("{path}/{}", provider.manifest.name);
    let title = provider.manifest.title.as_str();
    let named = [("provider", title)];
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), t.title)], title);
    head(&mut body, title, None);
    body.html(said);
    faults.summary(&mut body, frame);
    let disabled = provider.client.as_ref().map(|client| client.disabled_at.is_some());
    if disabled == Some(true) {
        note(&mut body, BadgeTone::Warn, &fill(t.enable_text, &named));
        visit.button_form(&mut body, &format!("{own}/enable"), "plain", t.enable);
    }
    add_steps(visit, provider, &mut body);
    body.raw("<section class=\"stack\">").element("h2", t.client);
    visit.open_form(&mut body, &own);
    add_fields(visit, provider, faults, &mut body);
    body.raw("<button>").text(t.save).raw("</button></form></section>\n");
    body.raw("<section class=\"stack\">").element("h2", t.check_title);
    body.element("p", &fill(t.check_text, &named));
    visit.button_form(&mut body, &format!("{own}/check"), "plain", t.check);
    body.raw("</section>\n");
    if let Some(is_disabled) = disabled {
        add_ends(visit, &own, is_disabled, &named, &mut body);
    }
    body.raw("<section class=\"stack\">").element("p", t.others);
    body.raw("<div class=\"code\"><pre tabindex=\"0\" dir=\"ltr\">switchboard apps provider set ");
    body.text(&visit.tenant()?.application_id).raw(" ").text(&provider.manifest.name);
    body.raw("</pre></div></section>\n");
    Ok(PanelPage::new(title, Some(MenuEntry::Providers), body))
}

/// Adds the steps at the provider, with the address to copy.
fn add_steps(visit: &Visit, provider: &RegisteredClient, html: &mut Html) {
    let (t, frame) = (visit.texts.providers, visit.texts.frame);
    let named = [("provider", provider.manifest.title.as_str())];
    let steps = &provider.manifest.setup;
    if !steps.is_empty() {
        html.raw("<section class=\"stack\">").element("h2", &fill(t.steps, &named));
        html.raw("<ol class=\"steps\">");
        for (at, step) in steps.iter().enumerate() {
            html.raw("<li><span class=\"n\">").text(&(at + 1).to_string());
            html.raw("</span><div class=\"stack\"><p dir=\"auto\">").text(&step.text).raw("</p>");
            if let Some(link) = &step.link {
                html.raw("<p><a rel=\"noreferrer\" dir=\"ltr\" href=\"").text(link).raw("\">");
                html.text(link).raw("</a></p>");
            }
            if step.copy == Some(SetupCopy::Callback) {
                code(html, frame, &provider.callback_url, t.copy);
            }
            html.raw("</div></li>\n");
        }
        html.raw("</ol></section>\n");
    }
    if !steps.iter().any(|step| step.copy == Some(SetupCopy::Callback)) {
        html.raw("<section class=\"stack\">").element("h2", t.callback);
        html.element("p", &fill(t.callback_text, &named));
        code(html, frame, &provider.callback_url, t.copy);
        html.raw("</section>\n");
    }
}

/// Adds the ways to take the client out of use, and to remove it.
fn add_ends(visit: &Visit, own: &str, is_disabled: bool, named: &[(&str, &str)], html: &mut Html) {
    let t = visit.texts.providers;
    html.raw("<section class=\"zone-of-danger stack\">");
    if !is_disabled {
        html.element("h2", t.disable).element("p", &fill(t.disable_text, named));
        visit.button_form(html, &format!("{own}/disable"), "danger", t.disable);
    }
    html.element("h2", t.remove).element("p", &fill(t.remove_text, named));
    html.raw("<p><a class=\"button danger\" href=\"").text(&visit.link(&format!("{own}/remove"))).raw("\">");
    html.text(t.remove).raw("</a></p></section>\n");
}

fn add_fields(visit: &Visit, provider: &RegisteredClient, faults: &FormFaults, html: &mut Html) {
    let (t, frame) = (visit.texts.providers, visit.texts.frame);
    // The form of the client, and not the one of a check.
    let is_sent = visit.form.is_some() && !visit.fields.all(CLIENT_ID).is_empty();
    let stored = provider.client.as_ref();
    let client_id = match stored {
        _ if is_sent => visit.fields.first(CLIENT_ID),
        Some(client) => client.client_id.as_str(),
        None => "",
    };
    let hint = fill(t.client_id_hint, &[("provider", &provider.manifest.title)]);
    InputField::text(CLIENT_ID, t.client_id, client_id).with_hint(&hint).ltr().add_to(html, frame, faults);
    let has_secret = stored.is_some_and(|client| client.client_secret.is_some());
    let hint = if has_secret { t.secret_kept } else { t.secret_hint };
    InputField::password(SECRET, t.secret, "off").with_hint(hint).optional().add_to(html, frame, faults);
    let is_public = match stored {
        _ if is_sent => !visit.fields.first(PUBLIC).is_empty(),
        Some(client) => client.client_auth.as_deref() == Some("none"),
        None => false,
    };
    html.raw("<label class=\"check\"><input type=\"checkbox\" name=\"public\" value=\"1\"");
    html.raw(if is_public { " checked>" } else { ">" });
    html.raw("<span>").text(t.public).raw("</span></label>\n");
    for (setting, id) in provider.settings().zip(SETTINGS) {
        let value = if is_sent { visit.fields.first(id).to_owned() } else { provider.value(&setting.name) };
        let field = InputField::text(id, &setting.name, &value).with_hint(&setting.description).ltr();
        let is_required = setting.required && setting.default.is_none();
        let field = if is_required { field } else { field.optional() };
        field.add_to(html, frame, faults);
    }
}

/// Saves the client at a provider.
pub async fn save(visit: &Visit) -> Result<View> {
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    let provider = provider_clients::find(&app, &tenant, visit.param("p")).await?;
    let name = provider.manifest.name.clone();
    let secret = visit.fields.first(SECRET);
    let change = ClientChange {
        client_id: visit.fields.first(CLIENT_ID).trim().to_owned(),
        secret: (!secret.is_empty()).then(|| Zeroizing::new(secret.trim().to_owned())),
        is_public: !visit.fields.first(PUBLIC).is_empty(),
        settings: provider
            .settings()
            .zip(SETTINGS)
            .map(|(setting, id)| (setting.name.clone(), visit.fields.first(id).trim().to_owned()))
            .collect(),
    };
    let path = format!("apps/{}/providers/{name}", tenant.application_id);
    let target = Target::application(&tenant, name.clone());
    let saved = once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "oauth_client_saved", &target, Some(&claimed));
        provider_clients::save(&app, &tenant, &name, change, &attempt).await
    });
    match saved.await {
        Ok(_) => Ok(View::done(path, FlashCode::ProviderSaved)),
        Err(e) => {
            let (faults, status) = fault(visit, &provider, e)?;
            Ok(page(visit, &provider, &faults, &Html::default())?.with_status(status).into())
        }
    }
}

/// A refused value as the fault of its field; any other error as it is.
fn fault(visit: &Visit, provider: &RegisteredClient, e: Error) -> Result<(FormFaults, StatusCode)> {
    let t = visit.texts.providers;
    let Error::Refused(refusal) = &e else { return Err(e) };
    let is_setting = |param: &str| {
        let name = param.strip_prefix("settings.")?;
        provider.settings().zip(SETTINGS).find(|(setting, _)| setting.name == name).map(|(_, id)| id)
    };
    let param = refusal.param.as_deref().unwrap_or_default();
    let faults = match (refusal.code, param) {
        (Code::InvalidParameter | Code::MissingField, "clientId") => {
            FormFaults::of(CLIENT_ID, t.bad_client_id)
        }
        (Code::InvalidParameter | Code::MissingField, "clientSecret") => FormFaults::of(SECRET, t.bad_secret),
        (_, param) => match is_setting(param) {
            Some(id) => FormFaults::of(id, fill(t.bad_setting, &[("message", &refusal.message)])),
            None => return Err(e),
        },
    };
    Ok((faults, status(refusal.code)))
}

/// Takes the client out of use.
pub async fn disable(visit: &Visit) -> Result<View> {
    switch(visit, true).await
}

/// Puts the client into use again.
pub async fn enable(visit: &Visit) -> Result<View> {
    switch(visit, false).await
}

async fn switch(visit: &Visit, is_disabled: bool) -> Result<View> {
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    let name = visit.param("p").to_owned();
    let path = format!("apps/{}/providers/{name}", tenant.application_id);
    let target = Target::application(&tenant, name.clone());
    let act = if is_disabled { "oauth_client_disabled" } else { "oauth_client_enabled" };
    let switched = once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, act, &target, Some(&claimed));
        provider_clients::set_disabled(&app, &tenant, &name, is_disabled, &attempt).await
    });
    switched.await?;
    Ok(View::done(path, FlashCode::ProviderSaved))
}
