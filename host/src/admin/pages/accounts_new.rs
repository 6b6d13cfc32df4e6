//! `/apps/{a}/accounts/new`: the providers, and the form for an account of one of them.

use base::error::{Code, Result, not_found, refuse};
use http::StatusCode;
use service::connections::NewConnection;
use service::connections::credentials::GivenCredentials;
use service::locale::html::Html;
use service::manage::account_providers::{self, AccountProvider, OAuthStanding};
use service::manage::acting::{self, Target};
use service::manage::actor::Act;

use crate::admin::claim::{json, once};
use crate::admin::pages::accounts_form::{
    OAUTH_SCOPES, SCOPES, add_credentials, add_scopes, add_settings, fault, read,
};
use crate::admin::pages::accounts_return::{begin, leave_for};
use crate::admin::parts::field::{FormFaults, hidden};
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::{alert, empty};
use crate::admin::parts::table::{RowTable, TableCell, name_cell};
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The field that says which of a page's forms was sent, and its values.
const HOW: &str = "how";
const BY_OAUTH: &str = "oauth";
const BY_SANDBOX: &str = "sandbox";
const BY_CREDENTIALS: &str = "credentials";
/// The test account to connect, and those that have a button.
const TEST_ACCOUNT: &str = "account";
const TEST_ACCOUNTS: [&str; 3] = ["alice", "bob", "carol"];

/// The providers.
pub async fn show(visit: &Visit) -> Result<View> {
    let (t, tenant) = (visit.texts.connect, visit.tenant()?);
    let providers = account_providers::list(&visit.app, tenant).await?;
    let path = format!("apps/{}/accounts", tenant.application_id);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), visit.texts.accounts.title)], t.title);
    head(&mut body, t.title, None);
    if providers.is_empty() {
        empty(&mut body, PanelIcon::Person, [t.no_providers, t.no_providers_text], None);
    }
    if let Some(sandbox) = providers.iter().find(|provider| provider.is_sandbox) {
        add_test_accounts(visit, sandbox, &path, &mut body);
    }
    if !providers.is_empty() {
        let mut table = RowTable::new(t.caption, &[t.provider, t.how, ""]);
        for provider in &providers {
            add_provider(visit, provider, &path, &mut table);
        }
        table.add_to(&mut body);
        let clients = visit.link(&format!("apps/{}/providers", tenant.application_id));
        body.raw("<p>").link(&clients, t.clients).raw("</p>\n");
    }
    Ok(PanelPage::new(t.title, Some(MenuEntry::Accounts), body).into())
}

fn add_provider(visit: &Visit, provider: &AccountProvider, path: &str, table: &mut RowTable) {
    let t = visit.texts.connect;
    let mut heading = Html::default();
    heading.raw("<bdi>").text(provider.title()).raw("</bdi><p dir=\"auto\">");
    heading.text(&provider.connector.manifest.description).raw("</p>");
    let mut ways = Vec::new();
    match provider.oauth {
        OAuthStanding::Ready => ways.push(t.by_oauth),
        OAuthStanding::NotRegistered => ways.push(t.not_registered),
        OAuthStanding::Disabled => ways.push(t.disabled),
        OAuthStanding::NotOffered => {}
    }
    if provider.takes_password {
        ways.push(t.by_password);
    }
    if provider.takes_token {
        ways.push(t.by_token);
    }
    let mut end = Html::default();
    let needs_client = matches!(provider.oauth, OAuthStanding::NotRegistered | OAuthStanding::Disabled);
    let next = match provider.is_ready() {
        true => Some((format!("{path}/new/{}", provider.name()), t.choose)),
        false if needs_client && visit.may(Act::ManageProviders) => {
            let application = path.trim_end_matches("/accounts");
            Some((format!("{application}/providers/{}", provider.name()), t.register))
        }
        false => None,
    };
    if let Some((path, word)) = next {
        end.raw("<a class=\"button plain small\" href=\"").text(&visit.link(&path)).raw("\">").text(word);
        end.raw("<span class=\"sr\"> ").text(provider.title()).raw("</span></a>");
    }
    table.row(&heading, vec![name_cell(&ways.join(" · ")), TableCell::End(end)]);
}

/// Adds a button for each test account of the sandbox.
fn add_test_accounts(visit: &Visit, sandbox: &AccountProvider, path: &str, html: &mut Html) {
    let t = visit.texts.connect;
    html.raw("<section class=\"box stack\">").element("h2", t.sandbox).element("p", t.sandbox_text);
    html.raw("<div class=\"actions\">");
    for name in TEST_ACCOUNTS {
        html.raw("<form method=\"post\" action=\"");
        html.text(&visit.link(&format!("{path}/new/{}", sandbox.name()))).raw("\">");
        hidden(html, crate::admin::form_token::TOKEN, &visit.token());
        hidden(html, HOW, BY_SANDBOX);
        hidden(html, TEST_ACCOUNT, name);
        html.raw("<button class=\"plain\">").text(&fill(t.sandbox_button, &[("name", name)]));
        html.raw("</button></form>");
    }
    html.raw("</div></section>\n");
}

/// The forms for an account of one provider.
pub async fn show_provider(visit: &Visit) -> Result<View> {
    let provider = account_providers::find(&visit.app, visit.tenant()?, visit.param("p")).await?;
    Ok(forms(visit, &provider, &FormFaults::default()).await?.into())
}

