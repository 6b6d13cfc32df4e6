//! `/apps/{a}/accounts/{c}`: one account: why it is not active and how to repair it, how far each surface is in step, and what is done for it.

use base::error::{Code, Error, Result};
use service::locale::html::Html;
use service::manage::accounts::{
    self, AccountDetail, MAX_SHOWN, PushStanding, StoredFailure, SurfaceStanding,
};
use service::manage::actor::Act;
use storage::jobs::Job;
use storage::sync_states::SurfaceItemError;

use crate::admin::pages::accounts_words::{
    account_name, add_address, add_state, provider_title, reason, surface_title,
};
use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::code::code;
use crate::admin::parts::facts::Facts;
use crate::admin::parts::head::trail;
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::moment::exact_moment;
use crate::admin::parts::note::{alert, note};
use crate::admin::parts::table::{RowTable, TableCell, id_cell, name_cell};
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;
use crate::web::error::status;

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(page(visit, None).await?.into())
}

/// The page after an act on the account that was refused: says why. What is no refusal is handed on.
///
/// # Errors
/// The error itself, and those of the page.
pub async fn refused(visit: &Visit, e: Error) -> Result<View> {
    let Some(code) = e.code().filter(|code| !matches!(code, Code::NotFound | Code::ReauthenticationRequired))
    else {
        return Err(e);
    };
    let Error::Refused(refusal) = &e else { return Err(e) };
    if matches!(code, Code::IdempotencyKeyReused | Code::IdempotencyInProgress) {
        return Err(e);
    }
    let t = visit.texts.account_page;
    let connection = service::connections::find(&visit.app, visit.tenant()?, visit.param("c")).await?;
    let provider = provider_title(visit, &connection.provider);
    let text = match code {
        Code::ReauthRequired => fill(t.still_refused, &[("provider", &provider)]),
        Code::ProviderUnavailable | Code::ProviderTimeout => fill(t.no_answer, &[("provider", &provider)]),
        _ => fill(t.failed, &[("message", &refusal.message)]),
    };
    Ok(page(visit, Some(&text)).await?.with_status(status(code)).into())
}

async fn page(visit: &Visit, fault: Option<&str>) -> Result<PanelPage> {
    let (t, list) = (visit.texts.account_page, visit.texts.accounts);
    let tenant = visit.tenant()?;
    let account = accounts::detail(&visit.app, tenant, visit.param("c")).await?;
    let connection = &account.connection;
    let path = format!("apps/{}/accounts", tenant.application_id);
    let own = format!("{path}/{}", connection.id);
    let name = account_name(connection);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), list.title)], &name);
    body.raw("<div class=\"head\"><h1>");
    add_address(&mut body, &name);
    body.raw("</h1></div>\n");
    if let Some(fault) = fault {
        alert(&mut body, fault);
    }
    let failing = account.surfaces.iter().find(|surface| is_failing(surface));
    let failing = failing.map(|surface| surface.surface.as_str());
    body.raw("<p>");
    add_state(visit, &connection.status, failing.is_some(), &mut body);
    body.raw("</p>\n");
    if let Some(reason) = reason(visit, connection, failing) {
        note(&mut body, BadgeTone::Warn, &reason);
    }
    add_repairs(visit, &account, &own, &mut body);
    add_failure(t.last_error, account.failure.as_ref(), &mut body);
    add_facts(visit, &account, &mut body);
    add_surfaces(visit, &account.surfaces, &mut body);
    add_quarantined(visit, &account.quarantined, &mut body);
    add_jobs(visit, &account.jobs, &mut body);
    if visit.may(Act::Disconnect) {
        body.raw("<section class=\"zone-of-danger stack\">").element("h2", t.disconnect);
        body.element("p", t.disconnect_text).raw("<a class=\"button danger\" href=\"");
        body.text(&visit.link(&format!("{own}/disconnect")))
            .raw("\">")
            .text(t.disconnect)
            .raw("</a></section>\n");
    }
    Ok(PanelPage::new(name, Some(MenuEntry::Accounts), body))
}

fn is_failing(surface: &SurfaceStanding) -> bool {
    matches!(surface.status.as_str(), "blocked" | "error")
}

