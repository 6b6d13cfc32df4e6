//! Changes of an account: its credentials are tried again, it is connected again under its id, it is disconnected.

use base::error::Result;
use http::StatusCode;
use service::connections;
use service::connections::credentials;
use service::connections::refresh;
use service::connections::replacement::replace_credentials;
use service::locale::html::Html;
use service::manage::account_providers::{self, AccountProvider};
use service::manage::acting::{self, Target};
use service::resources::disconnect;
use storage::connections::Connection;

use crate::admin::claim::once;
use crate::admin::pages::accounts_detail::refused;
use crate::admin::pages::accounts_form::{add_credentials, fault, read_credentials};
use crate::admin::pages::accounts_return::{begin, leave_for};
use crate::admin::pages::accounts_words::{account_name, provider_title, reason};
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::field::FormFaults;
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::note::note;
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The account that the path names.
async fn account(visit: &Visit) -> Result<Connection> {
    connections::find(&visit.app, visit.tenant()?, visit.param("c")).await
}

/// The path of an account's page below `/admin/`.
fn path_of(connection: &Connection) -> String {
    format!("apps/{}/accounts/{}", connection.tenant.application_id, connection.id)
}

/// Tries the stored credentials again.
pub async fn try_again(visit: &Visit) -> Result<View> {
    let (app, actor, connection) = (visit.app.clone(), visit.actor()?.clone(), account(visit).await?);
    let (path, target) =
        (path_of(&connection), Target::application(&connection.tenant, connection.id.clone()));
    let tried = once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "account_refreshed", &target, Some(&claimed));
        refresh::refresh(&app, connection, &attempt).await
    });
    match tried.await {
        Ok(_) => Ok(View::done(path, FlashCode::AccountRefreshed)),
        Err(e) => refused(visit, e).await,
    }
}

/// The page on which an account is connected again.
pub async fn show_reconnect(visit: &Visit) -> Result<View> {
    Ok(reconnect_page(visit, &account(visit).await?, &FormFaults::default()).await?.into())
}

async fn reconnect_page(visit: &Visit, connection: &Connection, faults: &FormFaults) -> Result<PanelPage> {
    let (t, list) = (visit.texts.connect, visit.texts.accounts);
    let (name, path) = (account_name(connection), path_of(connection));
    let (all, own) =
        (visit.link(&format!("apps/{}/accounts", connection.tenant.application_id)), visit.link(&path));
    let action = format!("{path}/reconnect");
    let mut body = Html::default();
    trail(&mut body, &[(&all, list.title), (&own, &name)], list.reauth);
    let provider_name = provider_title(visit, &connection.provider);
    let named = [("provider", provider_name.as_str()), ("name", name.as_str())];
    if credentials::stored(&visit.app, connection)?.is_oauth() {
        head(&mut body, &fill(t.oauth_title, &named), None);
        if let Some(reason) = reason(visit, connection, None) {
            note(&mut body, BadgeTone::Warn, &reason);
        }
        visit.open_form(&mut body, &action);
        body.raw("<button>").text(&fill(t.go_on, &named)).raw("</button></form>\n");
    } else {
        let provider = provider_of(visit, connection).await?;
        head(&mut body, &fill(t.new_password, &named), None);
        faults.summary(&mut body, visit.texts.frame);
        if let Some(reason) = reason(visit, connection, None) {
            note(&mut body, BadgeTone::Warn, &reason);
        }
        visit.open_form(&mut body, &action);
        let user_name = connection.username.as_deref().unwrap_or_default();
        add_credentials(visit, &provider, user_name, faults, &mut body);
        body.raw("<button>").text(t.save).raw("</button></form>\n");
    }
    Ok(PanelPage::new(list.reauth, Some(MenuEntry::Accounts), body))
}

async fn provider_of(visit: &Visit, connection: &Connection) -> Result<AccountProvider> {
    account_providers::find(&visit.app, &connection.tenant, &connection.provider).await
}

/// Connects an account again: goes on to its provider, or keeps new credentials.
pub async fn reconnect(visit: &Visit) -> Result<View> {
    let connection = account(visit).await?;
    if !credentials::stored(&visit.app, &connection)?.is_oauth() {
        return with_credentials(visit, connection).await;
    }
    let scopes = match account_providers::scopes_again(&visit.app, &connection).await {
        Ok(scopes) => scopes,
        Err(e) => return refused(visit, e).await,
    };
    match begin(visit, &connection.provider, scopes, Some(connection.id.clone())).await {
        Ok(url) => Ok(leave_for(visit, &connection.provider, url)),
        Err(e) => refused(visit, e).await,
    }
}

async fn with_credentials(visit: &Visit, connection: Connection) -> Result<View> {
    let mut faults = FormFaults::default();
    let given = read_credentials(visit, &mut faults);
    if !faults.is_empty() {
        let page = reconnect_page(visit, &connection, &faults).await?;
        return Ok(page.with_status(StatusCode::BAD_REQUEST).into());
    }
    let (app, actor, row) = (visit.app.clone(), visit.actor()?.clone(), connection.clone());
    let target = Target::application(&connection.tenant, connection.id.clone());
    let kept = once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "account_reconnected", &target, Some(&claimed));
        replace_credentials(&app, &row, given, &attempt).await
    });
    match kept.await {
        Ok(_) => Ok(View::done(path_of(&connection), FlashCode::AccountConnected)),
        Err(e) => {
            let provider = provider_of(visit, &connection).await?;
            let (faults, status) = fault(visit, &provider, &account_name(&connection), e)?;
            Ok(reconnect_page(visit, &connection, &faults).await?.with_status(status).into())
        }
    }
}

/// The question whether to disconnect an account.
pub async fn show_disconnect(visit: &Visit) -> Result<View> {
    let (t, list) = (visit.texts.account_page, visit.texts.accounts);
    let connection = account(visit).await?;
    let (name, path) = (account_name(&connection), path_of(&connection));
    let (all, own) =
        (visit.link(&format!("apps/{}/accounts", connection.tenant.application_id)), visit.link(&path));
    let mut body = Html::default();
    trail(&mut body, &[(&all, list.title), (&own, &name)], t.disconnect);
    let part = ConfirmPart {
        title: &fill(t.disconnect_title, &[("name", &name)]),
        text: t.disconnect_consequence,
        action: &visit.link(&format!("{path}/disconnect")),
        token: &visit.token(),
        button: t.disconnect,
        is_danger: true,
        back: (&own, t.keep),
        fields: Html::default(),
    };
    part.add_to(&mut body);
    Ok(PanelPage::new(t.disconnect, Some(MenuEntry::Accounts), body).into())
}

/// Disconnects an account.
pub async fn disconnect(visit: &Visit) -> Result<View> {
    let (app, actor, connection) = (visit.app.clone(), visit.actor()?.clone(), account(visit).await?);
    let tenant = connection.tenant.clone();
    let target = Target::application(&tenant, connection.id.clone());
    let ended = once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "account_disconnected", &target, Some(&claimed));
        disconnect::delete(&app, connection, &attempt).await
    });
    ended.await?;
    Ok(View::done(format!("apps/{}/accounts", tenant.application_id), FlashCode::AccountDisconnected))
}
