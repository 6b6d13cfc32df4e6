//! `/apps/{a}/settings`: name, handle, redirect URIs and request log of an application.

use base::error::{Code, Result};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::redirects::RedirectChange;
use service::manage::{applications, redirects};

use crate::admin::claim::once;
use crate::admin::form_token::TOKEN;
use crate::admin::pages::request_log_form;
use crate::admin::parts::field::{FormFaults, InputField, hidden};
use crate::admin::parts::head::head;
use crate::admin::parts::table::{RowTable, TableCell};
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const NAME: &str = "name";
const HANDLE: &str = "handle";
const REDIRECT: &str = "redirect";

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(with_faults(visit, &FormFaults::default()).await?.into())
}

/// The path of the page below `/admin/`.
pub fn path(visit: &Visit) -> Result<String> {
    Ok(format!("apps/{}/settings", visit.tenant()?.application_id))
}

/// The page as it is stored, with what is wrong with one of its forms.
pub async fn with_faults(visit: &Visit, faults: &FormFaults) -> Result<PanelPage> {
    let application = visit.application()?;
    let handle = application.handle.clone().unwrap_or_default();
    page(visit, &application.name, &handle, faults).await
}

async fn page(visit: &Visit, name: &str, handle: &str, faults: &FormFaults) -> Result<PanelPage> {
    let (t, frame) = (visit.texts.applications, visit.texts.frame);
    let (tenant, path) = (visit.tenant()?, path(visit)?);
    let registered = redirects::list(&visit.app, tenant).await?;
    let mut body = Html::default();
    head(&mut body, t.settings_title, None);
    faults.summary(&mut body, frame);
    body.raw("<section class=\"stack\">")
        .element("h2", t.general)
        .raw("<p class=\"soft\"><span class=\"id\" dir=\"ltr\">");
    body.text(&tenant.application_id).raw("</span></p>\n");
    visit.open_form(&mut body, &path);
    InputField::text(NAME, t.name, name).add_to(&mut body, frame, faults);
    let field = InputField::text(HANDLE, t.handle, handle).with_hint(t.handle_hint).optional().ltr();
    field.add_to(&mut body, frame, faults);
    body.raw("<button>").text(frame.save).raw("</button></form></section>\n");
    body.raw("<section class=\"stack\">").element("h2", t.redirects);
    match registered.is_empty() {
        true => {
            body.element("p", t.no_redirects);
        }
        false => list(visit, &path, &registered, &mut body),
    }
    visit.open_form(&mut body, &format!("{path}/redirects"));
    let field = InputField::text(REDIRECT, t.redirect, visit.fields.first(REDIRECT)).ltr();
    field.with_hint(t.redirect_hint).add_to(&mut body, frame, faults);
    body.raw("<button class=\"plain\">").text(t.add).raw("</button></form></section>\n");
    request_log_form::add_forms(visit, &path, faults, &mut body)?;
    Ok(PanelPage::new(t.settings_title, Some(MenuEntry::Settings), body))
}

fn list(visit: &Visit, path: &str, registered: &[String], body: &mut Html) {
    let t = visit.texts.applications;
    let mut table = RowTable::new(t.redirects_text, &[t.redirect, ""]);
    for uri in registered {
        let mut heading = Html::default();
        heading.raw("<span class=\"id\" dir=\"ltr\">").text(uri).raw("</span>");
        let mut end = Html::default();
        end.raw("<form method=\"post\" action=\"").text(&visit.link(&format!("{path}/redirects/remove")));
        end.raw("\">");
        hidden(&mut end, TOKEN, &visit.token());
        hidden(&mut end, REDIRECT, uri);
        end.raw("<button class=\"plain small\">").text(t.remove).raw("</button></form>");
        table.row(&heading, vec![TableCell::End(end)]);
    }
    table.add_to(body);
}

