//! `/system/connector-uploads/{u}`: an uploaded connector before it serves: what it may do, and every line in which it differs from the one whose
//! place it takes.

use base::error::{Code, Error, Result};
use http::StatusCode;
use runtime::Manifest;
use service::locale::html::Html;
use service::manage::connector_uploads::{
    self, CONNECTOR, ReplacedConnector, ShownVersions, UploadedConnector,
};

use crate::admin::claim::{json, once};
use crate::admin::form_token::TOKEN;
use crate::admin::pages::connector::{add_items, add_manifest_facts};
use crate::admin::pages::connector_changes::changes;
use crate::admin::pages::connector_upload::{gone, refused};
use crate::admin::pages::connector_words::{asks, destinations, limits, scopes, settings};
use crate::admin::pages::connectors::{PATH, UPLOADS};
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::facts::Facts;
use crate::admin::parts::field::hidden;
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::note::{alert, note};
use crate::admin::parts::table::{RowTable, id_cell};
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The fields with the versions that the page showed.
const DIGEST: &str = "digest";
const REPLACED: &str = "replaced";

/// The question whether to install the upload.
pub async fn show(visit: &Visit) -> Result<View> {
    match connector_uploads::find(&visit.app, visit.param("u")).await? {
        Some(uploaded) => Ok(page(visit, &uploaded, &Html::default())?.into()),
        None => Ok(gone(visit).into()),
    }
}

/// The page of an upload, with what an act on it led to.
fn page(visit: &Visit, uploaded: &UploadedConnector, said: &Html) -> Result<PanelPage> {
    let (t, manifest) = (visit.texts.connectors, uploaded.manifest());
    let name = short_name(&manifest.title);
    let title = fill(t.review_title, &[("name", &name), ("version", &manifest.version)]);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(PATH), t.title), (&visit.link(UPLOADS), t.upload)], &name);
    head(&mut body, &title, None);
    body.html(said);
    add_replaced(visit, uploaded.replaced.as_ref(), &mut body);
    body.raw("<section class=\"stack\">").element("h2", t.facts);
    let mut facts = Facts::default();
    facts.id(t.name, &manifest.name).id(t.version, &manifest.version);
    facts.id(t.digest, &uploaded.versions().digest);
    add_manifest_facts(t, manifest, &mut facts);
    facts.add_to(&mut body);
    body.raw("</section>\n");
    add_items(&mut body, t.may, &destinations(t, manifest));
    let asked: Vec<String> = asks(t, manifest).into_iter().chain(settings(t, manifest)).collect();
    add_items(&mut body, t.asks, &asked);
    add_items(&mut body, t.scopes, &scopes(t, manifest));
    add_items(&mut body, t.limits, &limits(t, manifest));
    let old = uploaded.replaced.as_ref().and_then(|replaced| replaced.manifest.as_deref());
    add_changes(visit, old, manifest, &mut body)?;
    add_form(visit, &uploaded.versions(), &mut body);
    Ok(PanelPage::new(title, Some(MenuEntry::Connectors), body))
}

/// Adds which connector goes out of service for this one.
fn add_replaced(visit: &Visit, replaced: Option<&ReplacedConnector>, html: &mut Html) {
    let t = visit.texts.connectors;
    let Some(replaced) = replaced else {
        html.element("p", t.review_new);
        return;
    };
    let text = if replaced.is_installed { t.review_update } else { t.review_bundled };
    note(html, BadgeTone::Warn, &fill(text, &[("version", &replaced.version)]));
    if replaced.manifest.is_none() {
        note(html, BadgeTone::Bad, t.review_unknown);
    }
}

/// Adds every line of the manifest that differs; without another one to compare it with, all of them.
fn add_changes(visit: &Visit, old: Option<&Manifest>, new: &Manifest, html: &mut Html) -> Result<()> {
    let t = visit.texts.connectors;
    let (title, mut table) = match old {
        Some(_) => (t.review_changes, RowTable::new(t.review_changes_caption, &[t.key, t.before, t.after])),
        None => (t.review_manifest, RowTable::new(t.review_manifest_caption, &[t.key, t.value])),
    };
    html.raw("<section class=\"stack\">").element("h2", title);
    let all = changes(old, new)?;
    if all.is_empty() {
        html.element("p", t.review_same).raw("</section>\n");
        return Ok(());
    }
    for change in &all {
        let mut heading = Html::default();
        heading.raw("<span class=\"id\" dir=\"ltr\">").text(&change.key).raw("</span>");
        let before = old.map(|_| id_cell(&change.before));
        table.row(&heading, before.into_iter().chain([id_cell(&change.after)]).collect());
    }
    table.add_to(html);
    html.raw("</section>\n");
    Ok(())
}

fn add_form(visit: &Visit, versions: &ShownVersions, html: &mut Html) {
    let t = visit.texts.connectors;
    let own = format!("{UPLOADS}/{}", visit.param("u"));
    html.raw("<form class=\"form stack\" method=\"post\" action=\"").text(&visit.link(&own)).raw("\">");
    hidden(html, TOKEN, &visit.token());
    hidden(html, DIGEST, &versions.digest);
    hidden(html, REPLACED, &versions.replaced);
    html.raw("<div class=\"actions\"><button>").text(t.review_install).raw("</button>");
    html.raw("<a class=\"button plain\" href=\"").text(&visit.link(PATH)).raw("\">");
    html.text(visit.texts.frame.cancel).raw("</a></div></form>\n");
}

/// Installs the upload.
pub async fn install(visit: &Visit) -> Result<View> {
    let (app, actor, id) = (visit.app.clone(), visit.actor()?.clone(), visit.param("u").to_owned());
    let shown = ShownVersions {
        digest: visit.fields.first(DIGEST).to_owned(),
        replaced: visit.fields.first(REPLACED).to_owned(),
    };
    // The form's claim has its answer when the change is made.
    let work = once(visit, |_| async move { connector_uploads::install(&app, &actor, &id, &shown).await });
    let e = match work.await {
        Ok(answer) => {
            let name = json(&answer)?;
            let name = name.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned();
            return Ok(View::done(format!("{PATH}/{name}"), FlashCode::ConnectorInstalled));
        }
        Err(e) => e,
    };
    match e {
        Error::Refused(refusal) if refusal.param.as_deref() == Some(CONNECTOR) => {
            Ok(refused(visit, &refusal.message).into())
        }
        e if e.code() == Some(Code::NotFound) => Ok(gone(visit).into()),
        e if e.code() == Some(Code::InvalidState) => changed(visit, e).await,
        e => Err(e),
    }
}

/// The page of the upload after another version was installed. Without the upload the error is handed on.
async fn changed(visit: &Visit, e: Error) -> Result<View> {
    let Some(uploaded) = connector_uploads::find(&visit.app, visit.param("u")).await? else {
        return Err(e);
    };
    let mut said = Html::default();
    alert(&mut said, visit.texts.connectors.review_changed);
    Ok(page(visit, &uploaded, &said)?.with_status(StatusCode::CONFLICT).into())
}
