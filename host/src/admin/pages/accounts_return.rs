//! The way to a provider and back: a user leaves the panel to sign in there, and returns to `/admin/connected`. What comes back counts in
//! the session alone that left.

use base::error::Result;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use service::connections;
use service::locale::html::Html;
use service::manage::account_providers::{self, PanelAuthorization};
use service::manage::accounts::admin_consent_url;
use service::manage::acting::{self, Target};
use service::manage::actor::Act;
use service::manage::applications;
use storage::api_keys::Application;

use crate::admin::claim::{json, once};
use crate::admin::pages::accounts_words::provider_title;
use crate::admin::parts::code::code;
use crate::admin::parts::head::head;
use crate::admin::parts::note::alert;
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;
use crate::web::fingerprint::of_parts;

const KIND: &str = "panel-connect";
/// Time for which a return counts, ms: longer than an authorization lives.
const LIFE_MS: i64 = 15 * 60_000;

/// The state that the panel gets back with a user's return.
#[derive(Debug, Serialize, Deserialize)]
struct PanelReturn {
    kind: String,
    /// Fingerprint of the session that left.
    session: String,
    application_id: String,
    provider: String,
    /// The account to be authorized again.
    connection_id: Option<String>,
    /// When the user left, ms since 1970.
    at: i64,
}

/// Begins an authorization once for the form that asks for it; the address to send the user to.
///
/// # Errors
/// As `account_providers::authorize`.
pub async fn begin(
    visit: &Visit,
    provider: &str,
    scopes: Vec<String>,
    connection_id: Option<String>,
) -> Result<String> {
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    let state = PanelReturn {
        kind: KIND.to_owned(),
        session: fingerprint(&visit.session()?.id),
        application_id: tenant.application_id.clone(),
        provider: provider.to_owned(),
        connection_id: connection_id.clone(),
        at: app.now(),
    };
    let target = Target::application(&tenant, connection_id.as_deref().unwrap_or(provider));
    let wanted = PanelAuthorization {
        provider: provider.to_owned(),
        scopes,
        connection_id,
        return_url: format!("{}/admin/connected", app.config.admin_address()),
        state: app.keyring.signed(storage::json_text(&state).as_bytes()),
        request_id: visit.request_id.clone(),
    };
    let begun = once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "account_authorization_started", &target, Some(&claimed));
        account_providers::authorize(&app, &actor, &tenant, wanted, &attempt).await
    });
    let answer = begun.await?;
    Ok(json(&answer)?["authorizationUrl"].as_str().unwrap_or_default().to_owned())
}

fn fingerprint(session_id: &str) -> String {
    of_parts(&[KIND, session_id])
}

/// The page that leads on to a provider: browsers that forbid a form to lead to another site follow its header, and people its link.
pub fn leave_for(visit: &Visit, provider: &str, url: String) -> View {
    let t = visit.texts.connect;
    let title = fill(t.leaving, &[("provider", &provider_title(visit, provider))]);
    let mut body = Html::default();
    head(&mut body, &title, None);
    body.element("p", t.leaving_text).raw("<p><a rel=\"noreferrer\" dir=\"ltr\" href=\"").text(&url);
    body.raw("\">").text(&url).raw("</a></p>\n");
    let page = PanelPage::new(title, Some(MenuEntry::Accounts), body);
    PanelPage { leave_for: Some(url), ..page }.into()
}

/// The page to which a user returns: leads on to the account, or says why there is none.
pub async fn show(visit: &Visit) -> Result<View> {
    let Some((returned, application)) = returned(visit).await? else {
        return Ok(start_again(visit));
    };
    let tenant = &application.tenant;
    let path = format!("apps/{}/accounts", tenant.application_id);
    match visit.query.first("error") {
        "" => {
            let found = connections::find(&visit.app, tenant, visit.query.first("connection_id")).await?;
            Ok(View::done(format!("{path}/{}", found.id), FlashCode::AccountConnected))
        }
        error => Ok(refused(visit, &returned, &application, error).await.into()),
    }
}

/// The state that the panel gave along, and its application; none of a return that is another session's, too old, or about something that the reader
/// does not see.
async fn returned(visit: &Visit) -> Result<Option<(PanelReturn, Application)>> {
    let Some(signed) = &visit.signed else { return Ok(None) };
    let text = visit.app.keyring.verified(visit.query.first("state"));
    let Some(returned) = text.and_then(|text| serde_json::from_slice::<PanelReturn>(&text).ok()) else {
        return Ok(None);
    };
    let is_own = returned.kind == KIND
        && returned.session == fingerprint(&signed.session.id)
        && (0..LIFE_MS).contains(&(visit.app.now() - returned.at));
    if !is_own {
        return Ok(None);
    }
    let found = applications::find(&visit.app, &returned.application_id).await?;
    let seen = found.filter(|found| signed.actor.may(Act::SeeApplication, &found.tenant.organization_id));
    Ok(seen.map(|application| (returned, application)))
}

/// The page for a return that does not count here.
fn start_again(visit: &Visit) -> View {
    let t = visit.texts.connect;
    let mut body = Html::default();
    body.element("h1", t.again_title).element("p", t.again_text);
    let page = match visit.signed {
        Some(_) => PanelPage::new(t.again_title, None, body),
        None => {
            body.raw("<p>").link(&visit.link("sign-in"), t.sign_in).raw("</p>\n");
            PanelPage::gate(t.again_title, body)
        }
    };
    page.with_status(StatusCode::NOT_FOUND).into()
}

/// The page for an authorization without a connection. Of the address only the error's word counts, and its sentence is the panel's own.
async fn refused(visit: &Visit, returned: &PanelReturn, application: &Application, error: &str) -> PanelPage {
    let t = visit.texts.connect;
    let text = match error {
        "access_denied" => t.access_denied,
        "admin_blocked" => t.admin_blocked,
        "account_mismatch" => t.account_mismatch,
        "scope_missing" => t.scope_missing,
        "expired_state" => t.expired_state,
        "temporarily_unavailable" => t.unavailable,
        _ => t.server_error,
    };
    let path = format!("apps/{}/accounts", application.tenant.application_id);
    let again = match &returned.connection_id {
        Some(id) => format!("{path}/{id}"),
        None => format!("{path}/new/{}", returned.provider),
    };
    let mut body = Html::default();
    head(&mut body, t.refused_title, None);
    alert(&mut body, text);
    if error == "admin_blocked"
        && let Some(url) = approval_url(visit, returned, application).await
    {
        body.element("p", visit.texts.account_page.approve_text);
        code(&mut body, visit.texts.frame, &url, visit.texts.account_page.copy_link);
    }
    body.raw("<div class=\"actions\"><a class=\"button\" href=\"").text(&visit.link(&again)).raw("\">");
    body.text(t.retry).raw("</a><a class=\"button plain\" href=\"").text(&visit.link(&path)).raw("\">");
    body.text(t.back).raw("</a></div>\n");
    PanelPage::new(t.refused_title, None, body)
}

/// The page for an administrator, with the scopes of the account to be authorized again; all scopes for a new account.
async fn approval_url(visit: &Visit, returned: &PanelReturn, application: &Application) -> Option<String> {
    let (app, tenant) = (&visit.app, &application.tenant);
    let requested = match &returned.connection_id {
        Some(id) => connections::find(app, tenant, id).await.map(|found| found.requested_scopes),
        None => Ok(Vec::new()),
    };
    admin_consent_url(app, tenant, &returned.provider, &requested.unwrap_or_default()).await
}