/// Adds the buttons that repair the account, where the reader may use them.
fn add_repairs(visit: &Visit, account: &AccountDetail, own: &str, html: &mut Html) {
    let t = visit.texts.account_page;
    if let Some(url) = &account.admin_consent_url {
        html.element("p", t.approve_text);
        code(html, visit.texts.frame, url, t.copy_link);
    }
    if !visit.may(Act::ManageAccounts) {
        return;
    }
    let is_lost = account.connection.status == "reauth_required";
    html.raw("<div class=\"actions\">");
    let reconnect = format!("{own}/reconnect");
    let (first, second) = if is_lost { ("", "plain") } else { ("plain", "plain") };
    match account.is_oauth {
        true => visit.button_form(html, &reconnect, first, t.reconnect),
        false => {
            html.raw("<a class=\"button ").raw(first).raw("\" href=\"").text(&visit.link(&reconnect));
            html.raw("\">").text(t.reconnect).raw("</a>");
        }
    }
    visit.button_form(html, &format!("{own}/refresh"), second, t.try_again);
    html.raw("</div>\n");
}

/// Adds an error as text: its code, and its message as it was stored.
fn add_failure(heading: &str, failure: Option<&StoredFailure>, html: &mut Html) {
    let Some(failure) = failure else { return };
    html.raw("<section class=\"stack\">").element("h2", heading).raw("<p><span class=\"id\" dir=\"ltr\">");
    html.text(&failure.code).raw("</span></p><div class=\"code\"><pre tabindex=\"0\" dir=\"auto\">");
    html.text(&failure.message).raw("</pre></div></section>\n");
}

fn add_facts(visit: &Visit, account: &AccountDetail, html: &mut Html) {
    let (t, connection) = (visit.texts.account_page, &account.connection);
    let mut facts = Facts::default();
    facts.text(None, t.provider, &provider_title(visit, &connection.provider));
    if let Some(email) = &connection.email {
        facts.id(t.address, email);
    }
    if let Some(name) = &connection.display_name {
        facts.text(None, t.name, name);
    }
    facts.id(t.id, &connection.id);
    facts.html(None, t.connected, &visit.moment_or_never(Some(connection.created_at)));
    facts.html(None, t.checked, &visit.moment_or_never(connection.last_refresh_at));
    if let Some(at) = connection.token_expires_at {
        facts.html(None, t.expires, &later(visit, Some(at)));
    }
    facts.id(t.scopes, &connection.granted_scopes.join(", "));
    let is_missing = |scope: &&String| !connection.granted_scopes.contains(*scope);
    let missing: Vec<&str> =
        connection.requested_scopes.iter().filter(is_missing).map(String::as_str).collect();
    if !missing.is_empty() {
        facts.id(t.missing, &missing.join(", "));
    }
    html.raw("<section class=\"stack\">").element("h2", t.about);
    facts.add_to(html);
    html.raw("</section>\n");
}

fn add_surfaces(visit: &Visit, surfaces: &[SurfaceStanding], html: &mut Html) {
    if surfaces.is_empty() {
        return;
    }
    let t = visit.texts.account_page;
    html.raw("<section class=\"stack\">").element("h2", t.surfaces);
    let mut table = RowTable::new(
        t.surfaces_caption,
        &[t.surface, visit.texts.accounts.state, t.last_success, t.next, t.push],
    );
    for surface in surfaces {
        let mut heading = Html::default();
        heading.text(surface_title(t, &surface.surface));
        if let Some(failure) = &surface.failure {
            heading.raw("<p dir=\"auto\">").text(&failure.message).raw("</p>");
        }
        let mut state = Html::default();
        add_surface_state(visit, surface, &mut state);
        let cells = vec![
            TableCell::State(state),
            TableCell::Plain(visit.moment_or_never(surface.last_success_at)),
            TableCell::Plain(next_pull(visit, surface)),
            name_cell(&push_text(visit, &surface.push)),
        ];
        table.row(&heading, cells);
    }
    table.add_to(html);
    html.raw("</section>\n");
}

/// The time of a surface's next pull; words where none is planned.
fn next_pull(visit: &Visit, surface: &SurfaceStanding) -> Html {
    let mut html = later(visit, surface.next_pull_at);
    if surface.next_pull_at.is_none() {
        html.text(visit.texts.account_page.no_next);
    }
    html
}

