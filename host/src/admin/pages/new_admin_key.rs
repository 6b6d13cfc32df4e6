//! `/system/keys/new`: a new key of the administration, shown once.

use base::error::{Error, Result};
use base::scopes;
use http::StatusCode;
use model::application::NewApiKey;
use service::locale::html::Html;
use service::manage::acting::{self, RATE_LIMIT, Target};
use service::manage::keys::admin_keys;
use service::manage::keys::restrictions::network;

use crate::admin::claim::{json, once};
use crate::admin::pages::key_area;
use crate::admin::pages::new_key::made_page;
use crate::admin::pages::new_key_form::{ADDRESSES, NAME, SCOPE, add_expiry, expiry, lines, refused};
use crate::admin::parts::field::{FormFaults, InputField, LinesField, fault_line};
use crate::admin::parts::head::{head, trail};
use crate::admin::texts::{AdminKeyTexts, NewKeyTexts, fill};
use crate::admin::view::{PanelPage, View};
use crate::admin::visit::Visit;
use crate::web::form::FormFields;

/// The form.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(form(visit, &FormFaults::default()).into())
}

/// Makes a key, and shows it in this very answer.
pub async fn create(visit: &Visit) -> Result<View> {
    let t = visit.texts.new_key;
    let (new, faults) = read(t, &visit.fields, visit.app.now());
    if !faults.is_empty() {
        return Ok(form(visit, &faults).with_status(StatusCode::BAD_REQUEST).into());
    }
    let (app, actor, wish) = (visit.app.clone(), visit.actor()?.clone(), new.clone());
    let made = once(visit, |claimed| async move {
        let details = serde_json::json!({ "name": wish.name, "scopes": wish.scopes });
        let target = Target::installation("").details(details);
        let attempt = acting::attempt(&app, &actor, "key_created", &target, Some(&claimed));
        admin_keys::create(&app, &actor, wish, &attempt).await
    });
    match made.await {
        Ok(answer) => Ok(made_page(visit, &json(&answer)?).into()),
        Err(Error::Refused(refusal)) => match refused(t, &refusal, &new, RATE_LIMIT) {
            Some(faults) => Ok(form(visit, &faults).with_status(StatusCode::BAD_REQUEST).into()),
            None => Err((*refusal).into()),
        },
        Err(e) => Err(e),
    }
}

fn form(visit: &Visit, faults: &FormFaults) -> PanelPage {
    let (own, t, frame) = (visit.texts.admin_keys, visit.texts.new_key, visit.texts.frame);
    let (path, sent) = (key_area::list_path(visit), &visit.fields);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), own.title)], own.create_title);
    head(&mut body, own.create_title, None);
    faults.summary(&mut body, frame);
    body.element("p", own.create_text);
    visit.open_form(&mut body, &format!("{path}/new"));
    InputField::text(NAME, t.name, sent.first(NAME))
        .with_hint(own.name_hint)
        .add_to(&mut body, frame, faults);
    add_scopes(own, sent, faults, &mut body);
    let addresses = LinesField {
        id: ADDRESSES,
        label: t.addresses,
        value: sent.first(ADDRESSES),
        hint: t.addresses_hint,
    };
    addresses.add_to(&mut body, frame, faults);
    add_expiry(visit, faults, &mut body);
    body.raw("<button>").text(t.create).raw("</button></form>\n");
    PanelPage::new(own.create_title, Some(key_area::entry(visit)), body)
}

fn add_scopes(own: &AdminKeyTexts, sent: &FormFields, faults: &FormFaults, html: &mut Html) {
    html.raw("<fieldset class=\"scopes\" id=\"scope\"><legend>").text(own.scopes).raw("</legend>");
    fault_line(html, SCOPE, faults.text(SCOPE));
    for (scope, sentence) in [
        ("admin.read", own.read),
        ("admin.write", own.write),
        ("admin.operators", own.operators),
        ("admin.connectors", own.connectors),
    ] {
        html.raw("<label class=\"check\"><input type=\"checkbox\" name=\"scope\" value=\"").text(scope);
        let is_ticked = sent.all(SCOPE).iter().any(|one| one == scope);
        html.raw(if is_ticked { "\" checked>" } else { "\">" });
        html.raw("<span><span class=\"id\" dir=\"ltr\">").text(scope).raw("</span><small>");
        html.text(sentence).raw("</small></span></label>");
    }
    html.raw("</fieldset>\n");
}

/// The key that a form asks for, and what is wrong with it. `now` in milliseconds.
fn read(t: &NewKeyTexts, sent: &FormFields, now: i64) -> (NewApiKey, FormFaults) {
    let mut faults = FormFaults::default();
    let name = sent.filled(NAME).unwrap_or_default();
    if !(1..=100).contains(&name.chars().count()) {
        faults.add(NAME, t.bad_name);
    }
    let scopes = sent.all(SCOPE).to_vec();
    if scopes.is_empty() {
        faults.add(SCOPE, t.bad_scopes);
    }
    if let Some(unknown) = scopes.iter().find(|scope| !scopes::is_admin_scope(scope)) {
        faults.add(SCOPE, fill(t.bad_scope, &[("scope", unknown)]));
    }
    let allowed_ips = lines(t, sent, ADDRESSES, &mut faults);
    if let Some(wrong) = allowed_ips.iter().find(|text| network(text).is_none()) {
        faults.add(ADDRESSES, fill(t.bad_address, &[("value", wrong)]));
    }
    let expires_at = expiry(t, sent, now, &mut faults);
    (NewApiKey { name, scopes, allowed_ips, expires_at, ..NewApiKey::default() }, faults)
}

#[cfg(test)]
mod tests {
    use service::locale::Language;

    use super::*;
    use crate::admin::texts::texts;

    #[test]
    fn a_form_asks_for_scopes_of_the_administration_alone() {
        let read_form =
            |body: &str| read(texts(Language::English).new_key, &FormFields::read(body.as_bytes()), 0);
        let (new, faults) = read_form("name=Ops&scope=admin.read&scope=admin.operators&addresses=192.0.2.7");
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(new.scopes, ["admin.read", "admin.operators"]);
        assert_eq!((new.allowed_ips, new.expires_at), (vec!["192.0.2.7".to_owned()], None));
        for (body, id) in [
            ("name=&scope=admin.read", NAME),
            ("name=Ops", SCOPE),
            ("name=Ops&scope=admin.read&scope=email.read", SCOPE),
            ("name=Ops&scope=admin.read&addresses=everywhere", ADDRESSES),
        ] {
            assert!(read_form(body).1.text(id).is_some(), "{body}");
        }
    }
}