/// Saves name and handle: what has changed of them.
pub async fn save(visit: &Visit) -> Result<View> {
    let t = visit.texts.applications;
    let (name, handle) = (visit.fields.first(NAME).trim(), visit.fields.filled(HANDLE));
    let application = visit.application()?;
    let mut faults = FormFaults::default();
    if name != application.name {
        match rename(visit, name).await {
            Ok(()) => {}
            Err(e) if e.code() == Some(Code::InvalidParameter) => faults.add(NAME, t.bad_name),
            Err(e) if e.code() == Some(Code::AlreadyExists) => faults.add(NAME, t.name_taken),
            Err(e) => return Err(e),
        }
    }
    if handle != application.handle && faults.is_empty() {
        match set_handle(visit, handle.clone()).await {
            Ok(()) => {}
            Err(e) if e.code() == Some(Code::InvalidParameter) => faults.add(HANDLE, t.bad_handle),
            Err(e) if e.code() == Some(Code::AlreadyExists) => faults.add(HANDLE, t.handle_taken),
            Err(e) => return Err(e),
        }
    }
    if faults.is_empty() {
        return Ok(View::done(path(visit)?, FlashCode::ApplicationSaved));
    }
    let page = page(visit, name, visit.fields.first(HANDLE), &faults).await?;
    Ok(page.with_status(StatusCode::BAD_REQUEST).into())
}

/// Gives the application another name. It is the same one however often the form is sent.
async fn rename(visit: &Visit, name: &str) -> Result<()> {
    let (tenant, actor) = (visit.tenant()?, visit.actor()?);
    let target = Target::application(tenant, tenant.application_id.as_str())
        .details(serde_json::json!({ "fields": ["name"] }));
    let attempt = acting::attempt(&visit.app, actor, "application_renamed", &target, None);
    applications::rename(&visit.app, tenant, name, &attempt).await?;
    Ok(())
}

async fn set_handle(visit: &Visit, handle: Option<String>) -> Result<()> {
    let (tenant, actor) = (visit.tenant()?, visit.actor()?);
    let target = Target::application(tenant, tenant.application_id.as_str())
        .details(serde_json::json!({ "fields": ["handle"] }));
    let attempt = acting::attempt(&visit.app, actor, "application_handle_set", &target, None);
    applications::set_handle(&visit.app, tenant, handle.as_deref(), &attempt).await?;
    Ok(())
}

/// Registers a redirect URI.
pub async fn add_redirect(visit: &Visit) -> Result<View> {
    let uri = visit.fields.first(REDIRECT).trim().to_owned();
    let change = RedirectChange { add: vec![uri], remove: Vec::new() };
    match change_redirects(visit, "redirect_added", change).await {
        Ok(()) => Ok(View::done(path(visit)?, FlashCode::RedirectAdded)),
        Err(e) if matches!(e.code(), Some(Code::InvalidUrl | Code::InvalidParameter)) => {
            let t = visit.texts.applications;
            let is_full = e.code() == Some(Code::InvalidParameter);
            let text = if is_full { t.too_many_redirects } else { t.bad_redirect };
            let page = with_faults(visit, &FormFaults::of(REDIRECT, text)).await?;
            Ok(page.with_status(StatusCode::BAD_REQUEST).into())
        }
        Err(e) => Err(e),
    }
}

/// Takes a redirect URI out. One that was removed before is no error.
pub async fn remove_redirect(visit: &Visit) -> Result<View> {
    let uri = visit.fields.first(REDIRECT).to_owned();
    let change = RedirectChange { add: Vec::new(), remove: vec![uri] };
    match change_redirects(visit, "redirect_removed", change).await {
        Ok(()) => {}
        Err(e) if e.code() == Some(Code::InvalidParameter) => {}
        Err(e) => return Err(e),
    }
    Ok(View::done(path(visit)?, FlashCode::RedirectRemoved))
}

async fn change_redirects(visit: &Visit, act: &'static str, change: RedirectChange) -> Result<()> {
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    once(visit, |claimed| async move {
        let uris = [change.add.as_slice(), change.remove.as_slice()].concat();
        let target = Target::application(&tenant, tenant.application_id.as_str())
            .details(serde_json::json!({ "redirectUris": uris }));
        let attempt = acting::attempt(&app, &actor, act, &target, Some(&claimed));
        redirects::change(&app, &tenant, change, &attempt).await
    })
    .await?;
    Ok(())
}
