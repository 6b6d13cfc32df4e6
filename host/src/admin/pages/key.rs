//! `/apps/{a}/keys/{k}` and `/system/keys/{k}`: one key, what it may do, and what can be done with it.

use base::error::{Result, not_found};
use base::ids;
use service::locale::html::Html;
use service::manage::actor::Act;
use service::manage::keys;
use service::manage::operators::directory;
use storage::api_keys::{self, ApiKey, KeyKind};
use storage::old_secrets::{self, OldSecret};

use crate::admin::pages::key_activity;
use crate::admin::pages::key_area;
use crate::admin::pages::key_words::{add_state, can};
use crate::admin::pages::keys::last_used;
use crate::admin::parts::facts::Facts;
use crate::admin::parts::field::{FormFaults, SelectField};
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::moment::exact_moment;
use crate::admin::parts::note::alert;
use crate::admin::texts::fill;
use crate::admin::view::{PanelPage, View};
use crate::admin::visit::Visit;

/// The field of the form for a rotation: seconds for which the present secret goes on working.
pub const OVERLAP: &str = "overlap";

/// The key of the path; access tokens have no page.
pub async fn found(visit: &Visit) -> Result<ApiKey> {
    let id = visit.param("k");
    let found = match ids::is_plausible(id) {
        true => {
            let tenant = key_area::tenant(visit).await?;
            api_keys::find(visit.app.db.reader(), &tenant, None, id).await?
        }
        false => None,
    };
    found.filter(|key| key.kind == KeyKind::Key).ok_or_else(|| not_found("API key"))
}

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    let key = found(visit).await?;
    Ok(page(visit, &key, None).await?.into())
}

/// The page of a key, with what stood in the way of a change.
pub async fn page(visit: &Visit, key: &ApiKey, fault: Option<&str>) -> Result<PanelPage> {
    let t = visit.texts.keys;
    let old = old_secrets::find(visit.app.db.reader(), &key.id, visit.app.now()).await?;
    let list = visit.link(&key_area::list_path(visit));
    let mut body = Html::default();
    trail(&mut body, &[(&list, key_area::title(visit))], &short_name(&key.name));
    head(&mut body, &key.name, None);
    if let Some(fault) = fault {
        alert(&mut body, fault);
    }
    body.raw("<section class=\"stack\">").element("h2", t.facts);
    facts(visit, key).await?.add_to(&mut body);
    body.raw("</section>\n");
    key_activity::add_to(visit, key, &mut body).await?;
    if visit.may(Act::ManageKeys) && keys::state(key, visit.app.now()) == "active" {
        changes(visit, key, old.as_ref(), &mut body);
    }
    Ok(PanelPage::new(short_name(&key.name), Some(key_area::entry(visit)), body))
}

async fn facts(visit: &Visit, key: &ApiKey) -> Result<Facts> {
    let t = visit.texts.keys;
    let mut facts = Facts::default();
    let mut state = Html::default();
    add_state(visit, key, &mut state);
    facts.html(None, t.state, &state);
    facts.id(t.key, &format!("{}…{}", key.prefix, key.last4));
    facts.text(Some(PanelIcon::Key), t.can, &can(visit.texts.scopes, &key.scopes));
    facts.id(t.scopes, &key.scopes.join(" "));
    if !key_area::is_of_admin(visit) {
        facts.text(Some(PanelIcon::Globe), t.domains, &listed(&key.allowed_domains, t.any_domain));
    }
    facts.text(None, t.addresses, &listed(&key.allowed_ips, t.any_address));
    if !key_area::is_of_admin(visit) {
        facts.text(None, t.accounts, &listed(&key.connection_ids, t.all_accounts));
    }
    let rate = fill(t.rate_value, &[("n", &key.rate_limit_per_minute.to_string())]);
    facts.text(None, t.rate, &rate);
    let mut expires = Html::default();
    match key.expires_at {
        Some(at) => exact_moment(&mut expires, &visit.time, at),
        None => {
            expires.text(visit.texts.frame.never);
        }
    }
    facts.html(Some(PanelIcon::Clock), t.expires, &expires);
    facts.html(None, t.last_used, &last_used(visit, key));
    facts.html(None, t.created, &visit.moment_or_never(Some(key.created_at)));
    facts.html(None, t.created_by, &maker(visit, key).await?);
    facts.id(t.id, &key.id);
    Ok(facts)
}

fn listed(values: &[String], none: &str) -> String {
    if values.is_empty() { none.to_owned() } else { values.join(", ") }
}

/// The maker of a key: a person, another key, or the command line.
async fn maker(visit: &Visit, key: &ApiKey) -> Result<Html> {
    let mut html = Html::default();
    match key.created_by.as_deref() {
        None => {
            html.text(visit.texts.keys.by_command);
        }
        Some(id) if id.starts_with("opr_") => {
            let found = directory::find(&visit.app, id).await?;
            let name = found.as_ref().map_or(id, |operator| operator.name.as_str());
            html.raw("<bdi>").text(&short_name(name)).raw("</bdi>");
        }
        Some(id) => match api_keys::find(visit.app.db.reader(), &key.tenant, None, id).await? {
            Some(_) => {
                html.link(&visit.link(&format!("{}/{id}", key_area::list_path(visit))), id);
            }
            // A key of the administration: it has no page here.
            None => {
                html.raw("<span class=\"id\" dir=\"ltr\">").text(id).raw("</span>");
            }
        },
    }
    Ok(html)
}

/// Adds the changes of a key that works: another secret, the end of the old one, a revocation.
fn changes(visit: &Visit, key: &ApiKey, old: Option<&OldSecret>, body: &mut Html) {
    let (t, frame) = (visit.texts.keys, visit.texts.frame);
    let path = format!("{}/{}", key_area::list_path(visit), key.id);
    body.raw("<section class=\"stack\">").element("h2", t.rotate).element("p", t.rotate_text);
    match old {
        Some(old) => {
            let until = visit.time.exact(old.expires_at);
            let values =
                [("prefix", old.prefix.as_str()), ("last4", old.last4.as_str()), ("until", until.as_str())];
            body.element("p", &fill(t.old_secret_text, &values));
            let href = visit.link(&format!("{path}/end-old"));
            body.raw("<p><a class=\"button plain\" href=\"")
                .text(&href)
                .raw("\">")
                .text(t.end_old)
                .raw("</a></p>\n");
        }
        None => {
            visit.open_form(body, &format!("{path}/rotate"));
            let options = [
                ("86400", t.rotate_day),
                ("3600", t.rotate_hour),
                ("604800", t.rotate_week),
                ("0", t.rotate_now),
            ];
            let field = SelectField { id: OVERLAP, label: t.rotate_when, options: &options, chosen: "86400" };
            field.add_to(body, frame, &FormFaults::default());
            body.raw("<button class=\"plain\">").text(t.rotate).raw("</button></form>\n");
        }
    }
    body.raw("</section>\n<section class=\"zone-of-danger stack\">").element("h2", t.revoke);
    body.element("p", t.revoke_text).raw("<p><a class=\"button danger\" href=\"");
    body.text(&visit.link(&format!("{path}/revoke"))).raw("\">").text(t.revoke).raw("</a></p></section>\n");
}