/// A moment that may be yet to come, with its time; nothing where there is none.
fn later(visit: &Visit, at_ms: Option<i64>) -> Html {
    let mut html = Html::default();
    if let Some(at_ms) = at_ms {
        exact_moment(&mut html, &visit.time, at_ms);
    }
    html
}

fn add_surface_state(visit: &Visit, surface: &SurfaceStanding, html: &mut Html) {
    let t = visit.texts.account_page;
    let (tone, shape, word) = match surface.status.as_str() {
        "error" => (BadgeTone::Bad, PanelIcon::Cross, t.failing),
        "blocked" => (BadgeTone::Bad, PanelIcon::Cross, t.blocked),
        "throttled" => (BadgeTone::Warn, PanelIcon::Half, t.throttled),
        "initial" => (BadgeTone::Neutral, PanelIcon::Half, t.initial),
        "syncing" => (BadgeTone::Neutral, PanelIcon::Half, t.syncing),
        "caught_up" => (BadgeTone::Good, PanelIcon::Dot, t.caught_up),
        _ if !surface.is_followed => (BadgeTone::Neutral, PanelIcon::Pause, t.not_followed),
        _ => (BadgeTone::Neutral, PanelIcon::Clock, t.idle),
    };
    badge(html, tone, shape, word);
}

fn push_text(visit: &Visit, push: &PushStanding) -> String {
    let t = visit.texts.account_page;
    match push {
        PushStanding::Active => t.push_active.to_owned(),
        PushStanding::Waiting => t.push_waiting.to_owned(),
        PushStanding::NotFollowed => t.push_not_followed.to_owned(),
        PushStanding::NotOffered => t.push_not_offered.to_owned(),
        PushStanding::NoConnector => t.push_no_connector.to_owned(),
        PushStanding::NoPublicAddress => t.push_no_address.to_owned(),
        PushStanding::MissingSetting(setting) => fill(t.push_no_setting, &[("setting", setting)]),
    }
}

/// Adds the items that could not be read: their ids, codes and messages, and nothing of what is in them.
fn add_quarantined(visit: &Visit, items: &[SurfaceItemError], html: &mut Html) {
    if items.is_empty() {
        return;
    }
    let t = visit.texts.account_page;
    html.raw("<section class=\"stack\">").element("h2", t.quarantined);
    let mut table = RowTable::new(t.quarantined_caption, &[t.item, t.surface, t.code, t.message, t.attempts]);
    for item in items.iter().take(MAX_SHOWN) {
        let mut heading = Html::default();
        heading.raw("<span class=\"id\" dir=\"ltr\">").text(&item.error.source_id).raw("</span>");
        let cells = vec![
            name_cell(surface_title(t, &item.surface)),
            id_cell(&item.error.code),
            name_cell(&item.error.message),
            id_cell(&item.error.attempts.to_string()),
        ];
        table.row(&heading, cells);
    }
    table.add_to(html);
    add_more(visit, items.len(), html);
    html.raw("</section>\n");
}

fn add_jobs(visit: &Visit, jobs: &[Job], html: &mut Html) {
    if jobs.is_empty() {
        return;
    }
    let t = visit.texts.account_page;
    html.raw("<section class=\"stack\">").element("h2", t.jobs);
    let mut table =
        RowTable::new(t.jobs_caption, &[t.kind, visit.texts.accounts.state, t.due, t.attempts, t.error]);
    for job in jobs.iter().take(MAX_SHOWN) {
        let mut heading = Html::default();
        heading.raw("<span class=\"id\" dir=\"ltr\">").text(&job.kind).raw("</span>");
        let failure = StoredFailure::read(job.last_error.as_deref()).unwrap_or_default();
        let cells = vec![
            id_cell(&job.state),
            TableCell::Plain(later(visit, job.due_at)),
            id_cell(&job.attempts.to_string()),
            name_cell(&failure.message),
        ];
        table.row(&heading, cells);
    }
    table.add_to(html);
    add_more(visit, jobs.len(), html);
    html.raw("</section>\n");
}

fn add_more(visit: &Visit, found: usize, html: &mut Html) {
    if found > MAX_SHOWN {
        let t = visit.texts.account_page;
        html.raw("<p class=\"hint\">")
            .text(&fill(t.more_than, &[("n", &MAX_SHOWN.to_string())]))
            .raw("</p>\n");
    }
}