async fn forms(visit: &Visit, provider: &AccountProvider, faults: &FormFaults) -> Result<PanelPage> {
    let (t, tenant) = (visit.texts.connect, visit.tenant()?);
    let path = format!("apps/{}/accounts", tenant.application_id);
    let own = format!("{path}/new/{}", provider.name());
    let title = provider.title();
    let links =
        [(visit.link(&path), visit.texts.accounts.title), (visit.link(&format!("{path}/new")), t.title)];
    let links = [(links[0].0.as_str(), links[0].1), (links[1].0.as_str(), links[1].1)];
    let mut body = Html::default();
    trail(&mut body, &links, title);
    head(&mut body, title, None);
    faults.summary(&mut body, visit.texts.frame);
    match provider.oauth {
        OAuthStanding::NotOffered => {}
        OAuthStanding::NotRegistered => alert(&mut body, t.not_registered),
        OAuthStanding::Disabled => alert(&mut body, t.disabled),
        OAuthStanding::Ready => {
            let scopes = account_providers::oauth_scopes(&visit.app, tenant, provider.name()).await?;
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
            let named = [("provider", title)];
            body.raw("<section class=\"stack\">").element("h2", &fill(t.oauth_title, &named));
            body.element("p", &fill(t.oauth_text, &named));
            visit.open_form(&mut body, &own);
            hidden(&mut body, HOW, BY_OAUTH);
            add_scopes(visit, OAUTH_SCOPES, &scopes, faults, &mut body);
            body.raw("<button>").text(&fill(t.go_on, &named)).raw("</button></form></section>\n");
        }
    }
    if provider.takes_password || provider.takes_token {
        body.raw("<section class=\"stack\">").element("h2", t.credentials_title);
        visit.open_form(&mut body, &own);
        hidden(&mut body, HOW, BY_CREDENTIALS);
        add_settings(visit, provider, faults, &mut body);
        add_credentials(visit, provider, "", faults, &mut body);
        add_scopes(visit, SCOPES, &provider.scopes(), faults, &mut body);
        let is_second = provider.oauth == OAuthStanding::Ready;
        body.raw(if is_second { "<button class=\"plain\">" } else { "<button>" });
        body.text(t.connect).raw("</button></form></section>\n");
    }
    Ok(PanelPage::new(title, Some(MenuEntry::Accounts), body))
}

/// Connects an account, or goes on to its provider.
pub async fn connect(visit: &Visit) -> Result<View> {
    let provider = account_providers::find(&visit.app, visit.tenant()?, visit.param("p")).await?;
    match visit.fields.first(HOW) {
        BY_OAUTH if provider.oauth == OAuthStanding::Ready => by_oauth(visit, &provider).await,
        BY_SANDBOX if provider.is_sandbox => {
            let name = visit.fields.first(TEST_ACCOUNT);
            let name = TEST_ACCOUNTS.into_iter().find(|known| *known == name);
            let new = test_account(&provider, name.ok_or_else(|| not_found("test account"))?);
            by_credentials(visit, &provider, new).await
        }
        BY_CREDENTIALS if provider.takes_password || provider.takes_token => {
            let mut faults = FormFaults::default();
            let new = read(visit, &provider, &mut faults);
            if !faults.is_empty() {
                return Ok(forms(visit, &provider, &faults)
                    .await?
                    .with_status(StatusCode::BAD_REQUEST)
                    .into());
            }
            by_credentials(visit, &provider, new).await
        }
        _ => Err(refuse(Code::InvalidRequest, "the form does not say how the account is to be connected")),
    }
}

fn test_account(provider: &AccountProvider, name: &str) -> NewConnection {
    NewConnection {
        provider: provider.name().to_owned(),
        credentials: GivenCredentials {
            username: Some(format!("{name}@sandbox.test")),
            password: Some("sandbox".to_owned()),
            ..GivenCredentials::default()
        },
        scopes: provider.scopes().into_iter().map(str::to_owned).collect(),
        ..NewConnection::default()
    }
}

async fn by_oauth(visit: &Visit, provider: &AccountProvider) -> Result<View> {
    let t = visit.texts.connect;
    let scopes = visit.fields.all(OAUTH_SCOPES).to_vec();
    if scopes.is_empty() {
        let faults = FormFaults::of(OAUTH_SCOPES, t.no_scopes);
        return Ok(forms(visit, provider, &faults).await?.with_status(StatusCode::BAD_REQUEST).into());
    }
    match begin(visit, provider.name(), scopes, None).await {
        Ok(url) => Ok(leave_for(visit, provider.name(), url)),
        Err(e) if e.code() == Some(Code::InvalidParameter) => {
            let faults = FormFaults::of(OAUTH_SCOPES, t.no_scopes);
            Ok(forms(visit, provider, &faults).await?.with_status(StatusCode::BAD_REQUEST).into())
        }
        Err(e) => {
            let (faults, status) = fault(visit, provider, "", e)?;
            Ok(forms(visit, provider, &faults).await?.with_status(status).into())
        }
    }
}

async fn by_credentials(visit: &Visit, provider: &AccountProvider, new: NewConnection) -> Result<View> {
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    let details = serde_json::json!({ "provider": provider.name() });
    let target = Target::application(&tenant, "").details(details);
    let path = format!("apps/{}/accounts", tenant.application_id);
    let made = once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "account_connected", &target, Some(&claimed));
        account_providers::connect(&app, &tenant, new, &attempt).await
    });
    match made.await {
        Ok(answer) => {
            let id = json(&answer)?["id"].as_str().unwrap_or_default().to_owned();
            Ok(View::done(format!("{path}/{id}"), FlashCode::AccountConnected))
        }
        Err(e) => {
            let (faults, status) = fault(visit, provider, "", e)?;
            Ok(forms(visit, provider, &faults).await?.with_status(status).into())
        }
    }
}
